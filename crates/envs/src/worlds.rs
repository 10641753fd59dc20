//! The worlds there are, by name.

use crate::{
    maze::{Body, Maze, MazeWorld, Rules},
    nav2d::Nav2d,
    recordings::Recording,
};
use isochrone_core::Environment;
use isochrone_data::{DataError, EpisodeSink, Spec};
use thiserror::Error;

/// Tasks are drawn from streams of their own: who evaluates with the seed of a data set does not see its noise again.
pub(crate) const TASK_STREAMS: u64 = 1 << 40;

/// A world that can be acted in and recorded in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum World {
    /// One-way streets in the plane.
    Nav2d,
    /// A maze with a ball or an ant.
    Maze(MazeWorld),
}

/// The world needs a physics library that this program was built without.
#[derive(Debug, Error)]
#[error(
    "{world} needs MuJoCo, and this program was built without it; hint: in the repository, run `just mujoco`, then `cargo install --path crates/isochrone --features mujoco`"
)]
pub struct NoPhysics {
    world: String,
}

/// What goes wrong with recordings.
#[derive(Debug, Error)]
pub enum RecordError {
    /// The world cannot be entered.
    #[error(transparent)]
    NoPhysics(#[from] NoPhysics),
    /// The recordings cannot be kept.
    #[error(transparent)]
    Data(#[from] DataError),
}

/// Lets somebody into a world, as often as it is called.
pub type Entrance = Box<dyn Fn() -> Box<dyn Environment> + Send + Sync>;

impl World {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        std::iter::once(Self::Nav2d).chain(MazeWorld::all().map(Self::Maze))
    }

    /// What it is called.
    pub fn name(self) -> String {
        match self {
            Self::Nav2d => "nav2d".into(),
            Self::Maze(maze) => maze.name(),
        }
    }

    /// What it is, in a line.
    pub fn idea(self) -> String {
        let Self::Maze(MazeWorld { rules, body, maze }) = self else {
            return "one-way streets in the plane that cross; no recording turns from one into another"
                .into();
        };
        let body = match body {
            Body::Point => "a ball",
            Body::Ant => "a walking ant",
        };
        let place = match maze {
            Maze::Umaze => "a corridor with one bend",
            Maze::Medium => "a maze of 8 by 8 cells",
            Maze::Large => "a maze of 9 by 12 cells",
            Maze::Giant => "a maze of 12 by 16 cells",
            Maze::Teleport => "a maze with teleporters, one of whose exits is a trap",
        };
        let whose = match rules {
            Rules::Ogbench => "OGBench",
            Rules::D4rl => "D4RL",
        };
        format!("{body} in {place}, by the rules of {whose}")
    }

    /// The world of a name, or of the name of one of its data sets.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|world| world.name() == name).or_else(|| Some(Recording::named(name)?.world))
    }

    /// Numbers of a situation, numbers of an action, and actions after which an episode is given up.
    pub fn sizes(self) -> (usize, usize, usize) {
        match self {
            Self::Nav2d => (2, 2, Nav2d::standard().plan().step_limit),
            Self::Maze(maze) => (maze.body.observation_width(), maze.body.action_width(), maze.step_limit()),
        }
    }

    /// How many different tasks its episodes take turns at; 1 where every episode is drawn anew.
    pub fn n_tasks(self) -> usize {
        match self {
            Self::Nav2d => 1,
            Self::Maze(maze) => maze.n_tasks(),
        }
    }

    /// What recordings consist of.
    pub fn spec(self) -> Spec {
        match self {
            Self::Nav2d => Nav2d::spec(),
            Self::Maze(maze) => maze.spec(),
        }
    }

    /// Whether this program has what the world needs.
    ///
    /// # Errors
    /// If it needs a physics library that this program was built without.
    pub fn check(self) -> Result<(), NoPhysics> {
        match self {
            Self::Maze(maze) if !cfg!(feature = "mujoco") => Err(NoPhysics { world: maze.name() }),
            _ => Ok(()),
        }
    }

    /// Opens it.
    ///
    /// # Errors
    /// If it needs a physics library that this program was built without.
    pub fn open(self) -> Result<Entrance, NoPhysics> {
        match self {
            Self::Nav2d => {
                let world = Nav2d::standard();
                Ok(Box::new(move || Box::new(world.environment())))
            }
            #[cfg(feature = "mujoco")]
            Self::Maze(maze) => {
                let stage = crate::physics::Stage::new(maze);
                Ok(Box::new(move || Box::new(stage.environment())))
            }
            #[cfg(not(feature = "mujoco"))]
            Self::Maze(maze) => Err(NoPhysics { world: maze.name() }),
        }
    }
}

/// The version of the physics library, in a build that has one; results are said with it.
pub fn mujoco_version() -> Option<String> {
    #[cfg(feature = "mujoco")]
    return Some(mujoco_rs::mujoco_version().to_owned());
    #[cfg(not(feature = "mujoco"))]
    None
}

impl Recording {
    /// Records behaviour, episode by episode; each follows from the seed and its number.
    ///
    /// # Errors
    /// What `sink` refuses; and if the world needs a physics library that this program was built without.
    pub fn record(self, episodes: usize, seed: u64, sink: &mut dyn EpisodeSink) -> Result<(), RecordError> {
        match self.world {
            World::Nav2d => Ok(Nav2d::standard().record(episodes, seed, sink)?),
            #[cfg(feature = "mujoco")]
            World::Maze(maze) => Ok(crate::physics::Stage::new(maze).record(self, episodes, seed, sink)?),
            #[cfg(not(feature = "mujoco"))]
            World::Maze(maze) => Err(NoPhysics { world: maze.name() }.into()),
        }
    }
}
