//! The tables of a report.

use crate::results::{DistanceFit, EvalResult, Results, RunResult};
use isochrone_eval::{
    rollout::Success,
    stats::{RESAMPLES, bootstrap, interquartile_mean, mean},
};
use isochrone_learn::Algorithm;
use isochrone_plot::MIN_SEEDS;

/// A table with its heading and introduction.
pub struct Table {
    pub heading: String,
    pub text: String,
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// The cell of a missing number.
const NONE: &str = "-";

impl Table {
    /// Builds a table from its columns; columns without any number are left out.
    pub fn from_columns(heading: String, text: String, columns: Vec<(String, Vec<String>)>) -> Self {
        let kept: Vec<_> =
            columns.into_iter().filter(|(_, cells)| cells.iter().any(|cell| cell != NONE)).collect();
        let n_rows = kept.first().map_or(0, |(_, cells)| cells.len());
        let rows =
            (0..n_rows).map(|row| kept.iter().map(|(_, cells)| cells[row].clone()).collect()).collect();
        Self { heading, text, columns: kept.into_iter().map(|(name, _)| name).collect(), rows }
    }
}

/// Builds a column with a cell for every row.
pub fn column<R>(name: &str, rows: &[R], cell: impl Fn(&R) -> String) -> (String, Vec<String>) {
    (name.to_owned(), rows.iter().map(cell).collect())
}

/// Builds all tables, dataset by dataset; empty tables are left out.
pub fn tables(results: &Results) -> Vec<Table> {
    let mut tables = Vec::new();
    for dataset in results.recipe.datasets.keys() {
        tables.push(success(results, dataset));
        tables.push(references(results, dataset));
        tables.push(distances(results, dataset));
        tables.push(checkpoints(results, dataset));
    }
    tables.retain(|table| !table.rows.is_empty());
    tables
}

/// The runs of a dataset, grouped by method and settings: the runs of a group differ only in their
/// seeds.
pub fn groups<'a>(results: &'a Results, dataset: &str) -> Vec<Vec<&'a RunResult>> {
    let mut groups: Vec<Vec<&RunResult>> = Vec::new();
    for run in results.runs.iter().filter(|run| run.dataset == dataset) {
        match groups.last_mut() {
            Some(group) if group[0].method == run.method && group[0].variant == run.variant => {
                group.push(run);
            }
            _ => groups.push(vec![run]),
        }
    }
    groups
}

/// `None` for the policy alone, followed by the names of planners.
pub fn planners(results: &Results) -> Vec<Option<&str>> {
    let planners = results.recipe.planners.iter().map(|planner| Some(planner.name.as_str()));
    std::iter::once(None).chain(planners).collect()
}

/// The method, its changed settings, and the planner.
pub fn label(run: &RunResult, planner: Option<&str>) -> String {
    let change = run.variant.as_ref().map_or_else(String::new, |variant| format!(", {variant}"));
    let with = planner.map_or_else(String::new, |planner| format!(" + {planner}"));
    format!("{}{change}{with}", run.method)
}

/// Whether a method learns a distance.
pub fn has_distance(method: &str) -> bool {
    method != Algorithm::Gcbc.name()
}

/// The best result of each dataset, a sentence each: the mean of the last three checkpoints, or
/// the last one if there are fewer.
pub fn headlines(results: &Results) -> Vec<String> {
    let of_dataset = |dataset: &String| {
        let mut best: Option<(f64, String, String)> = None;
        for group in groups(results, dataset) {
            for planner in planners(results) {
                let rate = |run: &RunResult| {
                    let success = run.success(planner)?;
                    Some(100.0 * success.last_three.unwrap_or(success.last))
                };
                let rates = scores(&group, &rate);
                let value = mean(&rates);
                if rates.is_empty() || best.as_ref().is_some_and(|(other, ..)| *other >= value) {
                    continue;
                }
                let with = planner.map_or_else(|| "alone".into(), |name| results.recipe.acts(name));
                let name = format!("{} {with}", label(group[0], None));
                best = Some((value, name, with_interval(&rates)));
            }
        }
        let (_, name, rate) = best?;
        let optimal = results.datasets.get(dataset).and_then(|info| info.optimal_success.as_ref());
        let optimal =
            optimal.map(|success| format!("; the optimal success rate is {:.1} %", 100.0 * mean(success)));
        Some(format!("Highest success rate on {dataset}: {name}, {rate}{}.", optimal.unwrap_or_default()))
    };
    results.recipe.datasets.keys().filter_map(of_dataset).collect()
}

