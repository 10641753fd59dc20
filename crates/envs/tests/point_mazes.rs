//! The loss of success due to discounting in a maze with teleporters, by the exact solver.

use isochrone_core::{
    Discount,
    exact::{ExactSolver, reach_within},
    rng,
};
use isochrone_envs::maze::{Maze, MazeConfig, PointMazeMdp};
use rayon::prelude::*;

/// Returns, for every task, the success rate of the policy that maximizes `E[gamma^H]` instead of
/// the probability of success within the step limit. Discounting favors risky shortcuts over long
/// paths.
fn discounted_success(mdp: &PointMazeMdp, config: MazeConfig, gamma: f64, episodes: usize) -> Vec<f64> {
    let solver = ExactSolver::new(mdp.process(), Discount::new(gamma).unwrap());
    let of_task = |task: usize| {
        let of_episode = |episode: usize| {
            let mut random = rng::stream(1, (task * episodes + episode) as u64);
            let (start, goal) = config.task(task, || rng::unit_f64(&mut random));
            let goals = mdp.around(goal, config.success_radius());
            let distances = solver.to_goal_set(&goals).unwrap();
            let chain = mdp.process().under_policy(|state| distances.action(state).unwrap_or(0)).unwrap();
            let probabilities = reach_within(&chain, &goals, config.max_episode_steps());
            mdp.state(start).map_or(0.0, |start| probabilities[start])
        };
        (0..episodes).into_par_iter().map(of_episode).sum::<f64>() / episodes as f64
    };
    (0..config.n_tasks()).map(of_task).collect()
}

/// Every task can be solved without teleporters; a discounted policy enters them, and some of its
/// episodes end in the trap.
#[test]
fn teleporters_hurt_only_discounted_policies() {
    let mdp = PointMazeMdp::new(Maze::Teleport);
    assert_eq!(mdp.optimal_success(2, 1), [1.0; 5]);
    let config = MazeConfig::from_name("pointmaze-teleport").unwrap();
    let discounted = discounted_success(&mdp, config, 0.99, 2);
    assert!(discounted.iter().all(|share| (0.3..=1.0).contains(share)), "{discounted:?}");
    assert!(discounted.iter().sum::<f64>() / 5.0 < 0.8, "{discounted:?}");
    // The probability of success without a step limit, by the exact solver with a discount close to
    // one.
    let task = Maze::Teleport.tasks()[0];
    let goals = mdp.around(task.goal.center(), 1.0);
    let start = mdp.state(task.start.center()).unwrap();
    let solver = ExactSolver::new(mdp.process(), Discount::new(0.999_999).unwrap());
    let without_limit = (-solver.to_goal_set(&goals).unwrap().nats(start)).exp();
    let within_limit = reach_within(mdp.process(), &goals, 1000)[start];
    assert!(
        within_limit <= without_limit + 2e-3 && within_limit > without_limit - 0.05,
        "{within_limit} of {without_limit}"
    );
}
