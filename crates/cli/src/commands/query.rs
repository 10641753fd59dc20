//! A run that is asked, and the distances that answer.

use crate::commands::output::tell;
use anyhow::{Context as _, bail};
use clap::ValueEnum;
use isochrone::{
    TemporalDistance,
    audit::Consistency,
    calibration::Calibrated,
    data::{
        Dataset, Successes,
        formats::{Extras, ReadOptions},
    },
    learn::{
        distill::{Agreement, DistilledDistance},
        model::{CheckpointSelector, LearnedDistance, Model},
        run::{OpenOptions, REFINED_FILE, Run},
    },
    refined::{Reading, RefinedConfig, RefinedDistance},
};
use std::{
    cell::OnceCell,
    path::{Path, PathBuf},
};

/// `last`, `best` or a step.
pub fn parse_which(text: &str) -> Result<CheckpointSelector, String> {
    match text {
        "last" => Ok(CheckpointSelector::Last),
        "best" => Ok(CheckpointSelector::Best),
        step => step.parse().map(CheckpointSelector::Step).map_err(|_| "not last, best or a step".into()),
    }
}

/// Which run is asked.
#[derive(clap::Args)]
pub struct RunArgs {
    /// The folder of a run
    #[arg(value_name = "RUN")]
    pub run: PathBuf,

    /// Ask it although its config.toml or manifest.json was edited
    #[arg(long)]
    accept_edits: bool,
}

impl RunArgs {
    /// Opens it.
    pub fn open(&self) -> anyhow::Result<Run> {
        open_run(&self.run, self.accept_edits)
    }
}

/// Opens a run; one that was edited, only if that is accepted.
pub fn open_run(folder: &Path, accepts_edits: bool) -> anyhow::Result<Run> {
    Ok(Run::open_with(folder, &OpenOptions { accept_edits: accepts_edits, ..OpenOptions::default() })?)
}

/// A run that is asked.
pub struct Asker {
    pub run: Run,
    pub model: Model,
    /// Others than those that the run learned from.
    other_data: Option<PathBuf>,
    data: OnceCell<Dataset>,
    refined: OnceCell<RefinedDistance>,
}

/// Which distance answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DistanceArg {
    /// Recorded time: the fastest segments that were recorded between landmarks of the data, in true steps
    Refined,
    /// Likewise, with the median of the segments instead of the fastest: how long it took those who went there
    Typical,
    /// The learned distance: that of the behavior, saturated where the behavior has mixed; generalizes beyond the data
    Learned,
    /// The learned distance, calibrated to the steps observed inside episodes
    Calibrated,
    /// Recorded time, distilled into a network by isochrone distill: in true steps, without the data
    Distilled,
}

impl Asker {
    /// Opens a run; warns about what is not as it should be.
    pub fn open(run: &RunArgs, which: CheckpointSelector, other_data: Option<&Path>) -> anyhow::Result<Self> {
        Self::of(run.open()?, which, other_data)
    }

    /// Asks a run that is open.
    pub fn of(run: Run, which: CheckpointSelector, other_data: Option<&Path>) -> anyhow::Result<Self> {
        let model = Model::of_run(&run, which)?;
        model.warnings.iter().for_each(|warning| tell(&format!("warning: {warning}")));
        let other_data = other_data.map(Path::to_owned);
        Ok(Self { run, model, other_data, data: OnceCell::new(), refined: OnceCell::new() })
    }

    /// Asks another checkpoint of the run.
    pub fn turn_to(&mut self, step: u64) -> anyhow::Result<()> {
        if self.model.step != step {
            self.model = Model::of_run(&self.run, CheckpointSelector::Step(step))?;
        }
        Ok(())
    }

    /// What it learned of distances.
    pub fn distance(&self) -> anyhow::Result<&LearnedDistance> {
        self.model.distance.as_ref().with_context(|| {
            let folder = self.run.folder().display();
            format!("{folder}: behaviour cloning knows no distance; hint: train with another --algorithm")
        })
    }

