//! Rollouts and plans in a known environment: a ring of one-way cells.

use isochrone_core::{Discount, Environment, GoalPolicy, ShapeError, StepResult, TemporalDistance, rng};
use isochrone_data::Dataset;
use isochrone_eval::{
    plan::{PlanError, PlanMethod, PlannedPolicy, Planner, RecordedPlanner, Transitions, Waypoints as _},
    refined::{RefinedConfig, RefinedDistance},
    rollout::{RolloutConfig, success_rate},
};

/// The number of cells in the ring.
const CELLS: usize = 24;

/// The exact number of steps forward around the ring, which saturates at `max_steps`, as learned
/// distances do.
struct RingDistance {
    max_steps: f32,
}

fn ahead(from: f32, to: f32) -> f32 {
    (to - from).rem_euclid(CELLS as f32)
}

impl TemporalDistance for RingDistance {
    fn width(&self) -> usize {
        1
    }

    fn discount(&self) -> Discount {
        Discount::new(0.9).unwrap()
    }

    fn paired_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        self.check_paired(from, to).unwrap_or_else(ShapeError::panic);
        let unit = self.discount().nats_per_step() as f32;
        from.iter().zip(to).map(|(&from, &to)| ahead(from, to).min(self.max_steps) * unit).collect()
    }

    fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        from.iter().flat_map(|&from| self.paired_nats(&vec![from; to.len()], to)).collect()
    }
}

/// A ring environment. Every action moves one cell forward; actions other than 1 terminate the
/// episode without success with probability 0.5.
struct Ring {
    here: [f32; 1],
    goal: [f32; 1],
    random: rand_chacha::ChaCha8Rng,
}

fn ring() -> Box<dyn Environment> {
    Box::new(Ring { here: [0.0], goal: [0.0], random: rng::stream(0, 0) })
}

impl Environment for Ring {
    fn observation_width(&self) -> usize {
        1
    }

    fn action_width(&self) -> usize {
        1
    }

    fn max_episode_steps(&self) -> usize {
        40
    }

    fn reset(&mut self, seed: u64, number: u64) {
        self.random = rng::stream(seed, number);
        let start = rng::below(&mut self.random, CELLS);
        self.here = [start as f32];
        self.goal = [((start + 1 + rng::below(&mut self.random, CELLS - 1)) % CELLS) as f32];
    }

    fn observation(&self) -> &[f32] {
        &self.here
    }

    fn goal(&self) -> &[f32] {
        &self.goal
    }

    fn step(&mut self, action: &[f32]) -> StepResult {
        let is_fallen = action[0] != 1.0 && rng::unit_f64(&mut self.random) < 0.5;
        self.here = [(self.here[0] + 1.0) % CELLS as f32];
        let success = self.here == self.goal && !is_fallen;
        StepResult { reward: -1.0, success, terminated: success || is_fallen }
    }
}

/// A policy that takes the correct action only up to four cells before a goal.
struct ShortSighted;

impl GoalPolicy for ShortSighted {
    fn observation_width(&self) -> usize {
        1
    }

    fn action_width(&self) -> usize {
        1
    }

    fn actions(&self, observations: &[f32], goals: &[f32]) -> Vec<f32> {
        self.check_actions(observations, goals).unwrap_or_else(ShapeError::panic);
        let push = |(&here, &goal): (&f32, &f32)| if ahead(here, goal) <= 4.0 { 1.0 } else { 0.0 };
        observations.iter().zip(goals).map(push).collect()
    }
}

/// Returns one step forward from each cell.
fn transitions() -> Transitions {
    let states: Vec<f32> = (0..CELLS).map(|cell| cell as f32).collect();
    let next = states.iter().map(|cell| (cell + 1.0) % CELLS as f32).collect();
    Transitions { states, actions: vec![1.0; CELLS], next_states: next }
}

const ROLLOUTS: RolloutConfig = RolloutConfig { episodes: 300, seed: 3 };

#[test]
fn a_short_sighted_policy_needs_a_plan() {
    let distance = RingDistance { max_steps: 8.0 };
    let unplanned = ROLLOUTS.run(&ring, &ShortSighted);
    assert!(success_rate(&unplanned) < 0.4, "{}", success_rate(&unplanned));
    let planner = Planner::new(PlanMethod::Graph { max_edge_steps: 4.5 }, &distance, transitions()).unwrap();
    let planned = ROLLOUTS.run(&ring, &PlannedPolicy { planner, policy: &ShortSighted });
    assert_eq!(success_rate(&planned), 1.0);
    // Every rollout takes the shortest path.
    for rollout in &planned {
        assert_eq!(rollout.steps as f32, ahead(rollout.states[0], rollout.goal[0]));
        assert_eq!(rollout.total_reward, -(rollout.steps as f64));
        assert_eq!(rollout.states.len(), rollout.steps + 1);
    }
}

/// Recorded segments lead only forward: waypoints are recorded states a fixed number of steps
/// ahead, and no path leads back.
#[test]
fn recorded_waypoints_are_recorded_states_ahead() {
    let episode = |first: usize| (first..first + 60).map(|step| 0.5 * step as f32).collect::<Vec<f32>>();
    let data = Dataset::from_arrays(1, 0, [0, 30, 60].map(|first| (episode(first), Vec::new()))).unwrap();
    let distance = RefinedDistance::fit(&data, &RefinedConfig::default()).unwrap();
    assert!(distance.steps(&[10.0], &[9.0]).unwrap().is_infinite(), "no trajectory goes back");
    let planner = RecordedPlanner::new(distance, &data, 8.0);
    for (from, goal) in [(0.0, 55.0), (3.5, 20.0), (14.0, 50.0), (29.0, 59.0)] {
        let next = planner.next(&[from], &[goal])[0];
        assert!((next - from - 4.0).abs() <= 0.5, "8 steps of 0.5 from {from} to {goal}: {next}");
    }
    assert_eq!(planner.next(&[10.0], &[11.0]), [11.0], "a nearby goal is the waypoint");
    assert_eq!(planner.is_reachable(&[20.0, 20.0], &[40.0, 2.0]), [true, false]);
    assert_eq!(planner.next(&[20.0], &[2.0]), [2.0], "without a path, the policy gets the goal");
}

