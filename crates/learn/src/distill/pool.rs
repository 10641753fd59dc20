//! Pairs of states with the steps that a network is to learn.

use crate::error::LearnError;
use isochrone_core::{TemporalDistance, rng};
use isochrone_data::Dataset;

/// Blocks of states; the teacher is asked for all pairs of a block at once.
const BLOCKS: u64 = 2000;
/// A teacher that looks at a slice of goals searches for every goal: fewer of them, and the same number of
/// starts.
const BLOCKS_OF_SLICES: u64 = 700;
const GOALS_OF_SLICES: usize = 2;
/// A block has some states of each of a few stretches of episodes.
const STRETCHES: usize = 4;
const STATES_OF_STRETCH: usize = 8;
/// States of a block.
pub const BLOCK_ROWS: usize = STRETCHES * STATES_OF_STRETCH;
/// The longest stretch, in steps.
const MAX_LAG: f64 = 64.0;
/// Random streams of blocks.
const STREAM: u64 = 1 << 32;

/// A pair of rows of a pool, and the steps from the one to the other; infinite if there is no path.
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

    /// Its place among all pairs of its block, `[from, to]`.
    pub fn place_in_block(self) -> usize {
        self.from as usize % BLOCK_ROWS * BLOCK_ROWS + self.to as usize % BLOCK_ROWS
    }
}

/// What is learned from.
#[derive(Debug, Default)]
pub struct TargetPool {
    /// States, `[n, width]`, block by block.
    pub rows: Vec<f32>,
    /// Pairs of one stretch, both forward and back, block by block.
    pub near: Vec<Target>,
    /// Pairs of different stretches of a block, likewise.
    pub far: Vec<Target>,
}

/// Where a state of a block is from.
struct Source {
    stretch: usize,
    /// Its row in the episode.
    row: usize,
}

impl TargetPool {
    /// Asks the teacher about states of the data. `is_slice` if goals are a slice of a state.
    pub fn draw(
        teacher: &dyn TemporalDistance,
        data: &Dataset,
        is_slice: bool,
        seed: u64,
    ) -> Result<Self, LearnError> {
        let mut pool = Self::default();
        let width = data.spec().observation.width;
        let (blocks, goals) =
            if is_slice { (BLOCKS_OF_SLICES, GOALS_OF_SLICES) } else { (BLOCKS, STATES_OF_STRETCH) };
        for block in 0..blocks {
            let (rows, sources) = draw_block(data, seed, block);
            let goals: Vec<usize> = (0..sources.len()).filter(|i| i % STATES_OF_STRETCH < goals).collect();
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
                    // The same state reads 0 by rule.
                    if row(from) == row(to) || steps.is_nan() {
                        continue;
                    }
                    if start.stretch == goal.stretch {
                        pool.near.push(target(believed(steps, goal.row.checked_sub(start.row))));
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

    /// The near and the far pairs of a block.
    pub fn of_block(&self, block: usize) -> [&[Target]; 2] {
        [&self.near, &self.far].map(|targets| {
            let begin = |block: usize| targets.partition_point(|target| target.block() < block);
            &targets[begin(block)..begin(block + 1)]
        })
    }

    /// The steps of all pairs with a path.
    pub fn finite(&self) -> impl Iterator<Item = f32> {
        self.near.iter().chain(&self.far).map(|target| target.steps).filter(|steps| steps.is_finite())
    }

    /// Whether there are pairs without a path.
    pub fn has_unreachable(&self) -> bool {
        self.near.iter().chain(&self.far).any(|target| target.steps.is_infinite())
    }
}

/// What was recorded bounds the steps from above, unless the teacher knows much better that it was no choice:
/// a jump is one step that nobody can decide to take.
fn believed(steps: f64, lag: Option<usize>) -> f32 {
    match lag {
        Some(lag) if lag > 0 && steps <= 3.0 * lag as f64 + 8.0 => steps.min(lag as f64) as f32,
        _ => steps as f32,
    }
}

/// States of a few stretches, one after another, and where they are from.
fn draw_block(data: &Dataset, seed: u64, block: u64) -> (Vec<f32>, Vec<Source>) {
    let random = &mut rng::stream(seed, STREAM + block);
    let (index, width) = (data.index(), data.spec().observation.width);
    let (mut rows, mut sources) = (Vec::new(), Vec::new());
    for stretch in 0..STRETCHES {
        let state = rng::below(random, index.n_states() as usize) as u64;
        let (episode, first) = index.row_of_state(state);
        let observations = data.episode(episode).observations;
        for number in 0..STATES_OF_STRETCH {
            // As many lags of 1 to 2 steps as of 32 to 64.
            let lag = if number == 0 { 0 } else { MAX_LAG.powf(rng::unit_f64(random)) as usize };
            let row = (first + lag).min(index.steps(episode));
            rows.extend(&observations[row * width..][..width]);
            sources.push(Source { stretch, row });
        }
    }
    (rows, sources)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_time_is_an_upper_bound_unless_it_was_a_jump() {
        assert_eq!(believed(2.5, Some(1)), 1.0);
        assert_eq!(believed(2.5, Some(4)), 2.5);
        // A jump, a pair back in time, and one state.
        assert_eq!(believed(60.0, Some(1)), 60.0);
        assert_eq!(believed(77.0, None), 77.0);
        assert_eq!(believed(3.0, Some(0)), 3.0);
        assert_eq!(believed(f64::INFINITY, Some(5)), f32::INFINITY);
    }
}
