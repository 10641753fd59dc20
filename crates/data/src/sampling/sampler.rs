//! Batches of transitions with goals, each a pure function of (seed, stream, step, row).

use super::{
    GoalBatch, GoalLaw,
    batch::ELSEWHERE,
    law::{Goal, below},
};
use crate::{DataError, Trajectories, mapping::ACCESS_BYTES, trajectories::Block};
use isochrone_core::rng;
use rand_chacha::{ChaCha8Rng, rand_core::Rng};
use std::{hint::black_box, sync::Arc};

/// Rows planned, then gathered: far enough ahead that memory is read in parallel, few enough to stay in the nearest cache.
const CHUNK_ROWS: usize = 64;
/// A row has one `ChaCha` block of random numbers to itself: two words choose the transition, four each goal.
const WORDS_PER_ROW: usize = 16;
/// As many as a row has random numbers for.
const MAX_GOALS: usize = 3;
/// Rows of a batch, so that steps and rows share the 64 bits of a block's number.
const MAX_ROWS_LOG2: u32 = 24;

/// Draws transitions of a data set, all alike, with goals.
///
/// The random numbers of row `r` of batch `step` are the `ChaCha8` block number `step * 2^24 + r` of (seed, stream): every row is a pure function of
/// those four numbers, whoever computes it, when, and after whatever.
#[derive(Debug, Clone)]
pub struct GoalSampler {
    data: Arc<Trajectories>,
    config: SamplerConfig,
}

/// What to draw.
#[derive(Debug, Clone, PartialEq)]
pub struct SamplerConfig {
    /// Rows of a batch.
    pub batch_size: usize,
    /// One to three laws; each gives every row a goal.
    pub goals: Vec<GoalLaw>,
    /// Of the whole run.
    pub seed: u64,
    /// Tells samplers of one run apart: training, evaluation.
    pub stream: u64,
}

/// Where the parts of a row lie.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    block: usize,
    /// The state, in its block.
    state: usize,
    /// The action done there, in its block.
    action: usize,
}

impl GoalSampler {
    /// Checks that there is something to draw from.
    pub fn new(data: Arc<Trajectories>, config: SamplerConfig) -> Result<Self, DataError> {
        if data.n_transitions() == 0 {
            return Err(DataError::setting("the data set has no transition", "give episodes of two states or more"));
        }
        if config.batch_size == 0 || config.batch_size >> MAX_ROWS_LOG2 > 0 {
            return Err(DataError::setting(
                format!("batch size {}", config.batch_size),
                format!("give 1 to {}", (1 << MAX_ROWS_LOG2) - 1),
            ));
        }
        if config.goals.is_empty() || config.goals.len() > MAX_GOALS {
            return Err(DataError::setting(
                format!("{} laws of goals", config.goals.len()),
                format!("give 1 to {MAX_GOALS}"),
            ));
        }
        Ok(Self { data, config })
    }

    /// The data that it draws from.
    pub fn data(&self) -> &Arc<Trajectories> {
        &self.data
    }

    /// What it draws.
    pub fn config(&self) -> &SamplerConfig {
        &self.config
    }

    /// Batch number `step`.
    pub fn batch(&self, step: u64) -> GoalBatch {
        let mut batch = GoalBatch::default();
        self.fill(step, &mut batch);
        batch
    }

