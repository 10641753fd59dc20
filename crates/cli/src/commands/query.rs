//! A loaded run and its distances.

use crate::commands::{
    output::note,
    remote::{local, trained_on},
};
use anyhow::{Context as _, anyhow, bail};
use clap::ValueEnum;
use isochrone::{
    GoalPolicy as _, TemporalDistance,
    audit::Consistency,
    calibration::Calibrated,
    chance::ChanceModel,
    data::{
        Dataset, Successes,
        formats::{Extras, ReadOptions},
    },
    learn::{
        ComputeDevice,
        distill::{
            Agreement, DistilledDistance,
            policy::{DistilledPolicy, WaypointPolicy},
        },
        model::{CheckpointSelector, LearnedDistance, Model},
        run::{OpenOptions, REFINED_FILE, Run},
    },
    refined::{Reading, RefinedConfig, RefinedDistance},
};
use std::{
    cell::OnceCell,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Parses `last`, `best` or a step.
pub fn parse_checkpoint(text: &str) -> Result<CheckpointSelector, String> {
    match text {
        "last" => Ok(CheckpointSelector::Last),
        "best" => Ok(CheckpointSelector::Best),
        step => step.parse().map(CheckpointSelector::Step).map_err(|_| "not last, best or a step".into()),
    }
}

/// The run to load.
#[derive(clap::Args)]
pub struct RunArgs {
    /// Run directory
    #[arg(value_name = "RUN")]
    pub run: PathBuf,

    /// Accept a config.toml or manifest.json that was edited after the run started
    #[arg(long)]
    accept_edits: bool,
}

impl RunArgs {
    /// Opens the run.
    pub fn open(&self) -> anyhow::Result<Run> {
        open_run(&self.run, self.accept_edits)
    }
}

/// Opens a run. A run that was edited is rejected unless edits are accepted.
pub fn open_run(folder: &Path, accept_edits: bool) -> anyhow::Result<Run> {
    Ok(Run::open_with(folder, &OpenOptions { accept_edits, ..OpenOptions::default() })?)
}

/// A run with the model of a checkpoint; its data and refined distance are loaded on first use.
pub struct LoadedRun {
    pub run: Run,
    pub model: Model,
    device: ComputeDevice,
    /// The dataset to use instead of the run's training data.
    other_data: Option<PathBuf>,
    data: OnceCell<Dataset>,
    refined: OnceCell<RefinedDistance>,
    chance: OnceCell<Arc<ChanceModel>>,
}

/// The distance to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DistanceArg {
    /// Recorded time: the fastest recorded segments between landmarks of the data, in true steps
    Refined,
    /// Recorded time with the median of the segments instead of the fastest: typical behavior
    Typical,
    /// Distance of the trained network, defined everywhere; CMD and CRL learn that of the behavior
    /// policy, which saturates at distances beyond the horizon of the discount
    Learned,
    /// Learned distance, calibrated to the steps observed within episodes
    Calibrated,
    /// Recorded time, distilled into a network by isochrone distill; in true steps, without the
    /// data
    Distilled,
}

impl LoadedRun {
    /// Opens a run and loads a checkpoint. Prints the warnings of the model.
    pub fn open(
        run: &RunArgs,
        checkpoint: CheckpointSelector,
        other_data: Option<&Path>,
        device: ComputeDevice,
    ) -> anyhow::Result<Self> {
        Self::of(run.open()?, checkpoint, other_data, device)
    }

    /// Loads a checkpoint of an open run. Prints the warnings of the model.
    pub fn of(
        run: Run,
        checkpoint: CheckpointSelector,
        other_data: Option<&Path>,
        device: ComputeDevice,
    ) -> anyhow::Result<Self> {
        let model = Model::of_run_on(&run, checkpoint, device)?;
        model.warnings.iter().for_each(|warning| note(&format!("warning: {warning}")));
        let other_data = other_data.map(Path::to_owned);
        Ok(Self {
            run,
            model,
            device,
            other_data,
            data: OnceCell::new(),
            refined: OnceCell::new(),
            chance: OnceCell::new(),
        })
    }

    /// Loads another checkpoint of the run.
    pub fn load_checkpoint(&mut self, step: u64) -> anyhow::Result<()> {
        if self.model.step != step {
            self.model = Model::of_run_on(&self.run, CheckpointSelector::Step(step), self.device)?;
        }
        Ok(())
    }

    /// Returns the learned distance.
    pub fn distance(&self) -> anyhow::Result<&LearnedDistance> {
        self.model.distance.as_ref().with_context(|| {
            let folder = self.run.folder().display();
            format!("{folder}: behavior cloning learns no distance; hint: train with another --algorithm")
        })
    }

