//! The study in words and tables: for people as a page, for the repository as Markdown, for programs as JSON.

use super::{Failure, Finished, Study, pictures::Figure};
use isochrone_core::{GoalPolicy, ShapeError};
use isochrone_eval::{
    rollout::success_rate,
    stats::{Estimate, RESAMPLES, bootstrap, interquartile_mean, mean},
};
use isochrone_learn::run::{MadeBy, write_file};
use isochrone_plot::html::Page;
use serde_json::json;
use std::{fmt::Write as _, path::Path};

/// A table of the report.
struct Table {
    heading: &'static str,
    text: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// What must hold for the study to have worked, even in its quick version: a method that is broken fails it.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// What is asked.
    pub claim: String,
    /// The least that will do.
    pub least: f64,
    /// What was measured.
    pub measured: f64,
}

impl Bar {
    /// Whether it holds.
    pub fn holds(&self) -> bool {
        self.measured >= self.least
    }
}

impl Study {
    /// Success of CMD alone and with a plan, and the order of its distances, against what a policy that does nothing reaches.
    pub fn bars(&self, finished: &[Finished]) -> Vec<Bar> {
        let idle = self.of_policy(&IDLE);
        let mut bars = Vec::new();
        for run in finished {
            let verdict = &run.verdict;
            let name = format!("{} seed {}", verdict.method, verdict.seed);
            let bar = |claim: String, least: f64, measured: f64| Bar { claim, least, measured };
            bars.push(bar(
                format!("{name}: success beyond doing nothing"),
                idle + 0.08,
                verdict.alone.success,
            ));
            if !verdict.method.starts_with("cmd") {
                continue;
            }
            bars.push(bar(format!("{name}: success"), idle + 0.25, verdict.alone.success));
            let planned = verdict.greedy.map_or(0.0, |score| score.success);
            bars.push(bar(format!("{name}: success with a plan"), idle + 0.3, planned));
            if let Some(fit) = &verdict.fit {
                bars.push(bar(format!("{name}: rank correlation ahead on a street"), 0.6, fit.rank_ahead));
                bars.push(bar(format!("{name}: rank correlation across streets"), 0.3, fit.rank_across));
            }
        }
        bars
    }

    /// The success of a policy that learned nothing, over the tasks of all seeds.
    fn of_policy(&self, policy: &dyn GoalPolicy) -> f64 {
        self.over_seeds(|seed| success_rate(&self.judge.attempts(policy, seed)))
    }

    fn over_seeds(&self, of_seed: impl Fn(u64) -> f64) -> f64 {
        mean(&(0..self.recipe.seeds).map(of_seed).collect::<Vec<_>>())
    }

    pub(super) fn write_report(&self, finished: &[Finished]) -> Result<(), Failure> {
        let figures = self.figures(finished)?;
        let folder = self.folder.join("figures");
        std::fs::create_dir_all(&folder)?;
        remove_listed_figures(&self.folder.join("report.md"))?;
        for Figure { name, picture, .. } in &figures {
            for extension in ["svg", "png"] {
                picture.save(&folder.join(format!("{name}.{extension}")))?;
            }
        }
        let mut tables =
            vec![self.success_table(finished), self.reference_table(), self.distance_table(finished)];
        tables.retain(|table| !table.rows.is_empty());
        write_file(
            &self.folder.join("report.html"),
            self.page(finished, &tables, &figures).html().as_bytes(),
        )?;
        write_file(&self.folder.join("report.md"), self.markdown(finished, &tables, &figures).as_bytes())?;
        let row = |run: &Finished| {
            let mut verdict = run.verdict.clone();
            // The pairs of the calibration are in each run's verdict.json: a thousand times as much as all else.
            verdict.fit.iter_mut().for_each(|fit| fit.pairs.clear());
            json!({ "verdict": verdict, "curve": run.curve })
        };
        let verdicts: Vec<_> = finished.iter().map(row).collect();
        let facts = json!({
            "version": env!("CARGO_PKG_VERSION"), "revision": MadeBy::revision(), "data": self.data.content_hash(),
            "recipe": self.recipe, "runs": verdicts,
        });
        write_file(&self.folder.join("results.json"), format!("{facts:#}\n").as_bytes())?;
        Ok(())
    }

