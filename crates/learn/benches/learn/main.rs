//! Steps per second of every algorithm, what the trainer adds to them, and CMD-1 beside JAX: `just bench-learn`.

use isochrone_core::{Discount, rng};
use isochrone_data::Dataset;
use isochrone_learn::{
    Algorithm, Callbacks, DeviceBatch, Learner, LearnerConfig, LearnerContext, Preset, Training,
    internals::{BatchTransform, Scaling, sampler},
    run::{Provenance, RunConfig},
};
use std::{
    process::Command,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

const OBSERVATION: usize = 29;
const ACTION: usize = 8;
const BATCH: usize = 256;
const GAMMA: f64 = 0.99;

fn main() {
    isochrone_nn::memory::retain_heap();
    // On a thread of the pool, as the command does it.
    rayon::scope(|_| bench(std::env::args().any(|arg| arg == "--quick")));
}

fn bench(is_quick: bool) {
    let data = noise();
    let seconds = if is_quick { 0.05 } else { 4.0 };
    println!("# Learners and trainer\n");
    println!(
        "Observations of {OBSERVATION} numbers, actions of {ACTION}, batches of {BATCH}, {} threads. *Paper*: 4 x 512 without normalization, latent rows of 512. *Small*: 2 x 64 with layer\n\
         normalization, latent rows of 64. Median time of one update of all networks, on ready batches.\n",
        rayon::current_num_threads(),
    );
    println!("| algorithm | paper: ms | steps/s | small: ms | steps/s |\n|---|---|---|---|---|");
    for algorithm in Algorithm::ALL {
        let cells = [Preset::Paper, Preset::Small].map(|size| {
            let ms = Bare::new(algorithm.preset(size), &data).median_ms(seconds);
            format!("{ms:.1} | {:.1}", 1e3 / ms)
        });
        println!("| {} | {} |", algorithm.name(), cells.join(" | "));
    }

    println!("\n## What the trainer adds\n");
    println!(
        "A whole short run (loader, scaling, metrics, files, one checkpoint) against as many bare updates just before and after it; medians of eleven turns. *As by default*: with that\n\
         checkpoint counted as one for 2500 steps, which is what a run of default length saves.\n"
    );
    println!(
        "| algorithm | size | bare ms | added by a short run | one checkpoint, ms | added, checkpoints as by default |\n|---|---|---|---|---|---|"
    );
    for (algorithm, size) in [
        (Algorithm::Cmd1, Preset::Paper),
        (Algorithm::Cmd1, Preset::Small),
        (Algorithm::Gcbc, Preset::Paper),
        (Algorithm::Gcbc, Preset::Small),
    ] {
        added(algorithm, size, &data, is_quick);
    }
    if !is_quick {
        beside_jax(&data);
    }
    println!(
        "\nMade by `just bench-learn`: isochrone {} at revision {}. Times move by a quarter from minute to minute on shared machines: compare within a table.",
        env!("CARGO_PKG_VERSION"),
        Provenance::revision().unwrap_or("unknown"),
    );
}

/// Random walks: only sizes matter here.
fn noise() -> Dataset {
    let mut random = rng::stream(1, 0);
    let mut draw =
        |n: usize| (0..n).map(|_| 2.0 * rng::unit_f64(&mut random) as f32 - 1.0).collect::<Vec<f32>>();
    let episodes = (0..100).map(|_| (draw(OBSERVATION * 501), draw(ACTION * 500)));
    Dataset::from_arrays(OBSERVATION, ACTION, episodes).expect("widths fit")
}

/// A learner with batches that are ready.
struct Bare {
    learner: Box<dyn Learner>,
    batches: Vec<DeviceBatch>,
    next: usize,
}

impl Bare {
    fn new(config: LearnerConfig, data: &Dataset) -> Self {
        let discount = Discount::new(GAMMA).expect("a discount");
        let context = LearnerContext::new(data.spec(), discount, 1, 1_000_000, &isochrone_learn::cpu());
        let learner = config.init(&context).expect("a preset");
        let sampler = sampler(learner.goals(), data, (BATCH, 1), &context).expect("data");
        let transform = BatchTransform::new(&context, Scaling::identity(OBSERVATION, ACTION));
        let batches = (0..8).map(|step| transform.batch(&sampler.batch(step))).collect();
        Self { learner, batches, next: 0 }
    }

    fn step(&mut self) {
        self.learner.update(&self.batches[self.next % self.batches.len()]);
        self.next += 1;
    }

    /// After three steps to warm up, for at least so long and five steps.
    fn median_ms(&mut self, seconds: f64) -> f64 {
        (0..3).for_each(|_| self.step());
        let (start, mut times) = (Instant::now(), Vec::new());
        while times.len() < 5 || start.elapsed() < Duration::from_secs_f64(seconds) {
            let begin = Instant::now();
            self.step();
            times.push(begin.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    }
}

/// One line: bare updates and a trainer, in turns.
fn added(algorithm: Algorithm, size: Preset, data: &Dataset, is_quick: bool) {
    let (rounds, steps) = match (is_quick, size) {
        (true, _) => (1, 5),
        (_, Preset::Paper) => (11, 40),
        _ => (11, 400),
    };
    let mut bare = Bare::new(algorithm.preset(size), data);
    let mut bare_round = || {
        let begin = Instant::now();
        (0..steps).for_each(|_| bare.step());
        begin.elapsed().as_secs_f64() * 1e3 / steps as f64
    };
    let mut before = bare_round();
    let (mut bare_ms, mut checkpoint_ms) = (Vec::new(), Vec::new());
    let (mut ratios, mut default_ratios) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let (all, checkpoint) = trained(algorithm, size, data, steps);
        let after = bare_round();
        let bare = 0.5 * (before + after);
        bare_ms.push(bare);
        checkpoint_ms.push(checkpoint);
        ratios.push(all / steps as f64 / bare - 1.0);
        default_ratios.push(((all - checkpoint) / steps as f64 + checkpoint / 2500.0) / bare - 1.0);
        before = after;
    }
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let name = if size == Preset::Paper { "paper" } else { "small" };
    println!(
        "| {} | {name} | {:.2} | {:+.1} % | {:.0} | {:+.1} % |",
        algorithm.name(),
        median(bare_ms),
        100.0 * median(ratios),
        median(checkpoint_ms),
        100.0 * median(default_ratios),
    );
}

/// Milliseconds of a whole run, and of its checkpoint.
fn trained(algorithm: Algorithm, preset: Preset, data: &Dataset, steps: u64) -> (f64, f64) {
    struct Clock {
        last_step: Instant,
        /// Start of the run, and milliseconds of its checkpoint.
        times: Arc<Mutex<(Instant, f64)>>,
    }
    impl Callbacks for Clock {
        fn on_start(&mut self, _: &RunConfig, _: u64) {
            self.times.lock().expect("one thread").0 = Instant::now();
        }
        fn on_step(&mut self, _: u64) {
            self.last_step = Instant::now();
        }
        fn on_checkpoint(&mut self, _: u64, _: &std::path::Path) {
            self.times.lock().expect("one thread").1 = self.last_step.elapsed().as_secs_f64() * 1e3;
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let times = Arc::new(Mutex::new((Instant::now(), 0.0)));
    Training::new(algorithm)
        .preset(preset)
        .steps(steps)
        .set("metrics.every", 250)
        .set("metrics.evaluate_every", 0)
        .set("checkpoints.every", 2500)
        .run_dir(folder.path())
        .callbacks(Clock { last_step: Instant::now(), times: times.clone() })
        .fit(data)
        .expect("numbers stay finite");
    let (begin, checkpoint_ms) = *times.lock().expect("one thread");
    (begin.elapsed().as_secs_f64() * 1e3, checkpoint_ms)
}

/// CMD-1 at the paper's size and at the small one, in turns with the ways to write it in JAX.
fn beside_jax(data: &Dataset) {
    println!("\n## CMD-1 beside JAX\n");
    println!(
        "The same step in JAX, compiled, on the same cores in turns: broadcasting as published code does it, and the faster of two hand-written derivative rules. JAX's step draws its batch never and reads no metrics; ours\n\
         at the small size compares with eight components instead of one.\n"
    );
    println!(
        "| size | ours, ms | JAX broadcasting, ms | ratio | JAX own rule, ms | ratio |\n|---|---|---|---|---|---|"
    );
    for (size, name, sizes) in [
        (Preset::Paper, "paper", "--width 512 --depth 4 --latent 512 --layer-norm 0"),
        (Preset::Small, "small", "--width 64 --depth 2 --latent 64 --layer-norm 1"),
    ] {
        let mut bare = Bare::new(Algorithm::Cmd1.preset(size), data);
        let before = bare.median_ms(3.0);
        let naive = jax("naive", sizes);
        let between = bare.median_ms(3.0);
        let (rows, scan) = (jax("rows", sizes), jax("scan", sizes));
        let ours = (before + between + bare.median_ms(3.0)) / 3.0;
        let own = match (rows, scan) {
            (Some(rows), Some(scan)) => Some(rows.min(scan)),
            (one, other) => one.or(other),
        };
        let cells = [naive, own]
            .map(|ms| ms.map_or("not installed | -".into(), |ms| format!("{ms:.1} | {:.1}", ms / ours)));
        println!("| {name} | {ours:.1} | {} |", cells.join(" | "));
    }
}

fn jax(variant: &str, sizes: &str) -> Option<f64> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)?;
    let output = Command::new(root.join("target/peers/bin/python"))
        .arg(root.join("benches/peers/jax_step.py"))
        .args(["--variant", variant, "--batch", &BATCH.to_string()])
        .args(sizes.split_whitespace())
        .output()
        .ok()?;
    let record: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
    record["median_ms"].as_f64()
}
