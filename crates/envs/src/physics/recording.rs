//! Behaviour in mazes: an oracle says where to go, a walker goes there, noise disturbs it.

use super::{AntWalker, MazeEnvironment, Oracle, Stage, oracle::towards};
use crate::{
    maze::{Body, Cell, Layout, MazeWorld, Place, Task},
    recordings::{Behaviour, Recording},
};
use isochrone_core::{Environment as _, rng};
use isochrone_data::{DataError, Ending, Episode, EpisodeSink};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Episodes that are recorded together: enough for every core, few enough to be held in memory.
const TOGETHER: usize = 32;

/// Actions after which somebody who explores changes direction.
const EXPLORED_FOR: usize = 10;

/// How many cells somebody goes whose recordings are to be stitched.
const STITCHED_CELLS: u32 = 4;

impl Stage {
    /// Records behaviour, in parallel, and passes it on episode by episode and in order; each follows from the seed and its number.
    ///
    /// # Errors
    /// What `sink` refuses.
    pub(crate) fn record(
        &self,
        recording: Recording,
        episodes: usize,
        seed: u64,
        sink: &mut dyn EpisodeSink,
    ) -> Result<(), DataError> {
        let spec = self.world.spec();
        sink.begin(&spec)?;
        for first in (0..episodes).step_by(TOGETHER) {
            let numbers = first..episodes.min(first + TOGETHER);
            let walk =
                |walker: &mut Recorder, number: usize| walker.episode(rng::stream(seed, number as u64));
            let batch: Vec<Episode> =
                numbers.into_par_iter().map_init(|| Recorder::new(self, recording), walk).collect();
            for episode in batch {
                sink.episode(&episode.view(&spec).expect("widths fit"))?;
            }
        }
        Ok(())
    }
}

/// Somebody who is recorded.
struct Recorder {
    recording: Recording,
    environment: MazeEnvironment,
    layout: &'static Layout,
    world: MazeWorld,
    oracle: Oracle,
}

/// Where somebody goes at the moment.
enum Aim {
    /// To a cell, and within it to a place.
    Goal(Cell, Place),
    /// Along a direction.
    Direction([f64; 2]),
}

fn one_of(cells: &[Cell], random: &mut ChaCha8Rng) -> Cell {
    cells[rng::below(random, cells.len())]
}

impl Recorder {
    fn new(stage: &Stage, recording: Recording) -> Self {
        let layout = stage.world.maze.layout();
        Self {
            recording,
            environment: stage.environment(),
            layout,
            world: stage.world,
            oracle: Oracle::new(layout),
        }
    }

    /// Cells to begin in, and cells to go to.
    fn cells(&self) -> (Vec<Cell>, Vec<Cell>) {
        let free: Vec<Cell> = self.layout.free().collect();
        let vertices: Vec<Cell> = self.layout.vertices().collect();
        match self.recording.behaviour {
            Behaviour::Navigate => (free, vertices),
            Behaviour::Diverse => (free.clone(), free),
            // The cells of the tasks of both benchmarks: where somebody put flags by hand.
            Behaviour::Play => {
                let tasks: Vec<Task> =
                    self.world.maze.tasks().iter().copied().chain(self.world.maze.d4rl_task()).collect();
                (
                    tasks.iter().map(|task| task.start).collect(),
                    tasks.iter().flat_map(|task| [task.start, task.goal]).collect(),
                )
            }
            Behaviour::Stitch | Behaviour::Explore | Behaviour::Streets => (free, Vec::new()),
        }
    }

    fn first_aim(&self, start: Cell, goals: &[Cell], random: &mut ChaCha8Rng) -> Aim {
        let goal = match self.recording.behaviour {
            Behaviour::Explore => return Aim::Direction(any_direction(random)),
            Behaviour::Stitch => {
                let there = self.layout.at_distance(start, STITCHED_CELLS);
                if there.is_empty() { start } else { one_of(&there, random) }
            }
            _ => one_of(goals, random),
        };
        Aim::Goal(goal, self.world.goal_in(goal, || rng::unit_f64(random)))
    }

    /// One episode of the usual length.
    fn episode(&mut self, mut random: ChaCha8Rng) -> Episode {
        let steps = self.recording.steps().expect("episodes in mazes are equally long");
        let (starts, goals) = self.cells();
        let start = one_of(&starts, &mut random);
        let place = self.world.start_in(start, || rng::unit_f64(&mut random));
        let mut aim = self.first_aim(start, &goals, &mut random);
        self.environment.begin_recording(place, random);
        let mut episode =
            Episode { ending: Ending::Truncated, extras: vec![Vec::new(); 2], ..Episode::default() };
        self.note(&mut episode);
        for step in 0..steps {
            if let Aim::Direction(direction) = &mut aim
                && step > 0
                && step % EXPLORED_FOR == 0
            {
                *direction = any_direction(self.environment.random());
            }
            let action = self.action(&aim);
            if let Aim::Goal(_, place) = aim {
                self.environment.set_goal_place(place);
            }
            let is_reached = self.environment.step_to_exit(&action, None);
            episode.actions.extend(action);
            self.note(&mut episode);
            if is_reached && !goals.is_empty() {
                let random = self.environment.random();
                let goal = one_of(&goals, random);
                aim = Aim::Goal(goal, self.world.goal_in(goal, || rng::unit_f64(random)));
            }
        }
        episode
    }

    fn note(&self, episode: &mut Episode) {
        episode.observations.extend(self.environment.observation());
        let moving = self.environment.moving();
        episode.extras[0].extend(moving.positions().iter().map(|&position| position as f32));
        episode.extras[1].extend(moving.velocities().iter().map(|&velocity| velocity as f32));
    }

    /// What the walker does, with noise.
    fn action(&mut self, aim: &Aim) -> Vec<f32> {
        let here = self.environment.moving().place();
        let is_d4rl = matches!(self.recording.behaviour, Behaviour::Play | Behaviour::Diverse);
        let direction = match *aim {
            Aim::Direction(direction) => direction,
            Aim::Goal(cell, place) if is_d4rl => {
                let next = self.oracle.next_cell(here, cell);
                let jitter = [(); 2].map(|()| rng::unit_f64(self.environment.random()));
                let [x, y] = next.centre();
                towards(here, if next == Cell::of(here) { place } else { [x + jitter[0], y + jitter[1]] })
            }
            Aim::Goal(cell, _) => self.oracle.direction(here, cell),
        };
        let mut action = match self.world.body {
            Body::Point => direction.map(|push| push as f32).to_vec(),
            Body::Ant => {
                let mut seen = Vec::new();
                self.environment.moving().observe(&mut seen);
                if is_d4rl {
                    AntWalker::get().drawn_action(&seen, direction, self.environment.random()).to_vec()
                } else {
                    AntWalker::get().action(&seen, direction).to_vec()
                }
            }
        };
        for number in &mut action {
            let noise = self.recording.action_noise() * rng::normal(self.environment.random());
            *number = (f64::from(*number) + noise).clamp(-1.0, 1.0) as f32;
        }
        action
    }
}

fn any_direction(random: &mut ChaCha8Rng) -> [f64; 2] {
    let [x, y] = [(); 2].map(|()| rng::normal(random));
    let norm = x.hypot(y);
    [x / norm, y / norm]
}
