//! Speed and memory of the exact solvers, side by side with plain Jacobi value iteration, in one run.
//!
//! `just bench-exact` runs it and keeps its output, a Markdown page, as `docs/results/bench-exact.md`. Set
//! `ISOCHRONE_BENCH_SIDE` to a smaller number than 1000 for a quick look.

use isochrone_core::{
    Discount,
    exact::{ExactSolver, Method, RowWriter, TabularMdp},
    rng,
};
use std::time::{Duration, Instant};

const SEED: u64 = 20_240_615;
const GAMMA: f64 = 0.995;
const SLIP: f64 = 0.2;
/// Share of edges between neighbouring cells that are walls.
const WALLS: f64 = 0.3;
const TOLERANCE: f64 = 1e-9;

fn main() {
    let side: usize =
        std::env::var("ISOCHRONE_BENCH_SIDE").ok().and_then(|side| side.parse().ok()).unwrap_or(1000);
    println!("# Exact solvers: speed and memory\n");
    println!(
        "Made by `just bench-exact`. Times are wall clock on the machine below; trust ratios within this run.\n"
    );
    print_manifest(side);
    let grid = walled_grid(side, SLIP);
    one_goal(&grid, side);
    many_goals(&grid, side);
    drop(grid);
    all_pairs();
    growth(side);
}

/// One goal at the centre of the largest grid, beside Jacobi iteration to the same certified error.
fn one_goal(grid: &TabularMdp, side: usize) {
    let goal = centre(side);
    let ours = (0..3).map(|_| timed(|| solver(grid).to_goal(goal).unwrap())).collect::<Vec<_>>();
    let peak_mib = peak_memory_mib();
    let (jacobi_time, (sweeps, jacobi_nats)) = timed(|| jacobi(grid, goal));
    let again = (0..2).map(|_| timed(|| solver(grid).to_goal(goal).unwrap())).collect::<Vec<_>>();
    let times: Vec<Duration> = ours.iter().chain(&again).map(|(time, _)| *time).collect();
    let time = median(times);
    let distances = &ours[0].1;
    let largest_difference = (0..grid.n_states())
        .filter(|&state| distances.nats(state) > 0.0 && distances.nats(state).is_finite())
        .map(|state| (distances.nats(state) - jacobi_nats[state]).abs() / distances.nats(state))
        .fold(0.0, f64::max);
    println!("\n## One goal, {} states, 4 actions, {} transitions\n", grid.n_states(), grid.n_transitions());
    println!(
        "Slip {SLIP}, gamma {GAMMA}, goal at the centre, one thread, relative error certified <= {TOLERANCE:.0e}.\n"
    );
    println!("| method | time | against Jacobi |\n|---|---|---|");
    println!("| Jacobi value iteration, {sweeps} sweeps | {} | 1 |", seconds(jacobi_time));
    println!(
        "| policy iteration, marched (median of 5, preparation included) | {} | **{:.0}x faster** |",
        seconds(time),
        jacobi_time.as_secs_f64() / time.as_secs_f64()
    );
    println!("\nCertified relative error {:.1e};", distances.certificate().relative_error());
    println!("largest relative difference between the two answers {largest_difference:.1e};");
    println!("peak memory of the process up to here **{peak_mib} MiB**, the process itself included.");
}

/// 64 goals in one batch against one goal.
fn many_goals(grid: &TabularMdp, side: usize) {
    let mut rng = rng::stream(SEED, 1);
    let goals: Vec<usize> = (0..64).map(|_| rng::below(&mut rng, grid.n_states())).collect();
    let (one, _) = timed(|| solver(grid).to_goal(centre(side)).unwrap());
    let worst = |bounds: Vec<f64>| bounds.into_iter().fold(0.0, f64::max);
    let (batch, bound) =
        timed(|| worst(solver(grid).map_goals(&goals, |d| d.certificate().relative_error()).unwrap()));
    let (one_after, _) = timed(|| solver(grid).to_goal(centre(side)).unwrap());
    let one = median(vec![one, one_after]);
    println!("\n## 64 goals in one batch, {} threads\n", rayon::current_num_threads());
    println!("| goals | time | against one goal |\n|---|---|---|");
    println!("| 1 | {} | 1 |", seconds(one));
    let ratio = batch.as_secs_f64() / one.as_secs_f64();
    println!("| 64, random cells | {} | **{ratio:.1}x** |", seconds(batch));
    println!("\nWorst certified relative error {bound:.1e}.");
}

