//! Who walks in which maze, by whose rules.

use super::{CELL, Cell, MOTORS, Maze, Place, Task};
use isochrone_data::{Bounds, Feature, Spec};

/// Who walks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Body {
    /// A ball that is pushed; it has no momentum.
    Point,
    /// Four legs with eight motors.
    Ant,
}

/// Whose tasks, and whose rules about starts, goals and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rules {
    /// OGBench: five tasks, starts and goals up to a metre from the centres of their cells, goals are whole situations.
    Ogbench,
    /// D4RL: one task, from the corner, to a place at or beyond the centre of the goal's cell; goals are places.
    D4rl,
}

/// A maze with somebody in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MazeWorld {
    /// Whose rules.
    pub rules: Rules,
    /// Who walks.
    pub body: Body,
    /// Where.
    pub maze: Maze,
}

/// How far a full push moves the ball along an axis in a step, in metres.
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

    /// Numbers of a situation.
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

    fn positions_named(self) -> Vec<String> {
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

impl MazeWorld {
    /// All there are.
    pub fn all() -> impl Iterator<Item = Self> {
        let sizes = [Maze::Medium, Maze::Large, Maze::Giant, Maze::Teleport];
        let ogbench = [Body::Point, Body::Ant]
            .into_iter()
            .flat_map(move |body| sizes.map(|maze| Self { rules: Rules::Ogbench, body, maze }));
        let d4rl = [Maze::Umaze, Maze::Medium, Maze::Large];
        ogbench.chain(d4rl.map(|maze| Self { rules: Rules::D4rl, body: Body::Ant, maze }))
    }

    /// What it is called.
    pub fn name(self) -> String {
        let body = match (self.rules, self.body) {
            (Rules::Ogbench, Body::Point) => "pointmaze",
            (Rules::Ogbench, Body::Ant) => "antmaze",
            (Rules::D4rl, _) => "d4rl-antmaze",
        };
        format!("{body}-{}", self.maze.name())
    }

    /// Actions after which an episode is given up.
    pub fn step_limit(self) -> usize {
        if self.rules == Rules::D4rl && self.maze == Maze::Umaze { 700 } else { 1000 }
    }

    /// Who is this near to the goal has reached it, in metres.
    pub fn success_radius(self) -> f64 {
        match self.body {
            Body::Point => 1.0,
            Body::Ant => 0.5,
        }
    }

    /// How many tasks there are.
    pub fn n_tasks(self) -> usize {
        match self.rules {
            Rules::Ogbench => self.maze.tasks().len(),
            Rules::D4rl => 1,
        }
    }

    /// The start and the goal of an episode, given numbers drawn uniformly from `[0, 1)`.
    ///
    /// # Panics
    /// If there is no such task.
    pub fn task(self, number: usize, mut uniform: impl FnMut() -> f64) -> (Place, Place) {
        let Task { start, goal } = match self.rules {
            Rules::Ogbench => self.maze.tasks()[number],
            Rules::D4rl => self.maze.d4rl_task().expect("D4RL has this maze"),
        };
        (self.start_in(start, &mut uniform), self.goal_in(goal, &mut uniform))
    }

    /// Where somebody begins in a cell.
    pub fn start_in(self, cell: Cell, uniform: impl FnMut() -> f64) -> Place {
        match self.rules {
            Rules::Ogbench => within_a_metre(cell, uniform),
            Rules::D4rl => cell.centre(),
        }
    }

    /// Where a goal in a cell is; by the rules of D4RL at its centre or beyond.
    pub fn goal_in(self, cell: Cell, mut uniform: impl FnMut() -> f64) -> Place {
        match self.rules {
            Rules::Ogbench => within_a_metre(cell, uniform),
            Rules::D4rl => cell.centre().map(|centre| (centre + uniform() + 0.5 * uniform()).max(0.0)),
        }
    }

    /// What recordings consist of: what is seen, what is done, and the whole state of the physics beside it.
    pub fn spec(self) -> Spec {
        let positions = self.body.positions_named();
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
        // Who judges by D4RL's rules looks at places alone.
        spec.goal = (self.rules == Rules::D4rl).then_some(0..2);
        spec
    }
}

/// Somewhere within a quarter of a cell of its centre, along both axes.
fn within_a_metre(cell: Cell, mut uniform: impl FnMut() -> f64) -> Place {
    cell.centre().map(|centre| centre + (2.0 * uniform() - 1.0) * CELL / 4.0)
}
