//! Plans in complete graphs against brute force, and their pursuit.

use isochrone_core::{Discount, GoalPolicy, ShapeError, TemporalDistance, rng};
use isochrone_data::Dataset;
use isochrone_eval::plan::{
    PartialGoals, PlanError, PlanMethod, PlannedPolicy, Planner, PlannerConfig, Transitions, Vertices,
    Waypoints as _,
};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Euclidean distance in the plane, one step per unit; counts the pairs that it compared.
#[derive(Default)]
struct Plane {
    compared: AtomicUsize,
    /// Beyond this x, distances overflow.
    overflows_beyond: Option<f32>,
}

impl TemporalDistance for Plane {
    fn width(&self) -> usize {
        2
    }

    fn discount(&self) -> Discount {
        Discount::new(0.9).unwrap()
    }

    fn paired_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        let n = self.check_paired(from, to).unwrap_or_else(ShapeError::panic);
        self.compared.fetch_add(n, Ordering::Relaxed);
        let unit = self.discount().nats_per_step() as f32;
        let pairs = from.chunks_exact(2).zip(to.chunks_exact(2));
        let nats = |(a, b): (&[f32], &[f32])| match self.overflows_beyond {
            Some(beyond) if a[0] > beyond => f32::NAN,
            _ => (a[0] - b[0]).hypot(a[1] - b[1]) * unit,
        };
        pairs.map(nats).collect()
    }

    fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        let repeated = |row: &[f32]| row.repeat(to.len() / 2);
        from.chunks_exact(2).flat_map(|row| self.paired_nats(&repeated(row), to)).collect()
    }
}

fn transitions(states: &[f32]) -> Transitions {
    Transitions { next_states: states.to_vec(), states: states.to_vec(), actions: Vec::new() }
}

fn soft<'a>(
    distance: &'a Plane,
    states: &[f32],
    edge_scale_steps: f64,
) -> Planner<Box<dyn TemporalDistance + 'a>> {
    let distance: Box<dyn TemporalDistance> = Box::new(distance);
    Planner::new(PlanMethod::SoftGraph { edge_scale_steps }, distance, transitions(states)).unwrap()
}

fn random_states(n: usize, size: f64, seed: u64) -> Vec<f32> {
    let mut random = rng::stream(seed, 0);
    (0..2 * n).map(|_| (rng::unit_f64(&mut random) * size) as f32).collect()
}

/// The cost of an edge, in steps.
fn price(steps: f64, scale: f64) -> f64 {
    if steps <= scale { steps } else { steps * (steps / scale).powi(4) }
}

/// Floyd-Warshall over all states, the start and the goal: the cost of the shortest path.
fn shortest(states: &[f32], from: &[f32], goal: &[f32], scale: f64) -> f64 {
    let all = [states, from, goal].concat();
    let (n, row) = (all.len() / 2, |row: usize| &all[2 * row..][..2]);
    let edge = |a: &[f32], b: &[f32]| price(f64::from((a[0] - b[0]).hypot(a[1] - b[1])), scale);
    let mut cost: Vec<Vec<f64>> = (0..n).map(|a| (0..n).map(|b| edge(row(a), row(b))).collect()).collect();
    for via in 0..n {
        for a in 0..n {
            for b in 0..n {
                cost[a][b] = cost[a][b].min(cost[a][via] + cost[via][b]);
            }
        }
    }
    cost[n - 2][n - 1]
}

