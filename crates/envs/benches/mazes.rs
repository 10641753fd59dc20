//! Steps per second in mazes, compared with OGBench in Python and with bare physics:
//! `just bench-mazes`.
//!
//! All variants are measured in turn, round by round, and compared within a round, because the
//! speed of the machine varies over time. Every environment computes observations and resets when
//! an episode ends.

use isochrone_core::Environment;
use isochrone_envs::{
    maze::{MazeConfig, physics::MazeModel},
    mujoco_version,
};
use mujoco_rs::prelude::MjData;
use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, Command, Stdio},
    thread,
    time::Instant,
};

const ROUNDS: usize = 7;

/// The actions that every variant repeats.
fn actions(width: usize) -> Vec<Vec<f32>> {
    let mut random = isochrone_core::rng::stream(0, 0);
    let mut number = || (2.0 * isochrone_core::rng::unit_f64(&mut random) - 1.0) as f32;
    (0..1000).map(|_| (0..width).map(|_| number()).collect()).collect()
}

/// Returns the steps per second of complete environments on this many threads.
fn ours(model: &MazeModel, threads: usize, steps: usize) -> f64 {
    let actions = actions(model.config.body.action_width());
    let mut environments: Vec<_> = (0..threads).map(|_| model.environment()).collect();
    let started = Instant::now();
    thread::scope(|scope| {
        for environment in &mut environments {
            let actions = &actions;
            scope.spawn(move || {
                environment.reset(0, 0);
                let mut in_episode = 0;
                for step in 0..steps {
                    in_episode += 1;
                    if environment.step(&actions[step % 1000]).terminated
                        || in_episode == environment.max_episode_steps()
                    {
                        environment.reset(0, step as u64);
                        in_episode = 0;
                    }
                }
            });
        }
    });
    (threads * steps) as f64 / started.elapsed().as_secs_f64()
}

/// Returns the control steps per second of MuJoCo alone, with five physics steps each.
fn bare(model: &MazeModel, steps: usize) -> f64 {
    let actions = actions(model.config.body.action_width());
    let mut data = MjData::new(model.model.clone());
    let started = Instant::now();
    for step in 0..steps {
        for (motor, &action) in data.ctrl_mut().iter_mut().zip(&actions[step % 1000]) {
            *motor = f64::from(action);
        }
        if step % 1000 == 0 {
            data.reset();
        }
        for _ in 0..5 {
            data.step();
        }
    }
    steps as f64 / started.elapsed().as_secs_f64()
}

/// OGBench in Python, in a separate process.
struct Python(Child);

impl Python {
    fn start() -> Self {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let command = Command::new(format!("{root}/target/ogbench/bin/python"))
            .arg(format!("{root}/crates/envs/tests/python/steps.py"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        Self(command.expect("`just ogbench` installs it"))
    }

    fn steps_per_second(&mut self, env: &str, steps: usize) -> f64 {
        writeln!(self.0.stdin.as_mut().expect("a pipe"), "{env} {steps}")
            .expect("the process reads its input");
        let mut line = String::new();
        BufReader::new(self.0.stdout.as_mut().expect("a pipe"))
            .read_line(&mut line)
            .expect("the process writes a line");
        steps as f64 / line.trim().parse::<f64>().expect("seconds")
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    // As a test, a single short round checks that the benchmark runs.
    let is_test = !std::env::args().any(|argument| argument == "--bench");
    let rounds = if is_test { 1 } else { ROUNDS };
    let mut python = (!is_test).then(Python::start);
    println!("# Steps per second in mazes\n");
    println!(
        "A step is a tenth of a second: five physics steps, observation, success check and resets; for the ball, physics steps that would change nothing are skipped. Bare physics is five physics steps only. Medians over {rounds} rounds, in each of which all variants are measured in turn; ratios are medians of ratios within a round. MuJoCo {}.\n",
        mujoco_version().unwrap_or_default()
    );
    println!(
        "| env | ours, 1 thread | ours, 2 threads | OGBench in Python | bare physics | 1 thread / Python | 2 threads / Python | 1 thread / bare | 2 threads / 1 |\n|---|---|---|---|---|---|---|---|---|"
    );
    for (name, steps) in [("pointmaze-medium", 20_000), ("pointmaze-giant", 20_000), ("antmaze-medium", 3000)]
    {
        let model = MazeModel::new(MazeConfig::from_name(name).expect("a maze"));
        let steps = if is_test { 50 } else { steps };
        let measured: Vec<[f64; 4]> = (0..rounds)
            .map(|_| {
                let python = python.as_mut().map_or(f64::NAN, |python| python.steps_per_second(name, steps));
                [ours(&model, 1, steps), ours(&model, 2, steps), python, bare(&model, steps)]
            })
            .collect();
        let of = |pick: &dyn Fn(&[f64; 4]) -> f64| median(measured.iter().map(pick).collect());
        println!(
            "| {name} | {:.0} | {:.0} | {:.0} | {:.0} | {:.2} | {:.2} | {:.2} | {:.2} |",
            of(&|m| m[0]),
            of(&|m| m[1]),
            of(&|m| m[2]),
            of(&|m| m[3]),
            of(&|m| m[0] / m[2]),
            of(&|m| m[1] / m[2]),
            of(&|m| m[0] / m[3]),
            of(&|m| m[1] / m[0])
        );
    }
}
