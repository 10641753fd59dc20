//! `isochrone data inspect`: summarizes a dataset.

use super::source::Source;
use crate::commands::{
    hints::in_flags,
    output::{Field, Report, StyleArgs, count, named, note_fmt, number, save},
};
use isochrone::{
    chance::{EntryRegion, ExitPlace, JumpReport},
    data::{
        ContentHasher, DataError, Dataset, DatasetSummary, Defect, DefectKind, DimensionSummary,
        EpisodeLabels, EpisodeSink, EpisodeView, Feature, LabelSink, Spec,
        formats::{Format, lerobot::Camera},
    },
    learn::Algorithm,
    plot::{Figure, TrajectoryPlot},
};
use serde_json::json;
use std::{io::Write, path::PathBuf};

/// Summarize a dataset: episodes, lengths, columns and their ranges
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    source: Source,

    /// Plot episode lengths and the first two dimensions of the states (.svg or .png)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    #[command(flatten)]
    style: StyleArgs,
}

const EXAMPLES: &str = "\
Examples:
  isochrone data inspect examples/walks.csv --observations x,y --plot walks.svg
  isochrone data inspect pointmaze-medium-navigate-v0.npz --json
  isochrone data inspect ~/.minari/datasets/D4RL/pointmaze/open-v2
  isochrone data inspect my-lerobot-dataset --observations observation.embedding

Formats: docs/guides/data.md.";

/// Runs the command; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    args.plot.as_deref().map_or(Ok(()), Figure::check_path)?;
    let format = args.source.format()?;
    let mut sink = InspectSink::default();
    args.source.read(format, &mut sink)?;
    let jumps = sink.jumps();
    let InspectSink { summary, hasher, labels, first_defect, n_defects, .. } = sink;
    let spec = summary.spec.clone().unwrap_or_else(|| Spec::new(0, 0));
    let cameras = match format {
        Format::LeRobot => Camera::of_dataset(args.source.path()?)?,
        _ => Vec::new(),
    };
    let identity = Identity {
        name: args.source.name(),
        format: format.name(),
        content_hash: hasher.finish(),
        tasks: tasks(&labels.finish()),
        cameras,
        jumps,
    };
    if args.style.is_text() {
        write!(out, "{}", heading(&spec, &summary, &identity))?;
    }
    // The table has a line for every dimension of a wide column only where programs read it.
    let max_lines = if args.style.is_text() { MAX_LINES } else { usize::MAX };
    write!(out, "{}", report(&spec, &summary, &identity, max_lines).print(&args.style))?;
    if let Some(first) = first_defect {
        let first = in_flags(&first.to_string());
        note_fmt!("warning: {first} (first of {n_defects}; isochrone data validate lists them)");
    }
    if let Some(path) = &args.plot {
        save(&figure(&spec, &summary, &identity.name), path)?;
    }
    Ok(())
}

/// The maximum number of lines for the dimensions of a column; one of more has a single line.
const MAX_LINES: usize = 32;

/// What there is to know about a dataset besides its columns.
struct Identity {
    name: String,
    format: &'static str,
    content_hash: String,
    tasks: Vec<Task>,
    cameras: Vec<Camera>,
    /// `None` if jumps were not searched.
    jumps: Option<JumpReport>,
}

/// The maximum number of observation values in which jumps are searched, for which they are kept in
/// memory: 256 MiB.
const MAX_SEARCHED_VALUES: usize = 1 << 26;
/// The maximum number of entry regions that are listed as text.
const MAX_ENTRIES: usize = 8;

/// A task that occurs in the dataset.
#[derive(serde::Serialize)]
struct Task {
    name: String,
    episodes: usize,
    /// The number of episodes with a success flag; `None` if the data have no such column.
    successes: Option<usize>,
}

