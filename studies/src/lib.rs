//! Studies: methods, datasets and seeds compared, from data to report.
//!
//! A [`Recipe`] is a TOML file that says which datasets are collected, which methods learn from them with which settings and seeds, how runs are evaluated and what the report shows. A
//! [`Study`] does it in a folder: every finished piece is kept atomically, so that a study that was interrupted at any point continues where it was. A [`Shard`] is a part of a study for one
//! machine, and [`merge()`] puts shards together.
//!
//! | in the folder of a study | what |
//! |---|---|
//! | `datasets/NAME.arrow` | the collected data |
//! | `runs/DATASET/METHOD-SEED/` | a run of the trainer |
//! | `runs/DATASET/METHOD-SEED/result.json` | what was measured of it: a [`RunResult`] |
//! | `results.json` | all of them, with recipe, data hashes, versions and machine: [`Results`] |
//! | `report.md`, `report.html`, `figures/` | the report |

mod dataset;
mod distances;
mod error;
mod evaluate;
mod jobs;
mod merge;
mod recipe;
mod reference;
mod report;
mod results;
mod study;
mod training;

pub use distances::{
    DistanceBenchmark, DistanceEnvironment, DistanceMethod, DistanceRow, EpisodeLeak, LeakCurve,
};
pub use error::StudyError;
pub use jobs::{Job, Shard, jobs};
pub use merge::merge;
pub use recipe::{BUILT_IN, MAX_SEEDS, Recipe};
pub use results::{
    DatasetInfo, DistanceFit, EvalResult, PROTOCOL_VERSION, Provenance, Results, RunResult, Threshold,
};
pub use study::{Event, Study};
