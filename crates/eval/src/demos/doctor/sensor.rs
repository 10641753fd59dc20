//! Sensors that freeze.

use super::motion::runs;
use crate::demos::{
    Demos,
    displacement::Frames,
    finding::{Finding, Rule},
};
use std::ops::Range;

/// A column is frozen if it is exactly constant for this long, at 30 frames per second...
const MIN_FRAMES: usize = 20;
/// ... while it is not in at least this share of the episodes: a gripper may rest, a sensor has
/// noise.
const MIN_MOVING: f64 = 0.9;

/// Returns the frozen columns of each episode.
pub(super) fn frozen(demos: &Demos<'_>, frames: Frames) -> Vec<Vec<Finding>> {
    let (width, min) = (demos.width(), frames.at_30(MIN_FRAMES));
    let still = demos.map_episodes(|episode| still(demos.states(episode), width, min));
    let moving = |column: usize| still.iter().filter(|columns| columns[column].is_none()).count();
    let enough = MIN_MOVING * still.len() as f64;
    let is_checked: Vec<bool> = (0..width).map(|column| moving(column) as f64 >= enough).collect();
    let name = |column: usize| demos.data.spec().observation.dimension(column);
    let of_episode = |columns: &Vec<Option<Range<usize>>>| {
        let found = columns.iter().enumerate().filter(|(column, _)| is_checked[*column]);
        let finding = |(column, run): (usize, &Option<Range<usize>>)| {
            let run = run.clone()?;
            Some(Finding {
                rule: Rule::Frozen,
                first_frame: run.start,
                end_frame: run.end,
                score: run.len() as f64 / min as f64,
                message: format!("{} is constant for {} frames", name(column), run.len()),
            })
        };
        found.filter_map(finding).collect()
    };
    still.iter().map(of_episode).collect()
}

/// Returns, for each column, the longest run of equal values, if it has at least `min` frames.
fn still(states: &[f32], width: usize, min: usize) -> Vec<Option<Range<usize>>> {
    let of_column = |column: usize| {
        let values: Vec<f32> = states.iter().skip(column).step_by(width).copied().collect();
        let equal = runs(values.windows(2).map(|pair| pair[0] == pair[1])).map(|run| run.start..run.end + 1);
        equal.max_by_key(ExactSizeIterator::len).filter(|run| run.len() >= min)
    };
    (0..width).map(of_column).collect()
}
