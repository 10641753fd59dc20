//! Episodes on the streets.

use super::streets::{Nav2d, sample};
use crate::{definition::TASK_STREAMS, geometry::distance};
use isochrone_core::{Environment, StepResult, rng};
use rand_chacha::ChaCha8Rng;

/// The navigation environment. Every step has the reward -1; the episode terminates at the goal.
#[derive(Debug, Clone)]
pub struct Nav2dEnvironment {
    streets: Nav2d,
    site: usize,
    goal_site: usize,
    observation: [f32; 2],
    goal: [f32; 2],
    random: ChaCha8Rng,
}

impl Nav2d {
    /// Returns an environment on these streets, reset to the first task of seed 0.
    pub fn environment(&self) -> Nav2dEnvironment {
        let mut environment = Nav2dEnvironment {
            streets: self.clone(),
            site: 0,
            goal_site: 0,
            observation: [0.0; 2],
            goal: [0.0; 2],
            random: rng::stream(0, TASK_STREAMS),
        };
        environment.reset(0, 0);
        environment
    }

    /// Returns the start and the goal of a task: two random sites far from each other, the second
    /// reachable from the first.
    pub fn task(&self, seed: u64, number: u64) -> (usize, usize) {
        self.sample_task(&mut rng::stream(seed, TASK_STREAMS + number))
    }

    fn sample_task(&self, random: &mut ChaCha8Rng) -> (usize, usize) {
        loop {
            let [start, goal] = [(), ()].map(|()| rng::below(random, self.sites().len()));
            if self.is_task(start, goal) {
                return (start, goal);
            }
        }
    }
}

impl Nav2dEnvironment {
    /// Returns the current site.
    pub fn site(&self) -> usize {
        self.site
    }

    /// Returns the goal site.
    pub fn goal_site(&self) -> usize {
        self.goal_site
    }

    /// Moves the agent to another site and sets another goal.
    pub fn set_sites(&mut self, site: usize, goal_site: usize) {
        (self.site, self.goal_site) = (site, goal_site);
        self.observation = self.streets.observe(site, &mut self.random);
        self.goal = self.streets.observe(goal_site, &mut self.random);
    }
}

impl Environment for Nav2dEnvironment {
    fn observation_width(&self) -> usize {
        2
    }

    fn action_width(&self) -> usize {
        2
    }

    fn max_episode_steps(&self) -> usize {
        self.streets.map().max_episode_steps
    }

    fn reset(&mut self, seed: u64, number: u64) {
        self.random = rng::stream(seed, TASK_STREAMS + number);
        let (start, goal) = self.streets.sample_task(&mut self.random);
        self.set_sites(start, goal);
    }

    fn observation(&self) -> &[f32] {
        &self.observation
    }

    fn goal(&self) -> &[f32] {
        &self.goal
    }

    fn step(&mut self, action: &[f32]) -> StepResult {
        // Action values that are not finite count as zero.
        let push = |axis: usize| if action[axis].is_finite() { f64::from(action[axis]) } else { 0.0 };
        let transitions = self.streets.transitions(self.site, [push(0), push(1)]);
        if let Some(next) = sample(&transitions, &mut self.random) {
            self.site = next;
            self.observation = self.streets.observe(next, &mut self.random);
        }
        let [here, goal] = [self.site, self.goal_site].map(|site| self.streets.sites()[site].place);
        let success = distance(here, goal) <= self.streets.map().success_radius;
        // A dead end does not terminate the episode, so that an early failure does not have a
        // larger return than a late success.
        StepResult { reward: -1.0, success, terminated: success }
    }
}
