//! Timing of one implementation of the step in this process.

use super::{
    arithmetic::{Arithmetic, Products, pair_kernel},
    fused::{Agent, Batch, Sizes},
    naive,
    size::Size,
};
use burn::tensor::Device;
use isochrone_nn::module::Normalization;
use std::time::{Duration, Instant};

/// Runs a contender for a few seconds and prints its timings as JSON.
pub fn run(name: &str, batch: usize, width: usize) {
    let size = Size::of_width(width);
    isochrone_nn::memory::retain_heap();
    let device = Device::flex().autodiff();
    let data = Batch::draw(batch, 1, 0, &device);
    let fused = |normalization, components| {
        let mut agent = Agent::new(sizes(size, normalization, components), 1, &device);
        let data = data.clone();
        move || agent.step(&data)[0]
    };
    let plain = |layer_norm| {
        let mut agent = Some(naive::Agent::new(layer_norm, &device));
        let data = data.clone();
        move || {
            let (next, losses) = agent.take().unwrap().step(&data);
            agent = Some(next);
            losses[0]
        }
    };
    match name {
        "fused" => time(name, batch, fused(size.normalization(), 1)),
        "fused-k8" => time(name, batch, fused(size.normalization(), 8)),
        "fused-ln" => time(name, batch, fused(Normalization::LayerNorm, 1)),
        "naive" => time(name, batch, plain(false)),
        "naive-ln" => time(name, batch, plain(true)),
        "gemm" => {
            let mut products = Products::new(size, batch);
            time(name, batch, move || {
                products.run();
                0.0
            });
        }
        "bare" => {
            let mut arithmetic = Arithmetic::new(size, batch);
            time(name, batch, move || {
                arithmetic.run();
                0.0
            });
        }
        _ if name.starts_with("mrn") || name.starts_with("iqe") => {
            let mut kernel = pair_kernel(name, size.latent(), batch);
            time(name, batch, move || {
                kernel();
                0.0
            });
        }
        _ => panic!("unknown contender {name}"),
    }
}

fn sizes(size: Size, normalization: Normalization, components: usize) -> Sizes {
    Sizes { trunk: size.trunk(normalization), latent: size.latent(), head: Size::head(components) }
}

/// Times a step: two warm-up steps, then at least five steps and two seconds, but at most 2000
/// steps.
fn time(name: &str, batch: usize, mut step: impl FnMut() -> f64) {
    let mut loss = 0.0;
    (0..2).for_each(|_| loss = step());
    let (start, mut times) = (Instant::now(), Vec::new());
    while times.len() < 5 || (start.elapsed() < Duration::from_secs(2) && times.len() < 2000) {
        let step_start = Instant::now();
        loss = step();
        times.push(step_start.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    let record = serde_json::json!({
        "contender": name,
        "batch": batch,
        "median_ms": times[times.len() / 2],
        "fastest_ms": times[0],
        "steps": times.len(),
        "peak_mib": peak_mib(),
        "loss": loss,
    });
    println!("{record}");
}

/// Returns the peak resident memory of this process, if the system reports it.
fn peak_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1024.0)
}
