//! The solver, and the output shared by all kinds of input.

use super::{Args, MethodArg};
use crate::commands::output::{Field, Report, bar, count, named, note_fmt};
use anyhow::{Context, bail};
use isochrone::exact::{ExactSolver, GoalDistances, Method, TabularMdp};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::io::{self, Write};

/// The maximum number of bars of a readable chart.
pub const MAX_BARS: usize = 60;
/// The maximum number of states for all pairs, so that the distances fit in 4 GiB.
const MAX_ALL_PAIRS: usize = 23_000;

fn solver<'a>(args: &Args, mdp: &'a TabularMdp) -> anyhow::Result<ExactSolver<'a>> {
    let solver = ExactSolver::new(mdp, args.discount()?).with_tolerance(args.tolerance);
    let method = match args.method {
        MethodArg::Auto => return Ok(solver),
        MethodArg::Bfs => Method::BreadthFirst,
        MethodArg::Lu => Method::SparseLu,
        MethodArg::PolicyIteration => Method::PolicyIteration,
    };
    solver.with_method(method).context("--method")
}

/// Returns the distances to the goal that is reached first, and warns if the tolerance is not met.
pub fn to_goal_set(args: &Args, mdp: &TabularMdp, goals: &[usize]) -> anyhow::Result<GoalDistances> {
    let distances = solver(args, mdp)?.to_goal_set(goals)?;
    warn_if_loose(distances.certificate().relative_error(), args);
    Ok(distances)
}

fn method_name(method: Method) -> &'static str {
    match method {
        Method::BreadthFirst => "breadth-first search",
        Method::SparseLu => "sparse LU",
        Method::PolicyIteration => "policy iteration",
    }
}

/// Describes the method and the error bound of the distances.
pub fn quality(distances: &GoalDistances) -> String {
    let bound = distances.certificate().relative_error();
    format!("{}; every distance within {bound:.1e} (relative)", method_name(distances.method()))
}

/// Returns the metadata of JSON reports of distances to a goal.
pub fn facts(args: &Args, distances: &GoalDistances) -> Value {
    json!({
        "input": args.input.display().to_string(),
        "gamma": args.gamma,
        "states": distances.all_nats().len(),
        "method": method_name(distances.method()),
        "relative_error_bound": distances.certificate().relative_error(),
    })
}

fn warn_if_loose(bound: f64, args: &Args) {
    // Rounding alone costs about 1e-15 / (1 - gamma).
    let is_rounding = bound < 1e-13 / (1.0 - args.gamma);
    if bound > args.tolerance {
        let hint = if is_rounding {
            "limited by rounding errors, set a larger --tolerance"
        } else {
            "the solver did not converge, try a smaller --gamma"
        };
        note_fmt!(
            "warning: the certified error is {bound:.1e}, above the tolerance {:.1e}; hint: {hint}",
            args.tolerance
        );
    }
}

/// Returns the columns of a distance, including seconds if a step has a duration.
pub fn distance_columns(args: &Args) -> Vec<&'static str> {
    if args.step_seconds.is_some() { vec!["steps", "seconds", "nats"] } else { vec!["steps", "nats"] }
}

pub fn distance_fields(args: &Args, steps: f64, nats: f64) -> Vec<Field> {
    let seconds = args.step_seconds.map(|seconds| Field::Number(steps * seconds, 2));
    [Some(Field::Number(steps, 3)), seconds, Some(Field::Number(nats, 6))].into_iter().flatten().collect()
}

/// Writes the distances between all pairs: a table of `from, to, distance`, or a matrix in JSON.
pub fn all_pairs(
    args: &Args,
    mdp: &TabularMdp,
    name: impl Fn(usize) -> String,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let n = mdp.n_states();
    if n > MAX_ALL_PAIRS {
        bail!(
            "--all-pairs: {n} states, more than {MAX_ALL_PAIRS}; hint: set the goals you need with --goal, one at a time"
        );
    }
    let solver = solver(args, mdp)?;
    let goals: Vec<usize> = (0..n).collect();
    let bar = bar(n, "{bar:32} {pos}/{len} goals, {eta} left");
    if bar.is_hidden() {
        note_fmt!("solving {n} goals");
    }
    let columns = solver.map_goals(&goals, |distances| {
        bar.inc(1);
        (distances.certificate().relative_error(), distances.into_nats())
    })?;
    bar.finish_and_clear();
    let bound = columns.iter().map(|&(bound, _)| bound).fold(0.0, f64::max);
    note_fmt!("{}; every distance within {bound:.1e} (relative)", count(n * n, "pair"));
    warn_if_loose(bound, args);
    let discount = args.discount()?;
    let steps_between = |from: usize, to: usize| discount.steps_from_nats(columns[to].1[from]);
    let names: Vec<String> = (0..n).map(name).collect();
    if args.style.json {
        let facts = json!({
            "input": args.input.display().to_string(), "version": env!("CARGO_PKG_VERSION"), "gamma": args.gamma,
            "states": n, "relative_error_bound": bound, "names": names,
        });
        let document = AllPairs { facts, steps_from_to: Matrix { n, entry: &steps_between } };
        serde_json::to_writer(&mut *out, &document).map_err(io::Error::from)?;
        return Ok(writeln!(out)?);
    }
    // One start state at a time: a table of all pairs would be many times larger than the
    // distances. Columns as wide as the longest name keep the parts aligned.
    let name_width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let mut report = Report {
        columns: named(["from", "to"].into_iter().chain(distance_columns(args))),
        min_widths: vec![name_width, name_width, 12, 12, 12],
        ..Report::default()
    };
    for from in 0..n {
        let row = |to: usize| {
            let mut row = vec![Field::Text(names[from].clone()), Field::Text(names[to].clone())];
            row.extend(distance_fields(args, steps_between(from, to), columns[to].1[from]));
            row
        };
        report.rows = (0..n).map(row).collect();
        let text = report.print(&args.style);
        let body = if from == 0 { text.as_str() } else { text.split_once('\n').map_or("", |(_, body)| body) };
        out.write_all(body.as_bytes())?;
    }
    Ok(())
}

/// The JSON document of all pairs. Its matrix is written entry by entry: as JSON values, it would
/// take four times the memory of the distances.
#[derive(Serialize)]
#[serde(bound = "")]
struct AllPairs<'a, F: Fn(usize, usize) -> f64> {
    #[serde(flatten)]
    facts: Value,
    steps_from_to: Matrix<'a, F>,
}

struct Matrix<'a, F> {
    n: usize,
    entry: &'a F,
}

impl<F: Fn(usize, usize) -> f64> Serialize for Matrix<'_, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((0..self.n).map(|row| Row { matrix: self, row }))
    }
}

struct Row<'a, 'b, F> {
    matrix: &'a Matrix<'b, F>,
    row: usize,
}

impl<F: Fn(usize, usize) -> f64> Serialize for Row<'_, '_, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Matrix { n, entry } = *self.matrix;
        serializer.collect_seq((0..n).map(|column| entry(self.row, column)))
    }
}

/// Describes the states that a bar chart does not show, as the end of its note.
pub fn left_out(n_reaching: usize, n_unreachable: usize) -> String {
    let beyond = n_reaching.saturating_sub(MAX_BARS);
    let beyond = if beyond > 0 { format!("; not shown: {beyond} farther") } else { String::new() };
    if n_unreachable > 0 {
        format!("{beyond}; not shown: {n_unreachable} that cannot reach it")
    } else {
        beyond
    }
}

/// Quotes the first names, for a hint.
pub fn quoted(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(20).map(|name| format!("{name:?}")).collect();
    let more = names.len().saturating_sub(20);
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}
