//! Somebody on the streets.

use super::{Nav2d, apart, draw};
use crate::worlds::TASK_STREAMS;
use isochrone_core::{Environment, Step, rng};
use rand_chacha::ChaCha8Rng;

/// Somebody who wants to get from a site to a far one. A step costs one; at the goal it is over.
#[derive(Debug, Clone)]
pub struct Nav2dEnvironment {
    world: Nav2d,
    site: usize,
    goal_site: usize,
    seen: [f32; 2],
    goal: [f32; 2],
    random: ChaCha8Rng,
}

impl Nav2d {
    /// Somebody in this world, at the first task of seed 0.
    pub fn environment(&self) -> Nav2dEnvironment {
        let random = rng::stream(0, TASK_STREAMS);
        let mut environment = Nav2dEnvironment {
            world: self.clone(),
            site: 0,
            goal_site: 0,
            seen: [0.0; 2],
            goal: [0.0; 2],
            random,
        };
        environment.reset(0, 0);
        environment
    }

    /// The start and the goal of a task: two sites at random, far from each other, the second within reach of the first.
    pub fn task(&self, seed: u64, number: u64) -> (usize, usize) {
        self.draw_task(&mut rng::stream(seed, TASK_STREAMS + number))
    }

    fn draw_task(&self, random: &mut ChaCha8Rng) -> (usize, usize) {
        loop {
            let pair = [(), ()].map(|()| rng::below(random, self.sites().len()));
            if self.is_task(pair[0], pair[1]) {
                return (pair[0], pair[1]);
            }
        }
    }
}

impl Nav2dEnvironment {
    /// Where one is.
    pub fn site(&self) -> usize {
        self.site
    }

    /// Where one wants to be.
    pub fn goal_site(&self) -> usize {
        self.goal_site
    }

    /// Puts one elsewhere, with another goal.
    pub fn place(&mut self, site: usize, goal_site: usize) {
        (self.site, self.goal_site) = (site, goal_site);
        self.seen = self.world.seen(site, &mut self.random);
        self.goal = self.world.seen(goal_site, &mut self.random);
    }

    fn is_reached(&self) -> bool {
        let [here, there] = [self.site, self.goal_site].map(|site| self.world.sites()[site].place);
        apart(here, there) <= self.world.plan().success_radius
    }
}

impl Environment for Nav2dEnvironment {
    fn observation_width(&self) -> usize {
        2
    }

    fn action_width(&self) -> usize {
        2
    }

    fn step_limit(&self) -> usize {
        self.world.plan().step_limit
    }

    fn reset(&mut self, seed: u64, number: u64) {
        self.random = rng::stream(seed, TASK_STREAMS + number);
        let (start, goal) = self.world.draw_task(&mut self.random);
        self.place(start, goal);
    }

    fn observation(&self) -> &[f32] {
        &self.seen
    }

    fn goal(&self) -> &[f32] {
        &self.goal
    }

    fn step(&mut self, action: &[f32]) -> Step {
        // A push that is not a number is none.
        let push = |axis: usize| if action[axis].is_finite() { f64::from(action[axis]) } else { 0.0 };
        let moves = self.world.moves(self.site, [push(0), push(1)]);
        if let Some(next) = draw(&moves, &mut self.random) {
            self.site = next;
            self.seen = self.world.seen(next, &mut self.random);
        }
        let is_reached = self.is_reached();
        // Who is at the end of a way stays there and pays on: to be lost early is not better than to arrive late.
        Step { reward: -1.0, is_reached, is_over: is_reached }
    }
}
