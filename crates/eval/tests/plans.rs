//! Attempts and plans in a world that is known: a ring of one-way cells.

use isochrone_core::{Discount, Environment, GoalPolicy, ShapeError, StepResult, TemporalDistance, rng};
use isochrone_data::Dataset;
use isochrone_eval::{
    plan::{PlanError, PlanMethod, PlannedPolicy, Planner, RecordedPlanner, Transitions, Waypoints as _},
    refined::{RefinedConfig, RefinedDistance},
    rollout::{RolloutConfig, success_rate},
};

/// Cells of the ring.
const CELLS: usize = 24;

/// Steps forward around the ring, exactly; what is farther than `honest_steps` looks equally far, as distances that were learned do.
struct RingDistance {
    honest_steps: f32,
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
        from.iter().zip(to).map(|(&from, &to)| ahead(from, to).min(self.honest_steps) * unit).collect()
    }

    fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        from.iter().flat_map(|&from| self.paired_nats(&vec![from; to.len()], to)).collect()
    }
}

/// A push of 1 goes on, anything else falls off the ring once in two.
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

/// Knows what to do up to four cells before a goal, and nothing else.
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

/// Every cell, and a step forward from each.
fn moves() -> Transitions {
    let states: Vec<f32> = (0..CELLS).map(|cell| cell as f32).collect();
    let next = states.iter().map(|cell| (cell + 1.0) % CELLS as f32).collect();
    Transitions { states, actions: vec![1.0; CELLS], next_states: next }
}

const ATTEMPTS: RolloutConfig = RolloutConfig { episodes: 300, seed: 3 };

#[test]
fn a_short_sighted_policy_needs_a_plan() {
    let distance = RingDistance { honest_steps: 8.0 };
    let alone = ATTEMPTS.run(&ring, &ShortSighted);
    assert!(success_rate(&alone) < 0.4, "{}", success_rate(&alone));
    let planner = Planner::new(PlanMethod::Graph { max_edge_steps: 4.5 }, &distance, moves()).unwrap();
    let planned = ATTEMPTS.run(&ring, &PlannedPolicy { planner, policy: &ShortSighted });
    assert_eq!(success_rate(&planned), 1.0);
    // Nothing is longer than the way itself.
    for rollout in &planned {
        assert_eq!(rollout.steps as f32, ahead(rollout.states[0], rollout.goal[0]));
        assert_eq!(rollout.total_reward, -(rollout.steps as f64));
        assert_eq!(rollout.states.len(), rollout.steps + 1);
    }
}

/// Recorded moves lead forward only: waypoints are recorded states so many steps ahead, and nothing leads back.
#[test]
fn recorded_waypoints_are_recorded_states_ahead() {
    let drive = |first: usize| (first..first + 60).map(|step| 0.5 * step as f32).collect::<Vec<f32>>();
    let data = Dataset::from_arrays(1, 0, [0, 30, 60].map(|first| (drive(first), Vec::new()))).unwrap();
    let distance = RefinedDistance::fit(&data, &RefinedConfig::default()).unwrap();
    assert!(
        distance.steps(&[10.0], &[9.0]).unwrap().is_infinite(),
        "nobody ever went back, not even a little"
    );
    let planner = RecordedPlanner::new(distance, &data, 8.0);
    for (from, goal) in [(0.0, 55.0), (3.5, 20.0), (14.0, 50.0), (29.0, 59.0)] {
        let next = planner.next(&[from], &[goal])[0];
        assert!((next - from - 4.0).abs() <= 0.5, "8 steps of 0.5 from {from} to {goal}: {next}");
    }
    assert_eq!(planner.next(&[10.0], &[11.0]), [11.0], "a goal that is near is the waypoint");
    assert_eq!(planner.is_reachable(&[20.0, 20.0], &[40.0, 2.0]), [true, false]);
    assert_eq!(planner.next(&[20.0], &[2.0]), [2.0], "without a path, the policy is given the goal");
}

#[test]
fn greedy_plans_repeat_what_was_done() {
    // Everything is known: the best next state is the nearest to the goal.
    let distance = RingDistance { honest_steps: 100.0 };
    let planner = || Planner::new(PlanMethod::Greedy { radius: 0.5 }, &distance, moves()).unwrap();
    let planned = ATTEMPTS.run(&ring, &PlannedPolicy { planner: planner(), policy: &ShortSighted });
    assert_eq!(success_rate(&planned), 1.0);
    let path = planner().plan(&[20.0], &[2.0]).unwrap();
    assert_eq!(path.states, [20.0, 21.0, 22.0, 23.0, 0.0, 1.0, 2.0, 2.0]);
    assert!((path.steps() - 6.0).abs() < 1e-5 && (path.steps_left[0] - 6.0).abs() < 1e-5);
}

