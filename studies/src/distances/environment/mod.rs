//! Environments with known travel times.

pub mod arm;
mod grid;
mod maze;
mod nav2d;
mod ring;

use super::exact_pairs::ExactPairs;
use crate::StudyError;
use arm::Arm;
use isochrone_data::Dataset;
use std::path::Path;

/// The number of random pairs of states.
const PAIRS: usize = 2000;

/// An open environment.
pub enum OpenEnvironment {
    /// Pairs of states with exact steps between them.
    Pairs(Box<EnvironmentData>),
    /// Demonstrations with an oracle for the steps to go.
    Demonstrations(Arm),
}

/// An environment of the benchmark, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DistanceEnvironment {
    /// A random gridworld with one-way doors, with data from a random policy.
    Grid(u64),
    /// A one-way ring of 78 cells in 16 noisy dimensions, with the noise in hundredths.
    Ring(u64),
    /// One-way streets in the plane, with random transitions or with the best outcome of every
    /// transition.
    Nav2d {
        /// Whether exact distances include that steps are random and goals may be missed.
        with_chance: bool,
    },
    /// A point maze of OGBench, by the name of its dataset.
    PointMaze(&'static str),
    /// An ant maze of OGBench, by the name of its dataset. Goals are positions.
    AntMaze(&'static str),
    /// Demonstrations of a robot arm, some of which fail.
    Arm,
}

/// An environment with its data.
pub struct EnvironmentData {
    /// The training data.
    pub data: Dataset,
    /// Held-out episodes of the same behavior policy.
    pub held_out: Dataset,
    /// Random pairs of states.
    pub pairs: ExactPairs,
    /// Pairs where the second state is one step ahead.
    pub ahead: ExactPairs,
    /// Pairs where the second state is one step behind, in environments where that is far.
    pub behind: ExactPairs,
    /// For goals that are positions: the radius of success in the first two columns.
    pub goal_radius: Option<f32>,
    /// Whether the environment allows a straight line between two states that are near each other.
    pub is_connected: IsConnected,
}

/// Whether the environment allows a straight line between two states that are near each other.
pub type IsConnected = Box<dyn Fn(&[f32], &[f32]) -> bool + Send + Sync>;

impl DistanceEnvironment {
    /// All environments, in the order of reports.
    pub const ALL: [Self; 13] = [
        Self::Grid(0),
        Self::Grid(1),
        Self::Grid(2),
        Self::Ring(2),
        Self::Ring(10),
        Self::Nav2d { with_chance: true },
        Self::Nav2d { with_chance: false },
        Self::PointMaze("pointmaze-medium-navigate"),
        Self::PointMaze("pointmaze-large-stitch"),
        Self::PointMaze("pointmaze-giant-navigate"),
        Self::PointMaze("pointmaze-teleport-navigate"),
        Self::AntMaze("antmaze-medium-navigate"),
        Self::Arm,
    ];

    /// Environments that need neither MuJoCo nor more than a minute.
    pub const QUICK: [Self; 4] = [Self::Grid(0), Self::Ring(2), Self::Nav2d { with_chance: true }, Self::Arm];

    /// Returns the name in results.
    pub fn name(self) -> String {
        match self {
            Self::Grid(number) => format!("grid-{number}"),
            Self::Ring(hundredths) => format!("ring-noise-{:.2}", hundredths as f64 / 100.0),
            Self::Nav2d { with_chance: true } => "nav2d".to_owned(),
            Self::Nav2d { with_chance: false } => "nav2d-without-chance".to_owned(),
            Self::PointMaze(name) | Self::AntMaze(name) => name.to_owned(),
            Self::Arm => arm::NAME.to_owned(),
        }
    }

    /// Collects the data, or loads those that were collected into `folder` before.
    pub fn open(self, folder: &Path) -> Result<OpenEnvironment, StudyError> {
        let pairs = match self {
            Self::Grid(number) => grid::open(number),
            Self::Ring(hundredths) => ring::open(hundredths as f64 / 100.0),
            Self::Nav2d { with_chance } => nav2d::open(folder, with_chance)?,
            Self::PointMaze(name) => maze::open(folder, name, None)?,
            Self::AntMaze(name) => maze::open(folder, name, Some(0.7))?,
            Self::Arm => return Ok(OpenEnvironment::Demonstrations(Arm::open(folder)?)),
        };
        Ok(OpenEnvironment::Pairs(Box::new(pairs)))
    }
}
