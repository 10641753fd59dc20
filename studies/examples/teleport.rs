//! Stochastic planning in mazes, measured in the real environment: `just teleport`.
//!
//! ```text
//! teleport FOLDER EPISODES SEEDS SUBSETS RESULTS.json
//! teleport ant FILE.npz EPISODES SEEDS CLEARANCE RESULTS.json
//! ```
//!
//! FOLDER has the datasets, EPISODES is the number per task, SEEDS and SUBSETS are lists of seeds
//! of tasks and of subsets of the data, CLEARANCE is the number of steps that the ant strays.

use isochrone_core::{
    Discount, GoalPolicy,
    exact::{ExactSolver, GoalDistances, TabularMdp},
    rng,
};
use isochrone_data::{Dataset, DatasetBuilder, EpisodeSink as _, formats::ReadOptions};
use isochrone_envs::{
    EnvId,
    maze::{Maze, PointMazeMdp, mujoco_version, physics::AntWalker},
};
use isochrone_eval::{
    chance::{
        ChanceConfig, ChanceModel, Forecast, Move, Objective, Outcomes, Outlook, Problem, Source,
        StochasticPlanner, forecast, solve,
    },
    plan::PlannedPolicy,
    rollout::{Rollout, RolloutConfig},
    stats::mean,
    straight::StraightController,
};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::{collections::BTreeMap, error::Error, num::ParseIntError, path::Path, sync::Arc, time::Instant};

/// The price of failing: ten times the step limit.
const PRICE: f64 = 10_000.0;
/// The number of episodes per task of the deterministic mazes and the subsets.
const FEWER_EPISODES: u64 = 20;
/// The number of episodes in a subset: a tenth.
const SUBSET: usize = 100;
/// The distance from the goal within which an episode succeeds, in meters.
const SUCCESS_RADIUS: f64 = 1.0;
/// The number of episodes per task that are solved on the true map.
const EXACT_EPISODES: usize = 10;
/// The length of a step that only a teleporter explains, in meters.
const TELEPORT: f32 = 1.5;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (results, summary) = match args[..] {
        ["ant", file, episodes, seeds, clearance, results] => {
            (results, ant(file, episodes.parse()?, &seeds_of(seeds)?, clearance.parse()?)?)
        }
        [folder, episodes, seeds, subsets, results] => {
            (results, points(folder, episodes.parse()?, &seeds_of(seeds)?, &seeds_of(subsets)?)?)
        }
        _ => return Err("FOLDER EPISODES SEEDS SUBSETS RESULTS.json".into()),
    };
    let cores = std::thread::available_parallelism()?;
    let mut summary = summary;
    summary["command"] = json!(format!("teleport {}", args[1..args.len() - 1].join(" ")));
    summary["version"] = json!(env!("CARGO_PKG_VERSION"));
    summary["mujoco"] = json!(mujoco_version());
    let (system, processor) = (std::env::consts::OS, std::env::consts::ARCH);
    summary["machine"] = json!(format!("{system} {processor}, {cores} cores, shared"));
    summary["price_of_failing"] = json!(PRICE);
    std::fs::write(results, serde_json::to_string_pretty(&summary)? + "\n")?;
    Ok(())
}

fn seeds_of(text: &str) -> Result<Vec<u64>, ParseIntError> {
    text.split(',').filter(|seed| !seed.is_empty()).map(str::parse).collect()
}

