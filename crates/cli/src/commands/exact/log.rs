//! Event logs.

use super::{
    Args, solve,
    solve::{MAX_BARS, left_out, quoted},
};
use crate::commands::output::{Field, Report, count, most_similar, named, note_fmt, save};
use anyhow::{anyhow, bail};
use isochrone::{
    data::tabular::{EventLog, LogColumns, read_event_log},
    exact::{GoalDistances, hitting_statistics},
    plot::{Bar, BarChart, BarColor, Figure},
};
use serde_json::json;
use std::io::Write;

/// The statistics of one activity.
struct ActivityStats {
    state: usize,
    /// Expected number of steps to the goal, if it is reached.
    steps_if_reached: f64,
    reach_probability: f64,
    /// Mean time to the goal, if it is reached.
    seconds_if_reached: f64,
    distance_steps: f64,
}

pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    let columns = LogColumns {
        case: args.case.clone(),
        activity: args.activity.clone(),
        timestamp: args.timestamp.clone(),
    };
    let log = read_event_log(&args.input, &columns)?;
    if args.goal.is_empty() {
        bail!("no goal given; hint: set --goal to one of the activities {}", quoted(&log.activities));
    }
    let find = |flag: &str, name: &str| {
        log.find_state(name).ok_or_else(|| {
            let hint = match most_similar(name, log.activities.iter().map(String::as_str)) {
                Some(similar) => format!("did you mean {similar:?}?"),
                None => format!("the activities are {}", quoted(&log.activities)),
            };
            anyhow!("{flag} {name:?}: unknown activity; hint: {hint}")
        })
    };
    let (goals, start) = args.ends(find)?;
    let chain = log.chain.chain();
    let distances = solve::to_goal_set(args, chain, &goals)?;
    let hitting = hitting_statistics(chain, &goals)?;
    let steps = hitting.mean_if_reached(|_, _| 1.0);
    let seconds = hitting.mean_if_reached(|from, to| log.chain.mean_seconds(from, to));
    let mut ranked: Vec<ActivityStats> = (0..chain.n_states())
        .map(|state| ActivityStats {
            state,
            steps_if_reached: steps[state],
            reach_probability: hitting.reach_probability()[state],
            seconds_if_reached: seconds[state],
            distance_steps: distances.steps(state),
        })
        .collect();
    // Sorted by expected steps; ties up to rounding are sorted by distance.
    let key = |stats: &ActivityStats| (1e9 * stats.steps_if_reached).round();
    ranked.sort_by(|a, b| key(a).total_cmp(&key(b)).then(a.distance_steps.total_cmp(&b.distance_steps)));

    note_fmt!(
        "{} of {}, {} activities; gamma {}; {}",
        count(log.n_events, "event"),
        count(log.n_cases, "case"),
        log.activities.len(),
        args.gamma,
        solve::quality(&distances)
    );
    let report = table(args, &log, &distances, &ranked);
    if let Some(start) = start {
        let from = ranked.iter().find(|stats| stats.state == start).expect("every state is ranked");
        note_fmt!("from {}: {}", log.state_name(start), remark(from));
    }
    if let Some(path) = &args.plot {
        save(&figure(args, &log, &ranked), path)?;
    }
    Ok(out.write_all(report.print(&args.style).as_bytes())?)
}

fn table(args: &Args, log: &EventLog, distances: &GoalDistances, ranked: &[ActivityStats]) -> Report {
    let columns = "activity,steps_if_reached,reach_probability,hours_if_reached,distance_steps,visits";
    let rows = ranked.iter().map(|stats| {
        vec![
            Field::Text(log.state_name(stats.state).to_owned()),
            Field::Number(stats.steps_if_reached, 2),
            Field::Number(stats.reach_probability, 3),
            Field::Number(stats.seconds_if_reached / 3600.0, 2),
            Field::Number(stats.distance_steps, 2),
            Field::Count(log.chain.visits()[stats.state] as usize),
        ]
    });
    let mut facts = solve::facts(args, distances);
    facts["goals"] = json!(args.goal);
    facts["cases"] = json!(log.n_cases);
    facts["events"] = json!(log.n_events);
    Report::new(facts, named(columns.split(',')), rows)
}

fn remark(stats: &ActivityStats) -> String {
    if stats.reach_probability == 0.0 {
        return "never".into();
    }
    format!(
        "{:.1} steps, {}, reached by {:.0} %",
        stats.steps_if_reached,
        duration(stats.seconds_if_reached),
        100.0 * stats.reach_probability
    )
}

/// Returns the unit that fits a duration, and its length in seconds.
fn time_unit(seconds: f64) -> (&'static str, f64) {
    let units = [("days", 86_400.0), ("hours", 3_600.0), ("min", 60.0)];
    units.into_iter().find(|(_, length)| seconds >= 2.0 * length).unwrap_or(("s", 1.0))
}

/// Formats a duration in the unit that fits it.
fn duration(seconds: f64) -> String {
    let (unit, length) = time_unit(seconds);
    format!("{:.1} {unit}", seconds / length)
}

fn figure(args: &Args, log: &EventLog, ranked: &[ActivityStats]) -> Figure {
    let mut reaching: Vec<&ActivityStats> =
        ranked.iter().filter(|stats| stats.reach_probability > 0.0).collect();
    let longest = reaching.iter().map(|stats| stats.seconds_if_reached).fold(0.0, f64::max);
    // Without times, the bars are steps.
    let has_times = longest > 0.0;
    let (unit, seconds_per_unit) = time_unit(longest);
    let length = |stats: &ActivityStats| match has_times {
        true => stats.seconds_if_reached / seconds_per_unit,
        false => stats.steps_if_reached,
    };
    reaching.sort_by(|a, b| length(a).total_cmp(&length(b)));
    let label = |stats: &ActivityStats| {
        let time = if has_times { format!("{:.1} {unit}, ", length(stats)) } else { String::new() };
        let percent = 100.0 * stats.reach_probability;
        format!("{time}{:.1} steps, reached by {percent:.0} %", stats.steps_if_reached)
    };
    let bars = reaching.iter().take(MAX_BARS).map(|stats| Bar {
        name: log.state_name(stats.state).to_owned(),
        length: length(stats),
        interval: None,
        color: BarColor::Shade(stats.reach_probability),
        remark: if stats.steps_if_reached == 0.0 { "goal".into() } else { label(stats) },
    });
    let left_out = left_out(reaching.len(), ranked.len() - reaching.len());
    let quantity = if has_times { format!("expected time ({unit})") } else { "expected steps".to_owned() };
    let chart = BarChart {
        title: format!("Distance to \u{201c}{}\u{201d}", args.goal.join("\u{201d} or \u{201c}")),
        axis: format!("{quantity}, given that it is reached"),
        note: format!("color: probability of reaching it, from 0 (dark purple) to 1 (yellow){left_out}"),
        legend: Vec::new(),
        bars: bars.collect(),
    };
    chart.draw()
}
