//! The report as Markdown and as HTML.

use super::{
    figures::NamedFigure,
    summary::summary,
    tables::{Table, headlines, tables},
};
use crate::{
    recipe::{MethodRecipe, Recipe, SearchRecipe, Student, VerticesRecipe},
    results::{Provenance, Results, RunResult},
};
use isochrone_learn::run::Provenance as Program;
use isochrone_plot::{
    MIN_SEEDS,
    html::{Page, date},
};
use std::{collections::BTreeSet, fmt::Write as _};

/// Returns the report as Markdown.
pub fn markdown(results: &Results, figures: &[NamedFigure]) -> String {
    let mut text = format!("# {}\n", results.recipe.title);
    for paragraph in headlines(results).into_iter().chain(introduction(results)) {
        let _ = write!(text, "\n{paragraph}\n");
    }
    for table in all_tables(results) {
        let Table { heading, text: about, columns, rows } = table;
        let _ = write!(text, "\n## {heading}\n\n");
        if !about.is_empty() {
            let _ = write!(text, "{about}\n\n");
        }
        let _ = writeln!(text, "| {} |\n|{}", columns.join(" | "), "---|".repeat(columns.len()));
        for row in rows {
            let _ = writeln!(text, "| {} |", row.join(" | "));
        }
    }
    if !figures.is_empty() {
        text += "\n## Figures\n";
    }
    for NamedFigure { name, caption, .. } in figures {
        let _ = write!(text, "\n![{name}](figures/{name}.png)\n\n{caption}\n");
    }
    let _ = write!(text, "\n{}\n", provenance(results));
    text
}

/// Returns the report as a self-contained HTML file.
pub fn html(results: &Results, figures: &[NamedFigure]) -> String {
    let mut page = Page::new(&results.recipe.title);
    page.subtitle(&subtitle(results, &date(Program::now().started_at)));
    for headline in headlines(results) {
        page.headline(&headline);
    }
    for paragraph in introduction(results) {
        page.paragraph(&paragraph);
    }
    for Table { heading, text, columns, rows } in all_tables(results) {
        page.heading(&heading).paragraph(&text).table(&columns, &rows);
    }
    if !figures.is_empty() {
        page.heading("Figures");
    }
    for NamedFigure { figure, caption, .. } in figures {
        page.figure(figure, caption);
    }
    page.heading("Recipe").code(&toml::to_string(&results.recipe).unwrap_or_default());
    page.paragraph(&provenance(results));
    page.html()
}

/// The table of all datasets, if there is one, and those of each.
fn all_tables(results: &Results) -> Vec<Table> {
    let summary = std::iter::once(summary(results)).filter(|table| !table.rows.is_empty());
    summary.chain(tables(results)).collect()
}

/// The study, its data and the day of the report.
fn subtitle(results: &Results, date: &str) -> String {
    let methods: BTreeSet<&str> = results.runs.iter().map(|run| run.method.as_str()).collect();
    let methods = methods.into_iter().collect::<Vec<_>>().join(", ");
    let datasets = results.datasets.iter();
    let datasets = datasets.map(|(name, info)| format!("{name} ({})", shortened(&info.content_hash)));
    let (runs, seeds) = (results.runs.len(), results.recipe.seeds);
    let plural = |n: u64| if n == 1 { "" } else { "s" };
    format!(
        "{runs} run{} of {methods}, {seeds} seed{} each. Datasets (SHA-256): {}. Report of {date}.",
        plural(runs as u64),
        plural(seeds),
        datasets.collect::<Vec<_>>().join(", "),
    )
}

