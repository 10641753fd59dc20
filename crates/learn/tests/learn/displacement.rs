//! Policies of displacements.

use crate::support::{changed, config, in_folder, walks};
use isochrone_core::GoalPolicy as _;
use isochrone_learn::{Algorithm, Preset};

/// The share of the variance of actions that a cloned policy does not explain, for goals two steps
/// ahead in episodes that it has not seen. Two steps are a hundredth of the range of positions.
fn unexplained(goal_input: &str) -> f64 {
    let data = walks(60, 100);
    let settings = [
        ("policy.goal_input", goal_input),
        ("policy.goals.max_offset", "3"),
        ("policy.optimizer.learning_rate", "1e-3"),
    ];
    let learner = changed(Algorithm::Gcbc.preset(Preset::Small), &settings).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut config = config(learner, &data, 400);
    config.batch_size = 128;
    let policy = in_folder(folder.path(), &config).fit(&data).unwrap().policy.unwrap();
    let (mut squares, mut variance) = (0.0, 0.0);
    // Other walks: the same ones come first.
    let others = walks(70, 100);
    for number in 60..70 {
        let episode = others.episode(number);
        let (states, goals) = (&episode.observations[..99 * 4], &episode.observations[2 * 4..]);
        for (action, expected) in policy.actions(states, goals).iter().zip(episode.actions) {
            squares += f64::from(action - expected).powi(2);
            variance += f64::from(*expected).powi(2);
        }
    }
    squares / variance
}

#[test]
fn near_goals_are_learned_sooner_as_displacements() {
    let (displacement, state) = (unexplained("displacement"), unexplained("state"));
    assert!(displacement < 0.85 * state, "{displacement} {state}");
}
