//! From arguments to a solver, and what all kinds of input report alike.

use super::{Args, MethodArg};
use crate::verbs::report::{Field, Report};
use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use isochrone::exact::{ExactSolver, GoalDistances, Method, TabularMdp};
use serde_json::json;

pub fn solver<'a>(args: &Args, mdp: &'a TabularMdp) -> anyhow::Result<ExactSolver<'a>> {
    let solver = ExactSolver::new(mdp, args.discount()?).with_tolerance(args.tolerance);
    let method = match args.method {
        MethodArg::Auto => return Ok(solver),
        MethodArg::Bfs => Method::BreadthFirst,
        MethodArg::Lu => Method::SparseLu,
        MethodArg::PolicyIteration => Method::PolicyIteration,
    };
    solver.with_method(method).context("--method")
}

pub fn method_name(method: Method) -> &'static str {
    match method {
        Method::BreadthFirst => "breadth-first search",
        Method::SparseLu => "sparse LU",
        Method::PolicyIteration => "policy iteration",
    }
}

/// The facts that every JSON report begins with.
pub fn facts(args: &Args, mdp: &TabularMdp) -> Report {
    let mut report = Report::default();
    report.facts.insert("input".into(), json!(args.input.display().to_string()));
    report.facts.insert("version".into(), json!(env!("CARGO_PKG_VERSION")));
    report.facts.insert("gamma".into(), json!(args.gamma));
    report.facts.insert("states".into(), json!(mdp.n_states()));
    report
}

/// Adds how the distances were computed and how good they are; warns if that is not what was asked for.
pub fn add_certificate(report: &mut Report, args: &Args, distances: &GoalDistances) {
    let bound = distances.certificate().relative_error();
    report.facts.insert("method".into(), json!(method_name(distances.method())));
    report.facts.insert("relative_error_bound".into(), json!(bound));
    warn_if_loose(bound, args);
}

fn warn_if_loose(bound: f64, args: &Args) {
    if bound > args.tolerance {
        eprintln!(
            "warning: the error is certified to {bound:.1e} only, not {:.1e}; hint: rounding limits it, try a smaller gamma",
            args.tolerance
        );
    }
}

/// The columns of a distance, with seconds if a step has a duration.
pub fn distance_columns(args: &Args) -> Vec<&'static str> {
    if args.step_seconds.is_some() { vec!["steps", "seconds", "nats"] } else { vec!["steps", "nats"] }
}

pub fn distance_fields(args: &Args, steps: f64, nats: f64) -> Vec<Field> {
    let seconds = args.step_seconds.map(|seconds| Field::Number(steps * seconds, 2));
    [Some(Field::Number(steps, 3)), seconds, Some(Field::Number(nats, 6))].into_iter().flatten().collect()
}

/// All pairs as a table of `from, to, distance`.
pub fn all_pairs(args: &Args, mdp: &TabularMdp, name: impl Fn(usize) -> String) -> anyhow::Result<Report> {
    let solver = solver(args, mdp)?;
    let discount = args.discount()?;
    let goals: Vec<usize> = (0..mdp.n_states()).collect();
    let bar = progress_bar(goals.len(), "goals");
    let columns = solver.map_goals(&goals, |distances| {
        bar.inc(1);
        (distances.certificate().relative_error(), distances.all_nats().to_vec())
    })?;
    bar.finish_and_clear();
    let bound = columns.iter().map(|&(bound, _)| bound).fold(0.0, f64::max);
    warn_if_loose(bound, args);
    let mut report = facts(args, mdp);
    report.facts.insert("relative_error_bound".into(), json!(bound));
    report.columns = ["from", "to"].into_iter().chain(distance_columns(args)).collect();
    for from in 0..mdp.n_states() {
        for (to, (_, nats)) in columns.iter().enumerate() {
            let mut row = vec![Field::Text(name(from)), Field::Text(name(to))];
            row.extend(distance_fields(args, discount.steps_from_nats(nats[from]), nats[from]));
            report.rows.push(row);
        }
    }
    Ok(report)
}

/// A bar on a terminal, one plain line elsewhere.
fn progress_bar(length: usize, what: &'static str) -> ProgressBar {
    let bar = ProgressBar::new(length as u64);
    if bar.is_hidden() {
        eprintln!("solving {length} {what}");
    }
    let style = ProgressStyle::with_template(&format!("{{bar:32}} {{pos}}/{{len}} {what}, {{eta}} left"));
    bar.with_style(style.expect("the template is well formed"))
}
