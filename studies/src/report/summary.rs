//! All datasets and methods in one table, beside published numbers.

use super::tables::{Table, column, groups, interval, planners, rounded};
use crate::results::{Results, RunResult};
use isochrone_eval::stats::mean;

/// Builds the table: the policy alone, with each planner, the same method as published, the best
/// published number, and the upper bound. It has no rows unless a dataset has a best published
/// number.
pub fn summary(results: &Results) -> Table {
    let datasets = results.recipe.datasets.iter().filter(|(_, dataset)| dataset.best.is_some());
    let rows: Vec<(&String, Vec<&RunResult>)> = datasets
        .flat_map(|(name, _)| groups(results, name).into_iter().map(move |group| (name, group)))
        .collect();
    let of = |dataset: &str| &results.recipe.datasets[dataset];
    let mut columns = vec![
        column("dataset", &rows, |(dataset, _)| (*dataset).clone()),
        column("method", &rows, |(_, group)| group[0].method.clone()),
        column("seeds", &rows, |(_, group)| group.len().to_string()),
    ];
    for planner in planners(results) {
        let percent = |run: &RunResult| {
            let success = run.success(planner)?;
            Some(100.0 * success.last_three.unwrap_or(success.last))
        };
        let name = planner.map_or_else(|| "alone".to_owned(), |planner| format!("+ {planner}"));
        columns.push(column(&name, &rows, |(_, group)| interval(group, &percent, mean)));
    }
    columns.extend([
        column("method, published", &rows, |(dataset, group)| {
            rounded(published(of(dataset).published.iter(), &group[0].method), 1)
        }),
        column("best published", &rows, |(dataset, _)| {
            of(dataset)
                .best
                .as_ref()
                .map_or_else(String::new, |best| format!("{} ({})", best.percent, best.method))
        }),
        column("upper bound", &rows, |(dataset, _)| {
            let info = results.datasets.get(*dataset);
            rounded(info.and_then(|info| Some(100.0 * mean(info.optimal_success.as_ref()?))), 1)
        }),
        column("core-minutes", &rows, |(_, group)| {
            let seconds: Vec<f64> = group.iter().map(|run| run.seconds).collect();
            format!("{:.1}", mean(&seconds) / 60.0)
        }),
    ]);
    let text = "Success rates in percent: the mean of the last three checkpoints, or the last one if fewer are evaluated. A planner that is distilled is a policy of its own, not that of the method. Core-minutes are those of training one run.";
    Table::from_columns("All datasets".into(), text.into(), columns)
}

/// The published number of a method, by the name of its family: `cmd` is published for CMD-1, and
/// `crl` for both losses of CRL.
fn published<'a>(published: impl Iterator<Item = (&'a String, &'a f64)>, method: &str) -> Option<f64> {
    let family = method.split('-').next().expect("a first part").trim_end_matches('1');
    published.filter(|(name, _)| *name == method || *name == family).map(|(_, percent)| *percent).next()
}

#[cfg(test)]
mod tests {
    use super::published;
    use std::collections::BTreeMap;

    #[test]
    fn families_have_published_numbers() {
        let table =
            BTreeMap::from([("cmd".to_owned(), 92.4), ("crl".to_owned(), 95.0), ("qrl".to_owned(), 88.0)]);
        let found = |method| published(table.iter(), method);
        assert_eq!(found("cmd1"), Some(92.4));
        assert_eq!(found("crl-nce"), Some(95.0));
        assert_eq!(found("qrl"), Some(88.0));
        assert_eq!(found("cmd2"), None, "CMD-2 is another algorithm");
    }
}
