//! Defects of direction: episodes that run backward, and detours.

use crate::demos::{
    Progress,
    displacement::Frames,
    finding::{Finding, Rule},
};
use isochrone_core::statistics::spearman;

/// An episode is reversed if its steps to go rise with time: the rank correlation of time and
/// progress is below this.
const REVERSED: f64 = -0.3;
/// A robot takes a detour if it is farther from the goal after this time, at 30 frames per
/// second...
const DETOUR_FRAMES: usize = 75;
/// ... by this many steps per frame.
const DETOUR_RATE: f64 = 0.05;
/// Windows that end closer to the goal are not searched: a robot that has released retreats.
const DONE_STEPS: f64 = 8.0;

/// Returns whether an episode runs backward.
pub(super) fn reversed(progress: &Progress, episode: usize) -> Option<Finding> {
    let steps = &progress.episodes[episode].steps_to_go;
    let (time, to_go): (Vec<f64>, Vec<f64>) = steps
        .iter()
        .enumerate()
        .filter(|(_, steps)| steps.is_finite())
        .map(|(frame, steps)| (frame as f64, -steps))
        .unzip();
    // Some frames of an episode may have no known path.
    let correlation = if time.len() * 2 > steps.len() { spearman(&time, &to_go) } else { f64::NAN };
    (correlation < REVERSED).then(|| Finding {
        rule: Rule::Reversed,
        first_frame: 0,
        end_frame: steps.len(),
        score: correlation / REVERSED,
        message: format!("progress falls with time: rank correlation {correlation:.2}"),
    })
}

/// Returns the largest detour of an episode.
pub(super) fn detour(progress: &Progress, episode: usize, frames: Frames) -> Option<Finding> {
    let window = frames.at_30(DETOUR_FRAMES);
    let steps = &progress.episodes[episode].steps_to_go;
    let (first, rise) = largest_rise(steps, window)?;
    let rate = rise / window as f64;
    (rate > DETOUR_RATE).then(|| Finding {
        rule: Rule::Detour,
        first_frame: first,
        end_frame: first + window + 1,
        // Without a detour, steps to go fall by one per frame.
        score: (1.0 + rate) / (1.0 + DETOUR_RATE),
        message: format!("{rise:.0} steps farther from the goal after {window} frames"),
    })
}

/// Returns the frame from which steps to go rise most within a window, and by how much; `None` if
/// the episode is shorter.
fn largest_rise(steps: &[f64], window: usize) -> Option<(usize, f64)> {
    let rises = steps.iter().zip(steps.iter().skip(window)).enumerate();
    let known = rises.filter(|(_, (from, to))| from.is_finite() && to.is_finite() && **to > DONE_STEPS);
    known.map(|(frame, (from, to))| (frame, to - from)).max_by(|a, b| a.1.total_cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_rise_is_found_where_a_path_is_known_and_the_task_is_not_done() {
        let steps = [30.0, 29.0, f64::INFINITY, 40.0, 41.0, 39.0, 5.0, 2.0, 7.9];
        assert_eq!(largest_rise(&steps, 3), Some((1, 12.0)));
        assert_eq!(largest_rise(&steps, 9), None);
    }
}
