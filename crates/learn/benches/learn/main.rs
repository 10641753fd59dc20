//! Steps per second of every algorithm, the overhead of the trainer, and CMD-1 compared with JAX:
//! `just bench-learn`.

#[path = "../../experiments/common/revision.rs"]
mod revision;

use isochrone_core::{Discount, rng};
use isochrone_data::Dataset;
use isochrone_learn::{
    Algorithm, Callbacks, DeviceBatch, Learner, LearnerConfig, LearnerContext, Preset, Training,
    internals::{BatchTransform, Rows, Scaling, sampler},
    run::RunConfig,
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
    // On a thread of the pool, as in the command-line program.
    rayon::scope(|_| bench(std::env::args().any(|arg| arg == "--quick")));
}

fn bench(is_quick: bool) {
    let data = noise();
    let seconds = if is_quick { 0.05 } else { 4.0 };
    println!("# Learners and trainer\n");
    println!(
        "Observation width {OBSERVATION}, action width {ACTION}, batch size {BATCH}, {} threads. *Paper*: 4 x 512 without normalization, latent width 512. *Small*: 2 x 64 with layer\n\
         normalization, latent width 64. Median time of one update of all networks, on prepared batches.\n",
        rayon::current_num_threads(),
    );
    println!("| algorithm | paper: ms | steps/s | small: ms | steps/s |\n|---|---|---|---|---|");
    for algorithm in Algorithm::ALL {
        let cells = [Preset::Paper, Preset::Small].map(|preset| {
            let ms = BareLearner::new(algorithm.preset(preset), &data).median_ms(seconds);
            format!("{ms:.1} | {:.1}", 1e3 / ms)
        });
        println!("| {} | {} |", algorithm.name(), cells.join(" | "));
    }

    println!("\n## Overhead of the trainer\n");
    println!(
        "A complete short run (loader, scaling, metrics, files, one checkpoint) compared with the same number of bare updates directly before and after it; medians of eleven rounds. The last\n\
         column counts one checkpoint per 2500 steps, as in a run of default length.\n"
    );
    println!(
        "| algorithm | preset | bare update, ms | overhead of a short run | one checkpoint, ms | overhead with default checkpoints |\n|---|---|---|---|---|---|"
    );
    for (algorithm, preset) in [
        (Algorithm::Cmd1, Preset::Paper),
        (Algorithm::Cmd1, Preset::Small),
        (Algorithm::Gcbc, Preset::Paper),
        (Algorithm::Gcbc, Preset::Small),
    ] {
        print_overhead(algorithm, preset, &data, is_quick);
    }
    if !is_quick {
        compare_with_jax(&data);
    }
    println!(
        "\nMade by `just bench-learn`: isochrone {} at revision {}. Times vary by a quarter from minute to minute on shared machines; compare only within a table.",
        env!("CARGO_PKG_VERSION"),
        revision::revision(),
    );
}

/// Random numbers: only sizes matter here.
fn noise() -> Dataset {
    let mut random = rng::stream(1, 0);
    let mut draw =
        |n: usize| (0..n).map(|_| 2.0 * rng::unit_f64(&mut random) as f32 - 1.0).collect::<Vec<f32>>();
    let episodes = (0..100).map(|_| (draw(OBSERVATION * 501), draw(ACTION * 500)));
    Dataset::from_arrays(OBSERVATION, ACTION, episodes).expect("widths fit")
}

/// A learner with prepared batches.
struct BareLearner {
    learner: Box<dyn Learner>,
    batches: Vec<DeviceBatch>,
    next: usize,
}

impl BareLearner {
    fn new(config: LearnerConfig, data: &Dataset) -> Self {
        let discount = Discount::new(GAMMA).expect("a discount");
        let context = LearnerContext::new(data.spec(), discount, 1, 1_000_000, &isochrone_learn::cpu());
        let learner = config.init(&context).expect("a preset");
        let sampler =
            sampler(learner.goals(), data, Rows { batch_size: BATCH, rows_per_episode: 1 }, &context)
                .expect("data");
        let transform = BatchTransform::new(&context, Scaling::identity(OBSERVATION, ACTION));
        let batches = (0..8).map(|step| transform.batch(&sampler.batch(step))).collect();
        Self { learner, batches, next: 0 }
    }

