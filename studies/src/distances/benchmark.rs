//! The benchmark in a folder, which stores every finished piece.

use super::{
    demonstrations,
    environment::{DistanceEnvironment, EnvironmentData, OpenEnvironment},
    method::DistanceMethod,
    report,
    results::{gpu, read, to_json},
    row::DistanceRow,
};
use crate::{StudyError, output_folder::claim};
use isochrone_learn::{ComputeDevice, run::write_file};
use std::{path::Path, time::Instant};

/// The default number of gradient updates.
const UPDATES: u64 = 5000;
const QUICK_UPDATES: u64 = 200;

/// The environments and methods to compare.
#[derive(Debug, Clone)]
pub struct DistanceBenchmark {
    /// The environments.
    pub environments: Vec<DistanceEnvironment>,
    /// The methods.
    pub methods: Vec<DistanceMethod>,
    /// The seed of the methods.
    pub seed: u64,
    /// The gradient updates of learned distances.
    pub updates: u64,
    /// The device that computes networks.
    pub device: ComputeDevice,
}

impl DistanceBenchmark {
    /// Returns the benchmark of all environments and methods.
    pub fn full() -> Self {
        Self {
            environments: DistanceEnvironment::ALL.into(),
            methods: DistanceMethod::all().collect(),
            seed: 0,
            updates: UPDATES,
            device: ComputeDevice::Cpu,
        }
    }

    /// Returns a version that takes about a minute.
    pub fn quick() -> Self {
        Self { environments: DistanceEnvironment::QUICK.into(), updates: QUICK_UPDATES, ..Self::full() }
    }

    /// Measures what is not yet measured in `folder`; `observe` is called with the rows of each
    /// piece. The report covers everything that was ever measured in the folder, and is written
    /// after every piece.
    pub fn run(
        &self,
        folder: &Path,
        observe: &dyn Fn(&[DistanceRow]),
    ) -> Result<Vec<DistanceRow>, StudyError> {
        claim(folder)?;
        let kept = folder.join("rows");
        std::fs::create_dir_all(&kept).map_err(StudyError::io(&kept))?;
        let mut rows: Vec<DistanceRow> = Vec::new();
        for &environment in &self.environments {
            let mut opened = None;
            for &method in &self.methods {
                let updates = method.updates(self.updates);
                let name = format!("{}-{}-{}-{updates}.json", environment.name(), method.name(), self.seed);
                let path = kept.join(name);
                let measured = match read(&path)? {
                    Some(rows) => rows,
                    None => {
                        if opened.is_none() {
                            opened = Some(environment.open(folder)?);
                        }
                        let rows = match opened.as_ref().expect("it was opened") {
                            OpenEnvironment::Pairs(data) => {
                                self.measure(environment, data, method, updates)?
                            }
                            OpenEnvironment::Demonstrations(arm) => {
                                demonstrations::measure(arm, method, updates, self.seed, self.device)?
                            }
                        };
                        write_file(&path, &to_json(&rows))?;
                        rows
                    }
                };
                observe(&measured);
                rows.extend(measured);
                report::write(folder, &all_kept(&kept)?)?;
            }
        }
        Ok(rows)
    }

    fn measure(
        &self,
        environment: DistanceEnvironment,
        data: &EnvironmentData,
        method: DistanceMethod,
        updates: u64,
    ) -> Result<Vec<DistanceRow>, StudyError> {
        let start = Instant::now();
        let fitted = method.fit(&data.data, data.goal_radius, updates, self.seed, self.device)?;
        let seconds = start.elapsed().as_secs_f64();
        let about = DistanceRow {
            environment: environment.name(),
            method: method.name().to_owned(),
            seed: self.seed,
            updates,
            gpu: gpu(self.device)?,
            data_sha256: data.data.content_hash().to_owned(),
            rows: data.data.index().n_states(),
            fit_seconds: seconds,
            ..DistanceRow::default()
        };
        let measure = |fitted| DistanceRow::measure(fitted, data, self.seed, about.clone());
        Ok(fitted.iter().map(measure).collect())
    }
}

/// Reads the rows of all files in a folder, in the order of reports.
fn all_kept(folder: &Path) -> Result<Vec<DistanceRow>, StudyError> {
    let mut rows = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(StudyError::io(folder))? {
        let path = entry.map_err(StudyError::io(folder))?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            rows.extend(read(&path)?.unwrap_or_default());
        }
    }
    let environments = DistanceEnvironment::ALL.map(DistanceEnvironment::name);
    let methods: Vec<&str> = DistanceMethod::all().map(DistanceMethod::name).collect();
    rows.sort_by_key(|row| {
        let environment = environments.iter().position(|name| *name == row.environment);
        let method = methods.iter().position(|name| *name == row.method);
        (environment, method, row.updates, row.seed, row.reading.clone())
    });
    Ok(rows)
}