/// The mean of success rates in percent, with its interval if there are enough seeds.
fn with_interval(rates: &[f64]) -> String {
    let n = rates.len();
    if n < MIN_SEEDS {
        let plural = if n == 1 { "" } else { "s" };
        return format!("{:.1} % (n = {n} seed{plural}, no interval)", mean(rates));
    }
    let estimate = bootstrap(&[rates.to_vec()], mean, RESAMPLES, 0);
    format!("{:.1} % (95 % CI [{:.1}, {:.1}], n = {n} seeds)", estimate.value, estimate.low, estimate.high)
}

fn success(results: &Results, dataset: &str) -> Table {
    let recipe = &results.recipe;
    let groups = groups(results, dataset);
    let mut columns = vec![
        column("method", &groups, |group| group[0].method.clone()),
        column("change", &groups, |group| change(group[0])),
        column("seeds", &groups, |group| group.len().to_string()),
        column("updates", &groups, |group| group[0].steps.to_string()),
    ];
    let has_several = recipe.evaluation.checkpoints > 1;
    for planner in planners(results) {
        let named =
            |what: &str| planner.map_or_else(|| what.to_owned(), |planner| format!("{planner}, {what}"));
        let percent = |pick: fn(Success) -> Option<f64>| {
            move |run: &RunResult| Some(100.0 * pick(run.success(planner)?)?)
        };
        let last = percent(|success| Some(success.last));
        if has_several {
            let last_three = percent(|success| success.last_three);
            columns.push(column(&named("last three"), &groups, |group| interval(group, &last_three, mean)));
        }
        let name = named(if has_several { "last" } else { "success (%)" });
        columns.push(column(&name, &groups, |group| interval(group, &last, mean)));
        if planner.is_some() {
            continue;
        }
        if has_several {
            let best = percent(|success| Some(success.best));
            columns.push(column("best", &groups, |group| average(group, &best, 1)));
        }
        if recipe.seeds > 1 {
            let middle = |group: &Vec<&RunResult>| interval(group, &last, interquartile_mean);
            columns.push(column("interquartile mean", &groups, middle));
            let worst = |group: &Vec<&RunResult>| scores(group, &last).into_iter().reduce(f64::min);
            columns.push(column("worst seed", &groups, |group| rounded(worst(group), 1)));
        }
    }
    columns.push(column("by task, last planner", &groups, |group| {
        let last = |run| planners(results).into_iter().rev().find_map(|planner| last_of(run, planner));
        let evaluated = group.iter().filter_map(|&run| last(run));
        by_task(&evaluated.map(|evaluation| evaluation.success.as_slice()).collect::<Vec<_>>())
    }));
    let policy =
        |pick: fn(&EvalResult) -> Option<f64>| move |run: &RunResult| last_of(run, None).and_then(pick);
    let (steps, returns) = (policy(|last| last.mean_steps), policy(|last| last.mean_return));
    columns.push(column("steps to success", &groups, |group| average(group, &steps, 1)));
    columns.push(column("return", &groups, |group| average(group, &returns, 1)));
    columns.push(column("seconds", &groups, |group| average(group, &|run| Some(run.seconds), 0)));
    let published = &recipe.datasets[dataset].published;
    let published: Vec<String> =
        published.iter().map(|(method, value)| format!("{method} {value}")).collect();
    let text = match published.is_empty() {
        true => String::new(),
        false => format!("Published: {}.", published.join(", ")),
    };
    Table::from_columns(dataset.to_owned(), text, columns)
}

/// The changed settings.
fn change(run: &RunResult) -> String {
    run.variant.clone().unwrap_or_else(|| NONE.into())
}

/// The evaluation of the last checkpoint.
fn last_of<'a>(run: &'a RunResult, planner: Option<&str>) -> Option<&'a EvalResult> {
    run.evaluations(planner).pop()
}

/// The success rate of every task, averaged over runs; `-` if there is only one task.
fn by_task(runs: &[&[f64]]) -> String {
    let n_tasks = runs.first().map_or(0, |success| success.len());
    let task = |task: usize| {
        let of: Vec<f64> = runs.iter().map(|success| 100.0 * success[task]).collect();
        format!("{:.0}", mean(&of))
    };
    if n_tasks > 1 { (0..n_tasks).map(task).collect::<Vec<_>>().join(", ") } else { NONE.into() }
}

/// Success rates without learning, by task: the optimal success rate and baselines.
pub fn reference_rates<'a>(results: &'a Results, dataset: &str) -> Vec<(&'a str, &'a Vec<f64>)> {
    let Some(info) = results.datasets.get(dataset) else { return Vec::new() };
    let optimal = info.optimal_success.iter().map(|success| ("optimal success rate", success));
    let baselines = info.baselines.iter().map(|(name, success)| {
        let name = match name.as_str() {
            "exact" => "policy of the exact solver",
            "straight" => "straight line to the goal",
            "idle" => "no action",
            other => other,
        };
        (name, success)
    });
    optimal.chain(baselines).collect()
}