/// Point mazes, driven by a straight controller.
fn points(folder: &str, episodes: u64, seeds: &[u64], subsets: &[u64]) -> Outcome<Value> {
    let load =
        |name: &str| Dataset::load(Path::new(folder).join(format!("{name}-v0.npz")), ReadOptions::default());
    let teleport = load("pointmaze-teleport-navigate")?;
    let (name, price) = ("pointmaze-teleport", Objective::PriceOfFailing(PRICE));
    let recorded_only = ChanceConfig { recorded_only: true, ..ChanceConfig::default() };
    let mut rows = Vec::new();
    let all = Fitted::new("all moves", name, &teleport, &ChanceConfig::default())?;
    let recorded = Fitted::new("recorded moves only", name, &teleport, &recorded_only)?;
    for &seed in seeds {
        rows.push(all.measure(price, episodes, seed)?);
        rows.push(all.measure(Objective::Gamble, episodes, seed)?);
        rows.push(recorded.measure(price, episodes, seed)?);
    }
    for subset in subsets {
        let data = some_episodes(&teleport, SUBSET, *subset)?;
        let fitted = Fitted::new(&format!("subset {subset}"), name, &data, &ChanceConfig::default())?;
        rows.push(fitted.measure(price, FEWER_EPISODES, seeds[0])?);
    }
    for (data, env) in
        [("pointmaze-medium-navigate", "pointmaze-medium"), ("pointmaze-large-stitch", "pointmaze-large")]
    {
        let data = load(data)?;
        let fitted = Fitted::new("without teleporters", env, &data, &ChanceConfig::default())?;
        rows.push(fitted.measure(price, FEWER_EPISODES, seeds[0])?);
    }
    Ok(json!({"exact": exact(seeds[0])?, "rows": rows}))
}

/// The teleport maze with the ant, driven by the walker that collected the data, without noise.
fn ant(file: &str, episodes: u64, seeds: &[u64], clearance_steps: f32) -> Outcome<Value> {
    let data = Dataset::load(Path::new(file), ReadOptions::default())?;
    let config = ChanceConfig { clearance_steps, ..ChanceConfig::default() };
    let what = format!("ant, clearance {clearance_steps} steps");
    let fitted = Fitted::new(&what, "antmaze-teleport", &data, &config)?;
    let mut rows = Vec::new();
    for &seed in seeds {
        rows.push(fitted.measure(Objective::PriceOfFailing(PRICE), episodes, seed)?);
        rows.push(fitted.measure(Objective::Gamble, episodes, seed)?);
    }
    Ok(json!({"rows": rows}))
}

/// A controller of the ant: walks straight towards its goal.
struct Walker;

impl GoalPolicy for Walker {
    fn observation_width(&self) -> usize {
        29
    }

    fn action_width(&self) -> usize {
        8
    }

    fn actions(&self, observations: &[f32], goals: &[f32]) -> Vec<f32> {
        let rows = observations.chunks_exact(29).zip(goals.chunks_exact(29));
        let action = |(here, goal): (&[f32], &[f32])| {
            let apart = [0, 1].map(|axis| f64::from(goal[axis] - here[axis]));
            let length = apart[0].hypot(apart[1]).max(1e-9);
            AntWalker::get().action(here, apart.map(|x| x / length))
        };
        rows.flat_map(action).collect()
    }
}

/// A model and a controller of a dataset, and the environment in which they are measured.
struct Fitted<'a> {
    what: String,
    env: EnvId,
    data: &'a Dataset,
    model: Arc<ChanceModel>,
    controller: Arc<dyn GoalPolicy>,
    seconds: f64,
}

impl<'a> Fitted<'a> {
    fn new(what: &str, env: &str, data: &'a Dataset, config: &ChanceConfig) -> Outcome<Self> {
        let start = Instant::now();
        let model = Arc::new(ChanceModel::fit(data, config)?);
        let seconds = start.elapsed().as_secs_f64();
        let env = EnvId::from_name(env).ok_or("no such environment")?;
        let controller: Arc<dyn GoalPolicy> = match env.spec().action_width {
            8 => Arc::new(Walker),
            _ => Arc::new(StraightController::fit(data)?),
        };
        Ok(Self { what: what.to_owned(), env, data, model, controller, seconds })
    }

    fn planner(&self, objective: Objective) -> Outcome<StochasticPlanner> {
        Ok(StochasticPlanner::new(Arc::clone(&self.model), self.data, objective)?)
    }

