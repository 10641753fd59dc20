//! Studies: comparisons of methods over datasets and seeds, from data to report.
//!
//! A [`Recipe`] is a TOML file that specifies the datasets to collect, the methods with their
//! settings and seeds, the evaluation and the contents of the report. A [`Study`] runs it in a
//! folder: every finished piece is written atomically, so that an interrupted study continues where
//! it stopped. A [`Part`] of a study is run on one machine, and [`merge()`] merges parts.
//!
//! | in the folder of a study | contents |
//! |---|---|
//! | `datasets/NAME.arrow` | the collected data |
//! | `runs/DATASET/METHOD-SEED/` | a training run |
//! | `runs/DATASET/METHOD-SEED/result.json` | its measurements: a [`RunResult`] |
//! | `results.json` | all measurements, with recipe, data hashes, versions and machine: [`Results`] |
//! | `report.md`, `report.html`, `figures/` | the report |

mod dataset;
mod distances;
mod error;
mod evaluate;
mod files;
mod jobs;
mod merge;
mod output_folder;
mod recipe;
mod reference;
mod report;
mod results;
mod study;
mod training;

pub use dataset::Collecting;
pub use distances::{
    DistanceBenchmark, DistanceEnvironment, DistanceMethod, DistanceRow, EpisodeLeak, LeakCurve,
};
pub use error::StudyError;
pub use jobs::{Job, Part, Shard, jobs};
pub use merge::merge;
pub use recipe::{BUILT_IN, MAX_SEEDS, Recipe};
pub use results::{
    DatasetInfo, DistanceFit, EvalResult, PROTOCOL_VERSION, Provenance, Results, RunResult, Threshold,
};
pub use study::{Event, Study};
