//! The cost of the refined distance and of plans with it: `just bench-refined`.

use isochrone_core::{TemporalDistance as _, rng};
use isochrone_data::Dataset;
use isochrone_eval::{
    plan::{PlanMethod, Planner, Transitions},
    refined::{RefinedConfig, RefinedDistance},
};
use std::time::Instant;

/// The number of rows per episode.
const ROWS: usize = 1000;
/// The side of the square that the walker stays in, in steps.
const SIDE: f64 = 200.0;
const QUERIES: usize = 1_000_000;
const PLANS: usize = 200;
/// The number of states of the planner that searches a graph of states.
const PLANNER_STATES: usize = 1000;
const MAX_EDGE_STEPS: f64 = 40.0;

/// Returns a dataset of a walker in a square that turns a little at every step, and turns back at
/// the border. Two columns are its position, the others are noise.
fn walks(rows: usize, width: usize) -> Dataset {
    let episodes = (0..rows / ROWS).map(|episode| {
        let mut random = rng::stream(1, episode as u64);
        let mut place = [0, 1].map(|_| SIDE * rng::unit_f64(&mut random));
        let mut heading = std::f64::consts::TAU * rng::unit_f64(&mut random);
        let mut observations = Vec::with_capacity(ROWS * width);
        for _ in 0..ROWS {
            observations.extend(place.map(|x| x as f32));
            observations.extend((2..width).map(|_| rng::unit_f64(&mut random) as f32));
            heading += 0.3 * rng::normal(&mut random);
            let next = [place[0] + heading.cos(), place[1] + heading.sin()];
            match next.iter().all(|x| (0.0..SIDE).contains(x)) {
                true => place = next,
                false => heading += std::f64::consts::PI,
            }
        }
        (observations, Vec::new())
    });
    Dataset::from_arrays(width, 0, episodes).expect("widths fit")
}

/// What was measured for one dataset and number of landmarks; times are in seconds.
struct Measured {
    rows: usize,
    columns: usize,
    landmarks: usize,
    edges: usize,
    fit: f64,
    /// The table of all pairs, and the queries that read it.
    table_and_queries: Option<(f64, f64)>,
    /// The first query to a goal, without a table, or one of many, with a table.
    query: f64,
    /// A plan to a goal that was not planned to before, and one to a known goal.
    plans: [f64; 2],
    resident: String,
}

impl Measured {
    fn of(data: &Dataset, landmarks: usize) -> Self {
        let (rows, columns) = (data.index().n_states() as usize, data.spec().observation.width);
        let config = RefinedConfig { landmarks, ..RefinedConfig::default() };
        let (distance, fit) = timed(|| RefinedDistance::fit(data, &config).expect("it has transitions"));
        let (from, to) = (states(data, QUERIES, 0), states(data, QUERIES, 1));
        let state = |states: &[f32], number: usize| states[number * columns..][..columns].to_vec();
        let query = |pair| distance.steps(&state(&from, pair), &state(&to, pair)).expect("complete states");
        let has_table = distance.n_landmarks() <= config.table_landmarks;
        let (table_and_queries, query) = if has_table {
            let (_, table) = timed(|| query(0));
            let (_, queries) = timed(|| distance.paired_steps(&from, &to).expect("complete states"));
            let (_, thousand) = timed(|| (0..1000).map(query).sum::<f64>());
            (Some((table, queries)), thousand / 1000.0)
        } else {
            // The first query of all also touches the graph for the first time.
            (None, mean((0..PLANS).map(|pair| timed(|| query(pair)).1)))
        };
        let plan = |start: usize, goal: usize| {
            let (from, to) = (state(&from, start), state(&to, goal));
            timed(|| distance.path(&from, &to).expect("complete states")).1
        };
        let new = mean((0..PLANS).map(|pair| plan(pair, PLANS + pair)));
        let plans = [new, mean((0..PLANS).map(|pair| plan(pair, PLANS)))];
        let edges = distance.n_edges();
        Self { rows, columns, landmarks, edges, fit, table_and_queries, query, plans, resident: resident() }
    }

    fn print(&self) {
        let (table, queries) = match self.table_and_queries {
            Some((table, queries)) => (format!("{table:.2} s"), format!("{queries:.2} s")),
            None => ("none".to_owned(), "-".to_owned()),
        };
        let Self { rows, columns, landmarks, edges, fit, resident, .. } = self;
        let [new, known] = self.plans;
        let [query, new, known] = [self.query, new, known].map(|seconds| format!("{:.3} ms", 1e3 * seconds));
        println!(
            "| {rows} | {columns} | {landmarks} | {edges} | {fit:.2} s | {table} | {queries} | {query} | {new} | {known} | {resident} |"
        );
    }
}

/// A limit on a time in seconds, and the time that was measured.
struct Bar {
    name: String,
    limit: f64,
    measured: f64,
}

