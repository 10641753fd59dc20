//! `isochrone data validate`: what would go wrong later.

use super::source::Source;
use crate::commands::{hints::in_flags, output::count, read_args::progress};
use isochrone::data::validate::{Finding, Severity, Validation, validate_with_progress};
use serde_json::json;
use std::{io::Write, process::ExitCode};

/// Checks a data set for what bites people, and says where and what to do
///
/// An error means that training on the data would be wrong: the exit code is then 1. A warning means that a person should look: a
/// teleporter is a jump, too.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
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

What is checked: docs/guides/data.md.";

/// Runs the verb; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let bar = progress();
    let mut tell = |steps: usize| bar.inc(steps as u64);
    let found =
        validate_with_progress(&args.source.input, args.source.format()?, &args.source.options(), &mut tell);
    bar.finish_and_clear();
    let found = found?;
    let is_clean = found.count(Severity::Error) == 0;
    if args.json {
        let report = json!({
            "input": args.source.name(), "passed": is_clean, "version": env!("CARGO_PKG_VERSION"),
            "errors": found.count(Severity::Error), "warnings": found.count(Severity::Warning),
            "counts": found.counts, "findings": found.findings, "unchecked": found.unchecked,
        });
        writeln!(out, "{}", in_flags(&format!("{report:#}")))?;
    } else {
        write!(out, "{}", in_flags(&text(&found, &args.source.name())))?;
    }
    Ok(if is_clean { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Findings shown of one rule; JSON has more.
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
            text += &format!("  and {} more of these\n", total - SHOWN);
        }
    }
    let number = |severity: Severity| count(found.count(severity) as usize, severity.name());
    let verdict = if found.count(Severity::Error) == 0 { "passed" } else { "failed" };
    text += &format!("{name}: {verdict}, {}, {}\n", number(Severity::Error), number(Severity::Warning));
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
