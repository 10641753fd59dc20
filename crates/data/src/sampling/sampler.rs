//! Batches of transitions with goals, each a pure function of (seed, stream, step, row).

use super::{GoalBatch, GoalDistribution, batch::OTHER_EPISODE, prefetch::prefetch};
use crate::{DataError, Dataset, dataset::Block, mapping::ACCESS_BYTES};
use isochrone_core::rng::{self, below_from_bits as below};
use rand_chacha::{ChaCha8Rng, rand_core::Rng};

/// The number of rows that are sampled before they are copied: enough that memory is read in
/// parallel, few enough to stay in the second-level cache.
const CHUNK_ROWS: usize = 128;
/// The maximum number of 64-bit random numbers per row: one for the transition, two for each goal.
const MAX_DRAWS: usize = 1 + 2 * MAX_GOALS;
/// The maximum number of goal distributions.
const MAX_GOALS: usize = 4;
/// The binary logarithm of the limit on rows of a batch: steps and rows share the 64 bits of a
/// block number.
const MAX_ROWS_LOG2: u32 = 24;

/// Samples transitions of a dataset uniformly, with goals.
///
/// A row takes n random numbers, one for its transition and two for each goal; those of row `r` of
/// batch `step` start at number `n (step 2^24 + r)` of the `ChaCha8` stream (seed, stream). Every
/// row is therefore a pure function of these four numbers, and of the first row of its group of
/// rows from one episode.
#[derive(Debug, Clone)]
pub struct GoalSampler {
    data: Dataset,
    config: SamplerConfig,
}

/// The settings of a [`GoalSampler`].
#[derive(Debug, Clone, PartialEq)]
pub struct SamplerConfig {
    /// The number of rows of a batch.
    pub batch_size: usize,
    /// The index of the first row, for one of several processes that share a larger batch; a
    /// multiple of `rows_per_episode`.
    pub first_row: usize,
    /// The number of consecutive rows from the same episode; with 1, every row is sampled from all
    /// episodes. In both cases, each row by itself is uniform over all transitions.
    pub rows_per_episode: usize,
    /// One to four goal distributions; each provides one goal for every row.
    pub goals: Vec<GoalDistribution>,
    /// The random seed of the run.
    pub seed: u64,
    /// The random stream, which differs between the samplers of one run, such as training and
    /// evaluation.
    pub stream: u64,
}

/// The location of a state and its action.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    block: usize,
    /// The index of the state in its block.
    state: usize,
    /// The index of the state's action in its block.
    action: usize,
}

impl GoalSampler {
    /// Creates a sampler after checking the settings.
    pub fn new(data: &Dataset, config: SamplerConfig) -> Result<Self, DataError> {
        if data.n_transitions() == 0 {
            let hint = "give episodes with at least two states";
            return Err(DataError::setting("the dataset has no transition", hint));
        }
        if config.batch_size == 0 || (config.first_row + config.batch_size) >> MAX_ROWS_LOG2 > 0 {
            let hint = format!("give 1 to {}", (1 << MAX_ROWS_LOG2) - 1);
            return Err(DataError::setting(format!("batch size {}", config.batch_size), hint));
        }
        if config.rows_per_episode == 0 || !CHUNK_ROWS.is_multiple_of(config.rows_per_episode) {
            let hint = format!("give a power of two up to {CHUNK_ROWS}");
            let problem = format!("{} rows per episode", config.rows_per_episode);
            return Err(DataError::setting(problem, hint));
        }
        if !config.first_row.is_multiple_of(config.rows_per_episode) {
            let problem =
                format!("first row {} with {} rows per episode", config.first_row, config.rows_per_episode);
            return Err(DataError::setting(problem, "give a multiple"));
        }
        if config.goals.is_empty() || config.goals.len() > MAX_GOALS {
            let problem = format!("{} goal distributions", config.goals.len());
            return Err(DataError::setting(problem, format!("give 1 to {MAX_GOALS}")));
        }
        Ok(Self { data: data.clone(), config })
    }

    /// Returns the dataset that is sampled.
    pub fn data(&self) -> &Dataset {
        &self.data
    }

    /// Returns batch number `step`.
    pub fn batch(&self, step: u64) -> GoalBatch {
        let mut batch = GoalBatch::default();
        self.fill(step, &mut batch);
        batch
    }

    /// Fills `batch` with batch number `step`, reusing its memory.
    ///
    /// # Panics
    /// Panics from step 2^40 on, where random numbers would repeat.
    pub fn fill(&self, step: u64, batch: &mut GoalBatch) {
        assert!(step >> (64 - MAX_ROWS_LOG2) == 0, "step is less than 2^40");
        let rows = self.config.batch_size;
        batch.resize(rows, self.config.goals.len(), self.data.spec());
        batch.step = step;
        let mut random = rng::stream(self.config.seed, self.config.stream);
        let first_row = (u128::from(step) << MAX_ROWS_LOG2) + self.config.first_row as u128;
        // A draw has 64 bits, two of the generator's words.
        random.set_word_pos(first_row * 2 * self.draws_per_row() as u128);
        let mut from = 0;
        while from < rows {
            let to = (from + CHUNK_ROWS).min(rows);
            self.fill_rows(from, to, &mut random, batch);
            from = to;
        }
    }

