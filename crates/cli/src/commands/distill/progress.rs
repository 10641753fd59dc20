//! The progress of a distillation.

use crate::commands::output::{bar, note};
use indicatif::ProgressBar;

/// The number of progress lines of a training run when stderr is not a terminal.
const LINES: u64 = 5;

/// Returns a progress bar over updates, and what advances it. Without a terminal, it prints a few
/// lines.
pub fn progress_bar(updates: u64) -> (ProgressBar, impl FnMut(u64, f64) + Send) {
    let bar = bar(updates as usize, "{bar:24} {human_pos}/{human_len}  {per_sec}  {eta} left  {msg}");
    let shown = bar.clone();
    let progress = move |update: u64, loss: f64| {
        shown.set_position(update);
        shown.set_message(format!("loss {loss:.4}"));
        if shown.is_hidden() && update * LINES / updates > (update - 1) * LINES / updates {
            note(&format!("update {update}/{updates}  loss {loss:.4}"));
        }
    };
    (bar, progress)
}