    fn success_table(&self, finished: &[Finished]) -> Table {
        let mut rows = Vec::new();
        for method in &self.methods {
            let of: Vec<&Finished> =
                finished.iter().filter(|run| run.verdict.method == method.name()).collect();
            let scores = |score: &dyn Fn(&Finished) -> Option<f64>| -> Vec<f64> {
                of.iter().filter_map(|run| score(run)).collect()
            };
            let alone = scores(&|run| Some(run.verdict.alone.success));
            let estimate = |scores: Vec<f64>, statistic: fn(&[f64]) -> f64| match scores.is_empty() {
                true => "-".to_owned(),
                // One run says nothing about others.
                false if scores.len() == 1 => format!("{:.1}", 100.0 * scores[0]),
                false => percent(bootstrap(&[scores], statistic, RESAMPLES, 0)),
            };
            let least = alone.iter().copied().fold(f64::INFINITY, f64::min);
            let number = |values: Vec<f64>, decimals: usize| format!("{:.decimals$}", mean(&values));
            rows.push(vec![
                method.name().to_owned(),
                estimate(alone.clone(), mean),
                estimate(alone, interquartile_mean),
                format!("{:.1}", 100.0 * least),
                estimate(scores(&|run| Some(run.verdict.greedy?.success)), mean),
                estimate(scores(&|run| Some(run.verdict.graph?.success)), mean),
                number(scores(&|run| run.verdict.alone.steps), 1),
                number(scores(&|run| Some(run.verdict.alone.total_reward)), 1),
                number(scores(&|run| Some(run.verdict.seconds)), 0),
            ]);
        }
        let columns = [
            "method",
            "success (%), mean",
            "interquartile mean",
            "worst seed",
            "with greedy plan",
            "with graph",
            "steps of those that arrive",
            "return",
            "seconds of a core",
        ];
        Table {
            heading: "Tasks done",
            text: format!(
                "{} seeds with {} tasks each: from a random site to a random one at least {} units away that can be reached, within {} steps. In brackets: 95 % intervals of the stratified bootstrap over seeds. \
                 Greedy plan: of {} recorded moves, those that begin within {} units, and the action that promises most by the learned distance of where it leads. Graph: shortest way over {} recorded states with edges of up to {} learned steps.",
                self.recipe.seeds,
                self.recipe.rollouts,
                self.judge.world.map().goal_distance,
                self.judge.world.map().max_episode_steps,
                self.recipe.moves,
                self.recipe.radius,
                self.recipe.graph_states,
                self.recipe.horizon_steps,
            ),
            columns: columns.map(str::to_owned).to_vec(),
            rows,
        }
    }

    fn reference_table(&self) -> Table {
        let row = |name: &str, success: f64| vec![name.to_owned(), format!("{:.1}", 100.0 * success)];
        let ceiling = self.over_seeds(|seed| self.judge.ceiling(seed));
        let rows = vec![
            row("the ceiling: one sees where one is, and time does not matter", ceiling),
            row(
                "the exact policy, through the same noise, within the same time",
                self.of_policy(&self.judge.best),
            ),
            row("straight towards the goal", self.of_policy(&STRAIGHT)),
            row("no push at all", self.of_policy(&IDLE)),
        ];
        Table {
            heading: "What can be reached",
            text: "The world is finite, so that the exact solver knows how often one can arrive at all, but for directions between its 32 headings. Its policy takes the nearest site for the one where it is. \
                   The two others learn nothing: pushing straight at the goal comes far, since it takes most turnings right and has the time for a second lap."
                .into(),
            columns: vec!["policy".into(), "success (%)".into()],
            rows,
        }
    }

    fn distance_table(&self, finished: &[Finished]) -> Table {
        let mut rows = Vec::new();
        for method in &self.methods {
            let fits: Vec<_> = finished
                .iter()
                .filter(|run| run.verdict.method == method.name())
                .filter_map(|run| run.verdict.fit.as_ref())
                .collect();
            if fits.is_empty() {
                continue;
            }
            let of = |value: &dyn Fn(&super::Fit) -> f64| {
                mean(&fits.iter().map(|fit| value(fit)).collect::<Vec<_>>())
            };
            rows.push(vec![
                method.name().to_owned(),
                format!("{:.3}", of(&|fit| fit.rank_ahead)),
                format!("{:.3}", of(&|fit| fit.rank_across)),
                format!("{:.3}", of(&|fit| fit.rank)),
                format!("{:.2}", of(&|fit| fit.ratio)),
                format!("{:.0} %", 100.0 * of(&|fit| fit.error)),
            ]);
        }
        let columns = [
            "method",
            "rank, ahead on a street",
            "rank, across streets",
            "rank, all pairs",
            "learned / exact",
            "error after division by it",
        ];
        Table {
            heading: "Learned distances beside exact ones",
            text: format!(
                "Exact: steps to a site under the best policy, discount {}, over all pairs of the {} sites of which one leads to the other. Rank correlations are Spearman's; the last two columns are medians. \
                 Recordings end after {} steps on average, and an end counts as never arriving, which stretches what is learned from them.",
                self.recipe.discount,
                self.judge.world.sites().len(),
                self.data.n_transitions() / self.data.n_episodes() as u64,
            ),
            columns: columns.map(str::to_owned).to_vec(),
            rows,
        }
    }

    fn provenance(&self, finished: &[Finished]) -> String {
        let configs = self.hash_of_all();
        let mut judged: Vec<&str> = finished.iter().map(|run| run.verdict.revision.as_str()).collect();
        judged.sort_unstable();
        judged.dedup();
        let judged = judged.join(", ");
        format!(
            "Made by `isochrone reproduce nav2d`: isochrone {} at revision {}, {} {}; {} updates with batches of {}, discount {}, seeds 0 to {}; data sha256 {}, configurations {configs}; runs judged at revision {judged}.",
            env!("CARGO_PKG_VERSION"),
            MadeBy::revision().unwrap_or("unknown"),
            std::env::consts::ARCH,
            std::env::consts::OS,
            self.recipe.steps,
            self.recipe.batch_size,
            self.recipe.discount,
            self.recipe.seeds - 1,
            &self.data.content_hash()[..16],
        )
    }

