//! Rollouts, one map per task.

use crate::{PlaneChart, PlanePanel, RolloutPath};
use isochrone_eval::rollout::{Rollout, success_rate};

/// The number of rollouts drawn per task: more would hide each other.
const MAX_PATHS: usize = 25;

/// Draws the first two dimensions of rollouts, a map for every task. Rollout `i` is of task
/// `i % n_tasks`. Walls are rectangles, each given by two opposite corners.
pub fn rollout_chart(
    rollouts: &[Rollout],
    n_tasks: usize,
    walls: &[[[f64; 2]; 2]],
    title: String,
    note: String,
) -> PlaneChart {
    let point = |row: &[f32]| [f64::from(row[0]), f64::from(row[1])];
    let panel = |task: usize| {
        let of_task: Vec<Rollout> = rollouts.iter().skip(task).step_by(n_tasks).cloned().collect();
        let successes = (success_rate(&of_task) * of_task.len() as f64).round();
        let drawn = &of_task[..of_task.len().min(MAX_PATHS)];
        let name = if n_tasks > 1 { format!("task {}: ", task + 1) } else { String::new() };
        let path = |rollout: &Rollout| RolloutPath {
            points: rollout.states.chunks_exact(rollout.goal.len()).map(point).collect(),
            success: rollout.success,
        };
        PlanePanel {
            title: format!("{name}{successes} of {} succeed", of_task.len()),
            walls: walls.to_vec(),
            paths: drawn.iter().map(path).collect(),
            starts: drawn.first().map(|rollout| point(&rollout.states)).into_iter().collect(),
            goals: drawn.first().map(|rollout| point(&rollout.goal)).into_iter().collect(),
            ..PlanePanel::default()
        }
    };
    let axes = ["x (m)".into(), "y (m)".into()];
    PlaneChart { title, note, axes, panels: (0..n_tasks).map(panel).collect() }
}
