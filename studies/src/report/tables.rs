//! The tables of a report.

use crate::results::{DistanceFit, EvalResult, Results, RunResult};
use isochrone_eval::{
    rollout::Success,
    stats::{RESAMPLES, bootstrap, interquartile_mean, mean},
};

/// A table with its heading and an introduction.
pub struct Table {
    pub heading: String,
    pub text: String,
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// Where there is no number.
const NONE: &str = "-";

impl Table {
    /// Columns without a single number are left out.
    fn from_columns(heading: String, text: String, columns: Vec<(String, Vec<String>)>) -> Self {
        let kept: Vec<_> =
            columns.into_iter().filter(|(_, cells)| cells.iter().any(|cell| cell != NONE)).collect();
        let n_rows = kept.first().map_or(0, |(_, cells)| cells.len());
        let rows =
            (0..n_rows).map(|row| kept.iter().map(|(_, cells)| cells[row].clone()).collect()).collect();
        Self { heading, text, columns: kept.into_iter().map(|(name, _)| name).collect(), rows }
    }
}

/// All tables, dataset by dataset; none is empty.
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

/// Runs of one dataset that differ only in their seeds, method by method.
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

/// Names of planners, after `None` for the policy alone.
pub fn planners(results: &Results) -> Vec<Option<&str>> {
    let planners = results.recipe.planners.iter().map(|planner| Some(planner.name.as_str()));
    std::iter::once(None).chain(planners).collect()
}

fn success(results: &Results, dataset: &str) -> Table {
    let recipe = &results.recipe;
    let groups = groups(results, dataset);
    let column = |name: &str, cell: &dyn Fn(&[&RunResult]) -> String| {
        (name.to_owned(), groups.iter().map(|group| cell(group)).collect::<Vec<_>>())
    };
    let mut columns = vec![
        column("method", &|group| group[0].method.clone()),
        column("change", &|group| group[0].variant.clone().unwrap_or_else(|| NONE.into())),
        column("seeds", &|group| group.len().to_string()),
        column("updates", &|group| group[0].steps.to_string()),
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
            columns.push(column(&named("last three"), &|group| interval(&scores(group, &last_three), mean)));
        }
        let name = named(if has_several { "last" } else { "success (%)" });
        columns.push(column(&name, &|group| interval(&scores(group, &last), mean)));
        if planner.is_some() {
            continue;
        }
        if has_several {
            let best = percent(|success| Some(success.best));
            columns.push(column("best", &|group| average(&scores(group, &best), 1)));
        }
        if recipe.seeds > 1 {
            let middle = |group: &[&RunResult]| interval(&scores(group, &last), interquartile_mean);
            columns.push(column("interquartile mean", &middle));
            let worst = |group: &[&RunResult]| {
                let worst = scores(group, &last).into_iter().reduce(f64::min);
                worst.map_or_else(|| NONE.into(), |worst| format!("{worst:.1}"))
            };
            columns.push(column("worst seed", &worst));
        }
    }
    let last_of = |run: &RunResult, planner: Option<&str>| run.evaluations(planner).last().copied().cloned();
    columns.push(column("by task, last planner", &|group| {
        let evaluated =
            |run: &&RunResult| planners(results).into_iter().rev().find_map(|planner| last_of(run, planner));
        by_task(&group.iter().filter_map(evaluated).collect::<Vec<_>>())
    }));
    let policy =
        |pick: fn(EvalResult) -> Option<f64>| move |run: &RunResult| last_of(run, None).and_then(pick);
    let (steps, returns) = (policy(|last| last.mean_steps), policy(|last| last.mean_return));
    columns.push(column("steps to success", &|group| average(&scores(group, &steps), 1)));
    columns.push(column("return", &|group| average(&scores(group, &returns), 1)));
    columns.push(column("seconds", &|group| average(&scores(group, &|run| Some(run.seconds)), 0)));
    let published = &recipe.datasets[dataset].published;
    let text = match published.is_empty() {
        true => String::new(),
        false => {
            let each: Vec<String> =
                published.iter().map(|(method, value)| format!("{method} {value}")).collect();
            format!("Published: {}.", each.join(", "))
        }
    };
    Table::from_columns(dataset.to_owned(), text, columns)
}

/// Success of every task, if there are several.
fn by_task(evaluations: &[EvalResult]) -> String {
    let n_tasks = evaluations.first().map_or(0, |evaluation| evaluation.success.len());
    let task = |task: usize| {
        let of: Vec<f64> = evaluations.iter().map(|evaluation| 100.0 * evaluation.success[task]).collect();
        format!("{:.0}", mean(&of))
    };
    if n_tasks > 1 { (0..n_tasks).map(task).collect::<Vec<_>>().join(", ") } else { NONE.into() }
}

