//! Event logs.

use super::{
    Args, solve,
    solve::{MAX_BARS, left_out, quoted},
};
use crate::commands::output::{Field, Report, count, most_similar, named, save};
use anyhow::{anyhow, bail};
use isochrone::{
    data::tabular::{EventLog, LogColumns, read_event_log},
    exact::{GoalDistances, hitting_statistics},
    plot::{Bar, BarChart, BarColor, Figure},
};
use serde_json::json;
use std::io::Write;

/// What there is to know about one activity.
struct Outlook {
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
        bail!("no goal given; hint: name an activity with --goal: {}", quoted(&log.activities));
    }
    let find = |flag: &str, name: &str| {
        log.find_state(name).ok_or_else(|| {
            let hint = match most_similar(name, log.activities.iter().map(String::as_str)) {
                Some(similar) => format!("did you mean {similar:?}?"),
                None => format!("there are {}", quoted(&log.activities)),
            };
            anyhow!("{flag} {name:?}: no such activity; hint: {hint}")
        })
    };
    let (goals, start) = args.ends(find)?;
    let chain = log.chain.chain();
    let distances = solve::to_goal_set(args, chain, &goals)?;
    let hitting = hitting_statistics(chain, &goals)?;
    let steps = hitting.mean_if_reached(|_, _| 1.0);
    let seconds = hitting.mean_if_reached(|from, to| log.chain.mean_seconds(from, to));
    let mut ranked: Vec<Outlook> = (0..chain.n_states())
        .map(|state| Outlook {
            state,
            steps_if_reached: steps[state],
            reach_probability: hitting.reach_probability()[state],
            seconds_if_reached: seconds[state],
            distance_steps: distances.steps(state),
        })
        .collect();
    // By expected steps; what is equally far up to rounding, by how likely it is to get there.
    let key = |outlook: &Outlook| (1e9 * outlook.steps_if_reached).round();
    ranked.sort_by(|a, b| key(a).total_cmp(&key(b)).then(a.distance_steps.total_cmp(&b.distance_steps)));

    eprintln!(
        "{} of {}, {} activities; gamma {}; {}",
        count(log.n_events, "event"),
        count(log.n_cases, "case"),
        log.activities.len(),
        args.gamma,
        solve::quality(&distances)
    );
    let report = table(args, &log, &distances, &ranked);
    if let Some(start) = start {
        let from = ranked.iter().find(|outlook| outlook.state == start).expect("every state is ranked");
        eprintln!("from {}: {}", log.state_name(start), remark(from));
    }
    if let Some(path) = &args.plot {
        save(&picture(args, &log, &ranked), path)?;
    }
    Ok(out.write_all(report.print(&args.style).as_bytes())?)
}

fn table(args: &Args, log: &EventLog, distances: &GoalDistances, ranked: &[Outlook]) -> Report {
    let columns = "activity,steps_if_reached,reach_probability,hours_if_reached,distance_steps,visits";
    let rows = ranked.iter().map(|outlook| {
        vec![
            Field::Text(log.state_name(outlook.state).to_owned()),
            Field::Number(outlook.steps_if_reached, 2),
            Field::Number(outlook.reach_probability, 3),
            Field::Number(outlook.seconds_if_reached / 3600.0, 2),
            Field::Number(outlook.distance_steps, 2),
            Field::Count(log.chain.visits()[outlook.state] as usize),
        ]
    });
    let mut facts = solve::facts(args, distances);
    facts["goals"] = json!(args.goal);
    facts["cases"] = json!(log.n_cases);
    facts["events"] = json!(log.n_events);
    Report::new(facts, named(columns.split(',')), rows)
}

fn remark(outlook: &Outlook) -> String {
    if outlook.reach_probability == 0.0 {
        return "never".into();
    }
    format!(
        "{:.1} steps, {}, reached by {:.0} %",
        outlook.steps_if_reached,
        duration(outlook.seconds_if_reached),
        100.0 * outlook.reach_probability
    )
}

/// The unit that fits a duration, and its length in seconds.
fn time_unit(seconds: f64) -> (&'static str, f64) {
    let units = [("days", 86_400.0), ("hours", 3_600.0), ("min", 60.0)];
    units.into_iter().find(|(_, length)| seconds >= 2.0 * length).unwrap_or(("s", 1.0))
}

/// A duration in the unit that fits it.
fn duration(seconds: f64) -> String {
    let (unit, length) = time_unit(seconds);
    format!("{:.1} {unit}", seconds / length)
}

fn picture(args: &Args, log: &EventLog, ranked: &[Outlook]) -> Figure {
    let mut reaching: Vec<&Outlook> =
        ranked.iter().filter(|outlook| outlook.reach_probability > 0.0).collect();
    let longest = reaching.iter().map(|outlook| outlook.seconds_if_reached).fold(0.0, f64::max);
    // Without times, the bars are steps.
    let has_times = longest > 0.0;
    let (unit, seconds_per_unit) = time_unit(longest);
    let length = |outlook: &Outlook| match has_times {
        true => outlook.seconds_if_reached / seconds_per_unit,
        false => outlook.steps_if_reached,
    };
    reaching.sort_by(|a, b| length(a).total_cmp(&length(b)));
    let label = |outlook: &Outlook| {
        let time = if has_times { format!("{:.1} {unit}, ", length(outlook)) } else { String::new() };
        let percent = 100.0 * outlook.reach_probability;
        format!("{time}{:.1} steps, reached by {percent:.0} %", outlook.steps_if_reached)
    };
    let bars = reaching.iter().take(MAX_BARS).map(|outlook| Bar {
        name: log.state_name(outlook.state).to_owned(),
        length: length(outlook),
        interval: None,
        color: BarColor::Shade(outlook.reach_probability),
        remark: if outlook.steps_if_reached == 0.0 { "goal".into() } else { label(outlook) },
    });
    let left_out = left_out(reaching.len(), ranked.len() - reaching.len());
    let quantity = if has_times { format!("mean time ({unit})") } else { "expected steps".to_owned() };
    let chart = BarChart {
        title: format!("How far from \u{201c}{}\u{201d}", args.goal.join("\u{201d} or \u{201c}")),
        axis: format!("{quantity} until it is reached, if it is"),
        note: format!("color: probability of reaching it, from 0 (dark purple) to 1 (yellow){left_out}"),
        legend: Vec::new(),
        bars: bars.collect(),
    };
    chart.draw()
}