    fn step(&mut self) {
        self.learner.update(&self.batches[self.next % self.batches.len()]);
        self.next += 1;
    }

    /// Returns the median time of a step, measured for at least `seconds` and five steps after
    /// three warm-up steps.
    fn median_ms(&mut self, seconds: f64) -> f64 {
        (0..3).for_each(|_| self.step());
        let (start, mut times) = (Instant::now(), Vec::new());
        while times.len() < 5 || start.elapsed() < Duration::from_secs_f64(seconds) {
            let started = Instant::now();
            self.step();
            times.push(started.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    }
}

/// Prints one line of the overhead table, from alternating bare updates and runs.
fn print_overhead(algorithm: Algorithm, preset: Preset, data: &Dataset, is_quick: bool) {
    let (rounds, steps) = match (is_quick, preset) {
        (true, _) => (1, 5),
        (_, Preset::Paper) => (11, 40),
        _ => (11, 400),
    };
    let mut bare = BareLearner::new(algorithm.preset(preset), data);
    let mut bare_round = || {
        let started = Instant::now();
        (0..steps).for_each(|_| bare.step());
        started.elapsed().as_secs_f64() * 1e3 / steps as f64
    };
    let mut before = bare_round();
    let (mut bare_ms, mut checkpoint_ms) = (Vec::new(), Vec::new());
    let (mut ratios, mut default_ratios) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let (total, checkpoint) = time_run(algorithm, preset, data, steps);
        let after = bare_round();
        let bare = 0.5 * (before + after);
        bare_ms.push(bare);
        checkpoint_ms.push(checkpoint);
        ratios.push(total / steps as f64 / bare - 1.0);
        default_ratios.push(((total - checkpoint) / steps as f64 + checkpoint / 2500.0) / bare - 1.0);
        before = after;
    }
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let name = if preset == Preset::Paper { "paper" } else { "small" };
    println!(
        "| {} | {name} | {:.2} | {:+.1} % | {:.0} | {:+.1} % |",
        algorithm.name(),
        median(bare_ms),
        100.0 * median(ratios),
        median(checkpoint_ms),
        100.0 * median(default_ratios),
    );
}

/// Returns the milliseconds of a complete run, and of its checkpoint.
fn time_run(algorithm: Algorithm, preset: Preset, data: &Dataset, steps: u64) -> (f64, f64) {
    struct Clock {
        last_step: Instant,
        /// The start of the run, and the milliseconds of its checkpoint.
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
        .expect("values stay finite");
    let (started, checkpoint_ms) = *times.lock().expect("one thread");
    (started.elapsed().as_secs_f64() * 1e3, checkpoint_ms)
}

/// Compares CMD-1 with several JAX implementations, at the paper preset and the small one.
fn compare_with_jax(data: &Dataset) {
    println!("\n## CMD-1 compared with JAX\n");
    println!(
        "The same step in JAX, compiled, on the same cores in alternation: broadcasting as in published code, and the faster of two custom derivative rules. The JAX step neither samples batches nor reads metrics; ours\n\
         at the small preset has eight metric components instead of one.\n"
    );
    println!(
        "| preset | isochrone, ms | JAX broadcasting, ms | ratio | JAX custom rule, ms | ratio |\n|---|---|---|---|---|---|"
    );
    for (preset, name, sizes) in [
        (Preset::Paper, "paper", "--width 512 --depth 4 --latent 512 --layer-norm 0"),
        (Preset::Small, "small", "--width 64 --depth 2 --latent 64 --layer-norm 1"),
    ] {
        let mut bare = BareLearner::new(Algorithm::Cmd1.preset(preset), data);
        let before = bare.median_ms(3.0);
        let naive = jax("naive", sizes);
        let between = bare.median_ms(3.0);
        let (rows, scan) = (jax("rows", sizes), jax("scan", sizes));
        let ours = (before + between + bare.median_ms(3.0)) / 3.0;
        let custom = match (rows, scan) {
            (Some(rows), Some(scan)) => Some(rows.min(scan)),
            (one, other) => one.or(other),
        };
        let cells = [naive, custom]
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
