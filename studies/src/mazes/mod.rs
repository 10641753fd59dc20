//! Mazes of OGBench: what methods learn at a stated budget, with and without a plan, beside what was published and what is possible.

mod curves;
mod recipe;
mod report;

pub use recipe::{Planned, Recipe, Which as Mazes};

use super::training::{Failure, Logs, chosen, kept, study_folder, trained};
use isochrone_core::{EnvFactory, GoalPolicy};
use isochrone_data::{
    Dataset, DatasetBuilder,
    formats::{ReadOptions, Writer},
};
use isochrone_envs::DatasetId;
use isochrone_eval::{
    calibration::PAIRS_PER_OFFSET,
    plan::{PlanMethod, PlannedPolicy, PlannerConfig},
    rollout::{RolloutConfig, Success, success_by_task},
    stats::mean,
};
use isochrone_learn::{
    algos::Algorithm,
    jobs::side_by_side,
    model::{Model, Which},
    run::{Lock, MadeBy, Run, RunConfig, checkpoint::sha256, write_file},
};
use serde::{Deserialize, Serialize};
use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

/// Counts changes of how runs are judged: verdicts of another are made again.
const JUDGEMENT: u64 = 2;

/// Tasks of the study are those of this seed and the run's.
const TASKS: u64 = 5000;

/// Recordings that are made again to see that a file is what it should be.
const MADE_AGAIN: usize = 3;

/// A study and its folder.
pub struct Study {
    folder: PathBuf,
    recipe: Recipe,
    methods: Vec<Algorithm>,
    data_sets: Vec<DataSet>,
    /// Held as long as the study lives.
    _lock: Lock,
}

/// What is learned from, and where it is put to use.
struct DataSet {
    id: DatasetId,
    path: PathBuf,
    data: Arc<Dataset>,
    factory: EnvFactory,
    /// What the best walker does, for every task; computed when it is first asked for.
    ceiling: OnceLock<Option<Vec<f64>>>,
}

/// What was measured of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// What it learned from.
    pub data_set: String,
    /// What learned.
    pub method: String,
    /// Of the run.
    pub seed: u64,
    /// Updates.
    pub steps: u64,
    /// Seconds of training, on one thread.
    pub seconds: f64,
    /// The last checkpoints, in updates.
    pub checkpoints: Vec<u64>,
    /// At each of them, the share of episodes that arrived, for every task.
    pub alone: Vec<Vec<f64>>,
    /// Likewise with a graph above the policy, at the last of them; empty without a distance.
    pub planned: Vec<Vec<f64>>,
    /// What the judgement depends on: the configuration, the data and the recipe.
    pub of: String,
    /// Of the program that trained it first.
    pub trained_by: String,
    /// Of the program that judged.
    pub revision: String,
}

impl Verdict {
    /// Of the policy alone.
    pub fn success_alone(&self) -> Option<Success> {
        Success::of(&means(&self.alone))
    }

    /// With a graph above it; nothing without a distance.
    pub fn success_planned(&self) -> Option<Success> {
        Success::of(&means(&self.planned))
    }
}

/// Of one data set and one method, seed by seed.
fn runs_of<'a>(verdicts: &'a [Verdict], data_set: &str, method: Algorithm) -> Vec<&'a Verdict> {
    let is_of = |verdict: &&Verdict| verdict.data_set == data_set && verdict.method == method.name();
    verdicts.iter().filter(is_of).collect()
}

/// The mean over tasks of every checkpoint.
fn means(checkpoints: &[Vec<f64>]) -> Vec<f64> {
    checkpoints.iter().map(|tasks| mean(tasks)).collect()
}

