//! Random gridworlds with walls and one-way doors, with data from a random policy.

use super::{EnvironmentData, ExactPairs, PAIRS};
use isochrone_core::{
    Discount,
    exact::{AllPairs, Direction, ExactSolver, GridWorld, TabularMdp},
    rng,
};
use isochrone_data::Dataset;
use rand_chacha::ChaCha8Rng;

/// Cells on each side.
const SIDE: usize = 12;
const WALLS: f64 = 0.2;
const DOORS: usize = 10;
const MIN_CELLS: usize = 90;
const EPISODES: usize = 400;
const STEPS: usize = 200;

/// Opens environment `number`: the first random map of its stream in which every cell is reachable
/// from every other.
pub fn open(number: u64) -> EnvironmentData {
    let mut random = rng::stream(20_261, number);
    loop {
        let Ok(grid) = GridWorld::parse(&map(&mut random)) else { continue };
        let process = grid.to_mdp(0.0).expect("no slip is a probability");
        let discount = Discount::new(0.99).expect("a discount");
        let exact = ExactSolver::new(&process, discount).all_pairs().expect("a small process");
        let n = grid.n_states();
        if n < MIN_CELLS || !(0..n * n).all(|pair| exact.nats(pair / n, pair % n).is_finite()) {
            continue;
        }
        return EnvironmentData {
            data: walks(&grid, &process, EPISODES, &mut random),
            held_out: walks(&grid, &process, EPISODES / 10, &mut random),
            pairs: pairs(&grid, &exact, |_| true, &mut random),
            ahead: pairs(&grid, &exact, |steps| steps == 1, &mut random),
            behind: ExactPairs::default(),
            goal_radius: None,
            is_connected: Box::new(move |from, to| {
                let state = |place: &[f32]| grid.state(place[1] as usize, place[0] as usize);
                state(from).zip(state(to)).is_some_and(|(from, to)| exact.steps(from, to).round() <= 1.0)
            }),
        };
    }
}

fn map(random: &mut ChaCha8Rng) -> String {
    let mut cells = vec![vec!['.'; SIDE]; SIDE];
    for cell in cells.iter_mut().flatten() {
        if rng::unit_f64(random) < WALLS {
            *cell = '#';
        }
    }
    for _ in 0..DOORS {
        let (row, column) = (rng::below(random, SIDE), rng::below(random, SIDE));
        cells[row][column] = ['>', '<', '^', 'v'][rng::below(random, 4)];
    }
    cells.into_iter().map(|row| row.into_iter().collect::<String>() + "\n").collect()
}

fn place(grid: &GridWorld, state: usize) -> [f32; 2] {
    let (row, column) = grid.position(state);
    [column as f32, row as f32]
}

/// Collects episodes from random cells; actions are directions in the plane, uniformly sampled.
fn walks(grid: &GridWorld, process: &TabularMdp, episodes: usize, random: &mut ChaCha8Rng) -> Dataset {
    let episode = |_| {
        let mut state = rng::below(random, grid.n_states());
        let (mut observations, mut actions) = (place(grid, state).to_vec(), Vec::new());
        for _ in 0..STEPS {
            let action = rng::below(random, 4);
            let (down, right) = Direction::ALL[action].offset();
            actions.extend([right as f32, down as f32]);
            let row = process.action_row(state, action).expect("every cell has four actions");
            state = row.iter().next().expect("rows are not empty").0;
            observations.extend(place(grid, state));
        }
        (observations, actions)
    };
    let episodes: Vec<_> = (0..episodes).map(episode).collect();
    Dataset::from_arrays(2, 2, episodes).expect("widths fit")
}

/// Samples random pairs of cells whose distance in steps satisfies `wanted`.
fn pairs(
    grid: &GridWorld,
    exact: &AllPairs,
    wanted: impl Fn(u64) -> bool,
    random: &mut ChaCha8Rng,
) -> ExactPairs {
    let mut pairs = ExactPairs::default();
    for _ in 0..PAIRS {
        let (from, to) = (rng::below(random, grid.n_states()), rng::below(random, grid.n_states()));
        let steps = exact.steps(from, to).round();
        if wanted(steps as u64) {
            pairs.push(&place(grid, from), &place(grid, to), steps);
        }
    }
    pairs
}