#[test]
fn greedy_plans_repeat_recorded_actions() {
    // The distance does not saturate, so the best next state is the nearest to the goal.
    let distance = RingDistance { max_steps: 100.0 };
    let planner = || Planner::new(PlanMethod::Greedy { radius: 0.5 }, &distance, transitions()).unwrap();
    let planned = ROLLOUTS.run(&ring, &PlannedPolicy { planner: planner(), policy: &ShortSighted });
    assert_eq!(success_rate(&planned), 1.0);
    let path = planner().plan(&[20.0], &[2.0]).unwrap();
    assert_eq!(path.states, [20.0, 21.0, 22.0, 23.0, 0.0, 1.0, 2.0, 2.0]);
    assert!((path.steps() - 6.0).abs() < 1e-5 && (path.steps_left[0] - 6.0).abs() < 1e-5);
}

#[test]
fn paths_follow_the_direction_of_the_ring() {
    let distance = RingDistance { max_steps: 8.0 };
    let planner = Planner::new(PlanMethod::Graph { max_edge_steps: 4.5 }, &distance, transitions()).unwrap();
    let path = planner.plan(&[3.0], &[1.0]).unwrap();
    let states = &path.states;
    assert!(states.windows(2).all(|pair| (1.0..=4.5).contains(&ahead(pair[0], pair[1]))), "{states:?}");
    let total: f32 = states.windows(2).map(|pair| ahead(pair[0], pair[1])).sum();
    assert_eq!(total, 22.0);
    // Nearby goals need no waypoints.
    assert_eq!(planner.plan(&[3.0], &[6.0]).unwrap().waypoints().len(), 0);
}

#[test]
fn there_is_no_path_across_a_gap() {
    let distance = RingDistance { max_steps: 100.0 };
    let mut some = transitions();
    for rows in [&mut some.states, &mut some.next_states, &mut some.actions] {
        *rows = rows.iter().take(10).copied().collect();
    }
    let planner = Planner::new(PlanMethod::Graph { max_edge_steps: 3.5 }, &distance, some.clone()).unwrap();
    assert_eq!(planner.plan(&[2.0], &[20.0]), Err(PlanError::NoPath));
    assert!(planner.plan(&[2.0], &[12.0]).is_ok());
    // Without a path, the waypoint is the goal itself.
    assert_eq!(planner.next(&[2.0, 2.0], &[20.0, 12.0])[0], 20.0);
    let greedy = Planner::new(PlanMethod::Greedy { radius: 0.5 }, &distance, some).unwrap();
    assert_eq!(greedy.plan(&[2.0], &[20.0]), Err(PlanError::NoPath));
}

/// Transitions are stochastic, so the mean over similar actions counts, not the best single
/// transition.
#[test]
fn greedy_plans_average_over_random_outcomes() {
    let distance = RingDistance { max_steps: 100.0 };
    // From 0: action 1 leads to 2 in nine of ten cases; action -1 leads to 5 once and to 23 nine
    // times.
    let mut transitions = Transitions::default();
    for number in 0..10 {
        transitions.states.extend([0.0, 0.0]);
        transitions.actions.extend([1.0, -1.0]);
        let next = if number == 0 { [1.0, 5.0] } else { [2.0, 23.0] };
        transitions.next_states.extend(next);
    }
    let planner = Planner::new(PlanMethod::Greedy { radius: 0.5 }, &distance, transitions).unwrap();
    let planned = PlannedPolicy { planner, policy: &ShortSighted };
    assert_eq!(planned.actions(&[0.0], &[6.0]), [1.0]);
    // Without nearby transitions, the policy acts.
    assert_eq!(planned.actions(&[10.0], &[12.0]), [1.0]);
    assert_eq!(planned.actions(&[10.0], &[20.0]), [0.0]);
}

#[test]
fn rollouts_do_not_depend_on_threads() {
    let distance = RingDistance { max_steps: 8.0 };
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let planner =
            Planner::new(PlanMethod::Graph { max_edge_steps: 4.5 }, &distance, transitions()).unwrap();
        pool.install(|| {
            let planned = ROLLOUTS.run(&ring, &PlannedPolicy { planner, policy: &ShortSighted });
            (planned, ROLLOUTS.run(&ring, &ShortSighted))
        })
    };
    assert_eq!(run(1), run(2));
}

#[test]
fn invalid_input_is_rejected() {
    let distance = RingDistance { max_steps: 8.0 };
    let graph = |max_edge_steps: f64, transitions: Transitions| {
        Planner::new(PlanMethod::Graph { max_edge_steps }, &distance, transitions).err()
    };
    assert_eq!(graph(4.5, Transitions::default()), Some(PlanError::NoTransitions));
    assert_eq!(graph(0.0, transitions()), Some(PlanError::Setting { setting: "max_edge_steps", value: 0.0 }));
    let planner = Planner::new(PlanMethod::Greedy { radius: 0.5 }, &distance, transitions()).unwrap();
    let wrong = PlanError::Shape { argument: "goal", numbers: 2, width: 1 };
    assert_eq!(planner.plan(&[1.0], &[1.0, 2.0]), Err(wrong));
}
