//! A walking ant with 29 dimensions. Goals are xy positions: any state within 0.7 m counts.

use crate::mazes::reference;
use isochrone_core::{Discount, exact::ExactSolver, rng};
use isochrone_envs::maze::{Maze, PointMazeMdp};
use isochrone_eval::audit::Accuracy;
use isochrone_eval::refined::{RefinedConfig, RefinedDistance};

const RADIUS: f32 = 0.7;

#[test]
fn steps_of_an_ant_agree_with_exact_steps() {
    let Some(data) = reference("antmaze-medium-navigate-fifth.npz") else { return };
    let width = data.spec().observation.width;
    let distance = RefinedDistance::fit(&data, &RefinedConfig::default()).unwrap();
    // Of 29 columns, position and heading are informative about elapsed time.
    let weights = distance.metric().weights();
    assert!(weights[0] > 10.0 && weights[1] > 10.0 && weights[2] == 0.0 && weights[7..15] == [0.0; 8]);
    let rows: Vec<&[f32]> = (0..data.n_episodes())
        .flat_map(|episode| data.episode(episode).observations.chunks_exact(width))
        .collect();
    let mdp = PointMazeMdp::new(Maze::Medium);
    let solver = ExactSolver::new(mdp.process(), Discount::new(0.99).unwrap());
    let state = |row: &[f32]| mdp.state([f64::from(row[0]), f64::from(row[1])]);
    let mut random = rng::stream(7, 0);
    let (mut read, mut truth) = (Vec::new(), Vec::new());
    while read.len() < 150 {
        let (from, to) =
            (rows[rng::below(&mut random, rows.len())], rows[rng::below(&mut random, rows.len())]);
        let (Some(start), Some(goal)) = (state(from), state(to)) else { continue };
        let near = rows.iter().filter(|row| (row[0] - to[0]).hypot(row[1] - to[1]) <= RADIUS);
        let set: Vec<f32> = near.flat_map(|row| row.iter()).copied().collect();
        let set = distance.goal_set(&set).unwrap();
        read.push(distance.steps_to_set(from, &set).unwrap()[0]);
        truth.push(solver.to_goal(goal).unwrap().steps(start));
    }
    // The ball of the exact solver moves 0.2 m per step; over 64 steps the fastest ant moves 0.175
    // m per step.
    let Accuracy { spearman, median_ratio, .. } = Accuracy::of(&read, &truth);
    assert!(spearman >= 0.97 && (1.1..1.4).contains(&median_ratio), "{spearman} {median_ratio}");
}
