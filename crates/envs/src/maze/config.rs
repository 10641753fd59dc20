//! A maze, a body that moves in it, and the rules of a benchmark.

use super::{
    layout::{CELL, MazeCell},
    maps::{Maze, Task},
    mjcf::MOTORS,
};
use crate::geometry::Point;
use isochrone_data::{Bounds, Feature, Spec};

/// A body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Body {
    /// A ball that is pushed; it has no momentum.
    Point,
    /// Four legs with eight motors.
    Ant,
}

/// A benchmark: its tasks, and its rules about starts, goals and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Benchmark {
    /// OGBench: five tasks, starts and goals up to a meter from the centers of their cells, goals
    /// are full states.
    Ogbench,
    /// D4RL: one task, from the corner, to a place at or beyond the center of the goal's cell;
    /// goals are places.
    D4rl,
}

/// A maze environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MazeConfig {
    /// The benchmark whose rules hold.
    pub benchmark: Benchmark,
    /// The body.
    pub body: Body,
    /// The maze.
    pub maze: Maze,
}

/// How far a full push moves the ball along an axis in a step, in meters.
pub const PUSH: f64 = 0.2;

/// Control steps per second: five physics steps of 0.02 s each.
pub const STEPS_PER_SECOND: f64 = 10.0;

impl Body {
    /// Positions: of the ball; or place, orientation and joints of the ant.
    pub fn positions(self) -> usize {
        match self {
            Self::Point => 2,
            Self::Ant => 15,
        }
    }

    /// Velocities.
    pub fn velocities(self) -> usize {
        match self {
            Self::Point => 2,
            Self::Ant => 14,
        }
    }

    /// Numbers of an observation.
    pub fn observation_width(self) -> usize {
        match self {
            Self::Point => 2,
            Self::Ant => 29,
        }
    }

    /// Numbers of an action.
    pub fn action_width(self) -> usize {
        match self {
            Self::Point => 2,
            Self::Ant => 8,
        }
    }

    fn position_names(self) -> Vec<String> {
        let names: &[&str] = match self {
            Self::Point => &["x", "y"],
            Self::Ant => &[
                "x", "y", "z", "qw", "qx", "qy", "qz", "hip 1", "ankle 1", "hip 2", "ankle 2", "hip 3",
                "ankle 3", "hip 4", "ankle 4",
            ],
        };
        names.iter().map(|&name| name.to_owned()).collect()
    }
}

impl MazeConfig {
    /// The mazes of both benchmarks.
    pub fn all() -> impl Iterator<Item = Self> {
        let mazes = [Maze::Medium, Maze::Large, Maze::Giant, Maze::Teleport];
        let ogbench = [Body::Point, Body::Ant]
            .into_iter()
            .flat_map(move |body| mazes.map(|maze| Self { benchmark: Benchmark::Ogbench, body, maze }));
        let d4rl = [Maze::Umaze, Maze::Medium, Maze::Large];
        ogbench.chain(d4rl.map(|maze| Self { benchmark: Benchmark::D4rl, body: Body::Ant, maze }))
    }

    /// Its name in the registry, such as `pointmaze-medium`.
    pub fn name(self) -> String {
        let body = match (self.benchmark, self.body) {
            (Benchmark::Ogbench, Body::Point) => "pointmaze",
            (Benchmark::Ogbench, Body::Ant) => "antmaze",
            (Benchmark::D4rl, _) => "d4rl-antmaze",
        };
        format!("{body}-{}", self.maze.name())
    }

    /// The maze environment of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|config| config.name() == name)
    }

    /// Actions after which an episode is truncated.
    pub fn max_episode_steps(self) -> usize {
        if self.benchmark == Benchmark::D4rl && self.maze == Maze::Umaze { 700 } else { 1000 }
    }

    /// An episode succeeds within this distance of the goal, in meters.
    pub fn success_radius(self) -> f64 {
        match self.body {
            Body::Point => 1.0,
            Body::Ant => 0.5,
        }
    }

    /// How many tasks there are.
    pub fn n_tasks(self) -> usize {
        match self.benchmark {
            Benchmark::Ogbench => self.maze.tasks().len(),
            Benchmark::D4rl => 1,
        }
    }

    /// The start and the goal of an episode, given numbers drawn uniformly from `[0, 1)`.
    ///
    /// # Panics
    /// If there is no such task.
    pub fn task(self, number: usize, mut uniform: impl FnMut() -> f64) -> (Point, Point) {
        let Task { start, goal } = match self.benchmark {
            Benchmark::Ogbench => self.maze.tasks()[number],
            Benchmark::D4rl => self.maze.d4rl_task().expect("D4RL has this maze"),
        };
        (self.start_in(start, &mut uniform), self.goal_in(goal, &mut uniform))
    }

    /// The start of an episode in a cell.
    pub fn start_in(self, cell: MazeCell, uniform: impl FnMut() -> f64) -> Point {
        match self.benchmark {
            Benchmark::Ogbench => within_a_meter(cell, uniform),
            Benchmark::D4rl => cell.center(),
        }
    }

    /// The place of a goal in a cell; by the rules of D4RL at its center or beyond.
    pub fn goal_in(self, cell: MazeCell, mut uniform: impl FnMut() -> f64) -> Point {
        match self.benchmark {
            Benchmark::Ogbench => within_a_meter(cell, uniform),
            Benchmark::D4rl => cell.center().map(|center| (center + uniform() + 0.5 * uniform()).max(0.0)),
        }
    }

    /// The columns of datasets: observations, actions, and beside them the full state of the
    /// physics.
    pub(super) fn columns(self) -> Spec {
        let positions = self.body.position_names();
        let velocities = |count: usize| -> Vec<String> {
            match self.body {
                Body::Point => vec!["vx".into(), "vy".into()],
                Body::Ant => ["vx", "vy", "vz", "wx", "wy", "wz"]
                    .into_iter()
                    .map(str::to_owned)
                    .chain(positions[7..].iter().map(|joint| format!("{joint} rate")))
                    .take(count)
                    .collect(),
            }
        };
        let velocities = velocities(self.body.velocities());
        let mut spec = Spec::new(self.body.observation_width(), self.body.action_width());
        spec.observation.dimensions = match self.body {
            Body::Point => positions.clone(),
            Body::Ant => positions.iter().chain(&velocities).cloned().collect(),
        };
        spec.action.dimensions = match self.body {
            Body::Point => vec!["push x".into(), "push y".into()],
            Body::Ant => MOTORS
                .into_iter()
                .map(|leg| leg + 1)
                .flat_map(|leg| [format!("hip {leg} torque"), format!("ankle {leg} torque")])
                .collect(),
        };
        spec.action.bounds = vec![Bounds { low: Some(-1.0), high: Some(1.0) }; self.body.action_width()];
        let column = |name: &str, dimensions: Vec<String>| Feature {
            dimensions: dimensions.clone(),
            ..Feature::new(name, dimensions.len())
        };
        spec.extras = vec![column("qpos", positions), column("qvel", velocities)];
        spec.frames_per_second = Some(STEPS_PER_SECOND);
        // Goals of D4RL are places.
        spec.goal = (self.benchmark == Benchmark::D4rl).then_some(0..2);
        spec
    }
}

/// Somewhere within a quarter of a cell of its center, along both axes.
fn within_a_meter(cell: MazeCell, mut uniform: impl FnMut() -> f64) -> Point {
    cell.center().map(|center| center + (2.0 * uniform() - 1.0) * CELL / 4.0)
}