fn references(results: &Results, dataset: &str) -> Table {
    let rows = reference_rates(results, dataset);
    let columns = vec![
        column("policy", &rows, |(name, _)| (*name).to_owned()),
        column("success (%)", &rows, |(_, success)| format!("{:.1}", 100.0 * mean(success))),
        column("by task", &rows, |(_, success)| by_task(&[success.as_slice()])),
    ];
    let text = "The optimal success rate is an upper bound, computed by the exact solver on a tabular model of the environment without observation noise. Baselines learn nothing.";
    Table::from_columns(format!("{dataset}: without learning"), text.into(), columns)
}

fn distances(results: &Results, dataset: &str) -> Table {
    let has_fit = |group: &Vec<&RunResult>| group.iter().any(|run| run.fit.is_some());
    let (groups, others): (Vec<_>, Vec<_>) = groups(results, dataset).into_iter().partition(has_fit);
    let missing: Vec<String> = others.iter().map(|group| label(group[0], None)).collect();
    let fitted = |name: &str, decimals: usize, pick: fn(&DistanceFit) -> f64| {
        column(name, &groups, |group| average(group, &|run| run.fit.as_ref().map(pick), decimals))
    };
    let columns = vec![
        column("method", &groups, |group| group[0].method.clone()),
        column("change", &groups, |group| change(group[0])),
        fitted("rank, ahead on a street", 3, |fit| fit.rank_ahead),
        fitted("rank, across streets", 3, |fit| fit.rank_across),
        fitted("rank, all pairs", 3, |fit| fit.rank),
        fitted("learned / exact", 2, |fit| fit.ratio),
        fitted("error (%) after division by the ratio", 0, |fit| 100.0 * fit.error),
    ];
    let mut text = "Exact: steps under the optimal policy, over all pairs of states with a path between them. Rank correlations are Spearman's; the last two columns are medians.".to_owned();
    if !missing.is_empty() {
        text += &format!(" No distance: {}.", missing.join(", "));
    }
    Table::from_columns(format!("{dataset}: learned and exact distances"), text, columns)
}

/// Every checkpoint of every run, if more than the last three are evaluated.
fn checkpoints(results: &Results, dataset: &str) -> Table {
    let is_listed = results.recipe.evaluation.checkpoints > isochrone_eval::rollout::LAST_THREE;
    let runs = results.runs.iter().filter(|run| is_listed && run.dataset == dataset);
    let rows: Vec<(&RunResult, u64)> =
        runs.flat_map(|run| run.checkpoints.iter().map(move |&step| (run, step))).collect();
    let minutes = |run: &RunResult, step: u64| run.seconds / 60.0 * step as f64 / run.steps as f64;
    let mut columns = vec![
        column("method", &rows, |(run, _)| run.method.clone()),
        column("seed", &rows, |(run, _)| run.seed.to_string()),
        column("updates", &rows, |(_, step)| step.to_string()),
        column("minutes of training", &rows, |&(run, step)| format!("{:.0}", minutes(run, step))),
    ];
    for planner in planners(results) {
        columns.push(column(planner.unwrap_or("policy"), &rows, |(run, step)| {
            let of = run.evaluations(planner).into_iter().find(|evaluation| evaluation.step == *step);
            rounded(of.map(|of| 100.0 * mean(&of.success)), 1)
        }));
    }
    Table::from_columns(format!("{dataset}: success over training"), String::new(), columns)
}

/// The score of each run that has one.
fn scores(group: &[&RunResult], score: &dyn Fn(&RunResult) -> Option<f64>) -> Vec<f64> {
    group.iter().filter_map(|run| score(run)).collect()
}

pub fn rounded(number: Option<f64>, decimals: usize) -> String {
    number.map_or_else(|| NONE.into(), |number| format!("{number:.decimals$}"))
}

fn average(group: &[&RunResult], score: &dyn Fn(&RunResult) -> Option<f64>, decimals: usize) -> String {
    let scores = scores(group, score);
    rounded((!scores.is_empty()).then(|| mean(&scores)), decimals)
}

/// A statistic with its 95 % interval over seeds, which needs at least [`MIN_SEEDS`].
pub fn interval(
    group: &[&RunResult],
    score: &dyn Fn(&RunResult) -> Option<f64>,
    statistic: fn(&[f64]) -> f64,
) -> String {
    let scores = scores(group, score);
    if scores.len() < MIN_SEEDS {
        return rounded((!scores.is_empty()).then(|| statistic(&scores)), 1);
    }
    let estimate = bootstrap(&[scores], statistic, RESAMPLES, 0);
    format!("{:.1} [{:.1}, {:.1}]", estimate.value, estimate.low, estimate.high)
}
