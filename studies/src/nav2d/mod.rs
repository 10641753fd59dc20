//! The controlled study of Contrastive Metric Distillation: stitching on one-way streets.
//!
//! Recordings, all methods, all seeds, figures and a report; every piece is kept as soon as it is done, and not made again.

mod judge;
mod pictures;
mod recipe;
mod report;

pub use judge::{Fit, Judge, Judgement, Score, SuccessInTraining, Verdict};
pub use recipe::Recipe;
pub use report::Bar;

use super::training::{Failure, Logs, chosen, kept, study_folder, trained};
use isochrone_data::{
    Dataset,
    formats::{ReadOptions, Writer},
};
use isochrone_learn::{
    algos::Algorithm,
    error::LearnError,
    jobs::side_by_side,
    model::{Model, Which},
    run::{Lock, MadeBy, Run, RunConfig, checkpoint::sha256, metrics, write_file},
};
use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// Counts changes of how runs are judged: verdicts of another are made again.
const JUDGEMENT: u64 = 1;

/// A study and its folder.
pub struct Study {
    folder: PathBuf,
    recipe: Recipe,
    methods: Vec<Algorithm>,
    data_path: PathBuf,
    data: Arc<Dataset>,
    judge: Judge,
    /// Held as long as the study lives.
    _lock: Lock,
}

/// One run with what was measured of it.
pub struct Finished {
    /// What was measured.
    pub verdict: Verdict,
    /// Success over training.
    pub curve: Vec<(u64, f64)>,
}

impl Study {
    /// Records the data, or finds them where they were, and solves the world. `methods` are those to compare; all for none.
    ///
    /// # Errors
    /// If files cannot be read or written, or the folder holds another study.
    pub fn open(folder: &Path, recipe: Recipe, methods: &[Algorithm]) -> Result<Self, Failure> {
        let (folder, lock) = study_folder(folder)?;
        let judge = Judge::new(&recipe);
        let data_path = folder.join("recordings.arrow");
        let data = Arc::new(judge.world.dataset(recipe.episodes, recipe.data_seed));
        if data_path.exists() {
            let found = Dataset::load(&data_path, ReadOptions::default())?;
            if found.content_hash() != data.content_hash() {
                return Err(format!(
                    "{}: these are not the recordings of this version of the study; hint: choose another --output",
                    data_path.display()
                )
                .into());
            }
        } else {
            let mut writer = Writer::for_path(&data_path)?;
            data.send(&mut writer)?;
            writer.finish()?;
        }
        let methods = chosen(&recipe.methods(), methods)?;
        Ok(Self { folder, recipe, methods, data_path, data, judge, _lock: lock })
    }

    /// How many runs there are.
    pub fn n_runs(&self) -> usize {
        self.methods.len() * self.recipe.seeds as usize
    }

    /// Trains and judges what is not yet done, and writes figures and reports; `None` if it was stopped before. `tell` is told what a run is worth when it is done.
    ///
    /// # Errors
    /// If a run diverges, or files cannot be read or written.
    pub fn run(
        &self,
        stop: &AtomicBool,
        tell: &(dyn Fn(&Verdict) + Sync),
    ) -> Result<Option<Vec<Finished>>, Failure> {
        let jobs: Vec<(Algorithm, u64)> = (0..self.recipe.seeds)
            .flat_map(|seed| self.methods.iter().map(move |&method| (method, seed)))
            .collect();
        let finished = side_by_side(&jobs, |&(method, seed)| {
            let finished = self.one(method, seed, stop)?;
            if let Some(finished) = &finished {
                tell(&finished.verdict);
            }
            Ok::<_, Failure>(finished)
        })?;
        let finished: Option<Vec<Finished>> = finished.into_iter().collect();
        if let Some(finished) = &finished {
            self.write_report(finished)?;
        }
        Ok(finished)
    }

    fn run_folder(&self, method: Algorithm, seed: u64) -> PathBuf {
        self.folder.join("runs").join(format!("{}-{seed}", method.name()))
    }

    /// Trains one run to its end and judges it; `None` if it was stopped.
    fn one(&self, method: Algorithm, seed: u64, stop: &AtomicBool) -> Result<Option<Finished>, Failure> {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let config = self.recipe.config(method, seed, &self.data_path, &self.data)?;
        let folder = self.run_folder(method, seed);
        let logs = Logs { path: &self.data_path, data: &self.data };
        let evaluation = SuccessInTraining { judge: &self.judge };
        let Some((run, lock)) = trained(&folder, &config, logs, Some(evaluation), stop)? else {
            return Ok(None);
        };
        let verdict = self.verdict(&run, method, seed)?;
        drop(lock);
        let curve = metrics::curve(&run.records()?, "evaluation/success");
        Ok(Some(Finished { verdict, curve }))
    }

    /// The judgement of a run, read if it was made before.
    fn verdict(&self, run: &Run, method: Algorithm, seed: u64) -> Result<Verdict, Failure> {
        let of = self.hash_of(run.config());
        let path = run.folder().join("verdict.json");
        if let Some(verdict) = kept(&path, |verdict: &Verdict| verdict.of == of) {
            return Ok(verdict);
        }
        let model = Model::of_run(run, Which::Last)?;
        if model.step != run.config().steps {
            return Err(format!(
                "{}: the last checkpoint is damaged; hint: remove the run's folder, and it is trained again",
                run.folder().display()
            )
            .into());
        }
        let Judgement { alone, greedy, graph, fit } = self.judge.judge(&model, &self.data, seed);
        let verdict = Verdict {
            method: method.name().to_owned(),
            seed,
            seconds: run.status()?.seconds,
            alone,
            greedy,
            graph,
            fit,
            of,
            revision: MadeBy::revision().unwrap_or("unknown").to_owned(),
        };
        write_file(&path, serde_json::to_string_pretty(&verdict)?.as_bytes())?;
        Ok(verdict)
    }

    /// What a judgement depends on, in sixteen digits.
    fn hash_of(&self, config: &RunConfig) -> String {
        let mut config = config.clone();
        // Where the data lie does not matter.
        config.data.path = PathBuf::new();
        let text = toml::to_string(&config).unwrap_or_default();
        // More seeds do not change what one is worth.
        let mut recipe = self.recipe.clone();
        recipe.seeds = 0;
        let recipe = toml::to_string(&recipe).unwrap_or_default();
        let parts =
            [text.as_str(), self.data.content_hash(), &recipe, isochrone_envs::nav2d::StreetMap::STANDARD];
        let bytes = [parts.concat().as_bytes(), &JUDGEMENT.to_le_bytes()].concat();
        sha256(&bytes)[..16].to_owned()
    }

    fn model(&self, method: Algorithm, seed: u64) -> Result<Model, LearnError> {
        Model::open(&self.run_folder(method, seed), Which::Last)
    }
}
