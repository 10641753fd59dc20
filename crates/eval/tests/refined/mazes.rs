//! Point mazes compared with the exact solver.

use isochrone_core::{Discount, TemporalDistance, exact::ExactSolver, rng};
use isochrone_data::{Dataset, formats::ReadOptions};
use isochrone_envs::maze::{Maze, MazeCell, PointMazeMdp};
use isochrone_eval::audit::Accuracy;
use isochrone_eval::refined::{Reading, RefinedConfig, RefinedDistance};
use std::path::Path;

/// Reads a reference dataset from the folder next to the checkout. If the folder does not exist,
/// the tests report so and are skipped.
pub fn reference(file: &str) -> Option<Dataset> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if !folder.is_dir() {
        eprintln!("SKIPPED: the reference datasets are not at {}", folder.display());
        return None;
    }
    Some(Dataset::load(folder.join(file), ReadOptions::default()).unwrap())
}

/// Samples pairs of recorded states and returns the exact steps between them.
fn pairs(data: &Dataset, maze: Maze, n: usize) -> (Vec<f32>, Vec<f32>, Vec<f64>) {
    let mdp = PointMazeMdp::new(maze);
    let solver = ExactSolver::new(mdp.process(), Discount::new(0.99).unwrap());
    let mut random = rng::stream(7, 0);
    let mut draw = || loop {
        let state = rng::below(&mut random, data.index().n_states() as usize) as u64;
        let episode = data.index().episode_of_state(state);
        let row = (state - data.index().states(episode).start) as usize;
        let place = &data.episode(episode).observations[2 * row..][..2];
        if let Some(state) = mdp.state([f64::from(place[0]), f64::from(place[1])]) {
            return (place.to_vec(), state);
        }
    };
    let (mut from, mut to, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..n {
        let ((start, from_state), (goal, to_state)) = (draw(), draw());
        from.extend(start);
        to.extend(goal);
        ends.push((from_state, to_state));
    }
    let goals: Vec<usize> = ends.iter().map(|(_, to)| *to).collect();
    let solved = solver.map_goals(&goals, |distances| distances).unwrap();
    let steps = solved.iter().zip(&ends).map(|(distances, (from, _))| distances.steps(*from)).collect();
    (from, to, steps)
}

#[test]
fn steps_in_a_maze_agree_with_exact_steps() {
    let Some(data) = reference("pointmaze-large-stitch-v0.npz") else { return };
    let distance = RefinedDistance::fit(&data, &RefinedConfig::default()).unwrap();
    assert_eq!((distance.n_landmarks(), distance.n_jumps()), (2000, 0));
    let (from, to, truth) = pairs(&data, Maze::Large, 500);
    let read = distance.paired_steps(&from, &to).unwrap();
    let Accuracy { spearman, median_relative_error, .. } = Accuracy::of(&read, &truth);
    assert!(spearman >= 0.998 && median_relative_error <= 0.04, "{spearman} {median_relative_error}");
    // Typical times are never shorter than the fastest.
    let typical = distance.with_reading(Reading::Typical).paired_steps(&from, &to).unwrap();
    assert!(read.iter().zip(&typical).all(|(fastest, typical)| *fastest <= typical * 1.05 + 1.0));
    // Results on one thread are bit-identical to those on all threads.
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let sequential = one_thread.install(|| RefinedDistance::fit(&data, &RefinedConfig::default()).unwrap());
    assert_eq!(one_thread.install(|| sequential.paired_steps(&from, &to).unwrap()), read);
    assert!(distance.extrapolates(&[0.0, 0.0, 500.0, 0.0]).unwrap() == [false, true]);
}

/// Teleports are excluded from edges and from the fit of the hop metric.
#[test]
fn involuntary_jumps_are_not_edges() {
    let Some(data) = reference("pointmaze-teleport-navigate-v0.npz") else { return };
    let distance = RefinedDistance::fit(&data, &RefinedConfig::default()).unwrap();
    assert_eq!(distance.n_jumps(), 1049);
    let weights = distance.metric().weights();
    assert!(weights.iter().all(|weight| (15.0..30.0).contains(weight)), "{weights:?}");
}

/// Hops stay in the corridors: every hop of 1,000 random paths is checked along its length.
#[test]
fn no_path_leads_through_a_wall() {
    let Some(data) = reference("pointmaze-large-stitch-v0.npz") else { return };
    let distance = RefinedDistance::fit(&data, &RefinedConfig::default()).unwrap();
    let (from, to, _) = pairs(&data, Maze::Large, 1000);
    let layout = Maze::Large.layout();
    let row = |number: u64| {
        let episode = data.index().episode_of_state(number);
        let row = (number - data.index().states(episode).start) as usize;
        &data.episode(episode).observations[2 * row..][..2]
    };
    for (from, to) in from.chunks(2).zip(to.chunks(2)) {
        let path = distance.path(from, to).unwrap().expect("the data cover every corridor");
        let mut here = from;
        let ends = path.segments.iter().map(|segment| (row(segment.first_row), row(segment.last_row())));
        for (begin, end) in ends.chain([(to, to)]) {
            for part in 0..=20 {
                let place = [0, 1]
                    .map(|axis| f64::from(here[axis] + (begin[axis] - here[axis]) * part as f32 / 20.0));
                assert!(layout.is_free(MazeCell::of(place)), "a hop from {here:?} to {begin:?}");
            }
            here = end;
        }
        let read = distance.steps(from, to).unwrap();
        assert!(path.steps() <= read * 1.001 + 0.01, "{} in the path, {read} read", path.steps());
    }
}

#[test]
fn the_distance_to_a_set_is_the_distance_to_its_nearest_state() {
    let Some(data) = reference("pointmaze-large-stitch-v0.npz") else { return };
    let distance = RefinedDistance::fit(&data, &RefinedConfig::default()).unwrap();
    let (from, to, _) = pairs(&data, Maze::Large, 120);
    for goals in [2 * 3, 2 * 40] {
        let goals = &to[..goals];
        let set = distance.steps_to_set(&from, &distance.goal_set(goals).unwrap()).unwrap();
        let each = distance.all_pairs_steps(&from, goals).unwrap();
        for (set, each) in set.iter().zip(each.chunks(goals.len() / 2)) {
            let nearest = each.iter().copied().fold(f64::INFINITY, f64::min);
            assert!((set - nearest).abs() <= 1e-3 * nearest, "{set} {nearest}");
        }
    }
}