/// Describes the protocol, and what is missing.
fn introduction(results: &Results) -> Vec<String> {
    let recipe = &results.recipe;
    let evaluation = &recipe.evaluation;
    let mut protocol = format!(
        "Success rates in percent over {} episodes of each task, with the most likely action: means over {} seed{}. Brackets are 95 % bootstrap intervals over the seeds of the row (column `seeds`); they need at least {MIN_SEEDS} seeds.",
        evaluation.episodes,
        recipe.seeds,
        if recipe.seeds == 1 { "" } else { "s" },
    );
    if evaluation.checkpoints > 1 {
        let _ = write!(
            protocol,
            " `last` is the last of ten evenly spaced checkpoints, `last three` the mean over the last three, `best` the maximum over {}.",
            evaluation.checkpoints
        );
    }
    for planner in &recipe.planners {
        let states = planner.states.unwrap_or_default();
        let search = match planner.search {
            SearchRecipe::Greedy { radius } => format!(
                "of the transitions within {radius} units, out of {states} of the dataset, the action that leads nearest to the goal",
            ),
            SearchRecipe::Graph { edge_scale_steps, max_edge_steps, vertices } => {
                let chosen = match vertices {
                    VerticesRecipe::Random => "",
                    VerticesRecipe::Coverage => " that cover it",
                    VerticesRecipe::Efficient => " on efficient trajectories",
                };
                let both = if planner.round_trip { " in both directions" } else { "" };
                match edge_scale_steps {
                    Some(scale) => format!(
                        "pursuit of the shortest path over {states} states of the dataset{chosen}, with edges at a scale of {scale} steps{both}",
                    ),
                    None => format!(
                        "the next waypoint of the shortest path over {states} states of the dataset{chosen} with edges of up to {} steps{both}",
                        max_edge_steps.unwrap_or_default(),
                    ),
                }
            }
            SearchRecipe::Recorded { look_ahead_steps } => format!(
                "the state {look_ahead_steps} steps ahead on the fastest path along recorded segments, without a learned distance",
            ),
            SearchRecipe::Stochastic { price_of_failing, recorded_only } => format!(
                "a waypoint of the plan with the least expected steps, where failing costs {} steps and jumps have counted outcomes{}",
                price_of_failing.map_or_else(
                    || "ten times as many as an episode has".to_owned(),
                    |price| price.to_string()
                ),
                if recorded_only { ", recorded moves only" } else { "" },
            ),
            SearchRecipe::Advantages { steps, alpha } => format!(
                "no planner: the state of the data {steps} steps later, weighted by e^({alpha} A), where A is how many steps nearer the goal is by the learned distance{}",
                own_alphas(recipe)
            ),
        };
        let calibrated = if planner.calibrated { ", with calibrated distances" } else { "" };
        let distilled = match planner.distilled {
            None => "",
            Some(Student::Policy) => ", distilled into a policy",
            Some(Student::Waypoints) => ", distilled into a network of waypoints",
        };
        let _ = write!(
            protocol,
            " `{}`: {search}{calibrated}{distilled}; {} episodes of each task at {} checkpoint{}.",
            planner.name,
            planner.episodes,
            planner.checkpoints,
            if planner.checkpoints == 1 { "" } else { "s" },
        );
    }
    let mut paragraphs = vec![recipe.about.trim().to_owned(), protocol];
    paragraphs.extend(results.part.as_ref().map(|part| format!("**A part of the study: {part}.**")));
    if !results.is_complete() {
        paragraphs.push(format!("**{} of {} runs are finished.**", results.runs.len(), results.n_jobs));
    }
    paragraphs.extend(results.failures.iter().map(|(run, reason)| format!("**{run} failed**: {reason}")));
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    paragraphs
}

/// The methods whose inverse temperature is not that of the planner, in words.
fn own_alphas(recipe: &Recipe) -> String {
    let of = |(name, method): (&String, &MethodRecipe)| Some(format!("{} for {name}", method.alpha?));
    let own: Vec<String> = recipe.methods.iter().filter_map(of).collect();
    if own.is_empty() { String::new() } else { format!(" ({} instead)", own.join(", ")) }
}

/// Names the program, machine, seeds and data.
fn provenance(results: &Results) -> String {
    let revisions = |pick: fn(&Provenance) -> &Option<String>| {
        let name = |run: &RunResult| shortened(pick(&run.provenance).as_deref().unwrap_or("unknown"));
        let all: BTreeSet<String> = results.runs.iter().map(name).collect();
        all.into_iter().collect::<Vec<_>>().join(", ")
    };
    let first = results.recipe.first_seed;
    let datasets = results.datasets.iter();
    let datasets = datasets.map(|(name, info)| format!("{name} {}", shortened(&info.content_hash)));
    format!(
        "Made by `isochrone reproduce` with the recipe “{}”: isochrone {} at revision {}, {}{}; trained at {}, evaluated at {}; protocol {}, seeds {first} to {}; datasets of seed {}, SHA-256: {}.",
        results.recipe.title,
        results.version,
        results.revision.as_deref().unwrap_or("unknown"),
        results.platform,
        results.mujoco.as_ref().map_or_else(String::new, |version| format!(", MuJoCo {version}")),
        revisions(|provenance| &provenance.trained_by),
        revisions(|provenance| &provenance.evaluated_by),
        results.protocol,
        first + results.recipe.seeds - 1,
        results.recipe.data_seed,
        datasets.collect::<Vec<_>>().join(", "),
    )
}

/// The first digits of a hash, enough to identify it.
fn shortened(hash: &str) -> String {
    hash.chars().take(16).collect()
}