impl DataSet {
    /// Records a data set, or finds it where it was.
    fn open(folder: &Path, id: DatasetId, episodes: usize, seed: u64) -> Result<Self, Failure> {
        let path = folder.join(format!("{}.arrow", id.name()));
        if !path.exists() {
            let mut builder = DatasetBuilder::default();
            id.collect(episodes, seed, &mut builder)?;
            let mut writer = Writer::for_path(&path)?;
            builder.finish().send(&mut writer)?;
            writer.finish()?;
        }
        let data = Dataset::load(&path, ReadOptions::default())?;
        // The first recordings are made again: another seed, program or library would show.
        let mut again = DatasetBuilder::default();
        id.collect(MADE_AGAIN.min(episodes), seed, &mut again)?;
        let again = again.finish();
        let is_same = |episode: usize| {
            let (kept, made) = (data.episode(episode), again.episode(episode));
            kept.observations == made.observations && kept.actions == made.actions
        };
        if data.n_episodes() != episodes || !(0..again.n_episodes()).all(is_same) {
            return Err(format!(
                "{}: these are not the {episodes} recordings of this study; hint: choose another --output, or remove it",
                path.display()
            )
            .into());
        }
        let factory = id.env().make()?;
        Ok(Self { id, path, data: Arc::new(data), factory, ceiling: OnceLock::new() })
    }

    /// What the best walker does, for every task.
    fn ceiling(&self) -> Option<&[f64]> {
        self.ceiling.get_or_init(|| self.id.env().optimal_success(TASKS)).as_deref()
    }
}

impl Study {
    /// Records the data, or finds them where they were. `methods` are those to compare; all for none.
    ///
    /// # Errors
    /// If files cannot be read or written, or the folder holds another study.
    pub fn open(folder: &Path, recipe: Recipe, methods: &[Algorithm]) -> Result<Self, Failure> {
        // Before anything is recorded, which takes minutes.
        let methods = chosen(&recipe.methods(), methods)?;
        let (folder, lock) = study_folder(folder)?;
        let open = |id: DatasetId| DataSet::open(&folder, id, recipe.episodes_of(id), recipe.data_seed);
        let data_sets = recipe.datasets().into_iter().map(open).collect::<Result<_, _>>()?;
        Ok(Self { folder, recipe, methods, data_sets, _lock: lock })
    }

    /// How many runs there are.
    pub fn n_runs(&self) -> usize {
        self.data_sets.len() * self.methods.len() * self.recipe.seeds as usize
    }

    /// Trains and judges what is not yet done, seed by seed, and writes the report; `None` if it was stopped before. `tell` is told what a run is worth when it is done. A report of what is
    /// done so far is written whenever a run is.
    ///
    /// # Errors
    /// If a run diverges, or files cannot be read or written.
    pub fn run(
        &self,
        stop: &AtomicBool,
        tell: &(dyn Fn(&Verdict) + Sync),
    ) -> Result<Option<Vec<Verdict>>, Failure> {
        let jobs: Vec<(u64, usize, Algorithm)> = (0..self.recipe.seeds)
            .flat_map(|seed| (0..self.data_sets.len()).map(move |set| (seed, set)))
            .flat_map(|(seed, set)| self.methods.iter().map(move |&method| (seed, set, method)))
            .collect();
        let done: Mutex<Vec<(usize, Verdict)>> = Mutex::default();
        let numbered: Vec<(usize, &(u64, usize, Algorithm))> = jobs.iter().enumerate().collect();
        side_by_side(&numbered, |&(number, &(seed, set, method))| {
            if let Some(verdict) = self.one(&self.data_sets[set], method, seed, stop)? {
                tell(&verdict);
                let mut done = done.lock().expect("nobody panics with it");
                done.push((number, verdict));
                done.sort_by_key(|(number, _)| *number);
                // What is done is said, whatever becomes of the rest.
                self.write_report(&done.iter().map(|(_, verdict)| verdict.clone()).collect::<Vec<_>>())?;
            }
            Ok::<_, Failure>(())
        })?;
        let done: Vec<Verdict> =
            done.into_inner().expect("nobody panicked").into_iter().map(|(_, verdict)| verdict).collect();
        Ok((done.len() == jobs.len()).then_some(done))
    }

    fn run_folder(&self, set: &DataSet, method: Algorithm, seed: u64) -> PathBuf {
        self.folder.join("runs").join(set.id.name()).join(format!("{}-{seed}", method.name()))
    }

    /// Trains one run to its end and judges it; `None` if it was stopped.
    fn one(
        &self,
        set: &DataSet,
        method: Algorithm,
        seed: u64,
        stop: &AtomicBool,
    ) -> Result<Option<Verdict>, Failure> {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let logs = Logs { path: &set.path, data: &set.data };
        let config = self.recipe.config(method, seed, logs)?;
        let folder = self.run_folder(set, method, seed);
        let Some((run, _lock)) =
            trained(&folder, &config, logs, None::<isochrone_learn::evaluation::ObservedSteps>, stop)?
        else {
            return Ok(None);
        };
        self.verdict(&run, set, method, seed, stop)
    }

