//! Plans along recorded segments.

use super::{Args, MAX_DIMENSIONS, draw, hidden};
use crate::commands::{
    output::{Field, Report, note},
    query::LoadedRun,
    states::SelectionArgs,
};
use anyhow::bail;
use isochrone::{
    TemporalDistance as _,
    data::Dataset,
    refined::{RecordedPath, Segment},
};
use serde_json::json;
use std::io::Write;

/// Returns all states of the recorded path between two states, `[n, width]`, including both; `None`
/// without a path.
pub fn path_states(loaded: &LoadedRun, from: &[f32], to: &[f32]) -> anyhow::Result<Option<Vec<f32>>> {
    let (path, data) = (loaded.refined()?.path(from, to)?, loaded.data()?);
    Ok(path.map(|path| states_of(&path, data, from, to)))
}

fn states_of(path: &RecordedPath, data: &Dataset, from: &[f32], to: &[f32]) -> Vec<f32> {
    let rows = |segment: &Segment| segment.first_row..=segment.last_row();
    let rows = path.segments.iter().flat_map(rows).flat_map(|number| row(data, number).1);
    from.iter().chain(rows).chain(to).copied().collect()
}

/// Returns the name and the state of a dataset row, by its index over all episodes.
fn row(data: &Dataset, number: u64) -> (String, &[f32]) {
    let (episode, row) = data.index().row_of_state(number);
    (format!("@{episode}:{row}"), data.state(number))
}

/// Returns the name and the state of the goal; for a goal set, of its nearest state in recorded
/// time.
pub fn goal(
    loaded: &LoadedRun,
    from: &[f32],
    text: &str,
    selection: &SelectionArgs,
) -> anyhow::Result<(String, Vec<f32>)> {
    let goals = loaded.goals(&[text.to_owned()], "--to", selection, false)?;
    let [goal] = &goals[..] else {
        bail!("--to {text}: {} states; hint: give one, like @0:10, or a goal set, like end", goals.len());
    };
    if !goal.is_set {
        return Ok((text.to_owned(), goal.members.rows.clone()));
    }
    let steps = loaded.refined()?.all_pairs_steps(from, &goal.members.rows)?;
    let nearest = (0..steps.len()).min_by(|a, b| steps[*a].total_cmp(&steps[*b]));
    let nearest = goal.members.select(nearest);
    note(&format!("--to {text}: the nearest state in recorded time is {}", nearest.names[0]));
    Ok((nearest.names[0].clone(), nearest.rows))
}

/// Finds, prints and draws the path.
pub fn run(
    args: &Args,
    loaded: &LoadedRun,
    from: &[f32],
    (goal, to): &(String, Vec<f32>),
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let (refined, data) = (loaded.refined()?, loaded.data()?);
    for (flag, text, state) in [("--from", &args.from, from), ("--to", goal, to)] {
        if refined.extrapolates(state)?[0] {
            note(&format!(
                "warning: {flag} {text}: there are no data nearby; the steps to the nearest recorded state are extrapolated"
            ));
        }
    }
    let path = refined.path(from, to)?;
    let width = refined.width();
    let row = |number: u64| row(data, number);
    if let Some(file) = &args.plot {
        let states = path.as_ref().map(|path| states_of(path, data, from, to));
        draw(args, loaded, refined, (from, to), states.as_deref(), "along recorded segments".into(), file)?;
    }
    let Some(path) = path else {
        let gap = refined.gap(data, from, to)?.map_or_else(String::new, |gap| {
            let percent = |share: f64| format!("{:.0} %", 100.0 * share);
            format!(
                ": the data have a gap between {} and {}, {:.0} steps apart; {} of all recorded states are reachable from the start, and the goal is reachable from {}",
                row(gap.from_row).0,
                row(gap.to_row).0,
                gap.steps,
                percent(gap.reached),
                percent(gap.leading)
            )
        });
        bail!(
            "no recorded path from {} to {}{gap}; hint: collect trajectories that connect them, or try --planner graph, which searches with the learned distance",
            args.from,
            goal
        );
    };
    let mut waypoints = vec![(args.from.clone(), from, "", 0.0)];
    for (segment, connection) in path.segments.iter().zip(&path.hops) {
        let ((first, first_state), (last, last_state)) = (row(segment.first_row), row(segment.last_row()));
        waypoints.extend([
            (first, first_state, "connection", *connection),
            (last, last_state, "recorded", f64::from(segment.steps)),
        ]);
    }
    let last_connection = path.hops[path.hops.len() - 1];
    waypoints.push((goal.clone(), to, "connection", last_connection));
    let shown = if args.style.is_text() { width.min(MAX_DIMENSIONS) } else { width };
    let mut columns = vec!["waypoint".to_owned(), "row".to_owned()];
    columns.extend((0..shown).map(|dimension| loaded.model.spec.observation.dimension(dimension)));
    columns.extend(["by", "steps", "steps_left"].map(str::to_owned));
    let (total, n_waypoints) = (path.steps(), waypoints.len() - 2);
    let mut left = total;
    let rows = waypoints.into_iter().enumerate().map(|(number, (name, state, by, steps))| {
        left = (left - steps).max(0.0);
        let mut row = vec![Field::Count(number), Field::Text(name)];
        row.extend(state[..shown].iter().map(|&x| Field::Number(f64::from(x), 3)));
        row.extend([Field::Text(by.to_owned()), Field::Number(steps, 2), Field::Number(left, 2)]);
        row
    });
    let connections: f64 = path.hops.iter().sum();
    let facts = json!({
        "checkpoint_step": loaded.model.step, "planner": "recorded", "steps": total, "connection_steps": connections,
    });
    write!(out, "{}", Report::new(facts, columns, rows).print(&args.style))?;
    if args.style.is_text() {
        let hidden = hidden(width - shown);
        writeln!(
            out,
            "total {total:.2} steps over {n_waypoints} waypoints, {connections:.2} of them connections{hidden}"
        )?;
    }
    Ok(())
}
