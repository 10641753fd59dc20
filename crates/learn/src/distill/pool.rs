//! The training targets of a network: pairs of states with their distances in steps.

use crate::error::LearnError;
use isochrone_core::{TemporalDistance, rng};
use isochrone_data::Dataset;

/// The number of blocks of states; the teacher is queried for all pairs of a block at once.
const BLOCKS: u64 = 2000;
/// A teacher whose goals are a slice of a state searches for every goal: fewer blocks and goals,
/// but the same number of starts per block.
const SLICE_BLOCKS: u64 = 700;
const SLICE_GOALS: usize = 2;
/// A block has several states from each of a few segments of episodes.
const SEGMENTS: usize = 4;
const STATES_PER_SEGMENT: usize = 8;
/// The number of states of a block.
pub const BLOCK_ROWS: usize = SEGMENTS * STATES_PER_SEGMENT;
/// The maximum length of a segment in steps.
const MAX_LAG: f64 = 64.0;
/// The first random stream of blocks.
const STREAM: u64 = 1 << 32;

/// A pair of rows of a pool and the distance in steps; infinite if there is no path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    pub from: u32,
    pub to: u32,
    pub steps: f32,
}

impl Target {
    fn block(self) -> usize {
        self.from as usize / BLOCK_ROWS
    }

    /// The index among all pairs of its block, `[from, to]`.
    pub fn index_in_block(self) -> usize {
        self.from as usize % BLOCK_ROWS * BLOCK_ROWS + self.to as usize % BLOCK_ROWS
    }
}

/// The training targets of a network.
#[derive(Debug, Default)]
pub struct TargetPool {
    /// The states, `[n, width]`, block by block.
    pub rows: Vec<f32>,
    /// Pairs of the same segment in both directions, block by block.
    pub near: Vec<Target>,
    /// Pairs of different segments of a block, block by block.
    pub far: Vec<Target>,
}

/// The origin of a state of a block.
struct Source {
    segment: usize,
    /// The row in the episode.
    row: usize,
}

impl TargetPool {
    /// Queries the teacher about states of the dataset; `is_slice` if goals are a slice of a state.
    ///
    /// # Errors
    /// If the widths of the teacher and the dataset differ, or no pair is reachable.
    pub fn draw(
        teacher: &dyn TemporalDistance,
        data: &Dataset,
        is_slice: bool,
        seed: u64,
    ) -> Result<Self, LearnError> {
        let mut pool = Self::default();
        let width = data.spec().observation.width;
        let (blocks, goals) =
            if is_slice { (SLICE_BLOCKS, SLICE_GOALS) } else { (BLOCKS, STATES_PER_SEGMENT) };
        for block in 0..blocks {
            let (rows, sources) = draw_block(data, seed, block);
            let goals: Vec<usize> = (0..sources.len()).filter(|i| i % STATES_PER_SEGMENT < goals).collect();
            let goal_rows: Vec<f32> =
                goals.iter().flat_map(|&goal| &rows[goal * width..][..width]).copied().collect();
            let steps = teacher
                .all_pairs_steps(&rows, &goal_rows)
                .map_err(|_| LearnError::TeacherWidth { teacher: teacher.width(), data: width })?;
            let first = (pool.rows.len() / width) as u32;
            for (from, steps) in steps.chunks_exact(goals.len()).enumerate() {
                for (&to, &steps) in goals.iter().zip(steps) {
                    let target = |steps| Target { from: first + from as u32, to: first + to as u32, steps };
                    let (start, goal) = (&sources[from], &sources[to]);
                    let row = |number: usize| &rows[number * width..][..width];
                    // The distance of a state to itself is 0 by definition.
                    if row(from) == row(to) || steps.is_nan() {
                        continue;
                    }
                    if start.segment == goal.segment {
                        pool.near.push(target(bound_by_lag(steps, goal.row.checked_sub(start.row))));
                    } else {
                        pool.far.push(target(steps as f32));
                    }
                }
            }
            pool.rows.extend(rows);
        }
        if pool.finite().next().is_none() {
            return Err(LearnError::NothingToDistill);
        }
        Ok(pool)
    }

    /// The number of blocks.
    pub fn n_blocks(&self, width: usize) -> usize {
        self.rows.len() / (width * BLOCK_ROWS)
    }

    /// Returns the near and the far pairs of a block.
    pub fn of_block(&self, block: usize) -> [&[Target]; 2] {
        [&self.near, &self.far].map(|targets| {
            let start = |block: usize| targets.partition_point(|target| target.block() < block);
            &targets[start(block)..start(block + 1)]
        })
    }

    /// Iterates over the distances of all reachable pairs.
    pub fn finite(&self) -> impl Iterator<Item = f32> {
        self.near.iter().chain(&self.far).map(|target| target.steps).filter(|steps| steps.is_finite())
    }

    /// Whether there are unreachable pairs.
    pub fn has_unreachable(&self) -> bool {
        self.near.iter().chain(&self.far).any(|target| target.steps.is_infinite())
    }
}

/// Bounds a distance by the recorded number of steps, unless the teacher's distance is much larger:
/// a random jump is one recorded step that no policy can choose.
fn bound_by_lag(steps: f64, lag: Option<usize>) -> f32 {
    match lag {
        Some(lag) if lag > 0 && steps <= 3.0 * lag as f64 + 8.0 => steps.min(lag as f64) as f32,
        _ => steps as f32,
    }
}

/// Samples the states of a block, segment by segment, with their origins.
fn draw_block(data: &Dataset, seed: u64, block: u64) -> (Vec<f32>, Vec<Source>) {
    let random = &mut rng::stream(seed, STREAM + block);
    let (index, width) = (data.index(), data.spec().observation.width);
    let (mut rows, mut sources) = (Vec::new(), Vec::new());
    for segment in 0..SEGMENTS {
        let state = rng::below(random, index.n_states() as usize) as u64;
        let (episode, first) = index.row_of_state(state);
        let observations = data.episode(episode).observations;
        for number in 0..STATES_PER_SEGMENT {
            // Log-uniform: as many lags of 1 to 2 steps as of 32 to 64.
            let lag = if number == 0 { 0 } else { MAX_LAG.powf(rng::unit_f64(random)) as usize };
            let row = (first + lag).min(index.steps(episode));
            rows.extend(&observations[row * width..][..width]);
            sources.push(Source { segment, row });
        }
    }
    (rows, sources)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_time_is_an_upper_bound_unless_it_was_a_jump() {
        assert_eq!(bound_by_lag(2.5, Some(1)), 1.0);
        assert_eq!(bound_by_lag(2.5, Some(4)), 2.5);
        // A jump, a pair backward in time, and a single state.
        assert_eq!(bound_by_lag(60.0, Some(1)), 60.0);
        assert_eq!(bound_by_lag(77.0, None), 77.0);
        assert_eq!(bound_by_lag(3.0, Some(0)), 3.0);
        assert_eq!(bound_by_lag(f64::INFINITY, Some(5)), f32::INFINITY);
    }
}