impl Bar {
    /// Returns the bars that a case is measured against.
    fn of(case: &Measured) -> Vec<Self> {
        let n = case.landmarks;
        let mut bars = Vec::new();
        let mut add = |name: String, limit, measured| bars.push(Self { name, limit, measured });
        if n == 8000 {
            let million = case.rows / 1_000_000;
            let name = format!("graph of {n} landmarks, {million} million rows of {} columns", case.columns);
            add(name, 15.0 * million as f64, case.fit);
        }
        if (case.rows, case.columns) != (1_000_000, 2) {
            return bars;
        }
        let [new, known] = case.plans;
        match case.table_and_queries {
            Some((table, queries)) => {
                if n == 4000 {
                    add(format!("all pairs of {n} landmarks"), 10.0, table);
                }
                add(format!("a million queries of the table of {n} landmarks"), 2.0, queries);
                add(format!("plan to a new goal with a table of {n} landmarks"), 1e-3, new);
            }
            None => {
                add(format!("query to a new goal among {n} landmarks, one search"), 20e-3, case.query);
                add(format!("plan to a new goal among {n} landmarks, one search"), 1e-3, new);
            }
        }
        add(format!("plan to a known goal among {n} landmarks"), 1e-3, known);
        bars
    }

    fn print(&self) {
        let time = |seconds: f64| match seconds < 0.1 {
            true => format!("{:.2} ms", 1e3 * seconds),
            false => format!("{seconds:.2} s"),
        };
        let is_met = if self.measured <= self.limit { "yes" } else { "**no**" };
        println!("| {} | {} | {} | {is_met} |", self.name, time(self.limit), time(self.measured));
    }
}

/// Plans with a graph over states, whose distance is the table of 2,000 landmarks: to goals that
/// were not planned to before, and to one goal.
fn planner_bars(data: &Dataset) -> [Bar; 2] {
    let distance = RefinedDistance::fit(data, &RefinedConfig::default()).expect("it has transitions");
    let method = PlanMethod::Graph { max_edge_steps: MAX_EDGE_STEPS };
    let transitions = Transitions::sample(data, PLANNER_STATES, 0);
    let planner = Planner::new(method, distance, transitions).expect("positive settings");
    let columns = data.spec().observation.width;
    let (from, to) = (states(data, PLANS, 0), states(data, PLANS, 1));
    let plan = |start: usize, goal: usize| {
        let (from, to) = (&from[start * columns..][..columns], &to[goal * columns..][..columns]);
        timed(|| planner.plan(from, to).is_ok()).1
    };
    let bar = |goal: &str, measured| {
        let name = format!("plan to {goal} over a graph of {PLANNER_STATES} states");
        Bar { name, limit: 1e-3, measured }
    };
    let new = mean((0..PLANS).map(|pair| plan(pair, pair)));
    [bar("a new goal", new), bar("a known goal", mean((0..PLANS).map(|pair| plan(pair, 0))))]
}

/// Returns `n` random states of a dataset, `[n, width]`.
fn states(data: &Dataset, n: usize, stream: u64) -> Vec<f32> {
    let mut random = rng::stream(2, stream);
    let rows = data.index().n_states() as usize;
    (0..n).flat_map(|_| data.state(rng::below(&mut random, rows) as u64)).copied().collect()
}

fn timed<T>(run: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let result = run();
    (result, start.elapsed().as_secs_f64())
}

fn mean(seconds: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = seconds.len() as f64;
    seconds.sum::<f64>() / n
}

/// Returns the resident memory of this process, or `-` if the system does not report it.
fn resident() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kilobytes.map_or("-".to_owned(), |kilobytes| format!("{:.0} MB", kilobytes / 1024.0))
}

fn main() {
    // Ten million rows of 29 columns take gigabytes.
    let is_large = std::env::args().any(|argument| argument == "--large");
    println!("# Cost of the refined distance\n");
    println!("Made by `just bench-refined` (`cargo bench -p isochrone-eval --bench refined -- --large`).");
    println!("Data: a walker in a square; all cores.");
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    if let Some(load) = load.split(' ').next() {
        println!(
            "Load of the machine by other processes before the run: {load}; above 0, times are too long."
        );
    }
    println!("Queries and plans are means. Without a table, every query has a new goal, and searches.\n");
    println!(
        "| rows | columns | landmarks | edges | fit | table of all pairs | 10^6 queries | one query | plan to a new goal | to a known goal | resident |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let mut bars = Vec::new();
    let mut cases = vec![
        (100_000, 2, vec![2000]),
        (1_000_000, 2, vec![2000, 4000, 8000]),
        (1_000_000, 29, vec![2000, 8000]),
    ];
    if is_large {
        cases.extend([(10_000_000, 2, vec![2000, 8000]), (10_000_000, 29, vec![8000])]);
    }
    for (rows, columns, landmarks) in cases {
        let data = walks(rows, columns);
        for landmarks in landmarks {
            let case = Measured::of(&data, landmarks);
            case.print();
            bars.extend(Bar::of(&case));
        }
        if (rows, columns) == (1_000_000, 2) {
            bars.extend(planner_bars(&data));
        }
    }
    println!("\n## Bars\n\n| what | bar | measured | met |\n|---|---|---|---|");
    bars.iter().for_each(Bar::print);
}
