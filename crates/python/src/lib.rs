//! The extension module of the Python package. Every file translates one part of the facade: no
//! arithmetic, no decisions.

// Doc comments are docstrings in NumPy's style. Pickles are nested tuples.
#![allow(clippy::doc_markdown, clippy::type_complexity)]

mod arrays;
mod audit;
mod dataset;
mod distance;
mod envs;
mod errors;
mod exact;
mod figure;
mod kernel;
mod model;
#[cfg(feature = "mujoco")]
mod physics;
mod planning;
mod pool;
mod refined;
mod run;
mod training;
mod values;
mod xla;

use pyo3::prelude::*;

/// CPython aligns objects to 16 bytes: a class with a larger alignment would be misaligned.
macro_rules! aligned {
    ($($class:ty),* $(,)?) => { $(const _: () = assert!(align_of::<$class>() <= 16);)* };
}
aligned!(
    dataset::Dataset,
    distance::Distance,
    envs::Env,
    exact::EventLog,
    exact::ExactDistances,
    figure::Figure,
    model::Model,
    planning::Path,
    planning::PlannedPolicy,
    planning::Planner,
    refined::RefinedDistance,
    run::Run,
    dataset::Builder,
);

/// The compiled half of the package; import `isochrone` instead.
#[pymodule]
mod _isochrone {
    use super::*;

    #[pymodule_export]
    use super::{
        audit::{audit_distance, audit_matrix},
        dataset::{Builder, Dataset, load_file, load_table},
        distance::{Distance, calibrate, round_trip},
        envs::{Env, collect, datasets, environments, episode_steps, mujoco_version},
        errors::{ConfigError, DataError, DivergedError, IsochroneError, PhysicsError},
        exact::{EventLog, ExactDistances, solve, solve_all_pairs},
        figure::Figure,
        kernel::{InfoNceTape, PairTape, all_pairs, all_pairs_backward, infonce, paired, paired_backward},
        model::Model,
        planning::{Path, PlannedPolicy, Planner},
        pool::{get_num_threads, set_num_threads},
        refined::{RefinedDistance, refine},
        run::Run,
        training::{resume_run, start_run},
        xla::xla_targets,
    };

    #[cfg(feature = "mujoco")]
    #[pymodule_export]
    use super::physics::open_mujoco;

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "a name of Python")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_init]
    fn init(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        isochrone_cli::prepare();
        #[cfg(feature = "mujoco")]
        physics::install_loader();
        Ok(())
    }

    /// Runs the command with these arguments, the first of which is its name; returns its exit
    /// code.
    #[pyfunction]
    fn command(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
        py.detach(|| isochrone_cli::main(arguments))
    }
}
