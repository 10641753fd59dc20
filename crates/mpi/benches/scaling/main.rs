//! The time of an update on one and two processes, what it consists of, and what a model predicts:
//! `just bench-mpi`.
//!
//! Started on one process, it measures how the time of an update grows with the batch. Started on
//! several, it measures the connection and updates of the same batch, and compares them with the
//! prediction.

mod measure;
mod model;
mod report;

use isochrone_nn::group::ProcessGroup;
use measure::Updates;
use model::{Compute, Job};
use std::path::Path;

/// The batch of all processes.
const BATCH: usize = 1024;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str| {
        arguments.iter().position(|argument| argument == name).map(|at| arguments[at + 1].clone())
    };
    let folder = value("--out").unwrap_or_else(|| "target/bench-mpi".to_owned());
    let seconds: f64 = value("--seconds").map_or(10.0, |text| text.parse().expect("seconds"));
    let mpi_job = isochrone_mpi::Job::join().expect("started by mpirun");
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().expect("the first use of the pool");
    isochrone_nn::memory::retain_heap();
    let group = mpi_job.group().clone();
    rayon::scope(|_| bench(&group, Path::new(&folder), seconds));
    mpi_job.leave();
}

fn bench(group: &ProcessGroup, folder: &Path, seconds: f64) {
    std::fs::create_dir_all(folder).expect("a folder");
    if group.size() == 1 {
        let points = [BATCH / 4, BATCH / 2, BATCH]
            .map(|batch| (batch as f64, Updates::new(batch, None).median(seconds).seconds));
        return report::write_single(folder, points);
    }
    let link = measure::link(group);
    let mut updates = Updates::new(BATCH / group.size(), Some(group));
    let measured = updates.median(seconds);
    if group.rank() == 0 {
        let points = report::read_single(folder);
        let job =
            Job { processes: group.size(), rows: BATCH / group.size(), group: group.size(), ..updates.job() };
        report::write(folder, points, Compute::fit(points), link, &job, &measured);
    }
}