    /// Drives `episodes` of each task and compares them with the forecast.
    fn measure(&self, objective: Objective, episodes: u64, seed: u64) -> Outcome<Value> {
        let (n_tasks, width) = (self.env.spec().n_tasks, self.env.spec().observation_width);
        let policy =
            PlannedPolicy { planner: self.planner(objective)?, policy: Arc::clone(&self.controller) };
        let config = RolloutConfig { episodes: episodes * n_tasks as u64, seed };
        let start = Instant::now();
        let rollouts = config.run(&*self.env.make()?, &policy);
        let drive_seconds = start.elapsed().as_secs_f64();
        let forecast = |rollout: &Rollout| policy.planner.forecasts(&rollout.states[..width], &rollout.goal);
        let forecasts = rollouts.iter().map(forecast).collect::<Result<Vec<_>, _>>()?;
        // A planner without cached goals.
        let (fresh, start) = (self.planner(objective)?, Instant::now());
        fresh.path(&rollouts[0].states[..width], &rollouts[0].goal)?;
        let goal_seconds = start.elapsed().as_secs_f64();
        let by_task = |of: &dyn Fn(usize) -> f64| -> Vec<Option<f64>> {
            let of_task = |task: usize| {
                let all = (task..rollouts.len()).step_by(n_tasks).map(of);
                let known: Vec<f64> = all.filter(|value| value.is_finite()).collect();
                (!known.is_empty()).then(|| mean(&known))
            };
            (0..n_tasks).map(of_task).collect()
        };
        let success = by_task(&|i| f64::from(u8::from(rollouts[i].success)));
        let steps = |i: usize| if rollouts[i].success { rollouts[i].steps as f64 } else { f64::NAN };
        let (problem, jumps) = (self.model.problem(), self.model.jumps());
        let row = json!({
            "what": self.what, "env": self.env.name(), "objective": format!("{objective:?}"), "data_sha256": self.data.content_hash(),
            "episodes": self.data.n_episodes(), "episodes_per_task": episodes, "task_seed": seed,
            "success": mean(&success.iter().flatten().copied().collect::<Vec<_>>()),
            "success_by_task": success, "steps_by_task": by_task(&steps),
            "teleports_by_task": by_task(&|i| teleports(&rollouts[i], width)),
            "forecast_success": by_task(&|i| forecasts[i].safe.success), "forecast_steps": by_task(&|i| forecasts[i].safe.steps),
            "gamble_success": by_task(&|i| forecasts[i].gamble.success), "gamble_steps": by_task(&|i| forecasts[i].gamble.steps),
            "jumps": jumps.jumps, "jump_columns": jumps.columns,
            "exit_counts": jumps.entries.iter().map(|entry| entry.exits.clone()).collect::<Vec<_>>(),
            "landmarks": problem.n_landmarks(), "moves": problem.moves().len(), "untested_moves": self.model.n_untested(),
            "reversible_share": self.model.reversible_share(), "radius_steps": self.model.radius_steps(),
            "build_seconds": self.seconds, "goal_seconds": goal_seconds, "drive_seconds": drive_seconds,
        });
        println!("{row}");
        Ok(row)
    }
}

/// Returns the number of steps that only teleporters explain.
fn teleports(rollout: &Rollout, width: usize) -> f64 {
    let states: Vec<&[f32]> = rollout.states.chunks_exact(width).collect();
    let length = |pair: &&[&[f32]]| (pair[0][0] - pair[1][0]).hypot(pair[0][1] - pair[1][1]);
    states.windows(2).filter(|pair| length(pair) > TELEPORT).count() as f64
}

/// Returns some episodes of a dataset, drawn with a seed.
fn some_episodes(data: &Dataset, n: usize, seed: u64) -> Outcome<Dataset> {
    let mut random = rng::stream(seed, 0);
    let mut numbers: Vec<usize> = (0..data.n_episodes()).collect();
    for place in 0..n {
        let other = place + rng::below(&mut random, numbers.len() - place);
        numbers.swap(place, other);
    }
    numbers.truncate(n);
    numbers.sort_unstable();
    let mut builder = DatasetBuilder::default();
    builder.begin(data.spec())?;
    numbers.into_iter().try_for_each(|episode| builder.episode(&data.episode(episode)))?;
    Ok(builder.finish())
}