    /// Batch number `step`, in the memory of an earlier one.
    ///
    /// # Panics
    /// From step 2^40 on, where random numbers would repeat.
    pub fn fill(&self, step: u64, batch: &mut GoalBatch) {
        assert!(step >> (64 - MAX_ROWS_LOG2) == 0, "there are 2^40 steps");
        let rows = self.config.batch_size;
        batch.resize(rows, self.config.goals.len(), &self.data.spec);
        batch.step = step;
        let mut random = rng::stream(self.config.seed, self.config.stream);
        let first_block = u128::from(step) << MAX_ROWS_LOG2;
        random.set_word_pos(first_block * WORDS_PER_ROW as u128);
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
        for (place, row) in states.iter_mut().zip(from..to) {
            let mut words = [0u8; 4 * WORDS_PER_ROW];
            random.fill_bytes(&mut words);
            let word = |at: usize| u64::from_le_bytes(words[8 * at..8 * at + 8].try_into().expect("eight bytes"));
            let transition = below(word(0), self.data.n_transitions());
            let (episode, state) = self.data.index.episode_of_transition(transition);
            batch.transitions[row] = transition;
            *place = self.place(episode, state);
            for (kind, law) in self.config.goals.iter().enumerate() {
                let goal = law.draw(&self.data.index, episode, state, word(1 + 2 * kind), word(2 + 2 * kind));
                goals[kind][row - from] = self.goal_place(&goal);
                let drawn = &mut batch.goals[kind];
                drawn.weights[row] = goal.weight;
                drawn.offsets[row] = match goal.state.checked_sub(state) {
                    Some(offset) if goal.episode == episode => i32::try_from(offset).unwrap_or(i32::MAX),
                    _ => ELSEWHERE,
                };
            }
        }
        let goals = goals[..n_goals].iter().map(|places| &places[..to - from]);
        self.want(states, goals.clone());
        self.gather(from, states, goals, batch);
        if let Some(mapping) = &self.data.mapping {
            mapping.touched((to - from) * ACCESS_BYTES * 2 * (1 + n_goals));
        }
    }

    fn place(&self, episode: usize, state: u64) -> Place {
        let number = self.data.block_of_episode(episode);
        let block = &self.data.blocks[number];
        let state = (state - block.first_state) as usize;
        Place { block: number, state, action: state - (episode - block.first_episode) }
    }

    /// As for any state, but the last one of an episode is given the action before it.
    fn goal_place(&self, goal: &Goal) -> Place {
        let place = self.place(goal.episode, goal.state);
        let is_last = goal.state + 1 == self.data.index.states(goal.episode).end;
        Place { action: place.action - usize::from(is_last), ..place }
    }

    /// Brings what will be gathered nearer, all rows at once: pages of a mapped file are asked for before the first is waited for, and
    /// cache lines are touched by loads that do not depend on each other.
    fn want<'p>(&self, states: &[Place], goals: impl Iterator<Item = &'p [Place]> + Clone) {
        let (observation, action) = (self.data.spec.observation.width, self.data.spec.action.width);
        let all = || {
            let goals = goals.clone().flatten().map(|place| (place, 1));
            states.iter().map(|place| (place, 2)).chain(goals)
        };
        if let Some(mapping) = &self.data.mapping {
            for (place, states) in all() {
                let block = &self.data.blocks[place.block];
                mapping.want(&block.observations[place.state * observation..(place.state + states) * observation]);
                mapping.want(&block.actions[place.action * action..(place.action + 1) * action]);
            }
        }
        let mut sum = 0.0;
        for (place, _) in all() {
            let block = &self.data.blocks[place.block];
            sum += block.observations[place.state * observation];
            sum += block.actions.get(place.action * action).copied().unwrap_or(0.0);
        }
        black_box(sum);
    }

    fn gather<'p>(
        &self,
        from: usize,
        states: &[Place],
        goals: impl Iterator<Item = &'p [Place]>,
        batch: &mut GoalBatch,
    ) {
        let spec = &self.data.spec;
        let (observation, action) = (spec.observation.width, spec.action.width);
        let copy = |to: &mut [f32], row: usize, from: &[f32], at: usize, width: usize| {
            to[row * width..(row + 1) * width].copy_from_slice(&from[at * width..(at + 1) * width]);
        };
        for (place, row) in states.iter().zip(from..) {
            let block: &Block = &self.data.blocks[place.block];
            copy(&mut batch.observations, row, &block.observations, place.state, observation);
            copy(&mut batch.next_observations, row, &block.observations, place.state + 1, observation);
            copy(&mut batch.actions, row, &block.actions, place.action, action);
            if spec.has_rewards {
                batch.rewards[row] = block.rewards[place.action];
            }
        }
        for (rows, places) in batch.goals.iter_mut().zip(goals) {
            for (place, row) in places.iter().zip(from..) {
                let block = &self.data.blocks[place.block];
                copy(&mut rows.observations, row, &block.observations, place.state, observation);
                copy(&mut rows.actions, row, &block.actions, place.action, action);
            }
        }
    }
}
