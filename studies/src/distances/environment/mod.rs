//! Environments whose travel times are known.

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

/// Random pairs of states of an environment.
const PAIRS: usize = 2000;

/// What an environment is, once it is open.
pub enum OpenEnvironment {
    /// Pairs of states with exact steps between them.
    Pairs(Box<EnvironmentData>),
    /// Demonstrations with an oracle of the steps to go.
    Demonstrations(Arm),
}

/// An environment of the benchmark, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DistanceEnvironment {
    /// A random grid world with one-way doors, walked at random.
    Grid(u64),
    /// A one-way ring of 78 cells in 16 noisy dimensions; the noise in hundredths.
    Ring(u64),
    /// One-way streets in the plane; with chance, or as if all went as well as it can.
    Nav2d {
        /// Whether the truth counts that steps are random and goals may be missed.
        with_chance: bool,
    },
    /// A point maze of OGBench: the name of its dataset.
    PointMaze(&'static str),
    /// An ant maze of OGBench: the name of its dataset. Goals are places.
    AntMaze(&'static str),
    /// Demonstrations of a robot arm, some of which fail.
    Arm,
}

/// An environment with its data.
pub struct EnvironmentData {
    /// What distances learn from.
    pub data: Dataset,
    /// Other episodes of the same behavior.
    pub held_out: Dataset,
    /// Random pairs of states.
    pub pairs: ExactPairs,
    /// Pairs where the second state is one step ahead.
    pub ahead: ExactPairs,
    /// Pairs where the second state is one step behind, in environments where that is far.
    pub behind: ExactPairs,
    /// Where goals are places: how near, in the first two columns, counts as there.
    pub goal_radius: Option<f32>,
    /// Whether one can get from one state straight to another that is near, as the map of the environment has it.
    pub can_hop: CanHop,
}

/// Whether nothing is between two states that are near each other.
pub type CanHop = Box<dyn Fn(&[f32], &[f32]) -> bool + Send + Sync>;

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

    /// Those that need neither physics nor minutes.
    pub const QUICK: [Self; 4] = [Self::Grid(0), Self::Ring(2), Self::Nav2d { with_chance: true }, Self::Arm];

    /// Its name in results.
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

    /// Collects its data, or loads what was collected into `folder` before.
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
