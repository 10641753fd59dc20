//! `isochrone data validate`: checks a dataset for common problems.

use super::source::Source;
use crate::commands::{hints::in_flags, output::count, read_args::read_spinner};
use isochrone::data::validate::{Finding, Severity, Validation, validate_with_progress};
use serde_json::json;
use std::io::Write;

/// Check a dataset for common problems and report where they are
///
/// An error means that training on the data would give wrong results; the exit code is then 1. A
/// warning needs a manual check: a jump between two states may be a defect, or a teleporter.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    source: Source,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  isochrone data validate examples/walks.csv --observations x,y
  isochrone data validate antmaze.hdf5 --ends timeouts --action-range -1,1
  isochrone data validate my-lerobot-dataset --json

List of checks: docs/guides/data.md.";

/// Runs the command; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<u8> {
    let (path, format) = (args.source.path()?, args.source.format()?);
    let bar = read_spinner();
    let mut advance = |steps: usize| bar.inc(steps as u64);
    let found = validate_with_progress(path, format, &args.source.options(), &mut advance);
    bar.finish_and_clear();
    let found = found?;
    let is_clean = found.count(Severity::Error) == 0;
    if args.json {
        let report = json!({
            "input": args.source.name(), "passed": is_clean, "version": env!("CARGO_PKG_VERSION"),
            "errors": found.count(Severity::Error), "warnings": found.count(Severity::Warning),
            "counts": found.counts, "findings": found.findings, "complete": found.is_complete(), "unchecked": found.unchecked,
        });
        writeln!(out, "{}", in_flags(&format!("{report:#}")))?;
    } else {
        write!(out, "{}", in_flags(&text(&found, &args.source.name())))?;
    }
    Ok(if is_clean { 0 } else { 1 })
}

/// The number of findings printed per rule; JSON has all.
const SHOWN: usize = 5;

fn text(found: &Validation, name: &str) -> String {
    let mut text = String::new();
    let mut last_hint = "";
    let kind = |finding: &Finding| (finding.rule, finding.severity);
    for group in found.findings.chunk_by(|a, b| kind(a) == kind(b)) {
        for finding in group.iter().take(SHOWN) {
            let (severity, rule) = (finding.severity.name(), finding.rule.name());
            text += &format!("{severity} {rule}: {}{}", place(finding), finding.problem);
            if finding.hint.text != last_hint {
                text += &format!("; hint: {}", finding.hint);
                last_hint = &finding.hint.text;
            }
            text += "\n";
        }
        let total = found.counts[&group[0].rule][&group[0].severity] as usize;
        if total > SHOWN {
            text += &format!("  and {} more of this kind\n", total - SHOWN);
        }
    }
    let number = |severity: Severity| count(found.count(severity) as usize, severity.name());
    let result = if found.count(Severity::Error) == 0 { "passed" } else { "failed" };
    text += &format!("{name}: {result}, {}, {}\n", number(Severity::Error), number(Severity::Warning));
    for (rule, why) in &found.unchecked {
        text += &format!("not checked: {}, {why}\n", rule.name());
    }
    text
}

fn place(finding: &Finding) -> String {
    match (finding.episode, finding.row) {
        (Some(episode), Some(row)) => format!("episode {episode}, row {row}: "),
        (Some(episode), None) => format!("episode {episode}: "),
        _ => String::new(),
    }
}