#[test]
fn paths_are_those_of_floyd_warshall() {
    let distance = Plane::default();
    for (n, scale) in [(1, 2.0), (3, 2.0), (40, 1.0), (120, 2.0), (150, 0.3), (150, 30.0)] {
        let states = random_states(n, 20.0, n as u64);
        let planner = soft(&distance, &states, scale);
        let ends = random_states(20, 20.0, 9);
        for (from, goal) in ends.chunks_exact(4).map(|ends| ends.split_at(2)) {
            let path = planner.plan(from, goal).unwrap();
            let cost: f64 = path.edge_steps.iter().map(|steps| price(*steps, scale)).sum();
            let best = shortest(&states, from, goal, scale);
            assert!((cost / best - 1.0).abs() < 1e-4, "{n} states, scale {scale}: {cost}, not {best}");
            let longest = path.edge_steps.iter().copied().fold(0.0, f64::max);
            assert!((path.hop_ratio() - longest / path.steps_left[0]).abs() < 1e-9);
        }
    }
}

#[test]
fn a_gap_has_an_expensive_edge_instead_of_no_path() {
    let distance = Plane::default();
    // Two lines of states, 4 apart.
    let xs = (0..10).chain(13..23);
    let states: Vec<f32> = xs.flat_map(|x| [x as f32, 0.0]).collect();
    let (from, goal) = ([0.0, 0.0], [22.0, 0.0]);
    let hard = Planner::new(PlanMethod::Graph { max_edge_steps: 1.5 }, &distance, transitions(&states));
    assert_eq!(hard.unwrap().plan(&from, &goal), Err(PlanError::NoPath));
    let path = soft(&distance, &states, 1.5).plan(&from, &goal).unwrap();
    let long: Vec<f64> = path.edge_steps.iter().copied().filter(|steps| *steps > 1.5).collect();
    assert_eq!(long.len(), 1, "one edge crosses the gap: {:?}", path.edge_steps);
    assert!((long[0] - 4.0).abs() < 1e-4);
}

/// A corridor that turns back: its ends are near each other, with a wall between them that the
/// distance does not know.
fn hairpin() -> Vec<f32> {
    let there = (0..=20).flat_map(|x| [x as f32, 0.0]);
    let back = (0..=20).rev().flat_map(|x| [x as f32, 3.0]);
    there.chain([21.0, 1.0, 21.0, 2.0]).chain(back).collect()
}

#[test]
fn progress_never_goes_back_and_few_distances_are_compared() {
    let distance = Plane::default();
    let states = hairpin();
    let (start, goal) = ([0.0, 0.0], [0.0, 3.0]);
    let straight = soft(&distance, &states, 2.0).plan(&start, &goal).unwrap();
    assert!(straight.edge_steps.iter().any(|steps| *steps > 2.9), "at this scale, the corridor costs more");
    let planner = soft(&distance, &states, 1.2);
    let path = planner.plan(&start, &goal).unwrap();
    assert!(path.waypoints().len() > 30, "{}", path.waypoints().len());
    let mut follower = planner.start_episodes(1).unwrap();
    let place = |waypoint: &[f32]| {
        let all: Vec<&[f32]> = path.states.chunks_exact(2).skip(1).collect();
        all.iter().position(|state| *state == waypoint).unwrap()
    };
    let first = follower.next(&[0], &start, &goal);
    assert_eq!(place(&first), place(&[1.0, 0.0]), "the farthest waypoint within a scale");
    // The policy moves to each waypoint, and is once pushed back by less than the path is lost.
    let (mut here, mut aims) = (first, Vec::new());
    let before = distance.compared.load(Ordering::Relaxed);
    for step in 0..60 {
        if step == 6 {
            here = vec![here[0] - 2.5, here[1]];
        }
        let aim = follower.next(&[0], &here, &goal);
        aims.push(place(&aim));
        here = aim;
    }
    assert!(aims.is_sorted(), "{aims:?}");
    assert_eq!(here, goal);
    let compared = distance.compared.load(Ordering::Relaxed) - before;
    assert!(compared <= 60 * 6, "{compared} pairs in 60 steps over {} states", states.len() / 2);
}

