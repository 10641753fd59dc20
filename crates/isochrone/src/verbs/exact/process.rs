//! MDP files.

use super::{Args, save, solve};
use crate::verbs::report::{Field, Report};
use anyhow::{anyhow, bail};
use isochrone::{
    exact::{GoalDistances, path_to_goal},
    input::{NamedMdp, read_mdp_json, read_mdp_npz},
    plot::{Bar, BarChart, Picture},
};
use serde_json::json;

/// More bars than this cannot be read.
const MAX_BARS: usize = 60;

pub fn run(args: &Args) -> anyhow::Result<String> {
    let process =
        if args.extension() == "npz" { read_mdp_npz(&args.input)? } else { read_mdp_json(&args.input)? };
    if args.all_pairs {
        return Ok(
            solve::all_pairs(args, &process.mdp, |state| process.state_name(state))?.print(args.style())
        );
    }
    if args.goal.is_empty() {
        bail!("no goal given; hint: name a state with --goal, or ask for --all-pairs");
    }
    let goals =
        args.goal.iter().map(|name| find(&process, "--goal", name)).collect::<anyhow::Result<Vec<_>>>()?;
    let start = args.start.as_ref().map(|name| find(&process, "--start", name)).transpose()?;
    let distances = solve::solver(args, &process.mdp)?.to_goal_set(&goals)?;
    let mut report = table(args, &process, &distances);
    if let Some(start) = start {
        add_start(&mut report, &process, &distances, start);
    }
    eprintln!(
        "{} states, {} transitions; {}; every distance within {:.1e} (relative)",
        process.mdp.n_states(),
        process.mdp.n_transitions(),
        solve::method_name(distances.method()),
        distances.certificate().relative_error()
    );
    if let Some(path) = &args.plot {
        save(&picture(args, &process, &distances)?, path)?;
    }
    Ok(report.print(args.style()))
}

fn find(process: &NamedMdp, flag: &str, name: &str) -> anyhow::Result<usize> {
    process.find_state(name).ok_or_else(|| {
        let last = process.mdp.n_states() - 1;
        anyhow!(
            "{flag} {name:?}: no such state; hint: states are {} to {}",
            process.state_name(0),
            process.state_name(last)
        )
    })
}

fn table(args: &Args, process: &NamedMdp, distances: &GoalDistances) -> Report {
    let mut report = solve::facts(args, &process.mdp);
    solve::add_certificate(&mut report, args, distances);
    report.facts.insert("goals".into(), json!(args.goal));
    report.columns = ["state"].into_iter().chain(solve::distance_columns(args)).chain(["action"]).collect();
    for state in 0..process.mdp.n_states() {
        let mut row = vec![Field::Text(process.state_name(state))];
        row.extend(solve::distance_fields(args, distances.steps(state), distances.nats(state)));
        row.push(distances.action(state).map_or(Field::Missing, |a| Field::Text(process.action_name(a))));
        report.rows.push(row);
    }
    report
}

fn add_start(report: &mut Report, process: &NamedMdp, distances: &GoalDistances, start: usize) {
    let path: Vec<String> = path_to_goal(&process.mdp, distances, start)
        .into_iter()
        .map(|state| process.state_name(state))
        .collect();
    if path.is_empty() {
        eprintln!("from {}: the goal cannot be reached", process.state_name(start));
    } else {
        eprintln!(
            "from {}: {:.2} steps; {}",
            process.state_name(start),
            distances.steps(start),
            path.join(" -> ")
        );
    }
    let steps = distances.steps(start);
    report
        .facts
        .insert("start".into(), json!({"state": process.state_name(start), "steps": steps, "path": path}));
}

fn picture(args: &Args, process: &NamedMdp, distances: &GoalDistances) -> anyhow::Result<Picture> {
    let mut states: Vec<usize> =
        (0..process.mdp.n_states()).filter(|&s| distances.nats(s).is_finite()).collect();
    if states.len() > MAX_BARS {
        bail!(
            "--plot: {} states are more than {MAX_BARS} bars; hint: use --csv and a plotting tool",
            states.len()
        );
    }
    states.sort_by(|&a, &b| distances.nats(a).total_cmp(&distances.nats(b)));
    let farthest = states.last().map_or(1.0, |&state| distances.steps(state).max(1.0));
    let bars = states.into_iter().map(|state| Bar {
        name: process.state_name(state),
        length: distances.steps(state),
        share: 1.0 - distances.steps(state) / farthest,
        remark: distances.action(state).map_or("goal".into(), |action| process.action_name(action)),
    });
    let chart = BarChart {
        title: format!("Distance to {}", args.goal.join(" or ")),
        axis: format!("effective steps (gamma {})", args.gamma),
        shade: "behind each bar: the best action".into(),
        bars: bars.collect(),
    };
    Ok(chart.draw())
}
