//! The configuration of a maze environment: a maze, a body, and the rules of a benchmark.

use super::{CELL, MOTORS, Maze, MazeCell, Task};
use crate::Point;
use isochrone_data::{Bounds, Feature, Spec};

/// The body of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Body {
    /// A ball without momentum.
    Point,
    /// A torso with four legs and eight motors.
    Ant,
}

/// A benchmark, which defines tasks, starts, goals and the step limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Benchmark {
    /// OGBench: five tasks. Starts and goals are up to one meter from the centers of their cells
    /// along each axis; goals are full states.
    Ogbench,
    /// D4RL: one task, from the corner to a position at or beyond the center of the goal cell;
    /// goals are xy positions.
    D4rl,
}

/// A maze environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MazeConfig {
    /// The benchmark whose rules apply.
    pub benchmark: Benchmark,
    /// The body.
    pub body: Body,
    /// The maze.
    pub maze: Maze,
}

/// The distance that an action of 1 moves the ball along an axis in one step, in meters.
pub const PUSH: f64 = 0.2;

/// Control steps per second: five physics steps of 0.02 s each.
pub const STEPS_PER_SECOND: f64 = 10.0;

impl Body {
    /// Returns the number of positions (`qpos`): xy for the ball; position, orientation and joint
    /// angles for the ant.
    pub fn positions(self) -> usize {
        self.of(2, 15)
    }

    /// Returns the number of velocities (`qvel`).
    pub fn velocities(self) -> usize {
        self.of(2, 14)
    }

    /// Returns the number of values in an observation.
    pub fn observation_width(self) -> usize {
        self.of(2, 29)
    }

    /// Returns the number of values in an action.
    pub fn action_width(self) -> usize {
        self.of(2, 8)
    }

    /// Returns the value that belongs to this body.
    pub(super) fn of<T>(self, point: T, ant: T) -> T {
        match self {
            Self::Point => point,
            Self::Ant => ant,
        }
    }
}

impl MazeConfig {
    /// Returns the mazes of both benchmarks.
    pub fn all() -> impl Iterator<Item = Self> {
        let mazes = [Maze::Medium, Maze::Large, Maze::Giant, Maze::Teleport];
        let ogbench = [Body::Point, Body::Ant]
            .into_iter()
            .flat_map(move |body| mazes.map(|maze| Self { benchmark: Benchmark::Ogbench, body, maze }));
        let d4rl = [Maze::Umaze, Maze::Medium, Maze::Large];
        ogbench.chain(d4rl.map(|maze| Self { benchmark: Benchmark::D4rl, body: Body::Ant, maze }))
    }

    /// Returns the name in the registry, such as `pointmaze-medium`.
    pub fn name(self) -> String {
        let body = match (self.benchmark, self.body) {
            (Benchmark::Ogbench, Body::Point) => "pointmaze",
            (Benchmark::Ogbench, Body::Ant) => "antmaze",
            (Benchmark::D4rl, _) => "d4rl-antmaze",
        };
        format!("{body}-{}", self.maze.name())
    }

    /// Returns the maze environment with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|config| config.name() == name)
    }

    /// Returns the number of steps after which an episode is truncated.
    pub fn max_episode_steps(self) -> usize {
        if self.benchmark == Benchmark::D4rl && self.maze == Maze::Umaze { 700 } else { 1000 }
    }

    /// Returns the distance from the goal within which an episode succeeds, in meters.
    pub fn success_radius(self) -> f64 {
        self.body.of(1.0, 0.5)
    }

    /// Returns the number of tasks.
    pub fn n_tasks(self) -> usize {
        if self.benchmark == Benchmark::D4rl { 1 } else { self.maze.tasks().len() }
    }

    /// Returns the start and the goal of an episode; `uniform` samples from `[0, 1)`.
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

    /// Returns the start position of an episode that starts in a cell.
    pub fn start_in(self, cell: MazeCell, uniform: impl FnMut() -> f64) -> Point {
        match self.benchmark {
            Benchmark::Ogbench => within_a_meter(cell, uniform),
            Benchmark::D4rl => cell.center(),
        }
    }

    /// Returns the position of a goal in a cell. In D4RL, it is at or beyond the center.
    pub fn goal_in(self, cell: MazeCell, mut uniform: impl FnMut() -> f64) -> Point {
        match self.benchmark {
            Benchmark::Ogbench => within_a_meter(cell, uniform),
            Benchmark::D4rl => cell.center().map(|center| (center + uniform() + 0.5 * uniform()).max(0.0)),
        }
    }

    /// Returns the columns of datasets: observations, actions, and the full simulator state.
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
        // D4RL goals are xy positions.
        spec.goal = (self.benchmark == Benchmark::D4rl).then_some(0..2);
        spec
    }
}

/// Returns dimension names: those of the body, then hip and ankle of each leg with a suffix.
fn names(of_body: &str, legs: &[usize], suffix: &str) -> Vec<String> {
    let joint = |joint: &str, leg: usize| format!("{joint} {}{suffix}", leg + 1);
    let joints = legs.iter().flat_map(|&leg| [joint("hip", leg), joint("ankle", leg)]);
    of_body.split_whitespace().map(str::to_owned).chain(joints).collect()
}

/// Samples a point within a quarter of a cell, one meter, of the center along both axes.
fn within_a_meter(cell: MazeCell, mut uniform: impl FnMut() -> f64) -> Point {
    cell.center().map(|center| center + (2.0 * uniform() - 1.0) * CELL / 4.0)
}
