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
    plot::{Bar, BarChart, Figure},
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

/// A duration in the unit that people would choose.
fn duration(seconds: f64) -> String {
    let units = [("days", 86_400.0), ("hours", 3_600.0), ("min", 60.0)];
    match units.into_iter().find(|(_, length)| seconds >= 2.0 * length) {
        Some((unit, length)) => format!("{:.1} {unit}", seconds / length),
        None => format!("{seconds:.1} s"),
    }
}

fn picture(args: &Args, log: &EventLog, ranked: &[Outlook]) -> Figure {
    let n_reaching = ranked.iter().filter(|outlook| outlook.reach_probability > 0.0).count();
    let bars = ranked.iter().take(n_reaching.min(MAX_BARS)).map(|outlook| Bar {
        name: log.state_name(outlook.state).to_owned(),
        length: outlook.steps_if_reached,
        share: outlook.reach_probability,
        remark: if outlook.steps_if_reached == 0.0 { "goal".into() } else { remark(outlook) },
    });
    let left_out = left_out(n_reaching, ranked.len() - n_reaching);
    let chart = BarChart {
        title: format!("How far from \u{201c}{}\u{201d}", args.goal.join("\u{201d} or \u{201c}")),
        axis: "expected steps until it is reached, if it is".into(),
        note: format!("shade: probability of reaching it, light is certain{left_out}"),
        bars: bars.collect(),
    };
    chart.draw()
}