/// Returns the tasks of the episodes, without those that do not occur.
fn tasks(labels: &EpisodeLabels) -> Vec<Task> {
    let task = |(number, name): (usize, &String)| {
        let own =
            || labels.task.iter().zip(&labels.success).filter(move |(task, _)| **task as usize == number);
        let has_flags = labels.success.iter().any(Option::is_some);
        let successes = has_flags.then(|| own().filter(|(_, success)| **success == Some(true)).count());
        Task { name: name.clone(), episodes: own().count(), successes }
    };
    let tasks = labels.tasks.iter().enumerate().map(task);
    tasks.filter(|task| task.episodes > 0 && (!task.name.is_empty() || task.successes.is_some())).collect()
}

/// Collects everything in one pass. Malformed episodes are counted and skipped.
#[derive(Default)]
struct InspectSink {
    /// The observations of all episodes, unless they are too large.
    states: Vec<Vec<f32>>,
    n_values: usize,
    summary: DatasetSummary,
    hasher: ContentHasher,
    labels: LabelSink,
    first_defect: Option<Defect>,
    n_defects: u64,
}

impl EpisodeSink for InspectSink {
    fn begin(&mut self, spec: &Spec) -> Result<(), DataError> {
        self.summary.begin(spec)?;
        self.labels.begin(spec)?;
        self.hasher.begin(spec)
    }

    fn episode(&mut self, episode: &EpisodeView<'_>) -> Result<(), DataError> {
        self.summary.episode(episode)?;
        self.labels.episode(episode)?;
        self.n_values = self.n_values.saturating_add(episode.observations.len());
        match self.n_values <= MAX_SEARCHED_VALUES {
            true => self.states.push(episode.observations.to_vec()),
            false => self.states = Vec::new(),
        }
        self.hasher.episode(episode)
    }

    fn defect(&mut self, defect: Defect) -> Result<(), DataError> {
        // Its numbers and its hash would be those of other data.
        if defect.kind == DefectKind::Corrupt {
            return Err(defect.into());
        }
        self.n_defects += 1;
        self.first_defect.get_or_insert(defect);
        Ok(())
    }
}

impl InspectSink {
    /// Returns the jumps of the data; `None` if they are too large, or have no motion to compare
    /// with.
    fn jumps(&mut self) -> Option<JumpReport> {
        let states = std::mem::take(&mut self.states);
        let width =
            self.summary.spec.as_ref().map(|spec| spec.observation.width).filter(|width| *width > 0)?;
        if states.is_empty() {
            return None;
        }
        let episodes = states.into_iter().map(|states| (states, Vec::new()));
        let data = Dataset::from_arrays(width, 0, episodes).ok()?;
        JumpReport::of(&data).ok()
    }
}

fn report(spec: &Spec, summary: &DatasetSummary, identity: &Identity, max_lines: usize) -> Report {
    let mut rows = Vec::new();
    let mut add = |kind: &str, feature: &Feature, summaries: &[DimensionSummary]| {
        for (name, of) in lines(feature, summaries, max_lines) {
            let mut row = vec![Field::Text(kind.to_owned()), Field::Text(name)];
            let numbers = [f64::from(of.min), f64::from(of.max), of.mean, of.standard_deviation()];
            row.extend(numbers.map(|value| number((of.count > 0).then_some(value), 4)));
            row.push(Field::Count(of.non_finite as usize));
            rows.push(row);
        }
    };
    add("observation", &spec.observation, &summary.observations);
    add("action", &spec.action, &summary.actions);
    if spec.has_rewards {
        add("reward", &Feature::new("reward", 1), std::slice::from_ref(&summary.rewards));
    }
    for (extra, summaries) in spec.extras.iter().zip(&summary.extras) {
        add("extra", extra, summaries);
    }
    let (min, max) = (summary.lengths.keys().next(), summary.lengths.keys().last());
    let goal = spec.goal_space();
    let camera = |Camera { name, kind, shape }: &Camera| json!({"name": name, "kind": kind, "shape": shape});
    let cameras: Vec<serde_json::Value> = identity.cameras.iter().map(camera).collect();
    let facts = json!({
        "input": identity.name,
        "format": identity.format,
        "episodes": summary.n_episodes(),
        "transitions": summary.n_transitions(),
        "states": summary.n_transitions() + summary.n_episodes(),
        "steps": {"min": min, "max": max, "mean": mean_steps(summary)},
        "endings": {"unknown": summary.endings[0], "terminated": summary.endings[1], "truncated": summary.endings[2]},
        "observation_width": spec.observation.width,
        "action_width": spec.action.width,
        "frames_per_second": spec.frames_per_second,
        "tasks": identity.tasks,
        "subtasks": spec.subtasks,
        "cameras": cameras,
        "typical_gap_seconds": summary.typical_gap(),
        "episodes_end_alike": summary.episodes_end_alike(),
        "goal_space": [goal.start, goal.end],
        "content_sha256": identity.content_hash,
        "jumps": identity.jumps.as_ref().map(|jumps| jump_facts(spec, jumps)),
    });
    Report::new(facts, named(["kind", "column", "min", "max", "mean", "std", "not_finite"]), rows)
}