#[test]
fn a_path_that_is_lost_is_planned_again() {
    let distance = Plane::default();
    let states: Vec<f32> = (0..=30).flat_map(|x| (0..=10).flat_map(move |y| [x as f32, y as f32])).collect();
    let planner = soft(&distance, &states, 1.1);
    let (start, goal) = ([0.0, 0.0], [30.0, 0.0]);
    let mut follower = planner.start_episodes(2).unwrap();
    let goals = [goal, goal].concat();
    let aims = follower.next(&[0, 1], &[start, start].concat(), &goals);
    assert_eq!(aims[..2], aims[2..]);
    // The first episode is moved 9 aside, the second continues.
    let aims = follower.next(&[0, 1], &[4.0, 9.0, 2.0, 0.0], &goals);
    assert!(aims[1] >= 7.0, "the new path begins at the new state, not at {:?}", &aims[..2]);
    assert_eq!(aims[2..], [3.0, 0.0]);
    // Only the second episode is still active.
    assert_eq!(follower.next(&[1], &[4.0, 0.0], &goal), [5.0, 0.0]);
    assert_eq!(planner.next(&[4.0, 0.0], &goal), [5.0, 0.0], "without memory, the same");
}

#[test]
fn without_progress_the_policy_gets_a_farther_waypoint() {
    let distance = Plane::default();
    let states: Vec<f32> = (0..=30).flat_map(|x| [x as f32, 0.0]).collect();
    let planner = soft(&distance, &states, 2.0);
    let mut follower = planner.start_episodes(1).unwrap();
    let (here, goal) = ([10.0, 0.0], [30.0, 0.0]);
    let aims: Vec<f32> = (0..16).map(|_| follower.next(&[0], &here, &goal)[0]).collect();
    assert_eq!(aims[0], 12.0, "the farthest waypoint within a scale");
    assert_eq!((aims[6], aims[7]), (12.0, 14.0), "after seven steps, within two scales: {aims:?}");
    assert_eq!((aims[13], aims[14]), (14.0, 12.0), "and back: {aims:?}");
}

/// Moves towards the goal by one unit.
struct Straight;

impl GoalPolicy for Straight {
    fn observation_width(&self) -> usize {
        2
    }

    fn action_width(&self) -> usize {
        2
    }

    fn actions(&self, observations: &[f32], goals: &[f32]) -> Vec<f32> {
        observations.iter().zip(goals).map(|(here, goal)| (goal - here).clamp(-1.0, 1.0)).collect()
    }
}

/// Most states are in a room; a corridor to the goal was visited once.
fn room_and_corridor() -> Dataset {
    let mut random = rng::stream(4, 0);
    let mut walk = vec![5.0f32, 5.0];
    for _ in 0..20_000 {
        let here: Vec<f32> = walk[walk.len() - 2..].to_vec();
        let step = |x: f32, unit: f64| (x + unit as f32 - 0.5).clamp(0.0, 10.0);
        walk.extend([step(here[0], rng::unit_f64(&mut random)), step(here[1], rng::unit_f64(&mut random))]);
    }
    let corridor: Vec<f32> = (0..80).flat_map(|step| [10.0 + 0.5 * step as f32, 5.0]).collect();
    Dataset::from_arrays(2, 0, [(walk, Vec::new()), (corridor, Vec::new())]).unwrap()
}

#[test]
fn coverage_has_states_in_a_corridor_that_random_states_miss() {
    let (distance, data) = (Plane::default(), room_and_corridor());
    let in_corridor = |vertices: Vertices| {
        let chosen = vertices.choose(&distance, &data, 100, 8, 0);
        assert!(chosen.states.len() <= 200 && chosen.states.len() == chosen.next_states.len());
        chosen.states.chunks_exact(2).filter(|state| state[0] > 12.0).count()
    };
    assert!(in_corridor(Vertices::Random) <= 1);
    assert!(in_corridor(Vertices::Coverage) >= 15, "{}", in_corridor(Vertices::Coverage));
    // The walk in the room dithers; the corridor is the efficient motion.
    let efficient = Vertices::Efficient.choose(&distance, &data, 100, 8, 0);
    let share = efficient.states.chunks_exact(2).filter(|state| state[0] > 12.0).count();
    assert!(share >= 15, "{share}");
}

