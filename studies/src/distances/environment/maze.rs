//! Mazes of OGBench, with exact distances over places 0.2 m apart.

use super::{EnvironmentData, ExactPairs, PAIRS};
use crate::StudyError;
use isochrone_core::{Discount, exact::ExactSolver, rng};
use isochrone_data::{
    Dataset, DatasetBuilder,
    formats::{ReadOptions, Writer},
};
use isochrone_envs::{
    DatasetId,
    maze::{Maze, MazeCell, PUSH, PointMazeMdp},
};
use rayon::prelude::*;
use std::path::Path;

/// The seeds of the training data and of held-out episodes.
const SEEDS: [(&str, u64); 2] = [("", 0), ("-held-out", 1)];
/// The fastest pace is the 0.999 quantile over all recorded walks of this many steps.
const WALK_STEPS: usize = 64;
const FASTEST: f64 = 0.999;
/// The number of places that are checked along an edge.
const CHORD_PARTS: usize = 20;
/// The approximate number of rows of the collected data; the held-out data are a tenth of it.
const ROWS: usize = 500_000;

/// Collects a registered dataset and held-out episodes of it.
pub fn collect(folder: &Path, name: &str) -> Result<(Dataset, Dataset), StudyError> {
    let id = DatasetId::from_name(name).expect("a dataset of the registry");
    id.env().check()?;
    let steps_per_episode = id.env().spec().max_episode_steps.max(1);
    let episodes = id.policy().default_episodes.min(ROWS / steps_per_episode);
    let mut both = Vec::new();
    for (suffix, seed) in SEEDS {
        let path = folder.join("datasets").join(format!("{name}{suffix}.arrow"));
        if !path.exists() {
            let parent = path.parent().expect("a file of the folder");
            std::fs::create_dir_all(parent).map_err(StudyError::io(parent))?;
            let mut builder = DatasetBuilder::default();
            id.collect(if seed == 0 { episodes } else { episodes.div_ceil(10) }, seed, &mut builder)?;
            let mut writer = Writer::for_path(&path)?;
            builder.finish().send(&mut writer)?;
            writer.finish()?;
        }
        both.push(Dataset::load(&path, ReadOptions::default())?);
    }
    let held_out = both.pop().expect("there are two");
    Ok((both.pop().expect("there are two"), held_out))
}

/// Opens a point maze, or an ant maze, whose goals are positions.
pub fn open(folder: &Path, name: &str, goal_radius: Option<f32>) -> Result<EnvironmentData, StudyError> {
    let (data, held_out) = collect(folder, name)?;
    let maze = [
        ("medium", Maze::Medium),
        ("large", Maze::Large),
        ("giant", Maze::Giant),
        ("teleport", Maze::Teleport),
    ];
    let (_, maze) = maze.into_iter().find(|(part, _)| name.contains(part)).expect("a maze of OGBench");
    // The exit of a teleporter is random.
    let mdp = PointMazeMdp::without_teleporters(maze);
    // A ball moves a place at a step along both axes; an ant is slower.
    let steps_per_place = if goal_radius.is_some() { PUSH / top_speed(&data) } else { 1.0 };
    let mut random = rng::stream(7, 0);
    let n_states = held_out.index().n_states() as usize;
    // Held-out states at places where the ball of the exact solver fits.
    let mut draw = || loop {
        let observation = held_out.state(rng::below(&mut random, n_states) as u64);
        if let Some(state) = mdp.state([f64::from(observation[0]), f64::from(observation[1])]) {
            return (observation.to_vec(), state);
        }
    };
    let drawn: Vec<_> = (0..PAIRS).map(|_| (draw(), draw())).collect();
    let solver = ExactSolver::new(mdp.process(), Discount::new(0.99).expect("a discount"));
    let exact =
        |((_, start), (_, goal)): &(_, (_, usize))| solver.to_goal(*goal).expect("a state").steps(*start);
    let steps: Vec<f64> = drawn.par_iter().map(exact).collect();
    let mut pairs = ExactPairs::default();
    for (((from, _), (to, _)), steps) in drawn.iter().zip(steps) {
        pairs.push(from, to, (steps.round() * steps_per_place).round());
    }
    let ahead = ExactPairs::first_steps(&held_out);
    let is_connected = Box::new(move |from: &[f32], to: &[f32]| is_free(maze, from, to));
    Ok(EnvironmentData {
        data,
        held_out,
        pairs,
        ahead,
        behind: ExactPairs::default(),
        goal_radius,
        is_connected,
    })
}

/// Whether a straight line stays within the corridors.
fn is_free(maze: Maze, from: &[f32], to: &[f32]) -> bool {
    let layout = maze.layout();
    (0..=CHORD_PARTS).all(|part| {
        let share = part as f32 / CHORD_PARTS as f32;
        let place = [0, 1].map(|axis| f64::from(from[axis] + (to[axis] - from[axis]) * share));
        layout.is_free(MazeCell::of(place))
    })
}

/// The meters per step along the faster axis of the fastest recorded walk.
fn top_speed(data: &Dataset) -> f64 {
    let width = data.spec().observation.width;
    let mut meters = Vec::new();
    for episode in 0..data.n_episodes() {
        let rows = data.episode(episode).observations;
        let walks = rows.chunks_exact(width).zip(rows.chunks_exact(width).skip(WALK_STEPS));
        meters.extend(walks.map(|(from, to)| (to[0] - from[0]).abs().max((to[1] - from[1]).abs())));
    }
    let place = ((meters.len() as f64 * FASTEST) as usize).min(meters.len() - 1);
    let (_, fastest, _) = meters.select_nth_unstable_by(place, f32::total_cmp);
    f64::from(*fastest) / WALK_STEPS as f64
}