/// All pairs of a well-mixed random process and of a random chain.
fn all_pairs() {
    println!("\n## All pairs, 2000 states, gamma 0.99\n");
    println!("| process | method | time | certified relative error |\n|---|---|---|---|");
    for (name, n_actions) in [("random, 4 actions x 5 successors", 4), ("random chain, 5 successors", 1)] {
        let mdp = random_process(2000, n_actions, 5);
        let solver = ExactSolver::new(&mdp, Discount::new(0.99).unwrap());
        let method = if n_actions == 1 { "sparse LU" } else { "policy iteration" };
        let (time, pairs) = timed(|| solver.all_pairs().unwrap());
        println!("| {name} | {method} | {} | {:.1e} |", seconds(time), pairs.certificate().relative_error());
    }
}

/// How cost grows with the number of states.
fn growth(side: usize) {
    println!("\n## Growth: one goal, one thread\n");
    println!("Walled grids; the last column is the same grid without slip.\n");
    println!("| states | slip 0.1 | slip 0.2 | slip 0.5 | slip 0.2, per state | breadth-first search |");
    println!("|---|---|---|---|---|---|");
    for side in [side / 10, side * 316 / 1000, side] {
        let mut times: Vec<Duration> = [0.1, 0.2, 0.5]
            .into_iter()
            .map(|slip| {
                let grid = walled_grid(side, slip);
                median((0..3).map(|_| timed(|| solver(&grid).to_goal(centre(side)).unwrap()).0).collect())
            })
            .collect();
        let graph = walled_grid(side, 0.0);
        times.push(median(
            (0..3).map(|_| timed(|| solver(&graph).to_goal(centre(side)).unwrap()).0).collect(),
        ));
        let nanos_per_state = times[1].as_nanos() as f64 / (side * side) as f64;
        let [slip_10, slip_20, slip_50, bfs] = [0, 1, 2, 3].map(|k| seconds(times[k]));
        println!("| {} | {slip_10} | {slip_20} | {slip_50} | {nanos_per_state:.0} ns | {bfs} |", side * side);
    }
}

fn solver(mdp: &TabularMdp) -> ExactSolver<'_> {
    let solver = ExactSolver::new(mdp, Discount::new(GAMMA).unwrap()).with_tolerance(TOLERANCE);
    if mdp.n_rows() == mdp.n_transitions() {
        solver.with_method(Method::BreadthFirst).unwrap()
    } else {
        solver
    }
}

/// Plain value iteration on `h = exp(-d)` in the order of the states, stopped by the same criterion as the
/// solver: the largest `|ln(T h / h)|`, in steps, bounds the relative error of the distances.
fn jacobi(mdp: &TabularMdp, goal: usize) -> (usize, Vec<f64>) {
    let target = TOLERANCE / (1.0 + TOLERANCE) * -GAMMA.ln();
    let table = FlatTable::new(mdp);
    let mut h = vec![0.0f64; mdp.n_states()];
    let mut next = h.clone();
    (h[goal], next[goal]) = (1.0, 1.0);
    for sweep in 1.. {
        let mut residual = 0.0f64;
        for state in 0..mdp.n_states() {
            if state != goal {
                let value = table.backup(state, &h);
                residual = residual.max(if value > 0.0 { (value - h[state]) / value } else { 0.0 });
                next[state] = value;
            }
        }
        std::mem::swap(&mut h, &mut next);
        if residual <= target {
            return (sweep, h.iter().map(|h| -h.ln()).collect());
        }
    }
    unreachable!("value iteration converges")
}

/// The process in the flat arrays that the solver sweeps over too, so that a sweep costs both the same.
struct FlatTable {
    first_row: Vec<u32>,
    entry_ptr: Vec<u32>,
    columns: Vec<u32>,
    weights: Vec<f64>,
}

impl FlatTable {
    fn new(mdp: &TabularMdp) -> Self {
        let mut table = Self { first_row: vec![0], entry_ptr: vec![0], columns: vec![], weights: vec![] };
        for state in 0..mdp.n_states() {
            for row in mdp.rows(state) {
                table.columns.extend_from_slice(row.successors);
                table.weights.extend(row.probabilities.iter().map(|p| GAMMA * p));
                table.entry_ptr.push(table.columns.len() as u32);
            }
            table.first_row.push(table.entry_ptr.len() as u32 - 1);
        }
        table
    }

