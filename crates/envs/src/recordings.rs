//! Kinds of behaviour that data sets show.

use crate::{
    maze::{Body, Maze, MazeWorld, Rules},
    worlds::World,
};

/// How somebody behaves who is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behaviour {
    /// Walks along streets, in the world of streets.
    Streets,
    /// Wanders from goal to goal.
    Navigate,
    /// Goes four cells and stays: what is far apart is never in one recording.
    Stitch,
    /// A random direction every second, with much noise.
    Explore,
    /// From hand-picked places to hand-picked goals, as in D4RL.
    Play,
    /// From anywhere to anywhere, as in D4RL.
    Diverse,
}

/// A data set that can be recorded: somebody's behaviour in a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recording {
    /// Where.
    pub world: World,
    /// What.
    pub behaviour: Behaviour,
}

impl Recording {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        World::all().flat_map(|world| {
            let behaviours: &[Behaviour] = match world {
                World::Nav2d => &[Behaviour::Streets],
                World::Maze(MazeWorld { rules: Rules::Ogbench, .. }) => {
                    &[Behaviour::Navigate, Behaviour::Stitch, Behaviour::Explore]
                }
                World::Maze(MazeWorld { rules: Rules::D4rl, .. }) => &[Behaviour::Play, Behaviour::Diverse],
            };
            behaviours.iter().map(move |&behaviour| Self { world, behaviour })
        })
    }

    /// What it is called.
    pub fn name(self) -> String {
        let behaviour = match self.behaviour {
            Behaviour::Streets => return self.world.name(),
            Behaviour::Navigate => "navigate",
            Behaviour::Stitch => "stitch",
            Behaviour::Explore => "explore",
            Behaviour::Play => "play",
            Behaviour::Diverse => "diverse",
        };
        format!("{}-{behaviour}", self.world.name())
    }

    /// The data set of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|recording| recording.name() == name)
    }

    /// Episodes that a data set of this kind usually has.
    pub fn usual_episodes(self) -> usize {
        match (self.world, self.behaviour) {
            (World::Nav2d, _) => 2000,
            (World::Maze(MazeWorld { rules: Rules::D4rl, maze: Maze::Umaze, .. }), _) => 1427,
            (World::Maze(MazeWorld { maze: Maze::Giant, .. }), Behaviour::Navigate) => 500,
            (_, Behaviour::Stitch) => 5000,
            (_, Behaviour::Explore) => 10_000,
            _ => 1000,
        }
    }

    /// Actions of every episode, where they are all equally long.
    pub fn steps(self) -> Option<usize> {
        match (self.world, self.behaviour) {
            (World::Nav2d, _) => None,
            (World::Maze(MazeWorld { rules: Rules::D4rl, maze: Maze::Umaze, .. }), _) => Some(700),
            (World::Maze(MazeWorld { maze: Maze::Giant, .. }), Behaviour::Navigate) => Some(2000),
            (_, Behaviour::Stitch) => Some(200),
            (_, Behaviour::Explore) => Some(500),
            _ => Some(1000),
        }
    }

    /// The standard deviation of the noise that is added to every number of an action.
    pub fn action_noise(self) -> f64 {
        match (self.world, self.behaviour) {
            (_, Behaviour::Explore) => 1.0,
            (World::Maze(MazeWorld { body: Body::Point, .. }), _) => 0.5,
            (World::Nav2d, _) => 0.0,
            _ => 0.2,
        }
    }
}
