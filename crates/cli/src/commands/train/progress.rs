//! Training progress: a bar on a terminal, plain lines elsewhere.

use crate::commands::output::{bar, count, file_name, note};
use indicatif::ProgressBar;
use isochrone::{
    data::Dataset,
    learn::{
        Callbacks,
        run::{Record, RunConfig},
    },
};
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

/// The number of progress lines of a run when stderr is not a terminal.
const LINES: u64 = 20;

/// Callbacks that print the progress of training.
pub struct TrainingProgress {
    folder: String,
    /// A description of the training data.
    data: String,
    bar: ProgressBar,
    steps: u64,
    /// The time and the step at which training was started or resumed.
    started: (Instant, u64),
    lines_done: u64,
    last_losses: String,
    last_evaluation: String,
    has_started: Arc<AtomicBool>,
}

impl TrainingProgress {
    /// Creates callbacks that set `has_started` when the first update is next.
    pub fn new(folder: &Path, path: &Path, data: &Dataset, has_started: &Arc<AtomicBool>) -> Self {
        let (name, transitions, episodes) = (file_name(path), data.n_transitions(), data.n_episodes());
        Self {
            folder: folder.display().to_string(),
            data: format!("{name}, {transitions} transitions of {episodes} episodes"),
            bar: ProgressBar::hidden(),
            steps: 0,
            started: (Instant::now(), 0),
            lines_done: 0,
            last_losses: String::new(),
            last_evaluation: String::new(),
            has_started: has_started.clone(),
        }
    }

    /// Returns the last losses and evaluations; not every record has both.
    fn summary(&mut self, record: &Record) -> String {
        let joined = |part: &dyn Fn(&str) -> Option<String>| {
            let shown =
                |(name, value): &(String, f64)| Some(format!("{} {value:.4}", part(name)?.replace('_', " ")));
            record.values.iter().filter_map(shown).collect::<Vec<_>>().join("  ")
        };
        let losses = joined(&|name| name.strip_suffix("/loss").map(str::to_owned));
        let evaluation = joined(&|name| name.strip_prefix("evaluation/").map(str::to_owned));
        for (last, now) in [(&mut self.last_losses, losses), (&mut self.last_evaluation, evaluation)] {
            if !now.is_empty() {
                *last = now;
            }
        }
        format!("{}  {}", self.last_losses, self.last_evaluation).trim().to_owned()
    }
}

impl Callbacks for TrainingProgress {
    /// Prints what is trained, and from which step a run is resumed.
    fn on_start(&mut self, config: &RunConfig, step: u64) {
        self.has_started.store(true, Ordering::Relaxed);
        let template = "{bar:24} {human_pos}/{human_len}  {per_sec}  {eta} left  {msg}";
        self.bar = bar(config.steps as usize, template);
        self.steps = config.steps;
        self.started = (Instant::now(), step);
        self.lines_done = step * LINES / self.steps;
        self.bar.set_position(step);
        self.bar.reset_eta();
        let from = if step > 0 { format!(" from step {step}") } else { String::new() };
        note(&format!(
            "{}: {} on {}, discount {}, batches of {}, {}{from}",
            self.folder,
            config.learner.algorithm(),
            self.data,
            config.discount,
            config.batch_size,
            count(rayon::current_num_threads(), "thread"),
        ));
        if let Some(one_in) = config.data.hold_out.filter(|one_in| *one_in > 0) {
            note(&format!(
                "{}: one of {one_in} episodes is held out for validation; data.hold_out=0 turns this off",
                self.folder
            ));
        }
        if let Some(rows) = config.data.rows_per_episode.filter(|rows| *rows > 1) {
            let rows = match config.batch_size {
                all if all <= rows => format!("all {all}"),
                _ => rows.to_string(),
            };
            note(&format!(
                "{}: {rows} rows of a batch are from one episode, to avoid overfitting to episode identity; data.rows_per_episode=1 turns this off",
                self.folder
            ));
        }
    }

    fn on_end(&mut self) {
        self.bar.finish_and_clear();
    }

    fn on_step(&mut self, step: u64) {
        self.bar.set_position(step);
    }

    fn on_metrics(&mut self, record: &Record) {
        let summary = self.summary(record);
        self.bar.set_message(summary.clone());
        let due = record.step * LINES / self.steps;
        if self.bar.is_hidden() && due > self.lines_done {
            self.lines_done = due;
            let (started, from) = self.started;
            let per_second = (record.step - from) as f64 / started.elapsed().as_secs_f64();
            let left = (self.steps - record.step) as f64 / per_second;
            note(&format!(
                "step {}/{}  {per_second:.1} steps/s  {left:.0} s left  {summary}",
                record.step, self.steps
            ));
        }
    }

    fn on_warning(&mut self, text: &str) {
        self.bar.suspend(|| note(&format!("warning: {text}")));
    }
}
