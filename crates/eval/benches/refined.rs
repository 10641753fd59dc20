//! The cost of the refined distance: `just bench-refined`.

use isochrone_core::{TemporalDistance as _, rng};
use isochrone_data::Dataset;
use isochrone_eval::refined::{RefinedConfig, RefinedDistance};
use std::time::Instant;

/// The number of rows per episode.
const ROWS: usize = 1000;
/// The side of the square that the walker stays in, in steps.
const SIDE: f64 = 200.0;
const QUERIES: usize = 1_000_000;

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

/// Returns the resident memory of this process, or `-` if the system does not report it.
fn resident() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kilobytes.map_or("-".to_owned(), |kilobytes| format!("{:.0} MB", kilobytes / 1024.0))
}

fn main() {
    println!("# Cost of the refined distance\n");
    println!(
        "A walker in a square; `cargo bench -p isochrone-eval --bench refined` (`just bench-refined`), all cores.\n"
    );
    println!(
        "| rows | columns | landmarks | edges | fit | table of all pairs | 10^6 queries | one query | resident |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (rows, width, landmarks) in [
        (100_000, 2, 2000),
        (1_000_000, 2, 2000),
        (10_000_000, 2, 2000),
        (1_000_000, 2, 8000),
        (1_000_000, 29, 2000),
        (1_000_000, 29, 8000),
    ] {
        let data = walks(rows, width);
        let config = RefinedConfig { landmarks, ..RefinedConfig::default() };
        let start = Instant::now();
        let distance = RefinedDistance::fit(&data, &config).expect("the dataset has transitions");
        let fit = start.elapsed().as_secs_f64();
        let states = |n: usize, stream: u64| {
            let mut random = rng::stream(2, stream);
            let state = |_| data.state(rng::below(&mut random, rows) as u64);
            (0..n).flat_map(state).copied().collect::<Vec<f32>>()
        };
        let (from, to) = (states(QUERIES, 0), states(QUERIES, 1));
        let start = Instant::now();
        distance.steps(&from[..width], &to[..width]).expect("complete states");
        let first = start.elapsed().as_secs_f64();
        let has_table = distance.n_landmarks() <= config.table_landmarks;
        let (all, one) = if has_table {
            let start = Instant::now();
            distance.paired_steps(&from, &to).expect("complete states");
            let all = start.elapsed().as_secs_f64();
            let start = Instant::now();
            for pair in 0..1000 {
                let place = pair * width..(pair + 1) * width;
                distance.steps(&from[place.clone()], &to[place]).expect("complete states");
            }
            (format!("{all:.1} s"), format!("{:.2} ms", start.elapsed().as_secs_f64()))
        } else {
            ("-".to_owned(), format!("{:.1} ms, the first to a goal", 1000.0 * first))
        };
        let table = if has_table { format!("{first:.1} s") } else { "none".to_owned() };
        println!(
            "| {rows} | {width} | {} | {} | {fit:.1} s | {table} | {all} | {one} | {} |",
            distance.n_landmarks(),
            distance.n_edges(),
            resident()
        );
    }
}