/// Returns the lines of a column: one for each dimension, or a single one for consecutive
/// dimensions of a wide column.
fn lines(
    feature: &Feature,
    summaries: &[DimensionSummary],
    max_lines: usize,
) -> Vec<(String, DimensionSummary)> {
    let named: Vec<(String, &DimensionSummary)> =
        summaries.iter().enumerate().map(|(index, of)| (feature.dimension(index), of)).collect();
    // Dimensions without names of their own are called NAME[INDEX].
    let column = |name: &str| match name.split_once('[') {
        Some((column, _)) => column.to_owned(),
        None => feature.name.clone(),
    };
    let mut lines = Vec::new();
    for block in named.chunk_by(|(a, _), (b, _)| column(a) == column(b)) {
        if block.len() <= max_lines {
            lines.extend(block.iter().map(|(name, of)| (name.clone(), (*of).clone())));
            continue;
        }
        let mut all = DimensionSummary::default();
        block.iter().for_each(|(_, of)| all.merge(of));
        lines.push((format!("{} ({} dimensions)", column(&block[0].0), block.len()), all));
    }
    lines
}

fn mean_steps(summary: &DatasetSummary) -> Option<f64> {
    (summary.n_episodes() > 0).then(|| summary.n_transitions() as f64 / summary.n_episodes() as f64)
}

/// Formats the summary as text.
fn heading(spec: &Spec, summary: &DatasetSummary, identity: &Identity) -> String {
    let mut lines = vec![format!("{} ({})", identity.name, identity.format)];
    let (episodes, transitions) = (summary.n_episodes(), summary.n_transitions());
    lines.push(format!(
        "episodes     {episodes}, {transitions} transitions between {} states",
        transitions + episodes
    ));
    let (min, max) = (summary.lengths.keys().next(), summary.lengths.keys().last());
    if let (Some(min), Some(max), Some(mean)) = (min, max, mean_steps(summary)) {
        lines.push(format!("steps        {min} to {max}, mean {mean:.1}"));
    }
    if summary.endings[0] < episodes {
        lines.push(format!(
            "endings      {} terminated, {} truncated, {} unknown",
            summary.endings[1], summary.endings[2], summary.endings[0]
        ));
    }
    if summary.episodes_end_alike() {
        let rows = Algorithm::Cmd1.rows_per_demonstration();
        lines.push(format!(
            "kind         demonstrations: episodes end in similar states; CMD samples {rows} rows per episode in a batch"
        ));
    }
    lines.push(match (spec.frames_per_second, summary.timestamp_gap()) {
        _ if let Some((declared, found)) = summary.contradicted_rate() => {
            format!("frame rate   {declared} per second is declared, but the timestamps give {found:.2}")
        }
        (Some(rate), _) => format!("frame rate   {rate} per second"),
        (None, Some(gap)) => format!("frame rate   {:.4} per second, from the timestamps", 1.0 / gap),
        (None, None) => "frame rate   unknown; distances are in steps only".to_owned(),
    });
    for Task { name, episodes, successes } in &identity.tasks {
        let successes = successes.map(|successes| format!(", {successes} with success")).unwrap_or_default();
        let (label, name) = match name.as_str() {
            "" => ("labels", String::new()),
            name => ("task", format!("{name}: ")),
        };
        lines.push(format!("{label:<12} {name}{}{successes}", count(*episodes, "episode")));
    }
    if !spec.subtasks.is_empty() {
        lines.push(format!("subtasks     {}", numbered(&spec.subtasks)));
    }
    for Camera { name, kind, .. } in &identity.cameras {
        lines.push(format!(
            "camera       {name} ({kind}): not read; add embeddings of its images, see docs/guides/data.md#embeddings"
        ));
    }
    lines.push(match &spec.goal {
        Some(goal) => format!("goal space   dimensions {}..{} of an observation", goal.start, goal.end),
        None => format!("goal space   all {} dimensions of an observation", spec.observation.width),
    });
    if let Some(jumps) = identity.jumps.as_ref().filter(|jumps| jumps.jumps > 0) {
        lines.extend(jump_lines(spec, jumps));
    }
    lines.push(format!("content      sha256 {}", identity.content_hash));
    lines.join("\n") + "\n\n"
}

