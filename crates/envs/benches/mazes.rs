//! Steps per second in mazes, beside OGBench in Python and beside bare physics: `just bench-mazes`.
//!
//! Everything is measured in turn, round by round, and compared within a round: the machine is not the same a minute later. Every environment resets when an episode is over, and observes.

use isochrone_core::Environment;
use isochrone_envs::{World, mujoco_version, physics::Stage};
use mujoco_rs::prelude::MjData;
use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, Command, Stdio},
    thread,
    time::Instant,
};

const ROUNDS: usize = 7;

/// Actions that everybody does in turn.
fn actions(width: usize) -> Vec<Vec<f32>> {
    let mut random = isochrone_core::rng::stream(0, 0);
    let mut number = || (2.0 * isochrone_core::rng::unit_f64(&mut random) - 1.0) as f32;
    (0..1000).map(|_| (0..width).map(|_| number()).collect()).collect()
}

/// Steps per second of whole environments, on so many threads.
fn ours(stage: &Stage, threads: usize, steps: usize) -> f64 {
    let world = stage.world();
    let actions = actions(world.body.action_width());
    let mut environments: Vec<_> = (0..threads).map(|_| stage.environment()).collect();
    let started = Instant::now();
    thread::scope(|scope| {
        for environment in &mut environments {
            let actions = &actions;
            scope.spawn(move || {
                environment.reset(0, 0);
                let mut in_episode = 0;
                for step in 0..steps {
                    in_episode += 1;
                    if environment.step(&actions[step % 1000]).is_over
                        || in_episode == environment.step_limit()
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

/// Control steps per second of five physics steps each, and nothing else.
fn bare(stage: &Stage, steps: usize) -> f64 {
    let actions = actions(stage.world().body.action_width());
    let mut data = MjData::new(stage.model());
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

/// OGBench in Python, in a process of its own.
struct Python(Child);

impl Python {
    fn start() -> Self {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let command = Command::new(format!("{root}/target/ogbench/bin/python"))
            .arg(format!("{root}/crates/envs/tests/python/steps.py"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        Self(command.expect("just ogbench installs it"))
    }

    fn steps_per_second(&mut self, world: &str, steps: usize) -> f64 {
        writeln!(self.0.stdin.as_mut().expect("a pipe"), "{world} {steps}").expect("it listens");
        let mut line = String::new();
        BufReader::new(self.0.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("it answers");
        steps as f64 / line.trim().parse::<f64>().expect("seconds")
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    // Run as a test, it shows that it runs.
    let is_test = !std::env::args().any(|argument| argument == "--bench");
    let rounds = if is_test { 1 } else { ROUNDS };
    let mut python = (!is_test).then(Python::start);
    println!("# Steps per second in mazes\n");
    println!(
        "A step is a tenth of a second: five physics steps, observation, success, resets; of the ball, physics steps that would change nothing are left out. Bare physics is five steps and nothing else. Medians over {rounds} rounds, in each of which everybody is measured in turn; ratios are medians of ratios within a round. MuJoCo {}.\n",
        mujoco_version().unwrap_or_default()
    );
    println!(
        "| world | ours, 1 thread | ours, 2 threads | OGBench in Python | bare physics | 1 thread / Python | 2 threads / Python | 1 thread / bare | 2 threads / 1 |\n|---|---|---|---|---|---|---|---|---|"
    );
    for (name, steps) in [("pointmaze-medium", 20_000), ("pointmaze-giant", 20_000), ("antmaze-medium", 3000)]
    {
        let Some(World::Maze(world)) = World::named(name) else { unreachable!("a maze") };
        let stage = Stage::new(world);
        let steps = if is_test { 50 } else { steps };
        let measured: Vec<[f64; 4]> = (0..rounds)
            .map(|_| {
                let python = python.as_mut().map_or(f64::NAN, |python| python.steps_per_second(name, steps));
                [ours(&stage, 1, steps), ours(&stage, 2, steps), python, bare(&stage, steps)]
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
