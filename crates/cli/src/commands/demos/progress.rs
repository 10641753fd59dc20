//! `isochrone progress`: how far from done every frame of a dataset is.

use super::{
    lerobot,
    source::{DemosArgs, Source},
};
use crate::commands::output::{Field, Report, StyleArgs, named, note};
use anyhow::bail;
use isochrone::{
    data::{
        ProgressFile,
        formats::{Format, lerobot::FrameNumbers},
    },
    demos::Progress,
};
use serde_json::json;
use std::{
    io::Write,
    path::{Path, PathBuf},
};

/// Compute the progress of every frame of demonstrations, and write it for LeRobot
///
/// The steps to go of a frame are those of recorded paths to the ends of other successes of its
/// task; no frame is compared with its own episode, and nothing has to be trained. Progress is 0 at
/// a typical start and 1 at the end. If the dataset has no success labels, every end counts.
///
/// Writes a Parquet file with the columns of LeRobot's reward models (`index`, `episode_index`,
/// `frame_index`, `progress_sparse`) and `steps_to_go`, `seconds_to_go`. A file of another program
/// is never overwritten.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    source: DemosArgs,

    /// Output file (.parquet) [default: `isochrone_progress.parquet` in a LeRobot dataset]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write `sarm_progress.parquet` in the dataset, the file that LeRobot uses by default
    #[arg(long, conflicts_with = "output")]
    lerobot: bool,

    /// Frames per action chunk of the policy, for the share of frames that RA-BC would not use
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    chunk_size: u32,

    #[command(flatten)]
    style: StyleArgs,
}

const EXAMPLES: &str = "\
Examples:
  isochrone progress my-lerobot-dataset
  isochrone progress my-lerobot-dataset --lerobot --chunk-size 30
  isochrone progress demos.npz -o progress.parquet --json";

/// Runs the command; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    let source = args.source.open()?;
    let output = match (&args.output, source.format == Format::LeRobot) {
        (Some(path), _) => path.clone(),
        (None, true) if args.lerobot => source.path.join("sarm_progress.parquet"),
        (None, true) => source.path.join("isochrone_progress.parquet"),
        (None, false) => bail!("--output is missing; hint: give a file such as progress.parquet"),
    };
    let demos = source.fit()?;
    let progress = Progress::of(&demos);
    let zeroed = zeroed_by_rabc(&progress, args.chunk_size as usize);
    let (quality, episodes) = (progress.quality, source.data.n_episodes());
    let rate = source.data.frames_per_second();
    let tasks = demos.labels().tasks.iter().zip(&progress.start_steps).map(|(task, steps)| {
        json!({ "task": task, "start_steps": steps, "start_seconds": rate.map(|rate| steps / rate) })
    });
    let tasks: Vec<_> = tasks.collect();
    let mut file = ProgressFile {
        frames: FrameNumbers::default(),
        progress: flat(progress.episodes.iter().map(|one| &one.progress)),
        steps_to_go: flat(progress.episodes.iter().map(|one| &one.steps_to_go)),
        frames_per_second: rate,
        data_sha256: source.data.content_hash().to_owned(),
    };
    // Writing takes as much memory as the dataset, which is no longer needed.
    drop((demos, progress));
    let Source { path, format, data } = source;
    let lengths: Vec<usize> = (0..episodes).map(|episode| data.index().steps(episode) + 1).collect();
    drop(data);
    file.frames = frame_numbers(&path, format, &lengths)?;
    file.write(&output)?;
    let is_lerobot = format == Format::LeRobot;
    let unknown = share(file.progress.iter().map(|value| value.is_nan()));
    let facts = json!({
        "dataset": path,
        "data_sha256": file.data_sha256,
        "output": output,
        "episodes": episodes,
        "frames": file.progress.len(),
        "unknown_share": unknown,
        "rabc_zero_share": zeroed,
        "chunk_size": args.chunk_size,
        "compared_frames": quality.frames,
        "tasks": tasks,
        "train_command": is_lerobot.then(|| lerobot::train(&path, &output)),
    });
    let rows = [
        ("steps to go", quality.steps_to_go),
        ("nearest neighbors", quality.nearest_neighbors),
        ("linear time", quality.linear_time),
    ];
    let rows = rows.map(|(name, one)| {
        let numbers = [Field::Number(one.rank_correlation, 3), Field::Number(one.mean_error_frames, 1)];
        [Field::Text(name.into())].into_iter().chain(numbers).collect()
    });
    let columns = named(["remaining frames by", "rank correlation", "mean error (frames)"]);
    let report = Report::new(facts, columns, rows);
    write!(out, "{}", report.print(&args.style))?;
    if args.style.is_text() {
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        writeln!(out)?;
        writeln!(out, "{}: progress of {} frames", output.display(), file.progress.len())?;
        writeln!(out, "unknown, since no recorded path leads to a success: {} of frames", percent(unknown))?;
        writeln!(out, "not used by RA-BC with chunks of {} frames: {}", args.chunk_size, percent(zeroed))?;
        if is_lerobot {
            note("weight frames by progress with:");
            writeln!(out, "{}", lerobot::train(&path, &output))?;
        }
    }
    Ok(())
}

/// Returns the numbers of all frames: those of LeRobot, or counted from 0.
fn frame_numbers(path: &Path, format: Format, lengths: &[usize]) -> anyhow::Result<FrameNumbers> {
    if format == Format::LeRobot {
        let numbers = FrameNumbers::read(path)?;
        let (found, read) = (numbers.index.len(), lengths.iter().sum::<usize>());
        if found != read {
            let path = path.display();
            bail!("{path}: {found} frames, of which {read} are read; hint: see isochrone data validate");
        }
        return Ok(numbers);
    }
    let mut numbers = FrameNumbers::default();
    for (episode, frames) in lengths.iter().enumerate() {
        for frame in 0..*frames {
            numbers.index.push(numbers.index.len() as i64);
            numbers.episode_index.push(episode as i64);
            numbers.frame_index.push(frame as i64);
        }
    }
    Ok(numbers)
}

fn flat<'a>(episodes: impl Iterator<Item = &'a Vec<f64>>) -> Vec<f32> {
    episodes.flatten().map(|value| *value as f32).collect()
}

/// Returns the share of frames that RA-BC gives weight 0: those at which progress falls over the
/// next chunk.
fn zeroed_by_rabc(progress: &Progress, chunk: usize) -> f64 {
    share(progress.episodes.iter().flat_map(|one| {
        let last = one.progress.len() - 1;
        (0..one.progress.len())
            .map(move |frame| one.progress[(frame + chunk).min(last)] < one.progress[frame])
    }))
}

fn share(flags: impl Iterator<Item = bool>) -> f64 {
    let (set, all) = flags.fold((0u64, 0u64), |(set, all), flag| (set + u64::from(flag), all + 1));
    set as f64 / all.max(1) as f64
}
