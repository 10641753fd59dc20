//! Random grid worlds with one-way doors, the random walk in them, and their exact distances.

use isochrone_core::{
    Discount,
    exact::{AllPairs, Direction, ExactSolver, GridWorld, TabularMdp},
    rng,
};
use isochrone_data::Dataset;
use rand_chacha::ChaCha8Rng;

/// Cells on each side.
const SIDE: usize = 9;
const WALLS: f64 = 0.2;
const DOORS: usize = 6;
const FEWEST_CELLS: usize = 48;
/// A move goes sideways this often.
const SLIP: f64 = 0.2;
const EPISODES: usize = 1000;
const EPISODE_STEPS: usize = 500;

/// A world with everything that is known about it.
pub struct World {
    pub grid: GridWorld,
    pub walks: Dataset,
    /// Of the random walk.
    pub behaviour: AllPairs,
    /// Of the best policy.
    pub best: AllPairs,
}

impl World {
    /// World number `number`: the first random map, of stream `number`, where every cell can be reached from every other.
    pub fn draw(number: u64, discount: Discount) -> Self {
        let mut random = rng::stream(20_261, number);
        loop {
            let Ok(grid) = GridWorld::parse(&map(&mut random)) else { continue };
            if grid.n_states() < FEWEST_CELLS {
                continue;
            }
            let process = grid.to_mdp(SLIP).expect("the slip is a probability");
            let chain = random_walk(&process);
            let behaviour = ExactSolver::new(&chain, discount).all_pairs().expect("a small chain");
            let states = grid.n_states();
            let is_connected =
                (0..states * states).all(|pair| behaviour.nats(pair / states, pair % states).is_finite());
            if is_connected {
                let best = ExactSolver::new(&process, discount).all_pairs().expect("a small process");
                let walks = walk(&grid, &process, &mut random);
                return Self { grid, walks, behaviour, best };
            }
        }
    }

    /// Where a cell is, as the data say it.
    pub fn place(grid: &GridWorld, state: usize) -> [f32; 2] {
        let (row, column) = grid.position(state);
        [column as f32, row as f32]
    }

    /// All cells, `[states, 2]`.
    pub fn places(&self) -> Vec<f32> {
        (0..self.grid.n_states()).flat_map(|state| Self::place(&self.grid, state)).collect()
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

/// All four moves alike, everywhere.
fn random_walk(process: &TabularMdp) -> TabularMdp {
    let edges = (0..process.n_states()).flat_map(|state| {
        let rows: Vec<_> = process.rows(state).collect();
        let share = 1.0 / rows.len() as f64;
        let edges = rows.iter().flat_map(|row| row.iter().map(move |(to, p)| (state, to, share * p)));
        edges.collect::<Vec<_>>()
    });
    TabularMdp::chain_from_edges(process.n_states(), edges).expect("rows sum to one")
}

/// Episodes of the random walk from random cells; actions are directions in the plane.
fn walk(grid: &GridWorld, process: &TabularMdp, random: &mut ChaCha8Rng) -> Dataset {
    let episodes = (0..EPISODES).map(|_| {
        let mut state = rng::below(random, grid.n_states());
        let (mut observations, mut actions) = (World::place(grid, state).to_vec(), Vec::new());
        for _ in 0..EPISODE_STEPS {
            let action = rng::below(random, 4);
            let (down, right) = Direction::ALL[action].offset();
            actions.extend([right as f32, down as f32]);
            let draw = rng::unit_f64(random);
            let row = process.action_row(state, action).expect("every cell has four moves");
            let mut up_to = 0.0;
            let arrived = row.iter().find(|(_, probability)| {
                up_to += probability;
                draw < up_to
            });
            // Rounding may leave a sliver above the last.
            state = arrived.or(row.iter().last()).expect("rows are not empty").0;
            observations.extend(World::place(grid, state));
        }
        (observations, actions)
    });
    Dataset::from_arrays(2, 2, episodes).expect("widths fit")
}
