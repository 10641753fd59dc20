//! Results have the same bits for any number of threads.

use isochrone_core::{TemporalDistance as _, rng};
use isochrone_data::Dataset;
use isochrone_eval::{
    plan::{PlanMethod, Planner, RecordedPlanner, Transitions, Waypoints},
    refined::{Reading, RefinedConfig, RefinedDistance},
};
use rayon::prelude::*;
use std::{sync::mpsc::channel, time::Duration};

/// Walks in a square, with columns that are noise.
fn walks() -> Dataset {
    let episodes = (0..60).map(|episode| {
        let mut random = rng::stream(5, episode);
        let mut place = [0, 1].map(|_| 40.0 * rng::unit_f64(&mut random));
        let (mut heading, mut states) = (6.3 * rng::unit_f64(&mut random), Vec::new());
        for _ in 0..500 {
            states.extend(place.map(|x| x as f32));
            states.extend([rng::unit_f64(&mut random) as f32, rng::unit_f64(&mut random) as f32]);
            heading += 0.3 * rng::normal(&mut random);
            place = [place[0] + heading.cos(), place[1] + heading.sin()].map(|x| x.clamp(0.0, 40.0));
        }
        (states, Vec::new())
    });
    Dataset::from_arrays(4, 0, episodes.collect::<Vec<_>>()).unwrap()
}

/// All that is read from the graph, with a table and without.
#[derive(Debug, PartialEq)]
struct Results {
    landmark_rows: Vec<u32>,
    n_edges: usize,
    steps: Vec<Vec<u64>>,
    paths: Vec<String>,
    plans: Vec<Vec<f32>>,
}

impl Results {
    fn of(data: &Dataset, table_landmarks: usize) -> Self {
        let config = RefinedConfig { landmarks: 500, table_landmarks, ..RefinedConfig::default() };
        let refined = RefinedDistance::fit(data, &config).unwrap();
        let states = |first: u64, n: u64| -> Vec<f32> {
            (0..n).flat_map(|number| data.state((first + 13 * number) % 30_000)).copied().collect()
        };
        let (from, to) = (states(0, 3000), states(7001, 3000));
        let (some, goals) = (&from[..4 * 40], &to[..4 * 40]);
        let bits = |steps: Vec<f64>| steps.into_iter().map(f64::to_bits).collect::<Vec<u64>>();
        let goal_set = refined.goal_set(&to[..4 * 1500]).unwrap();
        let steps = vec![
            bits(refined.paired_steps(&from, &to).unwrap()),
            bits(refined.all_pairs_steps(some, goals).unwrap()),
            bits(refined.steps_to_set(&from[..4 * 300], &goal_set).unwrap()),
            bits(refined.with_reading(Reading::Typical).paired_steps(&from, &to).unwrap()),
        ];
        let pairs = || some.chunks_exact(4).zip(goals.chunks_exact(4));
        let paths = pairs().map(|(from, to)| format!("{:?}", refined.path(from, to).unwrap())).collect();
        let method = PlanMethod::Graph { max_edge_steps: 12.0 };
        let planner = Planner::new(method, refined.clone(), Transitions::sample(data, 300, 0)).unwrap();
        let mut plans: Vec<Vec<f32>> =
            pairs().map(|(from, to)| planner.plan(from, to).map_or(vec![], |path| path.states)).collect();
        plans.push(planner.next(some, goals));
        plans.push(RecordedPlanner::new(refined.clone(), data, 8.0).next(some, goals));
        let (landmark_rows, n_edges) = (refined.landmark_rows().to_vec(), refined.n_edges());
        Self { landmark_rows, n_edges, steps, paths, plans }
    }
}

#[test]
fn one_two_and_three_threads_give_the_same_bits() {
    let data = walks();
    for table_landmarks in [4000, 10] {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Results::of(&data, table_landmarks))
        };
        let one = run(1);
        assert!(one.steps.iter().flatten().filter(|bits| f64::from_bits(**bits).is_finite()).count() > 5000);
        assert!(one.plans.iter().filter(|plan| plan.len() > 4 * 3).count() > 20);
        assert_eq!(run(2), one);
        assert_eq!(run(3), one);
    }
}

/// Rollouts call planners in parallel. The table of the graph is computed in parallel, too: if the
/// first of these calls did it, a thread that waits for its part could pick up a call that waits
/// for the table.
#[test]
fn parallel_calls_of_a_new_planner_end() {
    let data = walks();
    let refined = || RefinedDistance::fit(&data, &RefinedConfig::default()).unwrap();
    let greedy = PlanMethod::Greedy { radius: 3.0 };
    let planners: [Box<dyn Waypoints>; 2] = [
        Box::new(RecordedPlanner::new(refined(), &data, 8.0)),
        Box::new(Planner::new(greedy, refined(), Transitions::sample(&data, 300, 0)).unwrap()),
    ];
    let (states, goal) = (data.episode(0).observations.to_vec(), data.state(9000).to_vec());
    for planner in planners {
        let (done, ended) = channel();
        let (states, goal) = (states.clone(), goal.clone());
        std::thread::spawn(move || {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
            pool.install(|| {
                states.par_chunks_exact(4).take(200).for_each(|from| {
                    planner.next(from, &goal);
                });
            });
            done.send(()).unwrap();
        });
        ended.recv_timeout(Duration::from_secs(120)).expect("the calls wait for each other");
    }
}

/// Queries in one call and one by one have the same bits: batches change only the speed.
#[test]
fn batches_and_single_queries_have_the_same_bits() {
    let data = walks();
    let refined = RefinedDistance::fit(&data, &RefinedConfig::default()).unwrap();
    let states = |first: u64| -> Vec<f32> {
        (0..2500).flat_map(|number| data.state((first + 11 * number) % 30_000)).copied().collect()
    };
    let (from, to) = (states(0), states(9000));
    let batch = refined.paired_steps(&from, &to).unwrap();
    let (some, goals) = (&from[..4 * 50], &to[..4 * 50]);
    let all = refined.all_pairs_steps(some, goals).unwrap();
    for (pair, (from, to)) in from.chunks_exact(4).zip(to.chunks_exact(4)).enumerate() {
        let single = refined.steps(from, to).unwrap();
        assert_eq!(single.to_bits(), batch[pair].to_bits());
        if pair < 50 {
            assert_eq!(single.to_bits(), all[pair * 50 + pair].to_bits());
        }
    }
}
