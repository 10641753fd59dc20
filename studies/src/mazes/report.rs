//! The study as a table for the repository, and as JSON for programs.

use super::{DataSet, Failure, Planned, Study, Verdict, runs_of};
use isochrone_eval::{
    rollout::Success,
    stats::{RESAMPLES, bootstrap, mean},
};
use isochrone_learn::run::{MadeBy, write_file};
use serde_json::json;
use std::{collections::BTreeSet, fmt::Write as _};

impl Study {
    pub(super) fn write_report(&self, verdicts: &[Verdict]) -> Result<(), Failure> {
        let named = |success: Option<Success>| {
            let Success { last, last_three, best } = success?;
            Some(json!({ "last": last, "last_three": last_three, "best": best }))
        };
        let of_run = |verdict: &Verdict| json!({ "verdict": verdict, "alone": named(verdict.success_alone()), "planned": named(verdict.success_planned()) });
        let data: serde_json::Map<String, serde_json::Value> = self
            .data_sets
            .iter()
            .map(|set| {
                (
                    set.id.name(),
                    json!({ "contents_sha256": set.data.content_hash(), "ceiling": set.ceiling() }),
                )
            })
            .collect();
        let facts = json!({
            "version": env!("CARGO_PKG_VERSION"), "revision": MadeBy::revision(), "mujoco": isochrone_envs::mujoco_version().unwrap_or_default(),
            "recipe": self.recipe, "data_sets": data, "runs": verdicts.iter().map(of_run).collect::<Vec<_>>(),
        });
        write_file(&self.folder.join("results.json"), format!("{facts:#}\n").as_bytes())?;
        if self.has_curves() {
            self.draw_curves(verdicts)?;
        }
        write_file(&self.folder.join("report.md"), self.markdown(verdicts).as_bytes())?;
        Ok(())
    }

    fn markdown(&self, verdicts: &[Verdict]) -> String {
        let recipe = &self.recipe;
        let n_runs = self.n_runs();
        let Planned { checkpoints, episodes } = recipe.planned;
        let there = if recipe.is_reversible { "there and back" } else { "there" };
        let mut text = format!(
            "# {}\n\n\
             Success in per cent of episodes, by the protocol of OGBench: {} episodes of each of five tasks, the most likely action, 1000 steps at most. `last three` is the mean over the last three of ten evenly \
             spaced checkpoints, `last` the last of them, `best` the largest of {}; mean over seeds, with the 95 % interval of a bootstrap over them. `graph`: the same policy, told where to go next by the shortest way over {} \
             recorded states, whose edges are at most {} recorded steps {there}; {episodes} episodes of each task at {checkpoints} checkpoints, but where it is said otherwise.\n\n{}\n",
            recipe.title,
            recipe.episodes,
            recipe.checkpoints,
            recipe.graph_states,
            recipe.horizon_steps,
            recipe.about
        );
        if verdicts.len() < n_runs {
            writeln!(text, "**{} of {n_runs} runs are done.**\n", verdicts.len())
                .expect("a string takes all");
        }
        for set in &self.data_sets {
            self.table(&mut text, set, verdicts);
        }
        let revision = MadeBy::revision().unwrap_or("unknown");
        let sets: Vec<String> = self
            .data_sets
            .iter()
            .map(|set| format!("{} {}", set.id.name(), &set.data.content_hash()[..16]))
            .collect();
        writeln!(
            text,
            "`{}`, isochrone {} at {revision}, MuJoCo {}; trained at {}, judged at {}; recordings of seed {}: {}.",
            recipe.command,
            env!("CARGO_PKG_VERSION"),
            isochrone_envs::mujoco_version().unwrap_or_default(),
            revisions(verdicts.iter().map(|verdict| &verdict.trained_by)),
            revisions(verdicts.iter().map(|verdict| &verdict.revision)),
            recipe.data_seed,
            sets.join(", ")
        )
        .expect("a string takes all");
        text
    }

    fn table(&self, text: &mut String, set: &DataSet, verdicts: &[Verdict]) {
        let name = set.id.name();
        let published = &self.recipe.data_sets[&name];
        let listed: Vec<String> =
            published.iter().map(|(method, value)| format!("{method} {value}")).collect();
        let ceiling = set.ceiling().map_or_else(String::new, |ceiling| {
            let each: Vec<String> = ceiling.iter().map(|share| format!("{:.0}", 100.0 * share)).collect();
            format!("Ceiling: **{:.1}** (tasks {}). ", 100.0 * mean(ceiling), each.join(", "))
        });
        writeln!(text, "## {name}\n\n{ceiling}Published: {}.\n", listed.join(", "))
            .expect("a string takes all");
        text.push_str("| method | seeds | updates | last three | last | best | graph, last three | graph, last | by task, graph or alone | seconds |\n|---|---|---|---|---|---|---|---|---|---|\n");
        for method in &self.methods {
            let of = runs_of(verdicts, &name, *method);
            if of.is_empty() {
                continue;
            }
            let scores = |which: &dyn Fn(&Verdict) -> Option<f64>| -> Vec<f64> {
                of.iter().filter_map(|verdict| which(verdict)).map(|share| 100.0 * share).collect()
            };
            let alone =
                |pick: fn(Success) -> Option<f64>| scores(&|verdict| verdict.success_alone().and_then(pick));
            let planned = |pick: fn(Success) -> Option<f64>| {
                scores(&|verdict| verdict.success_planned().and_then(pick))
            };
            let tasks: Vec<String> = (0..set.id.env().spec().n_tasks)
                .map(|task| {
                    let share = scores(&|verdict| {
                        let checkpoints =
                            if verdict.planned.is_empty() { &verdict.alone } else { &verdict.planned };
                        checkpoints.last().map(|tasks| tasks[task])
                    });
                    format!("{:.0}", mean(&share))
                })
                .collect();
            writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.0} |",
                method.name(),
                of.len(),
                self.recipe.steps(*method),
                with_interval(&alone(|success| success.last_three)),
                plain(&alone(|success| Some(success.last))),
                plain(&alone(|success| Some(success.best))),
                with_interval(&planned(|success| success.last_three)),
                with_interval(&planned(|success| Some(success.last))),
                tasks.join(", "),
                mean(&of.iter().map(|verdict| verdict.seconds).collect::<Vec<_>>())
            )
            .expect("a string takes all");
        }
        text.push('\n');
        if self.has_curves() {
            self.curve_table(text, &name, verdicts);
        }
    }
}

/// Those that there are, each once.
fn revisions<'a>(all: impl Iterator<Item = &'a String>) -> String {
    let unique: BTreeSet<&str> = all.map(|revision| &revision[..revision.len().min(12)]).collect();
    unique.into_iter().collect::<Vec<_>>().join(", ")
}

fn plain(scores: &[f64]) -> String {
    if scores.is_empty() { "-".into() } else { format!("{:.1}", mean(scores)) }
}

fn with_interval(scores: &[f64]) -> String {
    match scores.len() {
        0 => "-".into(),
        1 => format!("**{:.1}**", scores[0]),
        _ => {
            let estimate = bootstrap(&[scores.to_vec()], mean, RESAMPLES, 0);
            format!("**{:.1}** [{:.1}, {:.1}]", estimate.value, estimate.low, estimate.high)
        }
    }
}