/// Returns what the true map allows, by the same solver: success and steps of every task.
fn exact(seed: u64) -> Outcome<Value> {
    let env = EnvId::from_name("pointmaze-teleport").ok_or("no such environment")?;
    let (factory, n_tasks) = (env.make()?, env.spec().n_tasks);
    let map = PointMazeMdp::new(Maze::Teleport);
    let problem = as_problem(map.process());
    let task = |number: usize| {
        let mut episode = factory();
        episode.reset(seed, number as u64);
        let place = |state: &[f32]| [f64::from(state[0]), f64::from(state[1])];
        Some((map.state(place(episode.observation()))?, map.around(place(episode.goal()), SUCCESS_RADIUS)))
    };
    let of = |solve_one: &(dyn Fn(usize, Vec<usize>) -> Forecast + Sync)| -> Value {
        let solved: Vec<Option<Forecast>> = (0..EXACT_EPISODES * n_tasks)
            .into_par_iter()
            .map(|number| task(number).map(|(start, goals)| solve_one(start, goals)))
            .collect();
        let by_task = |value: &dyn Fn(&Forecast) -> f64| -> Vec<f64> {
            let of_task = |task: usize| {
                let own = solved.iter().skip(task).step_by(n_tasks).flatten();
                mean(&own.map(value).filter(|value| value.is_finite()).collect::<Vec<_>>())
            };
            (0..n_tasks).map(of_task).collect()
        };
        json!({"success_by_task": by_task(&|one| one.success), "steps_by_task": by_task(&|one| one.steps)})
    };
    let with_price = |outlook: Outlook, price: f64| {
        of(&|start, goals| {
            let ends: Vec<(u32, f32)> = goals.into_iter().map(|state| (state as u32, 0.0)).collect();
            let solution = solve(&problem, &ends, price, outlook, &[]);
            forecast(&problem, &solution, &ends, start as u32)
        })
    };
    let limit = env.spec().max_episode_steps;
    let with_discount = |discount: f64| -> Outcome<Value> {
        let solver = ExactSolver::new(map.process(), Discount::new(discount)?);
        Ok(of(&|start, goals| {
            let distances = solver.to_goal_set(&goals).expect("the goals are states");
            follow(map.process(), &distances, start, &goals, limit)
        }))
    };
    Ok(json!({
        "price_10000": with_price(Outlook::Counted, PRICE), "price_500": with_price(Outlook::Counted, 500.0),
        "shortest": with_price(Outlook::Wished, 1e6),
        "discount_0.99": with_discount(0.99)?, "discount_0.995": with_discount(0.995)?, "discount_0.999": with_discount(0.999)?,
    }))
}

/// Returns the success and the steps of an optimal discounted policy, by the probabilities of all
/// states after every step.
fn follow(
    process: &TabularMdp,
    to_goal: &GoalDistances,
    start: usize,
    goals: &[usize],
    limit: usize,
) -> Forecast {
    let mut at = BTreeMap::from([(start, 1.0)]);
    let (mut success, mut total) = (0.0, 0.0);
    for step in 1..=limit {
        let mut next = BTreeMap::<usize, f64>::new();
        for (state, mass) in at {
            let Some(action) = to_goal.action(state) else { continue };
            let row = process.action_row(state, action).expect("the policy chooses available actions");
            for (to, p) in row.iter() {
                match goals.contains(&to) {
                    true => (success, total) = (success + mass * p, total + mass * p * step as f64),
                    false => *next.entry(to).or_default() += mass * p,
                }
            }
        }
        at = next;
    }
    Forecast { success, steps: total / success }
}

/// Returns a process in which every action has one successor or the outcomes of a teleporter.
fn as_problem(process: &TabularMdp) -> Problem {
    let n = process.n_states();
    let (mut moves, mut is_entry, mut outcomes) = (Vec::new(), vec![false; n], Vec::new());
    for state in 0..n {
        for row in process.rows(state) {
            if let [to] = *row.successors {
                let from = state as u32;
                moves.push(Move { from, to, steps: 1.0, hazard: 0.0, source: Source::Recorded });
            } else {
                is_entry[state] = true;
                let landings = row.iter().map(|(to, p)| (to as u32, p)).collect();
                outcomes = vec![Outcomes { landings, unseen: 0.0 }];
            }
        }
    }
    Problem::new(moves, vec![0; n], is_entry, outcomes)
}
