//! Data collection in mazes: an oracle gives the direction, a low-level policy follows it, and
//! noise is added to its actions.

use super::{AntWalker, MazeEnvironment, MazeModel, Oracle, oracle::towards};
use crate::{
    CollectionPolicy, Point,
    maze::{Body, Layout, MazeCell, MazeConfig, policies::MazePolicy},
};
use isochrone_core::{Environment as _, rng};
use isochrone_data::{DataError, Ending, Episode, EpisodeSink};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// The number of episodes collected in parallel: enough for every core, few enough to fit in
/// memory.
const BATCH: usize = 32;

/// The number of steps after which exploration changes direction.
const EXPLORATION_STEPS: usize = 10;

/// The path length of `stitch` episodes.
const STITCH_CELLS: u32 = 4;

impl MazeModel {
    /// Collects episodes in parallel and passes them to `sink` in order. Each episode depends only
    /// on the seed and its number.
    ///
    /// # Errors
    /// If `sink` rejects an episode.
    pub(in crate::maze) fn collect(
        &self,
        kind: MazePolicy,
        episodes: usize,
        seed: u64,
        sink: &mut dyn EpisodeSink,
    ) -> Result<(), DataError> {
        let spec = self.config.columns();
        sink.begin(&spec)?;
        for first in (0..episodes).step_by(BATCH) {
            let numbers = first..episodes.min(first + BATCH);
            let collect = |collector: &mut Collector, number: usize| {
                collector.episode(rng::stream(seed, number as u64))
            };
            let batch: Vec<Episode> =
                numbers.into_par_iter().map_init(|| Collector::new(self, kind), collect).collect();
            for episode in batch {
                sink.episode(&episode.view(&spec).expect("widths fit"))?;
            }
        }
        Ok(())
    }
}

/// An agent whose episodes are collected.
struct Collector {
    kind: MazePolicy,
    policy: CollectionPolicy,
    environment: MazeEnvironment,
    layout: &'static Layout,
    config: MazeConfig,
    oracle: Oracle,
}

/// The current target of the agent.
enum Aim {
    /// A goal cell, and a point in it.
    Goal(MazeCell, Point),
    /// A direction.
    Direction([f64; 2]),
}

fn sample_cell(cells: &[MazeCell], random: &mut ChaCha8Rng) -> MazeCell {
    cells[rng::below(random, cells.len())]
}

impl Collector {
    fn new(model: &MazeModel, kind: MazePolicy) -> Self {
        let config = model.config;
        let layout = config.maze.layout();
        Self {
            kind,
            policy: kind.in_maze(config),
            environment: model.environment(),
            layout,
            config,
            oracle: Oracle::new(layout),
        }
    }

    /// Returns the possible start cells and goal cells.
    fn cells(&self) -> (Vec<MazeCell>, Vec<MazeCell>) {
        let free: Vec<MazeCell> = self.layout.free().collect();
        let vertices: Vec<MazeCell> = self.layout.vertices().collect();
        match self.kind {
            MazePolicy::Navigate => (free, vertices),
            MazePolicy::Diverse => (free.clone(), free),
            // The cells of the tasks of both benchmarks, which were picked by hand.
            MazePolicy::Play => {
                let maze = self.config.maze;
                let tasks = maze.tasks().iter().copied().chain(maze.d4rl_task());
                let starts = tasks.clone().map(|task| task.start).collect();
                (starts, tasks.flat_map(|task| [task.start, task.goal]).collect())
            }
            MazePolicy::Stitch | MazePolicy::Explore => (free, Vec::new()),
        }
    }

    fn first_aim(&self, start: MazeCell, goals: &[MazeCell], random: &mut ChaCha8Rng) -> Aim {
        let goal = match self.kind {
            MazePolicy::Explore => return Aim::Direction(random_direction(random)),
            MazePolicy::Stitch => {
                let cells = self.layout.at_distance(start, STITCH_CELLS);
                if cells.is_empty() { start } else { sample_cell(&cells, random) }
            }
            _ => sample_cell(goals, random),
        };
        Aim::Goal(goal, self.config.goal_in(goal, || rng::unit_f64(random)))
    }

    /// Collects one episode of the standard length.
    fn episode(&mut self, mut random: ChaCha8Rng) -> Episode {
        let steps = self.policy.episode_steps.expect("episodes in mazes have equal length");
        let (starts, goals) = self.cells();
        let start = sample_cell(&starts, &mut random);
        let place = self.config.start_in(start, || rng::unit_f64(&mut random));
        let mut aim = self.first_aim(start, &goals, &mut random);
        self.environment.reset_at(place, random);
        let mut episode =
            Episode { ending: Ending::Truncated, extras: vec![Vec::new(); 2], ..Episode::default() };
        self.append_state(&mut episode);
        for step in 0..steps {
            if let Aim::Direction(direction) = &mut aim
                && step > 0
                && step % EXPLORATION_STEPS == 0
            {
                *direction = random_direction(&mut self.environment.random);
            }
            let action = self.action(&aim);
            if let Aim::Goal(_, place) = aim {
                self.environment.goal_place = place;
            }
            let success = self.environment.step_to_exit(&action, None);
            episode.actions.extend(action);
            self.append_state(&mut episode);
            if success && !goals.is_empty() {
                let random = &mut self.environment.random;
                let goal = sample_cell(&goals, random);
                aim = Aim::Goal(goal, self.config.goal_in(goal, || rng::unit_f64(random)));
            }
        }
        episode
    }

    fn append_state(&self, episode: &mut Episode) {
        episode.observations.extend(self.environment.observation());
        let simulation = &self.environment.simulation;
        episode.extras[0].extend(simulation.positions().iter().map(|&position| position as f32));
        episode.extras[1].extend(simulation.velocities().iter().map(|&velocity| velocity as f32));
    }

    /// Returns the action towards the target, with noise.
    fn action(&mut self, aim: &Aim) -> Vec<f32> {
        let here = self.environment.simulation.place();
        let is_d4rl = matches!(self.kind, MazePolicy::Play | MazePolicy::Diverse);
        let direction = match *aim {
            Aim::Direction(direction) => direction,
            Aim::Goal(cell, place) if is_d4rl => {
                let next = self.oracle.next_cell(here, cell);
                let jitter = [(); 2].map(|()| rng::unit_f64(&mut self.environment.random));
                let [x, y] = next.center();
                towards(here, if next == MazeCell::of(here) { place } else { [x + jitter[0], y + jitter[1]] })
            }
            Aim::Goal(cell, _) => self.oracle.direction(here, cell),
        };
        let mut action = match self.config.body {
            Body::Point => direction.map(|push| push as f32).to_vec(),
            Body::Ant => {
                let mut observation = Vec::new();
                self.environment.simulation.observe(&mut observation);
                let walker = AntWalker::get();
                let action = match is_d4rl {
                    true => walker.sampled_action(&observation, direction, &mut self.environment.random),
                    false => walker.action(&observation, direction),
                };
                action.to_vec()
            }
        };
        for number in &mut action {
            let noise = self.policy.action_noise * rng::normal(&mut self.environment.random);
            *number = (f64::from(*number) + noise).clamp(-1.0, 1.0) as f32;
        }
        action
    }
}

fn random_direction(random: &mut ChaCha8Rng) -> [f64; 2] {
    let [x, y] = [(); 2].map(|()| rng::normal(random));
    let norm = x.hypot(y);
    [x / norm, y / norm]
}
