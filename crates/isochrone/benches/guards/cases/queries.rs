//! The refined distance, planning with it, and the exact solver.

use super::{CALLS, Call, Case};
use isochrone::{
    Discount, TemporalDistance as _,
    data::Dataset,
    exact::{ExactSolver, GridWorld},
    plan::{PlanMethod, Planner, Transitions},
    refined::{Reading, RefinedConfig, RefinedDistance},
    rng,
};
use std::hint::black_box;

/// The side of the square that the walker stays in, in steps.
const SIDE: f64 = 20.0;
const EPISODES: usize = 10;
const EPISODE_ROWS: usize = 200;
/// The number of queries of one call, so that no single path decides.
const QUERIES: usize = 16;
/// The side of the grid, in cells.
const GRID: usize = 24;

pub fn all() -> Vec<Case> {
    vec![
        Case::new("refined-fit", refined_fit),
        Case::new("refined-table", refined_table),
        // Reads the table.
        Case::new("refined-steps", || {
            queries(|distance, from, to| _ = black_box(distance.steps(from, to).expect("complete states")))
        }),
        // Searches the graph, for every new goal.
        Case::new("refined-path", || {
            queries(|distance, from, to| _ = black_box(distance.path(from, to).expect("complete states")))
        }),
        Case::new("plan", plan),
        Case::new("exact-slip", || exact(0.2)),
        Case::new("exact-deterministic", || exact(0.0)),
    ]
}

/// A walker in a square that turns a little at every step, and turns back at the border.
fn walks() -> Dataset {
    let episodes = (0..EPISODES).map(|episode| {
        let mut random = rng::stream(1, episode as u64);
        let mut place = [0, 1].map(|_| SIDE * rng::unit_f64(&mut random));
        let mut heading = std::f64::consts::TAU * rng::unit_f64(&mut random);
        let mut observations = Vec::with_capacity(2 * EPISODE_ROWS);
        for _ in 0..EPISODE_ROWS {
            observations.extend(place.map(|x| x as f32));
            heading += 0.3 * rng::normal(&mut random);
            let next = [place[0] + heading.cos(), place[1] + heading.sin()];
            match next.iter().all(|x| (0.0..SIDE).contains(x)) {
                true => place = next,
                false => heading += std::f64::consts::PI,
            }
        }
        (observations, Vec::new())
    });
    Dataset::from_arrays(2, 0, episodes).expect("widths fit")
}

fn config() -> RefinedConfig {
    RefinedConfig { landmarks: 150, sampled_rows: 1000, hop_pairs: 1000, ..RefinedConfig::default() }
}

fn fit(data: &Dataset) -> RefinedDistance {
    RefinedDistance::fit(data, &config()).expect("the data have transitions")
}

/// Returns random states of the dataset without end.
fn states(data: Dataset, stream: u64) -> impl FnMut() -> Vec<f32> {
    let mut random = rng::stream(2, stream);
    move || data.state(rng::below(&mut random, EPISODES * EPISODE_ROWS) as u64).to_vec()
}

fn refined_fit() -> Call {
    let data = walks();
    Box::new(move || {
        black_box(fit(&data));
    })
}

/// The first query, which computes the distances of all pairs of landmarks.
fn refined_table() -> Call {
    let data = walks();
    let state = data.state(0).to_vec();
    // A table is computed once: one for each call.
    let mut distances = (0..CALLS).map(|_| fit(&data).with_reading(Reading::Typical)).collect::<Vec<_>>();
    Box::new(move || {
        let distance = distances.pop().expect("as many as calls");
        black_box(distance.steps(&state, &[0.0, 0.0]).expect("complete states"));
        // Freeing it is not part of a query.
        std::mem::forget(distance);
    })
}

/// Calls `query` with the pairs of states of a batch, other pairs in every call.
fn queries(query: impl Fn(&RefinedDistance, &[f32], &[f32]) + 'static) -> Call {
    let data = walks();
    let distance = fit(&data);
    let (mut from, mut to) = (states(data.clone(), 0), states(data, 1));
    let mut batches =
        (0..CALLS).map(|_| (0..QUERIES).map(|_| (from(), to())).collect()).collect::<Vec<Vec<_>>>();
    Box::new(move || {
        for (from, to) in &batches.pop().expect("as many as calls") {
            query(&distance, from, to);
        }
    })
}

/// A path over states of the dataset to a new goal.
fn plan() -> Call {
    let data = walks();
    let method = PlanMethod::Graph { max_edge_steps: 4.0 };
    let planner = Planner::new(method, fit(&data), Transitions::sample(&data, 200, 0)).expect("transitions");
    let mut goals = states(data, 1);
    Box::new(move || {
        black_box(planner.plan(&[1.0, 1.0], &goals()).expect("the walks cross"));
    })
}

/// All distances to one cell of a grid with walls.
fn exact(slip: f64) -> Call {
    let mut random = rng::stream(3, 0);
    let mut map = String::new();
    for _ in 0..GRID {
        map.extend((0..GRID).map(|_| if rng::below(&mut random, 5) == 0 { '#' } else { '.' }));
        map.push('\n');
    }
    let mdp = GridWorld::parse(&map).and_then(|grid| grid.to_mdp(slip)).expect("a map");
    let discount = Discount::new(0.99).expect("between 0 and 1");
    let goal = mdp.n_states() / 2;
    Box::new(move || {
        black_box(ExactSolver::new(&mdp, discount).to_goal(goal).expect("a state"));
    })
}