#[test]
fn ways_go_around_the_ring_in_its_direction() {
    let distance = RingDistance { honest_steps: 8.0 };
    let planner = Planner::new(PlanMethod::Graph { max_edge_steps: 4.5 }, &distance, moves()).unwrap();
    let path = planner.plan(&[3.0], &[1.0]).unwrap();
    let stops = &path.states;
    assert!(stops.windows(2).all(|pair| (1.0..=4.5).contains(&ahead(pair[0], pair[1]))), "{stops:?}");
    let total: f32 = stops.windows(2).map(|pair| ahead(pair[0], pair[1])).sum();
    assert_eq!(total, 22.0);
    // Near goals need no stops.
    assert_eq!(planner.plan(&[3.0], &[6.0]).unwrap().waypoints().len(), 0);
}

#[test]
fn there_is_no_way_over_a_gap() {
    let distance = RingDistance { honest_steps: 100.0 };
    let mut some = moves();
    for rows in [&mut some.states, &mut some.next_states, &mut some.actions] {
        *rows = rows.iter().take(10).copied().collect();
    }
    let planner = Planner::new(PlanMethod::Graph { max_edge_steps: 3.5 }, &distance, some.clone()).unwrap();
    assert_eq!(planner.plan(&[2.0], &[20.0]), Err(PlanError::NoPath));
    assert!(planner.plan(&[2.0], &[12.0]).is_ok());
    // Without a way, the goal itself is what is left to aim at.
    assert_eq!(planner.next(&[2.0, 2.0], &[20.0, 12.0])[0], 20.0);
    let greedy = Planner::new(PlanMethod::Greedy { radius: 0.5 }, &distance, some).unwrap();
    assert_eq!(greedy.plan(&[2.0], &[20.0]), Err(PlanError::NoPath));
}

/// Chance decides where one move leads: what counts is where an action leads on average.
#[test]
fn greedy_plans_do_not_believe_in_luck() {
    let distance = RingDistance { honest_steps: 100.0 };
    // From 0: a push of 1 leads to 2 in nine of ten cases; a push of -1 led to 5 once and to 23 nine times.
    let mut moves = Transitions::default();
    for number in 0..10 {
        moves.states.extend([0.0, 0.0]);
        moves.actions.extend([1.0, -1.0]);
        moves.next_states.extend([if number == 0 { 1.0 } else { 2.0 }, if number == 0 { 5.0 } else { 23.0 }]);
    }
    let planner = Planner::new(PlanMethod::Greedy { radius: 0.5 }, &distance, moves).unwrap();
    let planned = PlannedPolicy { planner, policy: &ShortSighted };
    assert_eq!(planned.actions(&[0.0], &[6.0]), [1.0]);
    // Where nothing was recorded, the policy decides.
    assert_eq!(planned.actions(&[10.0], &[12.0]), [1.0]);
    assert_eq!(planned.actions(&[10.0], &[20.0]), [0.0]);
}

#[test]
fn rollouts_do_not_depend_on_threads() {
    let distance = RingDistance { honest_steps: 8.0 };
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let planner = Planner::new(PlanMethod::Graph { max_edge_steps: 4.5 }, &distance, moves()).unwrap();
        pool.install(|| {
            let planned = ATTEMPTS.run(&ring, &PlannedPolicy { planner, policy: &ShortSighted });
            (planned, ATTEMPTS.run(&ring, &ShortSighted))
        })
    };
    assert_eq!(run(1), run(2));
}

#[test]
fn wrong_input_is_refused() {
    let distance = RingDistance { honest_steps: 8.0 };
    let graph = |max_edge_steps: f64, transitions: Transitions| {
        Planner::new(PlanMethod::Graph { max_edge_steps }, &distance, transitions).err()
    };
    assert_eq!(graph(4.5, Transitions::default()), Some(PlanError::NoTransitions));
    assert_eq!(graph(0.0, moves()), Some(PlanError::Setting { setting: "max_edge_steps", value: 0.0 }));
    let planner = Planner::new(PlanMethod::Greedy { radius: 0.5 }, &distance, moves()).unwrap();
    let wrong = PlanError::Shape { argument: "goal", numbers: 2, width: 1 };
    assert_eq!(planner.plan(&[1.0], &[1.0, 2.0]), Err(wrong));
}