    /// Returns the selected distance.
    pub fn distance_of(&self, which: DistanceArg) -> anyhow::Result<Box<dyn TemporalDistance + '_>> {
        Ok(match which {
            DistanceArg::Refined => Box::new(self.refined()?.with_reading(Reading::Fastest)),
            DistanceArg::Typical => Box::new(self.refined()?.with_reading(Reading::Typical)),
            DistanceArg::Learned => Box::new(self.distance()?),
            DistanceArg::Calibrated => Box::new(Calibrated::fit(self.distance()?, self.data()?, 0)),
            DistanceArg::Distilled => Box::new(self.distilled()?),
        })
    }

    /// Describes the reliability of a distance in one line.
    pub fn trust(&self, which: DistanceArg, distance: &dyn TemporalDistance) -> anyhow::Result<String> {
        if which == DistanceArg::Distilled {
            return Ok(distilled_trust(&self.distilled()?));
        }
        let Consistency { one_step, above_recorded_lag, .. } = Consistency::of(distance, self.data()?, 0);
        let above = 100.0 * above_recorded_lag;
        let checked = format!(
            "on the data, one recorded step has distance {one_step:.1}, and {above:.0} % of recorded pairs are overestimated (by more than a quarter and five steps)"
        );
        Ok(match which {
            DistanceArg::Refined | DistanceArg::Typical => {
                let refined = self.refined()?;
                let (landmarks, radius) = (refined.n_landmarks(), refined.radius_steps());
                format!(
                    "recorded time between {landmarks} landmarks with a radius of up to {radius:.1} steps; {checked}"
                )
            }
            _ => format!("learned by {}; {checked}", self.run.manifest().algorithm),
        })
    }

    /// Returns whether the run has a distilled distance.
    pub fn has_distilled(&self) -> bool {
        self.run.folder().join(DistilledDistance::FILE_NAME).exists()
    }

    /// Loads the distilled recorded time of the training data. The data are not needed.
    fn distilled(&self) -> anyhow::Result<DistilledDistance> {
        let folder = self.run.folder();
        let path = folder.join(DistilledDistance::FILE_NAME);
        if !self.has_distilled() {
            let folder = folder.display();
            bail!("{}: no such file; hint: create it with isochrone distill {folder}", path.display());
        }
        let distance = DistilledDistance::load_on(&path, self.device)?;
        let data_sha256 = self.data_sha256()?;
        let width = self.model.spec.observation.width;
        if distance.data_sha256() != data_sha256 || distance.width() != width {
            bail!(
                "{}: distilled from other data than the run was trained on; hint: create it again with isochrone distill {}",
                path.display(),
                folder.display()
            );
        }
        Ok(distance)
    }

    /// Returns the hash of all episodes of the run's own data, including those that are held out:
    /// networks are distilled from them.
    fn data_sha256(&self) -> anyhow::Result<String> {
        let is_divided = self.run.config().data.hold_out.is_some_and(|one_in| one_in > 0);
        match is_divided {
            true => {
                let data = &self.run.config().data;
                Ok(self.load_from(&data.path, &data.read, true)?.content_hash().to_owned())
            }
            false => Ok(self.run.manifest().data.content_hash.clone()),
        }
    }

    /// Loads the policy that the planner was distilled into.
    pub fn distilled_policy(&self) -> anyhow::Result<DistilledPolicy> {
        let width = self.model.spec.action.width;
        self.distilled_planner(DistilledPolicy::FILE_NAME, "--policy", |policy| {
            !policy.has_displacements() && policy.action_width() == width
        })
    }

    /// Loads the network that the planner's waypoints were distilled into.
    pub fn waypoint_network(&self) -> anyhow::Result<DistilledPolicy> {
        let goal = self.model.spec.goal_space();
        self.distilled_planner(WaypointPolicy::FILE_NAME, "--waypoints", |network| {
            network.has_displacements() && network.goal() == goal
        })
    }

    fn distilled_planner(
        &self,
        name: &str,
        flag: &str,
        fits: impl Fn(&DistilledPolicy) -> bool,
    ) -> anyhow::Result<DistilledPolicy> {
        let folder = self.run.folder();
        let path = folder.join(name);
        let create = |what: &str, how: &str| {
            let (path, folder) = (path.display(), folder.display());
            anyhow!("{path}: {what}; hint: create it {how} isochrone distill {folder} {flag}")
        };
        if !path.exists() {
            return Err(create("no such file", "with"));
        }
        let policy = DistilledPolicy::load_on(&path, self.device)?;
        let is_ours = policy.data_sha256() == self.data_sha256()?
            && policy.observation_width() == self.model.spec.observation.width;
        if !is_ours {
            return Err(create("distilled from other data than the run was trained on", "again with"));
        }
        if !fits(&policy) {
            return Err(create("distilled for another use or another goal space", "again with"));
        }
        Ok(policy)
    }

    /// Returns recorded time between landmarks of the data, which is built on first use.
    pub fn refined(&self) -> anyhow::Result<&RefinedDistance> {
        if let Some(refined) = self.refined.get() {
            return Ok(refined);
        }
        let refined = self.build_refined()?;
        Ok(self.refined.get_or_init(|| refined))
    }

    /// Builds recorded time. The graph of the training data is stored in the run directory, and
    /// built again if the data or the file changed.
    fn build_refined(&self) -> anyhow::Result<RefinedDistance> {
        let (data, config) = (self.data()?, RefinedConfig::default());
        if self.other_data.is_some() {
            return Ok(RefinedDistance::fit(data, &config)?);
        }
        let file = self.run.folder().join(REFINED_FILE);
        if file.exists() {
            match RefinedDistance::open(&file, data, &config) {
                Ok(Some(refined)) => return Ok(refined),
                Ok(None) => {}
                Err(error) => note(&format!("warning: {error}; the file is built again")),
            }
        }
        let refined = RefinedDistance::fit(data, &config)?;
        // If the file cannot be written, the graph is built again the next time.
        let _ = refined.save(&file, data, &config);
        Ok(refined)
    }

    /// Returns the model of the stochastic planner, which `fit` builds on first use.
    pub fn chance(
        &self,
        fit: impl FnOnce(&Dataset) -> anyhow::Result<Arc<ChanceModel>>,
    ) -> anyhow::Result<&Arc<ChanceModel>> {
        if let Some(model) = self.chance.get() {
            return Ok(model);
        }
        let model = fit(self.data()?)?;
        Ok(self.chance.get_or_init(|| model))
    }

    /// Returns the dataset that states refer to, which is read on first use.
    pub fn data(&self) -> anyhow::Result<&Dataset> {
        if let Some(data) = self.data.get() {
            return Ok(data);
        }
        let data = self.load(&self.run.config().data.read)?;
        Ok(self.data.get_or_init(|| data))
    }

    /// Returns the states that the data mark as a success. Runs keep no extra columns, so the data
    /// are read again with all columns.
    pub fn successes(&self) -> anyhow::Result<Option<Successes>> {
        let read = ReadOptions { extras: Extras::All, ..self.run.config().data.read.clone() };
        Ok(self.load(&read)?.successes())
    }

    /// Loads another dataset with the same columns as the training data.
    pub fn other_data(&self, path: &Path) -> anyhow::Result<Dataset> {
        self.load_from(path, &self.run.config().data.read, false)
    }

    fn load(&self, read: &ReadOptions) -> anyhow::Result<Dataset> {
        match &self.other_data {
            Some(path) => self.load_from(path, read, false),
            None => self.load_from(&self.run.config().data.path, read, true),
        }
    }

    fn load_from(&self, path: &Path, read: &ReadOptions, is_training_data: bool) -> anyhow::Result<Dataset> {
        let name = path.display();
        if !is_training_data && !read.embeddings.is_empty() {
            bail!(
                "{name}: the run has embeddings of its training data only; hint: train on data that have all frames"
            );
        }
        let path = match is_training_data {
            true => trained_on(path, "use --data FILE if they moved")?,
            false => local(path)?,
        };
        let data = Dataset::load(path, read)?;
        let config = &self.run.config().data;
        let trained = is_training_data.then(|| config.held_out(&data)).transpose()?.flatten();
        let trained = trained.as_ref().map_or(&data, |(training, _)| training);
        if is_training_data && trained.content_hash() != self.run.manifest().data.content_hash {
            bail!(
                "{name}: the contents changed since the run was trained; hint: use --data FILE for other data"
            );
        }
        if data.n_transitions() == 0 {
            bail!("{name}: no transitions; hint: see its contents with isochrone data inspect");
        }
        let (found, width) = (data.spec().observation.width, self.model.spec.observation.width);
        if found != width {
            bail!(
                "{name}: observations of {found} dimensions, not {width}; hint: give data with the same columns as the training data"
            );
        }
        Ok(data)
    }
}

/// Describes the reliability of a distilled distance in one line.
fn distilled_trust(distance: &DistilledDistance) -> String {
    let head = distance.head().name();
    let (goal, width) = (distance.goal(), distance.width());
    let slice = match goal == (0..width) {
        true => String::new(),
        false => format!(" to goals defined by columns {}..{}", goal.start, goal.end),
    };
    match distance.agreement() {
        Some(Agreement { median_relative_difference, one_step, .. }) => format!(
            "recorded time{slice}, distilled into a network ({head}); on random pairs it differs from recorded time by a median of {:.1} %, and one recorded step has distance {one_step:.1}",
            100.0 * median_relative_difference
        ),
        None => format!("recorded time{slice}, distilled into a network ({head})"),
    }
}