fn references(results: &Results, dataset: &str) -> Table {
    let mut rows = Vec::new();
    if let Some(info) = results.datasets.get(dataset) {
        rows.extend(info.optimal_success.iter().map(|success| ("optimal success rate", success)));
        rows.extend(info.baselines.iter().map(|(name, success)| {
            let name = match name.as_str() {
                "exact" => "policy of the exact solver",
                "straight" => "straight towards the goal",
                "idle" => "no action",
                other => other,
            };
            (name, success)
        }));
    }
    let by_task = |success: &[f64]| match success.len() {
        1 => NONE.to_owned(),
        _ => success.iter().map(|rate| format!("{:.0}", 100.0 * rate)).collect::<Vec<_>>().join(", "),
    };
    let columns = vec![
        ("policy".to_owned(), rows.iter().map(|(name, _)| (*name).to_owned()).collect()),
        (
            "success (%)".to_owned(),
            rows.iter().map(|(_, success)| format!("{:.1}", 100.0 * mean(success))).collect(),
        ),
        ("by task".to_owned(), rows.iter().map(|(_, success)| by_task(success)).collect()),
    ];
    let text = "The optimal success rate is an upper bound by the exact solver over a table of the environment, without noise of observations. Baselines learn nothing.";
    Table::from_columns(format!("{dataset}: without learning"), text.into(), columns)
}

fn distances(results: &Results, dataset: &str) -> Table {
    let mut groups = groups(results, dataset);
    groups.retain(|group| group.iter().any(|run| run.fit.is_some()));
    let column = |name: &str, decimals: usize, pick: fn(&DistanceFit) -> f64| {
        let cell =
            |group: &Vec<&RunResult>| average(&scores(group, &|run| run.fit.as_ref().map(pick)), decimals);
        (name.to_owned(), groups.iter().map(cell).collect::<Vec<_>>())
    };
    let variant = |group: &Vec<&RunResult>| group[0].variant.clone().unwrap_or_else(|| NONE.into());
    let columns = vec![
        ("method".to_owned(), groups.iter().map(|group| group[0].method.clone()).collect()),
        ("change".to_owned(), groups.iter().map(variant).collect()),
        column("rank, ahead on a street", 3, |fit| fit.rank_ahead),
        column("rank, across streets", 3, |fit| fit.rank_across),
        column("rank, all pairs", 3, |fit| fit.rank),
        column("learned / exact", 2, |fit| fit.ratio),
        column("error (%) after division by it", 0, |fit| 100.0 * fit.error),
    ];
    let text = "Exact: steps under the optimal policy, over all pairs of states with a path between them. Rank correlations are Spearman's; the last two columns are medians.";
    Table::from_columns(format!("{dataset}: learned and exact distances"), text.into(), columns)
}

/// Every checkpoint of every run, where more than the last three are evaluated.
fn checkpoints(results: &Results, dataset: &str) -> Table {
    let is_listed = results.recipe.evaluation.checkpoints > isochrone_eval::rollout::LAST_THREE;
    let runs = results.runs.iter().filter(|run| is_listed && run.dataset == dataset);
    let rows: Vec<(&RunResult, u64)> =
        runs.flat_map(|run| run.checkpoints.iter().map(move |&step| (run, step))).collect();
    let column = |name: &str, cell: &dyn Fn(&RunResult, u64) -> String| {
        (name.to_owned(), rows.iter().map(|&(run, step)| cell(run, step)).collect::<Vec<_>>())
    };
    let mut columns = vec![
        column("method", &|run, _| run.method.clone()),
        column("seed", &|run, _| run.seed.to_string()),
        column("updates", &|_, step| step.to_string()),
        column("minutes of training", &|run, step| {
            format!("{:.0}", run.seconds / 60.0 * step as f64 / run.steps as f64)
        }),
    ];
    for planner in planners(results) {
        columns.push(column(planner.unwrap_or("policy"), &|run, step| {
            let of = run.evaluations(planner).into_iter().find(|evaluation| evaluation.step == step);
            of.map_or_else(|| NONE.into(), |of| format!("{:.1}", 100.0 * mean(&of.success)))
        }));
    }
    Table::from_columns(format!("{dataset}: success over training"), String::new(), columns)
}

/// A number of each run that has it.
fn scores(group: &[&RunResult], score: &dyn Fn(&RunResult) -> Option<f64>) -> Vec<f64> {
    group.iter().filter_map(|run| score(run)).collect()
}

fn average(scores: &[f64], decimals: usize) -> String {
    if scores.is_empty() { NONE.into() } else { format!("{:.decimals$}", mean(scores)) }
}

/// A statistic with its interval; one run says nothing about others.
fn interval(scores: &[f64], statistic: fn(&[f64]) -> f64) -> String {
    if scores.len() < 2 {
        return average(scores, 1);
    }
    let estimate = bootstrap(&[scores.to_vec()], statistic, RESAMPLES, 0);
    format!("{:.1} [{:.1}, {:.1}]", estimate.value, estimate.low, estimate.high)
}
