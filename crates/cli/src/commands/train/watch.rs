//! What one sees of training: a bar on a terminal, plain lines elsewhere.

use crate::commands::output::tell;
use indicatif::{ProgressBar, ProgressStyle};
use isochrone::learn::{
    run::{Record, Run},
    trainer::Observer,
};
use std::time::Instant;

/// Lines of a whole run where there is no terminal.
const LINES: u64 = 20;

pub struct Watch {
    bar: ProgressBar,
    steps: u64,
    /// When this session began, and at which step.
    began: (Instant, u64),
    lines_done: u64,
    last_losses: String,
    last_evaluation: String,
}

impl Watch {
    pub fn new(steps: u64) -> Self {
        let style =
            ProgressStyle::with_template("{bar:24} {human_pos}/{human_len}  {per_sec}  {eta} left  {msg}");
        let bar = ProgressBar::new(steps).with_style(style.expect("the template is well formed"));
        Self {
            bar,
            steps,
            began: (Instant::now(), 0),
            lines_done: 0,
            last_losses: String::new(),
            last_evaluation: String::new(),
        }
    }

    /// Says what begins, or goes on.
    pub fn begin(&mut self, run: &Run, step: u64) {
        self.began = (Instant::now(), step);
        self.lines_done = step * LINES / self.steps;
        self.bar.set_position(step);
        self.bar.reset_eta();
        let (manifest, config) = (run.manifest(), run.config());
        let from = if step > 0 { format!(" from step {step}") } else { String::new() };
        tell(&format!(
            "{}: {} on {}, {} transitions of {} episodes, discount {}, batches of {}, {} threads{from}",
            run.folder().display(),
            manifest.algorithm,
            manifest.data.path.file_name().unwrap_or_default().to_string_lossy(),
            manifest.data.transitions,
            manifest.data.episodes,
            config.discount,
            config.batch_size,
            rayon::current_num_threads(),
        ));
    }

    pub fn end(&self) {
        self.bar.finish_and_clear();
    }

    /// What was last seen of losses and of evaluation: not every line of metrics has both.
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

impl Observer for Watch {
    fn updated(&mut self, step: u64) {
        self.bar.set_position(step);
    }

    fn logged(&mut self, record: &Record) {
        let summary = self.summary(record);
        self.bar.set_message(summary.clone());
        let due = record.step * LINES / self.steps;
        if self.bar.is_hidden() && due > self.lines_done {
            self.lines_done = due;
            let (began, from) = self.began;
            let per_second = (record.step - from) as f64 / began.elapsed().as_secs_f64();
            let left = (self.steps - record.step) as f64 / per_second;
            tell(&format!(
                "step {}/{}  {per_second:.1} steps/s  {left:.0} s left  {summary}",
                record.step, self.steps
            ));
        }
    }

    fn warned(&mut self, text: &str) {
        self.bar.suspend(|| tell(&format!("warning: {text}")));
    }
}
