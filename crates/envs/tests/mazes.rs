//! Maze environments: rules, datasets, and the oracle.
#![cfg(feature = "mujoco")]

use isochrone_core::Environment as _;
use isochrone_data::{Dataset, DatasetBuilder};
use isochrone_envs::{
    Capsule, DatasetId,
    maze::{
        Benchmark, Body, Maze, MazeCell, MazeConfig, ant_shape,
        physics::{AntWalker, MazeModel, Oracle},
    },
};
use rayon::prelude::*;

fn maze(name: &str) -> MazeConfig {
    MazeConfig::from_name(name).unwrap_or_else(|| panic!("{name} is not a maze"))
}

/// Returns the action of the oracle, which knows the map. In the goal cell it moves to the goal
/// itself.
fn oracle_action(oracle: &Oracle, body: Body, observation: &[f32], goal: &[f32]) -> Vec<f32> {
    let [here, goal] = [observation, goal].map(|row| [f64::from(row[0]), f64::from(row[1])]);
    let next = oracle.next_cell(here, MazeCell::of(goal));
    let to = if next == MazeCell::of(here) { goal } else { next.center() };
    let [dx, dy] = [to[0] - here[0], to[1] - here[1]];
    let norm = dx.hypot(dy) + 1e-6;
    match body {
        Body::Point => vec![(dx / norm) as f32, (dy / norm) as f32],
        Body::Ant => AntWalker::get().action(observation, [dx / norm, dy / norm]).to_vec(),
    }
}

/// Returns the success rate of the oracle.
fn oracle_success(name: &str, episodes: u64) -> f64 {
    let config = maze(name);
    let (model, oracle) = (MazeModel::new(config), Oracle::new(config.maze.layout()));
    let succeeds = |number: u64| {
        let mut environment = model.environment();
        environment.reset(7, number);
        let goal = environment.goal().to_vec();
        (0..environment.max_episode_steps()).any(|_| {
            let action = oracle_action(&oracle, config.body, environment.observation(), &goal);
            environment.step(&action).success
        })
    };
    (0..episodes).into_par_iter().filter(|&number| succeeds(number)).count() as f64 / episodes as f64
}

fn collected(name: &str, episodes: usize, seed: u64) -> Dataset {
    let mut builder = DatasetBuilder::default();
    DatasetId::from_name(name)
        .expect("a dataset")
        .collect(episodes, seed, &mut builder)
        .expect("memory accepts every episode");
    builder.finish()
}

#[test]
fn the_oracle_succeeds_as_a_ball() {
    for name in ["pointmaze-medium", "pointmaze-large", "pointmaze-giant"] {
        assert_eq!(oracle_success(name, 25), 1.0, "{name}");
    }
}

#[test]
fn the_oracle_succeeds_as_an_ant_in_a_medium_maze() {
    let success = oracle_success("antmaze-medium", 100);
    assert!(success >= 0.95, "{success}");
}

#[test]
fn the_oracle_succeeds_as_an_ant_in_a_large_maze() {
    let success = oracle_success("antmaze-large", 100);
    assert!(success >= 0.90, "{success}");
}

#[test]
fn the_oracle_succeeds_in_a_d4rl_maze() {
    let success = oracle_success("d4rl-antmaze-umaze", 20);
    assert!(success >= 0.9, "{success}");
}

#[test]
fn starts_and_goals_are_near_their_cells_and_episodes_cycle_through_tasks() {
    let config = maze("antmaze-large");
    let mut environment = MazeModel::new(config).environment();
    for number in 0..20u64 {
        environment.reset(3, number);
        let task = config.maze.tasks()[number as usize % 5];
        let place = |row: &[f32]| [f64::from(row[0]), f64::from(row[1])];
        for (state, cell) in [(environment.observation(), task.start), (environment.goal(), task.goal)] {
            let center = cell.center();
            for axis in 0..2 {
                assert!((place(state)[axis] - center[axis]).abs() <= 1.0 + 1e-6, "{number}");
            }
            assert_eq!(state.len(), 29);
        }
        // A goal is a full state, not the rest pose.
        assert!(environment.goal()[15..].iter().any(|velocity| velocity.abs() > 0.01));
    }
}

#[test]
fn d4rl_goals_are_positions_at_or_beyond_the_center_of_their_cell() {
    for (name, [x, y], limit) in
        [("d4rl-antmaze-umaze", [0.0, 8.0], 700), ("d4rl-antmaze-large", [32.0, 24.0], 1000)]
    {
        let mut environment = MazeModel::new(maze(name)).environment();
        assert_eq!(environment.max_episode_steps(), limit);
        for number in 0..20 {
            environment.reset(0, number);
            let goal = environment.goal();
            assert!(
                (x..=x + 1.5).contains(&f64::from(goal[0])) && (y..=y + 1.5).contains(&f64::from(goal[1]))
            );
            assert!(goal[2..].iter().all(|&number| number == 0.0));
            assert!(environment.observation()[..2].iter().all(|place| place.abs() <= 0.1));
        }
    }
}

