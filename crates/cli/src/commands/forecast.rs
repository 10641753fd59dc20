//! Forecasts of the stochastic planner: of its plan, and of the gamble.

use isochrone::chance::{Forecast, Forecasts, StochasticPlanner};
use serde_json::{Value, json};

/// Returns the mean forecasts over pairs of starts and goals, `[n, width]` twice. Steps are means
/// over the pairs whose goal can be reached, weighted by the probability that it is.
pub fn mean_forecasts(planner: &StochasticPlanner, from: &[f32], goals: &[f32]) -> anyhow::Result<Forecasts> {
    let width = planner.model().width();
    let pairs = from.chunks_exact(width).zip(goals.chunks_exact(width));
    let all = pairs.map(|(from, goal)| planner.forecasts(from, goal)).collect::<Result<Vec<_>, _>>()?;
    let mean = |of: &dyn Fn(&Forecasts) -> Forecast| {
        let forecasts: Vec<Forecast> = all.iter().map(of).filter(|forecast| forecast.success > 0.0).collect();
        let success: f64 = forecasts.iter().map(|forecast| forecast.success).sum();
        let steps: f64 = forecasts.iter().map(|forecast| forecast.success * forecast.steps).sum();
        let steps = if success > 0.0 { steps / success } else { f64::INFINITY };
        Forecast { success: success / all.len() as f64, steps }
    };
    Ok(Forecasts { safe: mean(&|both| both.safe), gamble: mean(&|both| both.gamble) })
}

/// Returns the forecasts for JSON.
pub fn facts(forecasts: &Forecasts) -> Value {
    let one = |forecast: &Forecast| json!({"success": forecast.success, "steps": forecast.steps.is_finite().then_some(forecast.steps)});
    json!({"plan": one(&forecasts.safe), "gamble": one(&forecasts.gamble)})
}

/// Describes the forecasts in one line.
pub fn describe(forecasts: &Forecasts) -> String {
    let one = |forecast: &Forecast| match forecast.steps.is_finite() {
        true => format!("{:.1} % in {:.0} steps", 100.0 * forecast.success, forecast.steps),
        false => "0 %".to_owned(),
    };
    format!(
        "forecast: {} with this plan; the shortest path, which trusts jumps: {}",
        one(&forecasts.safe),
        one(&forecasts.gamble)
    )
}
