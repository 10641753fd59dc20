//! `isochrone gaps`: what demonstrations lack, and what to record next.

use super::source::DemosArgs;
use crate::commands::output::{Field, Report, StyleArgs, count, named};
use isochrone::demos::{Bridge, FrameId, Gaps, Progress, StartRegion, examine};
use serde_json::{Map, Value, json};
use std::io::Write;

/// Find what demonstrations lack: missing connections, and starts to record
///
/// Connected: from the start of every episode, recorded motion leads to a success of its task, and
/// to the ends of other tasks, with no larger hop between episodes than is typical of the dataset.
/// Bridges are the motions that would connect the rest, the most useful first. Starts are the
/// middles of the largest holes among the recorded starts of a task.
///
/// Episodes with corrupt data (isochrone doctor) are left out.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    source: DemosArgs,

    /// Maximum number of bridges
    #[arg(long, value_name = "N", default_value_t = 5)]
    bridges: usize,

    /// Number of starts for each task
    #[arg(long, value_name = "N", default_value_t = 8)]
    starts: usize,

    #[command(flatten)]
    style: StyleArgs,
}

const EXAMPLES: &str = "\
Examples:
  isochrone gaps my-lerobot-dataset
  isochrone gaps my-lerobot-dataset --starts 20 --json";

/// Runs the command; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    let source = args.source.open()?;
    let demos = source.fit()?;
    let progress = Progress::of(&demos);
    let diagnosis = examine(&demos, &progress);
    let gaps = Gaps::of(&demos, &diagnosis, args.bridges, args.starts);
    let names: Vec<String> = (0..source.data.spec().observation.width)
        .map(|at| source.data.spec().observation.dimension(at))
        .collect();
    let tasks = &demos.labels().tasks;
    if args.style.json {
        let json = to_json(&gaps, &names, tasks, source.data.content_hash());
        return Ok(writeln!(out, "{}", serde_json::to_string_pretty(&json)?)?);
    }
    let mut print = |columns: &[&str], rows: Vec<Vec<Field>>| -> anyhow::Result<()> {
        let report = Report::new(json!({}), named(columns.iter().copied()), rows);
        Ok(writeln!(out, "{}", report.print(&args.style))?)
    };
    let connections = gaps.connections.iter().map(|one| {
        vec![
            Field::Text(named_task(&one.from_task)),
            Field::Text(named_task(&one.to_task)),
            Field::Text(format!("{} of {}", one.connected, one.starts)),
            Field::Number(one.largest_hop_frames, 1),
        ]
    });
    print(&["starts of", "to the end of", "connected", "largest hop (frames)"], connections.collect())?;
    if !gaps.bridges.is_empty() {
        print(
            &["record from", "to", "frames", "connects", "moves"],
            gaps.bridges.iter().map(|bridge| bridge_row(bridge, &names)).collect(),
        )?;
    }
    let starts = gaps.starts.iter().flat_map(|region| start_rows(region, &names, tasks)).collect();
    print(&["record a start of", "at", "radius (deviations)"], starts)?;
    if args.style.is_text() {
        let state = if gaps.is_connected() { "connected" } else { "not connected" };
        writeln!(
            out,
            "{state}: hops of up to {:.1} frames are typical; {} and {} to record",
            gaps.connected_frames,
            count(gaps.bridges.len(), "bridge"),
            count(gaps.starts.iter().map(|region| region.starts.len()).sum(), "start")
        )?;
    }
    Ok(())
}

fn named_task(task: &str) -> String {
    if task.is_empty() { "the task".into() } else { task.to_owned() }
}

fn at(frame: &FrameId) -> String {
    format!("@{}:{}", frame.episode, frame.frame)
}

/// Returns a bridge with the dimensions that change most.
fn bridge_row(bridge: &Bridge, names: &[String]) -> Vec<Field> {
    let mut changes: Vec<(usize, f32)> =
        bridge.values_from.iter().zip(&bridge.values_to).map(|(from, to)| to - from).enumerate().collect();
    changes.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let moves = changes.iter().take(3).map(|(column, change)| format!("{} {change:+.3}", names[*column]));
    vec![
        Field::Text(at(&bridge.from)),
        Field::Text(at(&bridge.to)),
        Field::Number(bridge.steps, 1),
        Field::Count(bridge.pairs),
        Field::Text(moves.collect::<Vec<_>>().join(", ")),
    ]
}

fn start_rows(region: &StartRegion, names: &[String], tasks: &[String]) -> Vec<Vec<Field>> {
    let task = named_task(&tasks[region.task as usize]);
    let row = |start: &isochrone::demos::Start| {
        let values = region.dimensions.iter().zip(&start.values);
        let at: Vec<String> =
            values.map(|(column, value)| format!("{} {value:.4}", names[*column])).collect();
        vec![Field::Text(task.clone()), Field::Text(at.join(", ")), Field::Number(start.radius, 2)]
    };
    region.starts.iter().map(row).collect()
}

fn to_json(gaps: &Gaps, names: &[String], tasks: &[String], data_sha256: &str) -> Value {
    let starts = gaps.starts.iter().flat_map(|region| {
        let start = move |start: &isochrone::demos::Start| {
            let values = region.dimensions.iter().zip(&start.values);
            let values: Map<String, Value> =
                values.map(|(column, value)| (names[*column].clone(), json!(value))).collect();
            json!({ "task": tasks[region.task as usize], "values": values, "radius": start.radius })
        };
        region.starts.iter().map(start)
    });
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "data_sha256": data_sha256,
        "connected": gaps.is_connected(),
        "connected_frames": gaps.connected_frames,
        "connections": gaps.connections,
        "bridges": gaps.bridges,
        "starts": starts.collect::<Vec<_>>(),
    })
}
