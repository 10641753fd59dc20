//! `isochrone doctor`: which demonstrations are defective, where, and what to do.

use super::{
    doctor_page, lerobot,
    source::{DemosArgs, Source},
};
use crate::commands::output::{Field, Report, StyleArgs, named, note, refuse_existing};
use isochrone::{
    data::{atomic, formats::Format},
    demos::{Demos, Diagnosis, EpisodeDiagnosis, Progress, Rule, diagnose},
};
use serde_json::{Value, json};
use std::{io::Write, path::PathBuf};

/// Find episodes that stall, loop, fail, are mislabeled, cut off or recorded twice
///
/// Every episode is compared with the others of its task: its motion, its end, its progress, and
/// its sensors. Findings are ranked by score, where 1 is the threshold of a rule; each has the
/// frames it is about and advice. An episode is kept if it has the only path between two tasks.
///
/// Rules: duplicate, frozen (sensor), spike, jump (missing frames), task (wrong label), reversed,
/// end (failure or cut off), pace, `idle_head`, `idle_tail`, stall, loop, detour.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    source: DemosArgs,

    /// Also write a page with timelines of all findings (.html)
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Overwrite an existing page
    #[arg(long, requires = "html")]
    force: bool,

    #[command(flatten)]
    style: StyleArgs,
}

const EXAMPLES: &str = "\
Examples:
  isochrone doctor my-lerobot-dataset
  isochrone doctor my-lerobot-dataset --html doctor.html
  isochrone doctor demos.npz --json > findings.json";

/// Runs the command; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    if let Some(path) = &args.html {
        refuse_existing(path, args.force)?;
    }
    let source = args.source.open()?;
    let demos = source.fit()?;
    let progress = Progress::of(&demos);
    let diagnosis = diagnose(&demos, &progress);
    let commands = commands(&source, &demos, &diagnosis);
    if let Some(path) = &args.html {
        let page = doctor_page::page(&source, &progress, &diagnosis, &commands);
        atomic::write(path, page.as_bytes())
            .map_err(|error| anyhow::anyhow!("{}: {error}; hint: check the folder", path.display()))?;
        note(&format!("{}: timelines of all findings", path.display()));
    }
    if args.style.json {
        return Ok(writeln!(
            out,
            "{}",
            serde_json::to_string_pretty(&to_json(&source, &diagnosis, &commands))?
        )?);
    }
    let report = Report::new(json!({}), named(COLUMNS), diagnosis.ranked().into_iter().flat_map(rows));
    write!(out, "{}", report.print(&args.style))?;
    if args.style.is_text() {
        let found = diagnosis.ranked().len();
        writeln!(out, "{found} of {} episodes with findings", diagnosis.episodes.len())?;
        for command in &commands {
            writeln!(out, "{command}")?;
        }
    }
    Ok(())
}

const COLUMNS: [&str; 7] = ["episode", "rule", "frames", "score", "finding", "advice", "keep"];

/// Returns the table rows of an episode, one for each finding.
fn rows(one: &EpisodeDiagnosis) -> Vec<Vec<Field>> {
    let row = |finding: &isochrone::demos::Finding| {
        vec![
            Field::Count(one.episode),
            Field::Text(finding.rule.name().into()),
            Field::Text(format!("{}..{}", finding.first_frame, finding.end_frame)),
            Field::Number(finding.score, 1),
            Field::Text(finding.message.clone()),
            Field::Text(finding.rule.advice().into()),
            one.keep.clone().map_or(Field::Missing, Field::Text),
        ]
    };
    one.findings.iter().map(row).collect()
}

/// Returns the commands of LeRobot that carry out the advice.
fn commands(source: &Source, demos: &Demos<'_>, diagnosis: &Diagnosis) -> Vec<String> {
    if source.format != Format::LeRobot {
        return Vec::new();
    }
    let is_deleted = |one: &&EpisodeDiagnosis| one.keep.is_none() && one.suggests_deletion();
    let deleted: Vec<usize> = diagnosis.episodes.iter().filter(is_deleted).map(|one| one.episode).collect();
    let relabeled: Vec<(usize, String)> = diagnosis
        .episodes
        .iter()
        .filter(|one| one.findings.iter().any(|finding| finding.rule == Rule::Task))
        .filter_map(|one| Some((one.episode, demos.other_task(one.episode)?)))
        .collect();
    let mut commands = Vec::new();
    if !relabeled.is_empty() {
        commands.push(lerobot::modify_tasks(&source.path, &relabeled));
    }
    if !deleted.is_empty() {
        commands.push(lerobot::delete_episodes(&source.path, &deleted));
    }
    commands
}

fn to_json(source: &Source, diagnosis: &Diagnosis, commands: &[String]) -> Value {
    let finding = |finding: &isochrone::demos::Finding| {
        json!({
            "rule": finding.rule.name(),
            "first_frame": finding.first_frame,
            "end_frame": finding.end_frame,
            "score": finding.score,
            "message": finding.message,
            "advice": finding.rule.advice(),
        })
    };
    let episode = |one: &EpisodeDiagnosis| {
        json!({
            "episode": one.episode,
            "frames": one.frames,
            "task": one.task,
            "success": one.success,
            "score": one.score,
            "findings": one.findings.iter().map(finding).collect::<Vec<_>>(),
            "keep": one.keep,
        })
    };
    json!({
        "dataset": source.path,
        "data_sha256": source.data.content_hash(),
        "version": env!("CARGO_PKG_VERSION"),
        "frames_per_second": source.data.frames_per_second(),
        "commands": commands,
        "episodes": diagnosis.episodes.iter().map(episode).collect::<Vec<_>>(),
    })
}