    fn backup(&self, state: usize, h: &[f64]) -> f64 {
        let rows = self.first_row[state] as usize..self.first_row[state + 1] as usize;
        let value = |row: usize| {
            let entries = self.entry_ptr[row] as usize..self.entry_ptr[row + 1] as usize;
            let pairs = self.weights[entries.clone()].iter().zip(&self.columns[entries]);
            pairs.map(|(&weight, &column)| weight * h[column as usize]).sum::<f64>()
        };
        rows.map(value).fold(0.0, f64::max)
    }
}

/// A square grid with thin walls on a random share of the edges; moves slip to either side.
fn walled_grid(side: usize, slip: f64) -> TabularMdp {
    let mut rng = rng::stream(SEED, 0);
    let mut is_wall = || (0..side * side).map(|_| rng::unit_f64(&mut rng) < WALLS).collect::<Vec<_>>();
    let (wall_right, wall_below) = (is_wall(), is_wall());
    let step = |cell: usize, direction: usize| {
        let (row, column) = (cell / side, cell % side);
        match direction % 4 {
            0 if row > 0 && !wall_below[cell - side] => cell - side,
            1 if column + 1 < side && !wall_right[cell] => cell + 1,
            2 if row + 1 < side && !wall_below[cell] => cell + side,
            3 if column > 0 && !wall_right[cell - 1] => cell - 1,
            _ => cell,
        }
    };
    let mut writer = RowWriter::new(side * side);
    for cell in 0..side * side {
        for action in 0..4 {
            let outcomes = [(0, 1.0 - slip), (1, slip / 2.0), (3, slip / 2.0)];
            writer.row(cell, action, outcomes.map(|(turn, p)| (step(cell, action + turn), p))).unwrap();
        }
    }
    writer.finish().unwrap()
}

fn random_process(n_states: usize, n_actions: usize, n_successors: usize) -> TabularMdp {
    let mut rng = rng::stream(SEED, 2);
    let mut writer = RowWriter::new(n_states);
    for state in 0..n_states {
        for action in 0..n_actions {
            let shares: Vec<f64> = (0..n_successors).map(|_| 0.05 + rng::unit_f64(&mut rng)).collect();
            let total: f64 = shares.iter().sum();
            let outcomes: Vec<_> =
                shares.iter().map(|share| (rng::below(&mut rng, n_states), share / total)).collect();
            writer.row(state, action, outcomes).unwrap();
        }
    }
    writer.finish().unwrap()
}

fn centre(side: usize) -> usize {
    side / 2 * side + side / 2
}

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let begin = Instant::now();
    let result = work();
    (begin.elapsed(), result)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn seconds(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 0.1 { format!("{:.1} ms", 1e3 * seconds) } else { format!("{seconds:.2} s") }
}

fn print_manifest(side: usize) {
    let revision = std::process::Command::new("git").args(["rev-parse", "--short", "HEAD"]).output();
    let revision = revision.ok().and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu =
        cpu.lines().find_map(|line| line.strip_prefix("model name\t: ")).unwrap_or("unknown").to_owned();
    println!("| what | value |\n|---|---|");
    println!("| isochrone-core | {} at {} |", env!("CARGO_PKG_VERSION"), revision.trim());
    println!("| seed | {SEED} |");
    println!("| grid | {side} x {side}, hash {:016x} |", hash(&walled_grid(side, SLIP)));
    println!("| machine | {cpu}, {} threads |", rayon::current_num_threads());
}

/// FNV-1a over every transition.
fn hash(mdp: &TabularMdp) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for state in 0..mdp.n_states() {
        for row in mdp.rows(state) {
            for (to, p) in row.iter() {
                for word in [state as u64, row.action as u64, to as u64, p.to_bits()] {
                    hash = (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3);
                }
            }
        }
    }
    hash
}

/// The most memory this process has held so far.
fn peak_memory_mib() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak_kib = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    peak_kib.and_then(|kib| kib.trim().parse::<u64>().ok()).map_or("?".into(), |kib| (kib / 1024).to_string())
}