/// Describes the jumps of the data for JSON.
fn jump_facts(spec: &Spec, report: &JumpReport) -> serde_json::Value {
    let columns = report.columns.iter().map(|&column| spec.observation.dimension(column));
    let entry =
        |entry: &EntryRegion| json!({"center": entry.center, "jumps": entry.jumps(), "exits": entry.exits});
    let exit = |exit: &ExitPlace| json!({"center": exit.center, "landings": exit.landings});
    json!({
        "number": report.jumps, "columns": columns.collect::<Vec<_>>(),
        "entries": report.entries.iter().map(entry).collect::<Vec<_>>(),
        "exits": report.exits.iter().map(exit).collect::<Vec<_>>(),
    })
}

/// Describes the jumps of the data as text.
fn jump_lines(spec: &Spec, report: &JumpReport) -> Vec<String> {
    let place = |center: &[f32]| {
        let columns = report.columns.iter().map(|&column| spec.observation.dimension(column));
        columns.zip(center).map(|(name, x)| format!("{name}={x:.1}")).collect::<Vec<_>>().join(" ")
    };
    let (entries, exits) = (count(report.entries.len(), "entry region"), count(report.exits.len(), "exit"));
    let mut lines = vec![format!(
        "jumps        {} that recur, from {entries} to {exits}; plan with --planner stochastic",
        report.jumps
    )];
    for entry in report.entries.iter().take(MAX_ENTRIES) {
        let exits = entry.exits.iter().zip(&report.exits).filter(|(count, _)| **count > 0);
        let exits = exits.map(|(count, exit)| format!("{count} to {}", place(&exit.center)));
        let exits = exits.collect::<Vec<_>>().join(", ");
        lines.push(format!("entry        {}: {exits}", place(&entry.center)));
    }
    lines
}

/// Returns names with their numbers.
fn numbered(names: &[String]) -> String {
    let names = names.iter().enumerate().map(|(number, name)| format!("{number} {name}"));
    names.collect::<Vec<_>>().join(", ")
}

fn figure(spec: &Spec, summary: &DatasetSummary, name: &str) -> Figure {
    let axis = |index: usize| {
        if index < spec.observation.width { spec.observation.dimension(index) } else { String::new() }
    };
    TrajectoryPlot {
        title: format!("{name}: {} transitions", summary.n_transitions()),
        lengths: summary.lengths.iter().map(|(&steps, &count)| (steps, count)).collect(),
        paths: summary.paths().to_vec(),
        axes: [axis(0), axis(1)],
    }
    .draw()
}
