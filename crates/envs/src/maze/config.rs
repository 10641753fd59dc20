//! A maze, a body that moves in it, and the rules of a benchmark.

use super::{CELL, MOTORS, Maze, MazeCell, Task};
use crate::Point;
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
        self.of(2, 15)
    }

    /// Velocities.
    pub fn velocities(self) -> usize {
        self.of(2, 14)
    }

    /// Numbers of an observation.
    pub fn observation_width(self) -> usize {
        self.of(2, 29)
    }

    /// Numbers of an action.
    pub fn action_width(self) -> usize {
        self.of(2, 8)
    }

    /// What belongs to this body.
    pub(super) fn of<T>(self, point: T, ant: T) -> T {
        match self {
            Self::Point => point,
            Self::Ant => ant,
        }
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
        self.body.of(1.0, 0.5)
    }

    /// How many tasks there are.
    pub fn n_tasks(self) -> usize {
        if self.benchmark == Benchmark::D4rl { 1 } else { self.maze.tasks().len() }
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

    /// The columns of datasets: observations, actions, and beside them the full state of the physics.
    pub(super) fn columns(self) -> Spec {
        let (positions, velocities, actions) = match self.body {
            Body::Point => {
                (names("x y", &[], ""), names("vx vy", &[], ""), vec!["push x".into(), "push y".into()])
            }
            Body::Ant => (
                names("x y z qw qx qy qz", &[0, 1, 2, 3], ""),
                names("vx vy vz wx wy wz", &[0, 1, 2, 3], " rate"),
                names("", &MOTORS, " torque"),
            ),
        };
        let mut spec = Spec::new(self.body.observation_width(), self.body.action_width());
        spec.observation.dimensions = match self.body {
            Body::Point => positions.clone(),
            Body::Ant => [positions.as_slice(), &velocities].concat(),
        };
        spec.action.dimensions = actions;
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

/// Names of numbers: of the whole body, then of the hip and the ankle of some legs, which get an ending.
fn names(of_body: &str, legs: &[usize], ending: &str) -> Vec<String> {
    let joint = |joint: &str, leg: usize| format!("{joint} {}{ending}", leg + 1);
    let joints = legs.iter().flat_map(|&leg| [joint("hip", leg), joint("ankle", leg)]);
    of_body.split_whitespace().map(str::to_owned).chain(joints).collect()
}

/// Somewhere within a quarter of a cell of its center, along both axes.
fn within_a_meter(cell: MazeCell, mut uniform: impl FnMut() -> f64) -> Point {
    cell.center().map(|center| center + (2.0 * uniform() - 1.0) * CELL / 4.0)
}
