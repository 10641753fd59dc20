//! Plans along recorded segments.

use super::{Args, MAX_DIMENSIONS, draw, hidden};
use crate::commands::{
    output::{Field, Report, tell},
    query::Asker,
    situations::SelectionArgs,
};
use anyhow::bail;
use isochrone::{
    TemporalDistance as _,
    data::Dataset,
    refined::{RecordedPath, Segment},
};
use serde_json::json;
use std::io::Write;

/// All states of the recorded path between two, `[n, width]`, with the two. `None` if no path is known.
pub fn states(asker: &Asker, from: &[f32], to: &[f32]) -> anyhow::Result<Option<Vec<f32>>> {
    let (path, data) = (asker.refined()?.path(from, to)?, asker.data()?);
    Ok(path.map(|path| states_of(&path, data, from, to)))
}

fn states_of(path: &RecordedPath, data: &Dataset, from: &[f32], to: &[f32]) -> Vec<f32> {
    let rows = |segment: &Segment| segment.first_row..=segment.last_row();
    let rows = path.segments.iter().flat_map(rows).flat_map(|number| row(data, number).1);
    from.iter().chain(rows).chain(to).copied().collect()
}

/// A row of the data by its number over all episodes: what it is called, and its state.
fn row(data: &Dataset, number: u64) -> (String, &[f32]) {
    let (episode, row) = data.index().row_of_state(number);
    (format!("@{episode}:{row}"), data.state(number))
}

/// Where a plan ends: one situation or, of a set, the state that is nearest in recorded time; and what it is called.
pub fn goal(
    asker: &Asker,
    from: &[f32],
    text: &str,
    selection: &SelectionArgs,
) -> anyhow::Result<(String, Vec<f32>)> {
    let goals = asker.goals(&[text.to_owned()], "--to", selection, false)?;
    let [goal] = &goals[..] else {
        bail!("--to {text}: {} situations; hint: give one, like @0:10, or a set, like end", goals.len());
    };
    if !goal.is_set {
        return Ok((text.to_owned(), goal.members.rows.clone()));
    }
    let steps = asker.refined()?.all_pairs_steps(from, &goal.members.rows)?;
    let nearest = (0..steps.len()).min_by(|a, b| steps[*a].total_cmp(&steps[*b]));
    let nearest = goal.members.select(nearest);
    tell(&format!("--to {text}: the nearest in recorded time is {}", nearest.names[0]));
    Ok((nearest.names[0].clone(), nearest.rows))
}

/// Finds, prints and draws the path.
pub fn run(
    args: &Args,
    asker: &Asker,
    from: &[f32],
    (goal, to): &(String, Vec<f32>),
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let (refined, data) = (asker.refined()?, asker.data()?);
    for (flag, text, state) in [("--from", &args.from, from), ("--to", goal, to)] {
        if refined.extrapolates(state)?[0] {
            tell(&format!(
                "warning: {flag} {text}: nothing was recorded there; the hop between it and the nearest recorded state is a guess"
            ));
        }
    }
    let path = refined.path(from, to)?;
    let width = refined.width();
    let row = |number: u64| row(data, number);
    if let Some(file) = &args.plot {
        let states = path.as_ref().map(|path| states_of(path, data, from, to));
        draw(args, asker, refined, (from, to), states.as_deref(), "along recorded segments".into(), file)?;
    }
    let Some(path) = path else {
        let broken = refined.gap(data, from, to)?.map_or_else(String::new, |gap| {
            let percent = |share: f64| format!("{:.0} %", 100.0 * share);
            format!(
                ": the record breaks between {} and {}, {:.0} steps apart; {} of all recorded states can be reached, {} lead to the goal",
                row(gap.from_row).0,
                row(gap.to_row).0,
                gap.steps,
                percent(gap.reached),
                percent(gap.leading)
            )
        });
        bail!(
            "no recorded path leads from {} to {}{broken}; hint: record somebody who gets across, or try --planner graph, which searches with the learned distance",
            args.from,
            goal
        );
    };
    let mut waypoints = vec![(args.from.clone(), from, "", 0.0)];
    for (segment, hop) in path.segments.iter().zip(&path.hops) {
        let ((first, begin), (last, end)) = (row(segment.first_row), row(segment.last_row()));
        waypoints.extend([(first, begin, "hop", *hop), (last, end, "recorded", f64::from(segment.steps))]);
    }
    let last_hop = path.hops[path.hops.len() - 1];
    waypoints.push((goal.clone(), to, "hop", last_hop));
    let shown = if args.style.is_text() { width.min(MAX_DIMENSIONS) } else { width };
    let mut columns = vec!["waypoint".to_owned(), "row".to_owned()];
    columns.extend((0..shown).map(|dimension| asker.model.spec.observation.dimension(dimension)));
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
    let hops: f64 = path.hops.iter().sum();
    let facts = json!({
        "checkpoint_step": asker.model.step, "planner": "recorded segments", "steps": total, "steps_of_hops": hops,
    });
    write!(out, "{}", Report::new(facts, columns, rows).print(&args.style))?;
    if args.style.is_text() {
        let hidden = hidden(width - shown);
        writeln!(
            out,
            "in all {total:.2} steps over {n_waypoints} waypoints, {hops:.2} of them hops{hidden}"
        )?;
    }
    Ok(())
}