/// The observation right after a teleport is the position that the body would have without it.
#[test]
fn the_observation_after_a_teleport_is_the_position_before_it() {
    let mut environment = MazeModel::new(maze("pointmaze-teleport")).environment();
    let layout = Maze::Teleport.layout();
    for exit in 0..3 {
        environment.reset_to(&[20.0, 10.45], &[0.0; 2]);
        environment.step_to_exit(&[0.0, 1.0], Some(exit));
        let seen = environment.observation().to_vec();
        assert!((seen[0] - 20.0).abs() < 0.01 && (10.5..10.8).contains(&seen[1]), "{seen:?}");
        assert_eq!(environment.simulation.place(), layout.exits()[exit].center());
        environment.step_to_exit(&[0.0; 2], None);
        assert_eq!(MazeCell::of(environment.simulation.place()), layout.exits()[exit]);
        let seen = environment.observation();
        assert_eq!(MazeCell::of([f64::from(seen[0]), f64::from(seen[1])]), layout.exits()[exit]);
    }
}

#[test]
fn actions_that_are_not_finite_or_too_large_are_clipped() {
    for name in ["pointmaze-medium", "antmaze-medium"] {
        let config = maze(name);
        let (mut one, mut other) =
            (MazeModel::new(config).environment(), MazeModel::new(config).environment());
        let width = config.body.action_width();
        for (given, applied) in [(f32::NAN, 0.0), (f32::INFINITY, 1.0), (-7.0, -1.0)] {
            one.step(&vec![given; width]);
            other.step(&vec![applied; width]);
            assert_eq!(one.observation(), other.observation(), "{name} {given}");
        }
    }
}

#[test]
fn datasets_depend_on_the_seed_and_not_on_the_number_of_threads() {
    for name in ["pointmaze-teleport-navigate", "antmaze-medium-stitch", "d4rl-antmaze-umaze-play"] {
        let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let expected = one_thread.install(|| collected(name, 3, 5));
        assert_eq!(expected.content_hash(), collected(name, 3, 5).content_hash(), "{name}");
        assert_ne!(expected.content_hash(), collected(name, 3, 6).content_hash(), "{name}");
    }
}

#[test]
fn episodes_are_as_long_as_in_the_benchmark_and_stay_in_the_maze() {
    for (name, steps) in [
        ("pointmaze-large-stitch", 200),
        ("pointmaze-giant-navigate", 2000),
        ("antmaze-medium-explore", 500),
        ("d4rl-antmaze-umaze-diverse", 700),
    ] {
        let data = collected(name, 2, 1);
        let config = maze(&DatasetId::from_name(name).unwrap().env().name());
        for episode in 0..2 {
            let view = data.episode(episode);
            assert_eq!(view.steps, steps, "{name}");
            assert!(view.actions.iter().all(|action| action.abs() <= 1.0), "{name}");
            for row in view.observations.chunks_exact(config.body.observation_width()) {
                let cell = MazeCell::of([f64::from(row[0]), f64::from(row[1])]);
                assert!(config.maze.layout().is_free(cell), "{name}: {cell:?}");
            }
            // Extra columns hold the simulator state; the ball's observations are its positions.
            if config.body == Body::Point {
                assert_eq!(view.extras[0], view.observations, "{name}");
            }
        }
    }
}

#[test]
fn stitch_episodes_end_four_cells_from_their_start() {
    let data = collected("pointmaze-large-stitch", 40, 2);
    let layout = Maze::Large.layout();
    let place = |row: &[f32]| MazeCell::of([f64::from(row[0]), f64::from(row[1])]);
    let mut far = 0;
    for episode in 0..40 {
        let observations = data.episode(episode).observations;
        let (start, end) = (place(&observations[..2]), place(&observations[observations.len() - 2..]));
        far += usize::from(layout.at_distance(start, 4).contains(&end));
    }
    assert!(far >= 38, "{far} of 40");
}

/// The centers of the drawn capsules are those of MuJoCo's geoms.
#[test]
fn the_shape_of_an_ant_agrees_with_mujoco() {
    let config = MazeConfig { benchmark: Benchmark::Ogbench, body: Body::Ant, maze: Maze::Medium };
    let mut environment = MazeModel::new(config).environment();
    for step in 0..30 {
        let action: Vec<f32> = (0..8).map(|motor| ((step * 3 + motor * 5) % 7) as f32 / 3.5 - 1.0).collect();
        environment.step(&action);
        let capsules = ant_shape(environment.observation());
        let centers = environment.simulation.geom_centers();
        // The floor and the walls come first.
        for (Capsule { from, to, .. }, center) in
            capsules.iter().zip(&centers[centers.len() - capsules.len()..])
        {
            for axis in 0..3 {
                assert!(((from[axis] + to[axis]) / 2.0 - center[axis]).abs() < 1e-3, "step {step}");
            }
        }
    }
}