    /// The distance that answers, with a line on how far it can be trusted.
    pub fn distance_of(&self, which: DistanceArg) -> anyhow::Result<Box<dyn TemporalDistance + '_>> {
        Ok(match which {
            DistanceArg::Refined => Box::new(self.refined()?.with_reading(Reading::Fastest)),
            DistanceArg::Typical => Box::new(self.refined()?.with_reading(Reading::Typical)),
            DistanceArg::Learned => Box::new(self.distance()?),
            DistanceArg::Calibrated => Box::new(Calibrated::fit(self.distance()?, self.data()?, 0)),
            DistanceArg::Distilled => Box::new(self.distilled()?),
        })
    }

    /// How far the answers of a distance can be trusted, in a line.
    pub fn trust(&self, which: DistanceArg, distance: &dyn TemporalDistance) -> anyhow::Result<String> {
        if which == DistanceArg::Distilled {
            return Ok(distilled_trust(&self.distilled()?));
        }
        let Consistency { one_step, above_recorded_lag, .. } = Consistency::of(distance, self.data()?, 0);
        let above = 100.0 * above_recorded_lag;
        let checked = format!(
            "on the data, one recorded step reads {one_step:.1} and {above:.0} % of recorded pairs read longer than they took (by more than a quarter and five steps)"
        );
        Ok(match which {
            DistanceArg::Refined | DistanceArg::Typical => {
                let refined = self.refined()?;
                let (landmarks, radius) = (refined.n_landmarks(), refined.radius_steps());
                format!(
                    "recorded time between {landmarks} landmarks, each covering up to {radius:.1} steps; {checked}"
                )
            }
            _ => format!("learned from the behavior; {checked}"),
        })
    }

    /// Whether recorded time was distilled into a network of the run.
    pub fn has_distilled(&self) -> bool {
        self.run.folder().join(DistilledDistance::FILE_NAME).exists()
    }

    /// Recorded time of the data that the run learned from, as a network; needs no data.
    fn distilled(&self) -> anyhow::Result<DistilledDistance> {
        let folder = self.run.folder();
        let path = folder.join(DistilledDistance::FILE_NAME);
        if !self.has_distilled() {
            let folder = folder.display();
            bail!("{}: there is no such file; hint: isochrone distill {folder} makes it", path.display());
        }
        let distance = DistilledDistance::load(&path)?;
        if distance.data_sha256() != self.run.manifest().data.content_hash {
            bail!(
                "{}: it was distilled from other data than the run learned from; hint: isochrone distill {} makes it again",
                path.display(),
                folder.display()
            );
        }
        Ok(distance)
    }

    /// Recorded time between landmarks of the data; built when it is first asked for.
    pub fn refined(&self) -> anyhow::Result<&RefinedDistance> {
        if let Some(refined) = self.refined.get() {
            return Ok(refined);
        }
        let refined = self.build_refined()?;
        Ok(self.refined.get_or_init(|| refined))
    }

    /// The graph of the run's own data is kept with the run, and built again if the data or the file are not
    /// what they were.
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
                Err(error) => tell(&format!("warning: {error}; it is built again")),
            }
        }
        let refined = RefinedDistance::fit(data, &config)?;
        // Where nothing can be written, it is built again the next time.
        let _ = refined.save(&file, data, &config);
        Ok(refined)
    }

    /// What states are of; read when they are first asked for.
    pub fn data(&self) -> anyhow::Result<&Dataset> {
        if let Some(data) = self.data.get() {
            return Ok(data);
        }
        let data = self.load(&self.run.config().data.read)?;
        Ok(self.data.get_or_init(|| data))
    }

    /// The states that the data mark as a success. Runs keep no further columns of their data: they are read
    /// again, with all.
    pub fn successes(&self) -> anyhow::Result<Option<Successes>> {
        let read = ReadOptions { extras: Extras::All, ..self.run.config().data.read.clone() };
        Ok(self.load(&read)?.successes())
    }

    /// Data like those that the run learned from.
    pub fn other_data(&self, path: &Path) -> anyhow::Result<Dataset> {
        self.load_from(path, &self.run.config().data.read, false)
    }

    fn load(&self, read: &ReadOptions) -> anyhow::Result<Dataset> {
        match &self.other_data {
            Some(path) => self.load_from(path, read, false),
            None => self.load_from(&self.run.config().data.path, read, true),
        }
    }

    fn load_from(&self, path: &Path, read: &ReadOptions, is_own: bool) -> anyhow::Result<Dataset> {
        let (data, name) = (Dataset::load(path, read)?, path.display());
        if is_own && data.content_hash() != self.run.manifest().data.content_hash {
            bail!(
                "{name}: its contents are not those that the run learned from; hint: say --data FILE to ask about others"
            );
        }
        if data.n_transitions() == 0 {
            bail!("{name}: it has no transition; hint: isochrone data inspect shows what is in it");
        }
        let (found, width) = (data.spec().observation.width, self.model.spec.observation.width);
        if found != width {
            bail!(
                "{name}: observations of {found} dimensions, not {width}; hint: give data like those that the run learned from"
            );
        }
        Ok(data)
    }
}

/// How far the answers of a distilled distance can be trusted, in a line.
fn distilled_trust(distance: &DistilledDistance) -> String {
    let head = distance.head().name();
    let (goal, width) = (distance.goal(), distance.width());
    let slice = match goal == (0..width) {
        true => String::new(),
        false => format!(" to goals of which only columns {}..{} count", goal.start, goal.end),
    };
    match distance.agreement() {
        Some(Agreement { median_relative_difference, one_step, .. }) => format!(
            "recorded time{slice}, distilled into a network ({head}); on random pairs it differs from recorded time by a median of {:.1} %, and one recorded step reads {one_step:.1}",
            100.0 * median_relative_difference
        ),
        None => format!("recorded time{slice}, distilled into a network ({head})"),
    }
}
