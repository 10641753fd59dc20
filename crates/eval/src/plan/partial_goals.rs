//! Goals that specify only some columns of a state, such as a position.

use super::{Follower, Waypoints, goal_cache::GoalCache};
use isochrone_core::GoalPolicy;
use isochrone_data::Dataset;
use std::{ops::Range, sync::Arc};

/// A planner for goals of which only some columns count, such as the position of an ant.
///
/// A goal stands for the dataset states that are nearest to it in these columns, at most one of
/// each episode. The planner gets the one with the shortest path, with the columns of the goal.
pub struct PartialGoals<W> {
    planner: W,
    data: Dataset,
    columns: Range<usize>,
    /// The states that recent goals stand for, `[n, width]`.
    members: GoalCache<Vec<f32>>,
}

/// The maximum number of states that a goal stands for.
const MEMBERS: usize = 8;

impl<W: Waypoints> PartialGoals<W> {
    /// Wraps a planner over a dataset.
    ///
    /// # Panics
    /// If `columns` is empty or out of range.
    pub fn new(planner: W, data: &Dataset, columns: Range<usize>) -> Self {
        let width = data.spec().observation.width;
        assert!(!columns.is_empty() && columns.end <= width, "columns {columns:?} of {width}");
        let members = GoalCache::new(MEMBERS * width);
        Self { planner, data: data.clone(), columns, members }
    }

    fn width(&self) -> usize {
        self.data.spec().observation.width
    }

    fn members(&self, goals: &[f32]) -> Vec<Arc<Vec<f32>>> {
        self.members.get(goals, self.width(), |goals| {
            goals.chunks_exact(self.width()).map(|goal| self.nearest(goal)).collect()
        })
    }

    /// Returns the states nearest to a goal in the columns, with the columns of the goal.
    fn nearest(&self, goal: &[f32]) -> Vec<f32> {
        let columns = &self.columns;
        let square = |state: &[f32]| -> f32 {
            state[columns.clone()].iter().zip(&goal[columns.clone()]).map(|(a, b)| (a - b).powi(2)).sum()
        };
        let of_episode = |episode: usize| {
            let states = self.data.episode(episode).observations.chunks_exact(self.width());
            let squares = states.map(|state| (square(state), state));
            squares.min_by(|a, b| a.0.total_cmp(&b.0))
        };
        let mut nearest: Vec<(f32, &[f32])> = (0..self.data.n_episodes()).filter_map(of_episode).collect();
        nearest.sort_by(|a, b| a.0.total_cmp(&b.0));
        nearest.truncate(MEMBERS);
        let mut members: Vec<f32> = nearest.iter().flat_map(|(_, state)| *state).copied().collect();
        for member in members.chunks_exact_mut(self.width()) {
            member[columns.clone()].copy_from_slice(&goal[columns.clone()]);
        }
        members
    }

    /// Returns, for each row, the state with the shortest path among those that the goal stands
    /// for.
    fn full_goals(&self, from: &[f32], goals: &[f32]) -> Vec<f32> {
        let (width, members) = (self.width(), self.members(goals));
        let repeated = |(from, members): (&[f32], &Arc<Vec<f32>>)| from.repeat(members.len() / width);
        let starts: Vec<f32> = from.chunks_exact(width).zip(&members).flat_map(repeated).collect();
        let ends: Vec<f32> = members.iter().flat_map(|members| &**members).copied().collect();
        let mut steps = &self.planner.path_steps(&starts, &ends)[..];
        let mut full = Vec::with_capacity(goals.len());
        for members in members {
            let (own, others) = steps.split_at(members.len() / width);
            steps = others;
            let nearest = (0..own.len()).min_by(|a, b| own[*a].total_cmp(&own[*b]));
            full.extend(&members[nearest.expect("datasets have states") * width..][..width]);
        }
        full
    }
}

impl<W: Waypoints> Waypoints for PartialGoals<W> {
    fn next(&self, from: &[f32], goals: &[f32]) -> Vec<f32> {
        self.planner.next(from, &self.full_goals(from, goals))
    }

    fn is_reachable(&self, from: &[f32], goals: &[f32]) -> Vec<bool> {
        self.planner.is_reachable(from, &self.full_goals(from, goals))
    }

    fn path_steps(&self, from: &[f32], goals: &[f32]) -> Vec<f64> {
        self.planner.path_steps(from, &self.full_goals(from, goals))
    }

    fn hop_ratios(&self, from: &[f32], goals: &[f32]) -> Option<Vec<f64>> {
        self.planner.hop_ratios(from, &self.full_goals(from, goals))
    }

    fn start_episodes(&self, n_episodes: usize) -> Option<Box<dyn Follower + '_>> {
        let follower = self.planner.start_episodes(n_episodes);
        Some(Box::new(FullGoals { goals: self, follower, of_episodes: vec![None; n_episodes] }))
    }

    fn actions(&self, policy: &dyn GoalPolicy, observations: &[f32], goals: &[f32]) -> Vec<f32> {
        self.planner.actions(policy, observations, &self.full_goals(observations, goals))
    }
}

/// Episodes whose goals are replaced by full states at their start.
struct FullGoals<'a, W> {
    goals: &'a PartialGoals<W>,
    follower: Option<Box<dyn Follower + 'a>>,
    /// The goal of every episode, and the state that replaces it.
    of_episodes: Vec<Option<(Vec<f32>, Vec<f32>)>>,
}

impl<W: Waypoints> FullGoals<'_, W> {
    /// Returns the full states of episodes, which stay the same until their goals change.
    fn full(&mut self, episodes: &[usize], from: &[f32], goals: &[f32]) -> Vec<f32> {
        let width = self.goals.width();
        let row = |rows: &[f32], row: usize| rows[row * width..][..width].to_vec();
        let is_new = |at: &usize| {
            let known = self.of_episodes[episodes[*at]].as_ref();
            known.is_none_or(|(known, _)| known[..] != goals[at * width..][..width])
        };
        let new: Vec<usize> = (0..episodes.len()).filter(is_new).collect();
        if !new.is_empty() {
            let starts: Vec<f32> = new.iter().flat_map(|&at| row(from, at)).collect();
            let ends: Vec<f32> = new.iter().flat_map(|&at| row(goals, at)).collect();
            let full = self.goals.full_goals(&starts, &ends);
            for (&at, full) in new.iter().zip(full.chunks_exact(width)) {
                self.of_episodes[episodes[at]] = Some((row(goals, at), full.to_vec()));
            }
        }
        let of_episode = |&episode: &usize| self.of_episodes[episode].iter().flat_map(|(_, full)| full);
        episodes.iter().flat_map(of_episode).copied().collect()
    }
}

impl<W: Waypoints> Follower for FullGoals<'_, W> {
    fn next(&mut self, episodes: &[usize], from: &[f32], goals: &[f32]) -> Vec<f32> {
        let full = self.full(episodes, from, goals);
        match &mut self.follower {
            Some(follower) => follower.next(episodes, from, &full),
            None => self.goals.planner.next(from, &full),
        }
    }

    fn actions(
        &mut self,
        policy: &dyn GoalPolicy,
        episodes: &[usize],
        observations: &[f32],
        goals: &[f32],
    ) -> Vec<f32> {
        let full = self.full(episodes, observations, goals);
        match &mut self.follower {
            Some(follower) => follower.actions(policy, episodes, observations, &full),
            None => self.goals.planner.actions(policy, observations, &full),
        }
    }
}
