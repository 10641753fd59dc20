//! Situations that a run is asked about: points, or states of its data.

use crate::commands::output::tell;
use anyhow::{Context as _, bail};
use clap::ValueEnum;
use isochrone::{
    TemporalDistance,
    audit::Consistency,
    calibration::Calibrated,
    data::Dataset,
    learn::{
        distill::{Agreement, DistilledDistance},
        model::{CheckpointSelector, LearnedDistance, Model},
        run::{OpenOptions, Run},
    },
    refined::{Reading, RefinedConfig, RefinedDistance},
};
use std::{
    cell::OnceCell,
    ops::Range,
    path::{Path, PathBuf},
};

/// Deviations from the mean of the data, in any dimension, beyond which a network guesses.
const FAR_OUT: f32 = 6.0;

/// Where situations stand, and what they are called.
#[derive(Default)]
pub struct Situations {
    pub names: Vec<String>,
    /// `[n, width]`
    pub rows: Vec<f32>,
}

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
            "on the data, one recorded step reads {one_step:.1} and {above:.0} % of recorded pairs read longer than they took"
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
        let refined = RefinedDistance::fit(self.data()?, &RefinedConfig::default())?;
        Ok(self.refined.get_or_init(|| refined))
    }

    /// What states are of; read when they are first asked for.
    pub fn data(&self) -> anyhow::Result<&Dataset> {
        if let Some(data) = self.data.get() {
            return Ok(data);
        }
        let data = self.load()?;
        Ok(self.data.get_or_init(|| data))
    }

    fn load(&self) -> anyhow::Result<Dataset> {
        let config = &self.run.config().data;
        let path = self.other_data.as_ref().unwrap_or(&config.path);
        let (data, name) = (Dataset::load(path, &config.read)?, path.display());
        if self.other_data.is_none() && data.content_hash() != self.run.manifest().data.content_hash {
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

    /// Points and states as rows; warns about those that nothing was learned of.
    pub fn situations(&self, texts: &[String], flag: &str) -> anyhow::Result<Situations> {
        let width = self.model.spec.observation.width;
        let mut situations = Situations::default();
        for text in texts {
            match text.strip_prefix('@') {
                None => {
                    situations.rows.extend(point(text, width).with_context(|| flag.to_owned())?);
                    situations.names.push(text.clone());
                }
                Some(place) => {
                    states(place, self.data()?, &mut situations).with_context(|| flag.to_owned())?;
                }
            }
        }
        if let Some(distance) = &self.model.distance {
            let (row, deviations) = distance.farthest(&situations.rows);
            if deviations > FAR_OUT {
                tell(&format!(
                    "warning: {flag} {}: {deviations:.0} deviations from the mean of the data; nothing was learned out there",
                    situations.names[row]
                ));
            }
        }
        Ok(situations)
    }

    /// One situation.
    pub fn situation(&self, text: &str, flag: &str) -> anyhow::Result<Vec<f32>> {
        let situations = self.situations(&[text.to_owned()], flag)?;
        if situations.names.len() != 1 {
            bail!("{flag} {text}: {} situations; hint: give one, like @0:10", situations.names.len());
        }
        Ok(situations.rows)
    }
}

/// How far the answers of a distilled distance can be trusted, in a line.
fn distilled_trust(distance: &DistilledDistance) -> String {
    let head = distance.head().name();
    match distance.agreement() {
        Some(Agreement { median_relative_difference, one_step, .. }) => format!(
            "recorded time, distilled into a network ({head}); on random pairs it differs from recorded time by a median of {:.1} %, and one recorded step reads {one_step:.1}",
            100.0 * median_relative_difference
        ),
        None => format!("recorded time, distilled into a network ({head})"),
    }
}

fn point(text: &str, width: usize) -> anyhow::Result<Vec<f32>> {
    let numbers: Result<Vec<f32>, _> = text.split(',').map(|number| number.trim().parse::<f32>()).collect();
    let Ok(numbers) = numbers else {
        let example = (0..width).map(|dimension| dimension.to_string()).collect::<Vec<_>>().join(",");
        bail!(
            "'{text}' is not a point; hint: give {width} numbers like {example}, or a state of the data like @0:10"
        );
    };
    if numbers.len() != width || numbers.iter().any(|number| !number.is_finite()) {
        bail!(
            "'{text}' is not {width} finite numbers; hint: distances compare whole observations, of {width} dimensions here; or give a state of the data like @0:10"
        );
    }
    Ok(numbers)
}

/// `EPISODE:ROW`, `EPISODE:last` or `EPISODE:FROM..TO`, the last not included; `EPISODE` alone is all of its states.
fn states(place: &str, data: &Dataset, situations: &mut Situations) -> anyhow::Result<()> {
    let wrong = || {
        format!("'@{place}' is not a state; hint: @EPISODE:ROW or @EPISODE:FROM..TO, like @0:10 or @0:10..20")
    };
    let number = |text: &str| text.parse::<usize>().ok().with_context(wrong);
    let (episode, rows) =
        place.split_once(':').map_or((place, None), |(episode, rows)| (episode, Some(rows)));
    let episode = number(episode)?;
    if episode >= data.n_episodes() {
        bail!("'@{place}': there are {} episodes; hint: they are counted from 0", data.n_episodes());
    }
    let view = data.episode(episode);
    let states = view.steps + 1;
    let rows: Range<usize> = match rows.map(|rows| (rows, rows.split_once(".."))) {
        None => 0..states,
        Some((_, Some((from, to)))) => number(from)?..number(to)?,
        Some(("last", None)) => states - 1..states,
        Some((row, None)) => number(row)?..number(row)?.saturating_add(1),
    };
    if rows.start >= rows.end || rows.end > states {
        bail!(
            "'@{place}': episode {episode} has rows 0 to {}; hint: FROM is less than TO, TO is not included, and @EPISODE alone is all of them",
            states - 1
        );
    }
    let width = data.spec().observation.width;
    situations.rows.extend(&view.observations[rows.start * width..rows.end * width]);
    situations.names.extend(rows.map(|row| format!("@{episode}:{row}")));
    Ok(())
}