#[test]
fn windows_without_a_finite_distance_are_not_efficient() {
    let data = room_and_corridor();
    let chosen = |beyond: f32| {
        let distance = Plane { overflows_beyond: Some(beyond), ..Plane::default() };
        Vertices::Efficient.choose(&distance, &data, 100, 8, 0)
    };
    let some = chosen(30.0);
    assert!(some.states.chunks_exact(2).any(|state| state[0] > 12.0));
    assert!(some.states.chunks_exact(2).all(|state| state[0] <= 34.0));
    // Without any, the choice is that of coverage.
    assert!(chosen(-1.0).states.chunks_exact(2).any(|state| state[0] > 40.0));
}

#[test]
fn an_edge_scale_may_be_longer_than_all_paths() {
    let states = random_states(50, 10.0, 1);
    let distance = Plane::default();
    let planner = soft(&distance, &states, 1e20);
    assert_eq!(planner.next(&[1.0, 1.0], &[9.0, 9.0]), [9.0, 9.0]);
}

#[test]
fn plans_and_vertices_do_not_depend_on_threads() {
    let data = room_and_corridor();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let config = PlannerConfig {
                method: PlanMethod::SoftGraph { edge_scale_steps: 2.0 },
                round_trip: true,
                calibrated: true,
                transitions: 700,
                vertices: Vertices::Coverage,
                seed: 1,
            };
            let planner = config.build(Plane::default(), &data).unwrap();
            let ends = random_states(30, 10.0, 2);
            let paths: Vec<_> =
                ends.chunks_exact(4).map(|ends| planner.plan(&ends[..2], &[48.0, ends[3] / 2.0])).collect();
            (paths, planner.next(&ends, &ends.iter().rev().copied().collect::<Vec<_>>()))
        })
    };
    let one = run(1);
    assert!(one == run(2) && one == run(3));
}

#[test]
fn a_goal_of_some_columns_stands_for_the_dataset_states_that_match_it() {
    // The second column is a pose that the goal leaves open.
    let walk = |pose: f32| (0..40).flat_map(|x| [x as f32, pose]).collect::<Vec<f32>>();
    let data = Dataset::from_arrays(2, 0, [0.0, 6.0, 30.0].map(|pose| (walk(pose), Vec::new()))).unwrap();
    let distance = Plane::default();
    let states: Vec<f32> = [0.0, 6.0, 30.0].into_iter().flat_map(walk).collect();
    for method in [PlanMethod::SoftGraph { edge_scale_steps: 1.2 }, PlanMethod::Graph { max_edge_steps: 1.2 }]
    {
        let planner = Planner::new(method, &distance, transitions(&states)).unwrap();
        let planner = PartialGoals::new(planner, &data, 0..1);
        // The values of other columns of the goal do not count.
        let goal = [20.3, -700.0];
        for pose in [0.0, 6.0, 30.0] {
            let steps = planner.path_steps(&[5.0, pose], &goal)[0];
            assert!((steps - 15.3).abs() < 1e-3, "{steps} at pose {pose}");
            assert_eq!(planner.is_reachable(&[5.0, pose], &goal), [true]);
            assert_eq!(planner.next(&[5.0, pose], &goal)[1], pose);
            assert!(planner.hop_ratios(&[5.0, pose], &goal).unwrap()[0] < 0.2);
        }
        let policy = PlannedPolicy { planner, policy: Straight };
        let mut episodes = policy.start_episodes(1).unwrap();
        let mut here = vec![5.0, 6.0];
        for _ in 0..30 {
            let action = episodes.actions(&[0], &here, &goal);
            here.iter_mut().zip(action).for_each(|(x, step)| *x += step);
        }
        assert!((here[0] - 20.3).abs() < 1e-4 && here[1] == 6.0, "{here:?}");
    }
}
