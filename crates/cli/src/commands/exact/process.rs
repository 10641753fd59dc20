//! MDP files.

use super::{
    Args, solve,
    solve::{MAX_BARS, left_out, quoted},
};
use crate::commands::output::{Field, Report, count, named, note_fmt, save};
use anyhow::{anyhow, bail};
use isochrone::{
    data::tabular::{NamedMdp, read_mdp_json, read_mdp_npz},
    exact::{GoalDistances, path_to_goal},
    plot::{Bar, BarChart, BarColor, Figure},
};
use serde_json::json;
use std::io::{Read, Write};

pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    let process = if is_archive(args) { read_mdp_npz(&args.input)? } else { read_mdp_json(&args.input)? };
    if args.all_pairs {
        return solve::all_pairs(args, &process.mdp, |state| process.state_name(state), out);
    }
    if args.goal.is_empty() {
        bail!("no goal given; hint: set a state with --goal, or use --all-pairs");
    }
    let (goals, start) = args.ends(|flag, name| find(&process, flag, name))?;
    let distances = solve::to_goal_set(args, &process.mdp, &goals)?;
    note_fmt!(
        "{}, {}; {}",
        count(process.mdp.n_states(), "state"),
        count(process.mdp.n_transitions(), "transition"),
        solve::quality(&distances)
    );
    let n_unreachable = distances.all_nats().iter().filter(|nats| nats.is_infinite()).count();
    if n_unreachable > 0 {
        note_fmt!("no path to the goal from {}", count(n_unreachable, "state"));
    }
    let goal_names: Vec<String> = goals.iter().map(|&goal| process.state_name(goal)).collect();
    let mut report = table(args, &distances);
    report.facts.insert("goals".into(), json!(goal_names));
    if let Some(start) = start {
        add_start(&mut report, &process, &distances, start);
    }
    if let Some(path) = &args.plot {
        save(&figure(args, &process, &distances, &goal_names), path)?;
    }
    Ok(report.write(rows(args, &process, &distances), &args.style, out)?)
}

/// Returns whether the input is a zip archive, by its extension or, if that is unknown, by its
/// first bytes.
fn is_archive(args: &Args) -> bool {
    let starts_with_magic = || {
        let mut magic = [0; 2];
        let read = std::fs::File::open(&args.input).and_then(|mut file| file.read_exact(&mut magic));
        read.is_ok() && &magic == b"PK"
    };
    match args.extension().as_str() {
        "npz" => true,
        "json" => false,
        _ => starts_with_magic(),
    }
}

fn find(process: &NamedMdp, flag: &str, name: &str) -> anyhow::Result<usize> {
    process.find_state(name).ok_or_else(|| {
        let n_states = process.mdp.n_states();
        let known = match process.states.len() {
            0 => format!("states are numbered 0 to {}", n_states - 1),
            _ => format!("the states are {}", quoted(&process.states)),
        };
        anyhow!("{flag} {name:?}: unknown state; hint: {known}")
    })
}

/// Returns the table without its rows.
fn table(args: &Args, distances: &GoalDistances) -> Report {
    let columns = named(["state"].into_iter().chain(solve::distance_columns(args)).chain(["action"]));
    Report::new(solve::facts(args, distances), columns, [])
}

/// Makes the rows of the table: one for each state.
fn rows<'a>(
    args: &'a Args,
    process: &'a NamedMdp,
    distances: &'a GoalDistances,
) -> impl Iterator<Item = Vec<Field>> + Clone + 'a {
    (0..process.mdp.n_states()).map(move |state| {
        let mut row = vec![Field::Text(process.state_name(state))];
        row.extend(solve::distance_fields(args, distances.steps(state), distances.nats(state)));
        row.push(distances.action(state).map_or(Field::Missing, |a| Field::Text(process.action_name(a))));
        row
    })
}

fn add_start(report: &mut Report, process: &NamedMdp, distances: &GoalDistances, start: usize) {
    let path = path_to_goal(&process.mdp, distances, start).into_iter();
    let path: Vec<String> = path.map(|state| process.state_name(state)).collect();
    let (name, steps) = (process.state_name(start), distances.steps(start));
    match path.is_empty() {
        true => note_fmt!("from {name}: the goal cannot be reached"),
        false => note_fmt!("from {name}: {steps:.2} steps; {}", path.join(" -> ")),
    }
    report.facts.insert("start".into(), json!({"state": name, "steps": steps, "path": path}));
}

fn figure(args: &Args, process: &NamedMdp, distances: &GoalDistances, goals: &[String]) -> Figure {
    let mut states: Vec<usize> =
        (0..process.mdp.n_states()).filter(|&s| distances.nats(s).is_finite()).collect();
    states.sort_by(|&a, &b| distances.nats(a).total_cmp(&distances.nats(b)));
    let n_reaching = states.len();
    states.truncate(MAX_BARS);
    let farthest = states.last().map_or(1.0, |&state| distances.steps(state).max(1.0));
    let bars = states.iter().map(|&state| Bar {
        name: process.state_name(state),
        length: distances.steps(state),
        interval: None,
        color: BarColor::Shade(1.0 - distances.steps(state) / farthest),
        remark: match distances.action(state) {
            None => "goal".into(),
            Some(action) => format!("{:.1} steps, {}", distances.steps(state), process.action_name(action)),
        },
    });
    let left_out = left_out(n_reaching, process.mdp.n_states() - n_reaching);
    let chart = BarChart {
        title: format!("Distance to {}", goals.join(" or ")),
        axis: format!("effective steps (gamma {})", args.gamma),
        note: format!("label of each bar: the optimal action{left_out}"),
        legend: Vec::new(),
        bars: bars.collect(),
    };
    chart.draw()
}