    fn page(&self, finished: &[Finished], tables: &[Table], figures: &[Figure]) -> Page {
        let mut page = Page::new("Stitching on one-way streets");
        page.paragraph(INTRODUCTION);
        for table in tables {
            page.heading(table.heading).paragraph(&table.text).table(&table.columns, &table.rows);
        }
        page.heading("Figures");
        for Figure { picture, caption, .. } in figures {
            page.figure(picture, caption);
        }
        page.heading("Recipe")
            .code(&toml::to_string(&self.recipe).unwrap_or_default())
            .paragraph(&self.provenance(finished));
        page
    }

    fn markdown(&self, finished: &[Finished], tables: &[Table], figures: &[Figure]) -> String {
        let mut text = format!("# Stitching on one-way streets\n\n{INTRODUCTION}\n");
        for table in tables {
            let _ = write!(text, "\n## {}\n\n{}\n\n", table.heading, table.text);
            let _ =
                writeln!(text, "| {} |\n|{}", table.columns.join(" | "), "---|".repeat(table.columns.len()));
            for row in &table.rows {
                let _ = writeln!(text, "| {} |", row.join(" | "));
            }
        }
        text += "\n## Figures\n";
        for Figure { name, caption, .. } in figures {
            let _ = write!(text, "\n![{name}](figures/{name}.png)\n\n{caption}\n");
        }
        let _ = write!(text, "\n{}\n", self.provenance(finished));
        text
    }

    /// Of the configurations of all methods at seed 0.
    fn hash_of_all(&self) -> String {
        let configs = self
            .methods
            .iter()
            .filter_map(|&method| self.recipe.config(method, 0, &self.data_path, &self.data).ok());
        let hashes: Vec<String> = configs.map(|config| self.hash_of(&config)[..6].to_owned()).collect();
        hashes.join("-")
    }
}

const INTRODUCTION: &str = "Four one-way streets cross in the plane. Every recording stays on one of them, so that most ways from a start to a goal have to be put together from pieces that no recording joins, and a wrong turning \
costs a lap or ends in a dead end. Transitions are uncertain. All methods learn from the same recordings, with hidden layers of the same size; QRL, whose intervals are costly, has a latent of 64 instead of 256.";

/// Removes the figures that an earlier report lists, which may have had other methods. Other files in their folder are not ours.
fn remove_listed_figures(report: &Path) -> std::io::Result<()> {
    let Ok(text) = std::fs::read_to_string(report) else { return Ok(()) };
    for name in text.lines().filter_map(listed_figure) {
        for extension in ["svg", "png"] {
            match std::fs::remove_file(report.with_file_name("figures").join(format!("{name}.{extension}"))) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    Ok(())
}

/// The name of a figure in a line of Markdown as [`Study::markdown`] writes it.
fn listed_figure(line: &str) -> Option<&str> {
    let (name, target) = line.strip_prefix("![")?.split_once("](")?;
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    (is_plain && target == format!("figures/{name}.png)")).then_some(name)
}

/// A number with its interval, in percent.
fn percent(Estimate { value, low, high }: Estimate) -> String {
    format!("{:.1} [{:.1}, {:.1}]", 100.0 * value, 100.0 * low, 100.0 * high)
}

/// A policy that learned nothing: actions from what is seen and wanted, number by number.
struct Reflex(fn(f32, f32) -> f32);

/// Does nothing: the flow carries it.
const IDLE: Reflex = Reflex(|_, _| 0.0);
/// As the crow flies.
const STRAIGHT: Reflex = Reflex(|here, goal| goal - here);

impl GoalPolicy for Reflex {
    fn observation_width(&self) -> usize {
        2
    }

    fn action_width(&self) -> usize {
        2
    }

    fn actions(&self, observations: &[f32], goals: &[f32]) -> Vec<f32> {
        self.check_actions(observations, goals).unwrap_or_else(ShapeError::panic);
        observations.iter().zip(goals).map(|(&here, &goal)| (self.0)(here, goal)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_figures_of_the_last_report_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let figures = folder.path().join("figures");
        std::fs::create_dir(&figures).unwrap();
        for name in ["my-own.svg", "success.svg", "success.png", "map-qrl.png"] {
            std::fs::write(figures.join(name), "x").unwrap();
        }
        std::fs::write(folder.path().join("mine.svg"), "x").unwrap();
        let report = folder.path().join("report.md");
        remove_listed_figures(&report).unwrap();
        assert_eq!(std::fs::read_dir(&figures).unwrap().count(), 4, "without a report, nothing is ours");
        std::fs::write(&report, "![success](figures/success.png)\n\n![../mine](figures/../mine.png)\n")
            .unwrap();
        remove_listed_figures(&report).unwrap();
        let mut left: Vec<_> =
            std::fs::read_dir(&figures).unwrap().map(|file| file.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["map-qrl.png", "my-own.svg"]);
        assert!(folder.path().join("mine.svg").exists());
    }
}