    /// The judgement of a run, read if it was made before; `None` if it was stopped.
    fn verdict(
        &self,
        run: &Run,
        set: &DataSet,
        method: Algorithm,
        seed: u64,
        stop: &AtomicBool,
    ) -> Result<Option<Verdict>, Failure> {
        let with_plan = self.recipe.planned(method);
        let of = self.hash_of(run.config(), set, with_plan);
        let path = run.folder().join("verdict.json");
        if let Some(verdict) = kept(&path, |verdict: &Verdict| verdict.of == of) {
            return Ok(Some(verdict));
        }
        let steps = run.checkpoints().steps()?;
        let last = &steps[steps.len().saturating_sub(self.recipe.checkpoints)..];
        let (mut alone, mut planned) = (Vec::new(), Vec::new());
        for (later, &step) in (0..last.len()).rev().zip(last) {
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let model = Model::of_run(run, Which::Step(step))?;
            let policy = model.policy.as_ref().expect("recordings have actions");
            let episodes = |usual: u64| self.recipe.episodes_before(later, usual);
            alone.push(self.success(set, seed, episodes(self.recipe.episodes), policy));
            if later < with_plan.checkpoints {
                planned.extend(self.success_planned(&model, set, seed, episodes(with_plan.episodes)));
            }
        }
        let verdict = Verdict {
            data_set: set.id.name(),
            method: method.name().to_owned(),
            seed,
            steps: run.config().steps,
            seconds: run.status()?.seconds,
            checkpoints: last.to_vec(),
            alone,
            planned,
            of,
            trained_by: run.manifest().made_by.git_revision.clone().unwrap_or_else(|| "unknown".into()),
            revision: MadeBy::revision().unwrap_or("unknown").to_owned(),
        };
        write_file(&path, serde_json::to_string_pretty(&verdict)?.as_bytes())?;
        Ok(Some(verdict))
    }

    /// Success for every task.
    fn success(&self, set: &DataSet, seed: u64, episodes: u64, policy: &dyn GoalPolicy) -> Vec<f64> {
        let n_tasks = set.id.env().spec().n_tasks;
        let rollouts = RolloutConfig { episodes: episodes * n_tasks as u64, seed: TASKS + seed };
        success_by_task(&rollouts.run(&*set.factory, policy), n_tasks)
    }

    /// Success for every task with a plan; nothing without a distance.
    fn success_planned(&self, model: &Model, set: &DataSet, seed: u64, episodes: u64) -> Option<Vec<f64>> {
        let (distance, policy) = (model.distance.as_ref()?, model.policy.as_ref()?);
        let config = PlannerConfig {
            method: PlanMethod::Graph { max_edge_steps: self.recipe.horizon_steps },
            round_trip: self.recipe.is_reversible,
            calibrated: true,
            transitions: self.recipe.graph_states,
            seed,
        };
        let planner = config.build(distance, &set.data).expect("datasets have transitions");
        Some(self.success(set, seed, episodes, &PlannedPolicy { planner, policy }))
    }

    /// What a judgement depends on, in sixteen digits.
    fn hash_of(&self, config: &RunConfig, set: &DataSet, planned: Planned) -> String {
        let mut config = config.clone();
        // Where the data lie does not matter.
        config.data.path = PathBuf::new();
        let Recipe {
            episodes,
            earlier_episodes,
            checkpoints,
            graph_states,
            horizon_steps,
            is_reversible,
            ..
        } = &self.recipe;
        let physics = isochrone_envs::mujoco_version().unwrap_or_default();
        let judged_by = format!(
            "{episodes} {earlier_episodes} {checkpoints} {graph_states} {horizon_steps} {is_reversible} {planned:?} {TASKS} {PAIRS_PER_OFFSET} {physics} {JUDGEMENT}"
        );
        let text = toml::to_string(&config).expect("settings are plain");
        sha256([text.as_str(), set.data.content_hash(), &judged_by].concat().as_bytes())[..16].to_owned()
    }
}
