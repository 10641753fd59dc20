//! Random gridworlds with one-way doors, datasets of the random walk, and exact distances.

use isochrone_core::{
    Discount,
    exact::{AllPairs, Direction, ExactSolver, GridWorld, TabularMdp},
    rng,
};
use isochrone_data::Dataset;
use rand_chacha::ChaCha8Rng;

/// The number of cells on each side.
const SIDE: usize = 9;
const WALLS: f64 = 0.2;
const DOORS: usize = 6;
const MIN_CELLS: usize = 48;
/// The probability that a move slips sideways.
const SLIP: f64 = 0.2;
const EPISODES: usize = 1000;
const EPISODE_STEPS: usize = 500;

/// A gridworld with a dataset and exact distances.
pub struct GridProblem {
    pub grid: GridWorld,
    /// Episodes of the random walk.
    pub data: Dataset,
    /// The exact distances of the random walk.
    pub behavior: AllPairs,
    /// The exact distances of the optimal policy.
    pub optimal: AllPairs,
}

impl GridProblem {
    /// Returns gridworld `number`: the first random map of stream `number` in which every cell is
    /// reachable from every other.
    pub fn draw(number: u64, discount: Discount) -> Self {
        let mut random = rng::stream(20_261, number);
        loop {
            let Ok(grid) = GridWorld::parse(&map(&mut random)) else { continue };
            if grid.n_states() < MIN_CELLS {
                continue;
            }
            let mdp = grid.to_mdp(SLIP).expect("the slip is a probability");
            let chain = random_walk(&mdp);
            let behavior = ExactSolver::new(&chain, discount).all_pairs().expect("a small chain");
            let states = grid.n_states();
            let is_connected =
                (0..states * states).all(|pair| behavior.nats(pair / states, pair % states).is_finite());
            if is_connected {
                let optimal = ExactSolver::new(&mdp, discount).all_pairs().expect("a small MDP");
                let data = collect(&grid, &mdp, &mut random);
                return Self { grid, data, behavior, optimal };
            }
        }
    }

    /// Returns the observation of a cell.
    pub fn observation(grid: &GridWorld, state: usize) -> [f32; 2] {
        let (row, column) = grid.position(state);
        [column as f32, row as f32]
    }

    /// Returns the observations of all cells, `[states, 2]`.
    pub fn observations(&self) -> Vec<f32> {
        (0..self.grid.n_states()).flat_map(|state| Self::observation(&self.grid, state)).collect()
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

/// Returns the Markov chain of the policy that chooses all four moves with equal probability.
fn random_walk(mdp: &TabularMdp) -> TabularMdp {
    let edges = (0..mdp.n_states()).flat_map(|state| {
        let rows: Vec<_> = mdp.rows(state).collect();
        let probability = 1.0 / rows.len() as f64;
        let edges = rows.iter().flat_map(|row| row.iter().map(move |(to, p)| (state, to, probability * p)));
        edges.collect::<Vec<_>>()
    });
    TabularMdp::chain_from_edges(mdp.n_states(), edges).expect("rows sum to one")
}

/// Collects episodes of the random walk from random cells; actions are directions in the plane.
fn collect(grid: &GridWorld, mdp: &TabularMdp, random: &mut ChaCha8Rng) -> Dataset {
    let episodes = (0..EPISODES).map(|_| {
        let mut state = rng::below(random, grid.n_states());
        let (mut observations, mut actions) = (GridProblem::observation(grid, state).to_vec(), Vec::new());
        for _ in 0..EPISODE_STEPS {
            let action = rng::below(random, 4);
            let (down, right) = Direction::ALL[action].offset();
            actions.extend([right as f32, down as f32]);
            let draw = rng::unit_f64(random);
            let row = mdp.action_row(state, action).expect("every cell has four moves");
            let mut cumulative = 0.0;
            let next = row.iter().find(|(_, probability)| {
                cumulative += probability;
                draw < cumulative
            });
            // Rounding may leave the sum slightly below 1.
            state = next.or(row.iter().last()).expect("rows are not empty").0;
            observations.extend(GridProblem::observation(grid, state));
        }
        (observations, actions)
    });
    Dataset::from_arrays(2, 2, episodes).expect("widths fit")
}