    fn fill_rows(&self, from: usize, to: usize, random: &mut ChaCha8Rng, batch: &mut GoalBatch) {
        let mut states = [Place::default(); CHUNK_ROWS];
        let mut goals = [[Place::default(); CHUNK_ROWS]; MAX_GOALS];
        let (states, n_goals) = (&mut states[..to - from], self.config.goals.len());
        let draws_per_row = self.draws_per_row();
        let mut episode_of_rows = None;
        let mut bits = [0u8; 8 * MAX_DRAWS * CHUNK_ROWS];
        random.fill_bytes(&mut bits[..8 * draws_per_row * (to - from)]);
        for ((place, row), draws) in states.iter_mut().zip(from..to).zip(bits.chunks_exact(8 * draws_per_row))
        {
            let draw =
                |at: usize| u64::from_le_bytes(draws[8 * at..8 * at + 8].try_into().expect("eight bytes"));
            // The first row of a group chooses the episode.
            let range = match episode_of_rows {
                Some(episode) if !row.is_multiple_of(self.config.rows_per_episode) => {
                    self.data.index().transitions(episode)
                }
                _ => 0..self.data.n_transitions(),
            };
            let transition = range.start + below(draw(0), range.end - range.start);
            let (episode, state) = self.data.index().episode_of_transition(transition);
            episode_of_rows = Some(episode);
            batch.transitions[row] = transition;
            *place = self.place(episode, state);
            // The cache lines arrive while the next rows are sampled.
            prefetch(self.observations(place, 2));
            prefetch(self.action(place));
            for (kind, distribution) in self.config.goals.iter().enumerate() {
                let (which, value) = (draw(1 + 2 * kind), draw(2 + 2 * kind));
                let goal = distribution.draw(self.data.index(), episode, state, which, value);
                let goal_place = self.place(goal.episode, goal.state);
                prefetch(self.observations(&goal_place, 1));
                goals[kind][row - from] = goal_place;
                batch.goals[kind].offsets[row] = match goal.state.checked_sub(state) {
                    Some(offset) if goal.episode == episode => i32::try_from(offset).unwrap_or(i32::MAX),
                    _ => OTHER_EPISODE,
                };
            }
        }
        let goals = &goals[..n_goals];
        if let Some(mapping) = self.data.mapping() {
            // Requests all pages before waiting for the first.
            for place in &*states {
                let file = self.data.blocks()[place.block].file;
                mapping.will_need(file, self.observations(place, 2));
                mapping.will_need(file, self.action(place));
            }
            for place in goals.iter().flat_map(|places| &places[..to - from]) {
                mapping.will_need(self.data.blocks()[place.block].file, self.observations(place, 1));
            }
            mapping.touched((to - from) * ACCESS_BYTES * 2 * (1 + n_goals));
        }
        self.gather(from, states, goals, batch);
    }

    /// Returns the number of 64-bit random numbers per row.
    fn draws_per_row(&self) -> usize {
        1 + 2 * self.config.goals.len()
    }

    fn place(&self, episode: usize, state: u64) -> Place {
        let number = self.data.block_of_episode(episode);
        let block = &self.data.blocks()[number];
        let state = (state - block.first_state) as usize;
        Place { block: number, state, action: state - (episode - block.first_episode) }
    }

    /// Returns the observations of consecutive states, starting at a place.
    fn observations(&self, place: &Place, states: usize) -> &[f32] {
        let width = self.data.spec().observation.width;
        &self.data.blocks()[place.block].observations[place.state * width..(place.state + states) * width]
    }

    /// Returns the action at a place.
    fn action(&self, place: &Place) -> &[f32] {
        let width = self.data.spec().action.width;
        &self.data.blocks()[place.block].actions[place.action * width..(place.action + 1) * width]
    }

    fn gather(&self, from: usize, states: &[Place], goals: &[[Place; CHUNK_ROWS]], batch: &mut GoalBatch) {
        let spec = self.data.spec();
        let (observation, action) = (spec.observation.width, spec.action.width);
        let copy = |to: &mut [f32], row: usize, from: &[f32], at: usize, width: usize| {
            copy_row(&mut to[row * width..(row + 1) * width], &from[at * width..(at + 1) * width]);
        };
        for (place, row) in states.iter().zip(from..) {
            let block: &Block = &self.data.blocks()[place.block];
            copy(&mut batch.observations, row, &block.observations, place.state, observation);
            copy(&mut batch.next_observations, row, &block.observations, place.state + 1, observation);
            copy(&mut batch.actions, row, &block.actions, place.action, action);
        }
        for (rows, places) in batch.goals.iter_mut().zip(goals) {
            for (place, row) in places[..states.len()].iter().zip(from..) {
                let block = &self.data.blocks()[place.block];
                copy(&mut rows.observations, row, &block.observations, place.state, observation);
            }
        }
    }
}

/// Copies a short row without a function call: eight numbers at a time, where the last eight may
/// overlap the previous ones.
#[inline(always)]
fn copy_row(to: &mut [f32], from: &[f32]) {
    const LANES: usize = 8;
    let width = to.len();
    if !(LANES..=64).contains(&width) {
        return to.copy_from_slice(from);
    }
    let mut at = 0;
    while at + LANES <= width {
        to[at..at + LANES].copy_from_slice(&from[at..at + LANES]);
        at += LANES;
    }
    if at < width {
        to[width - LANES..].copy_from_slice(&from[width - LANES..]);
    }
}
