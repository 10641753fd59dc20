//! Plans in data with jumps whose outcome is random.

use super::{Args, MAX_DIMENSIONS, draw, hidden};
use crate::commands::{
    forecast::{describe, facts},
    output::{Field, Report},
    planner_args::PlannerArgs,
    query::LoadedRun,
};
use anyhow::bail;
use isochrone::chance::Waypoint;
use serde_json::json;
use std::io::Write;

/// Returns all states of a plan between two states, `[n, width]`, including both; `None` without a
/// path. After a jump on purpose, the path depends on where it leads.
pub fn path_states(
    loaded: &LoadedRun,
    args: &PlannerArgs,
    from: &[f32],
    to: &[f32],
) -> anyhow::Result<Option<Vec<f32>>> {
    let data = loaded.data()?;
    let planner = args.stochastic(loaded.chance(|data| args.chance_model(data))?, data, None)?;
    let states = |path: Vec<Waypoint>| {
        let rows = path.iter().flat_map(|waypoint| data.state(waypoint.row));
        let end = if path.iter().any(|waypoint| waypoint.by == "enter") { &[] } else { to };
        from.iter().chain(rows).chain(end).copied().collect()
    };
    Ok(planner.path(from, to)?.map(states))
}

/// Finds, prints and draws the plan and its forecast.
pub fn run(
    args: &Args,
    loaded: &LoadedRun,
    from: &[f32],
    to: &[f32],
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let data = loaded.data()?;
    let model = loaded.chance(|data| args.planner.chance_model(data))?;
    let planner = args.planner.stochastic(model, data, None)?;
    let path = planner.path(from, to)?;
    let forecasts = planner.forecasts(from, to)?;
    if let Some(file) = &args.plot {
        let states = path_states(loaded, &args.planner, from, to)?;
        let note = args.planner.describe(None);
        draw(args, loaded, loaded.refined()?, (from, to), states.as_deref(), note, file)?;
    }
    let Some(path) = path else {
        bail!("no path found from {} to {}; hint: {}", args.from, args.to, args.planner.hint());
    };
    let width = from.len();
    let shown = if args.style.is_text() { width.min(MAX_DIMENSIONS) } else { width };
    let mut columns = vec!["waypoint".to_owned(), "row".to_owned()];
    columns.extend((0..shown).map(|dimension| loaded.model.spec.observation.dimension(dimension)));
    columns.extend(["by", "steps", "hazard"].map(str::to_owned));
    let rows = path.iter().enumerate().map(|(number, waypoint)| {
        let (episode, row) = data.index().row_of_state(waypoint.row);
        let mut fields = vec![Field::Count(number), Field::Text(format!("@{episode}:{row}"))];
        let state = &data.state(waypoint.row)[..shown];
        fields.extend(state.iter().map(|&x| Field::Number(f64::from(x), 3)));
        fields.extend([
            Field::Text(waypoint.by.to_owned()),
            Field::Number(waypoint.steps, 2),
            Field::Number(waypoint.hazard, 4),
        ]);
        fields
    });
    let facts = json!({
        "checkpoint_step": loaded.model.step, "planner": args.planner.describe(None), "forecast": facts(&forecasts),
        "jumps": model.jumps().jumps, "reversible_share": model.reversible_share(),
    });
    write!(out, "{}", Report::new(facts, columns, rows).print(&args.style))?;
    if args.style.is_text() {
        writeln!(out, "{}{}", describe(&forecasts), hidden(width - shown))?;
    }
    Ok(())
}
