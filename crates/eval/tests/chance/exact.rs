//! Small problems whose solutions are known.

use isochrone_core::{
    exact::{MdpBuilder, TabularMdp, hitting_statistics, reach_within},
    rng,
};
use isochrone_eval::chance::{
    Choice, Horizon, Move, Outcomes, Outlook, Problem, Source, forecast, forecast_within, solve,
};

fn step(from: u32, to: u32, steps: f32, hazard: f32) -> Move {
    Move { from, to, steps, hazard, source: Source::Recorded }
}

/// The number of steps of the safe path.
const SAFE: f32 = 40.0;
/// The landmarks of the gamble.
const START: u32 = 0;
const AT_GOAL: u32 = 1;
const TRAP: u32 = 2;
const HALFWAY: u32 = 3;

/// A teleporter at the start leads to the goal, to a trap, or back, with equal probabilities.
fn gamble() -> Problem {
    let moves = vec![step(START, HALFWAY, SAFE / 2.0, 0.0), step(HALFWAY, AT_GOAL, SAFE / 2.0, 0.0)];
    let landings = [START, AT_GOAL, TRAP].map(|landing| (landing, 1.0 / 3.0)).to_vec();
    let is_entry = vec![true, false, false, false];
    Problem::new(moves, vec![0; 4], is_entry, vec![Outcomes { landings, unseen: 0.0 }])
}

#[test]
fn the_price_of_failing_decides_between_the_safe_path_and_the_gamble() {
    let (problem, ends) = (gamble(), [(AT_GOAL, 0.0)]);
    // Entering costs `E = 1 + E / 3 + D / 3`, which is `(3 + D) / 2`.
    let break_even = 2.0 * f64::from(SAFE) - 3.0;
    for (price, choice, success) in
        [(break_even + 1.0, Choice::Move(0), 1.0), (break_even - 1.0, Choice::Enter, 0.5)]
    {
        let solution = solve(&problem, &ends, price, Outlook::Counted, &[]);
        assert_eq!(solution.choices[START as usize], choice, "{price}");
        assert_eq!(solution.choices[TRAP as usize], Choice::None);
        let value = f64::from(SAFE).min((3.0 + price) / 2.0);
        assert!((solution.values[START as usize] - value).abs() < 1e-3, "{solution:?}");
        let forecast = forecast(&problem, &solution, &ends, START);
        assert!((forecast.success - success).abs() < 1e-9, "{forecast:?}");
    }
}

#[test]
fn a_shortest_path_that_trusts_jumps_succeeds_half_of_the_time() {
    let (problem, ends) = (gamble(), [(AT_GOAL, 0.0)]);
    let solution = solve(&problem, &ends, 1e6, Outlook::Wished, &[]);
    assert_eq!(solution.choices[START as usize], Choice::Enter);
    // `p = 1/3 + p/3`; given success, the number of entries is geometric with mean 1.5.
    let forecast = forecast(&problem, &solution, &ends, START);
    assert!((forecast.success - 0.5).abs() < 1e-9 && (forecast.steps - 1.5).abs() < 1e-9, "{forecast:?}");
}

#[test]
fn outcomes_that_were_never_seen_count_as_failing() {
    let moves = vec![step(0, 1, 1.0, 0.5)];
    let outcomes = Outcomes { landings: vec![(1, 0.75)], unseen: 0.25 };
    let problem = Problem::new(moves, vec![0; 2], vec![false; 2], vec![outcomes]);
    let solution = solve(&problem, &[(1, 0.0)], 100.0, Outlook::Counted, &[]);
    assert!((solution.values[0] - (1.0 + 0.5 * 0.25 * 100.0)).abs() < 1e-3, "{solution:?}");
    assert!((forecast(&problem, &solution, &[(1, 0.0)], 0).success - 0.875).abs() < 1e-9);
}

#[test]
fn extra_steps_make_moves_dearer() {
    let problem = Problem::new(
        vec![step(0, 2, 5.0, 0.0), step(0, 1, 2.0, 0.0), step(1, 2, 2.0, 0.0)],
        vec![0; 3],
        vec![false; 3],
        Vec::new(),
    );
    let first = |extra: &[f32]| {
        let solution = solve(&problem, &[(2, 0.0)], 100.0, Outlook::Counted, extra);
        match solution.choices[0] {
            Choice::Move(index) => problem.moves()[index as usize].to,
            other => panic!("{other:?}"),
        }
    };
    // Moves are ordered by start and end: 0 to 1, 0 to 2, 1 to 2.
    assert_eq!((first(&[]), first(&[0.0, 0.0, 2.0])), (1, 2));
}

/// A random problem of a few landmarks, in which the last is the goal.
fn random_problem(seed: u64) -> Problem {
    let mut random = rng::stream(seed, 0);
    let n = 5;
    let mut moves = Vec::new();
    for from in 0..n - 1 {
        for _ in 0..2 {
            let to = rng::below(&mut random, n as usize) as u32;
            let hazard = if rng::below(&mut random, 2) == 0 { 0.0 } else { rng::unit_f64(&mut random) };
            if to != from && moves.iter().all(|other: &Move| (other.from, other.to) != (from, to)) {
                moves.push(step(from, to, 1.0 + rng::below(&mut random, 9) as f32, hazard as f32));
            }
        }
    }
    let mut weights: Vec<f64> = (0..3).map(|_| rng::unit_f64(&mut random)).collect();
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= total);
    let landings = (0..2).map(|i| (2 * i + rng::below(&mut random, 2) as u32, weights[i as usize]));
    let outcomes = Outcomes { landings: landings.collect(), unseen: weights[2] };
    let is_entry = (0..n).map(|landmark| landmark < n - 1 && rng::below(&mut random, 2) == 0).collect();
    Problem::new(moves, vec![0; n as usize], is_entry, vec![outcomes])
}

/// The choices at each landmark, with giving up.
fn choices(problem: &Problem, landmark: u32) -> Vec<Choice> {
    let own = problem.moves().iter().enumerate().filter(|(_, step)| step.from == landmark);
    let mut choices: Vec<Choice> = own.map(|(index, _)| Choice::Move(index as u32)).collect();
    choices.extend(problem.is_entry(landmark as usize).then_some(Choice::Enter));
    choices.push(Choice::None);
    choices
}

/// The expected cost of a policy from each landmark, by the hitting statistics of its chain.
fn cost_of(problem: &Problem, policy: &[Choice], price: f64) -> Vec<f64> {
    let (n, outcomes) = (problem.n_landmarks(), &problem.outcomes()[0]);
    let (goal, failed) = (n - 1, n);
    let mut edges = vec![(goal, goal, 1.0), (failed, failed, 1.0)];
    let mut steps = vec![0.0; n];
    for landmark in 0..n - 1 {
        let jump = match policy[landmark] {
            Choice::Move(index) => {
                let own = problem.moves()[index as usize];
                steps[landmark] = f64::from(own.steps);
                edges.push((landmark, own.to as usize, 1.0 - f64::from(own.hazard)));
                f64::from(own.hazard)
            }
            Choice::Enter => {
                steps[landmark] = 1.0;
                1.0
            }
            _ => {
                edges.push((landmark, failed, 1.0));
                0.0
            }
        };
        edges.extend(outcomes.landings.iter().map(|&(to, p)| (landmark, to as usize, jump * p)));
        edges.push((landmark, failed, jump * outcomes.unseen));
    }
    edges.retain(|(_, _, probability)| *probability > 0.0);
    let chain = TabularMdp::chain_from_edges(n + 1, edges).unwrap();
    let statistics = hitting_statistics(&chain, &[goal, failed]).unwrap();
    let cost = |from: usize, to: usize| steps[from] + if to == failed { price } else { 0.0 };
    let costs = statistics.mean_if_reached(cost);
    let ends = statistics.reach_probability();
    (0..n).map(|landmark| if ends[landmark] > 1.0 - 1e-9 { costs[landmark] } else { f64::INFINITY }).collect()
}

#[test]
fn values_are_those_of_the_best_of_all_policies() {
    for seed in 0..40 {
        let (problem, price) = (random_problem(seed), 30.0);
        let n = problem.n_landmarks();
        let options: Vec<Vec<Choice>> = (0..n as u32 - 1).map(|mark| choices(&problem, mark)).collect();
        let mut best = vec![price; n];
        for mut number in 0..options.iter().map(Vec::len).product::<usize>() {
            let policy: Vec<Choice> = options
                .iter()
                .map(|options| {
                    let choice = options[number % options.len()];
                    number /= options.len();
                    choice
                })
                .collect();
            let costs = cost_of(&problem, &policy, price);
            best.iter_mut().zip(costs).for_each(|(best, cost)| *best = best.min(cost));
        }
        best[n - 1] = 0.0;
        let solution = solve(&problem, &[(n as u32 - 1, 0.0)], price, Outlook::Counted, &[]);
        for (value, best) in solution.values.iter().zip(&best) {
            assert!((value - best).abs() < 0.01, "seed {seed}: {:?} but {best:?}", solution.values);
        }
    }
}

#[test]
fn a_finite_horizon_gambles_exactly_when_it_must() {
    let (problem, ends) = (gamble(), [(AT_GOAL, 0.0)]);
    for (steps, choice) in [(SAFE as usize, Choice::Move(0)), (SAFE as usize - 1, Choice::Enter)] {
        let horizon = Horizon::new(&problem, &ends, steps);
        assert_eq!(horizon.choice(&problem, START as usize, steps).0, choice, "{steps}");
    }
    // With three steps left, it can enter three times: `1/3 + 1/9 + 1/27`.
    let forecast = forecast_within(&problem, &Horizon::new(&problem, &ends, 3), START);
    assert!((forecast.success - 13.0 / 27.0).abs() < 1e-6, "{forecast:?}");
}

#[test]
fn a_finite_horizon_agrees_with_the_exact_solver() {
    for seed in 0..20 {
        let random = random_problem(seed);
        let unit = random.moves().iter().map(|own| Move { steps: 1.0, ..*own }).collect();
        let n = random.n_landmarks();
        let is_entry = (0..n).map(|landmark| random.is_entry(landmark)).collect();
        let problem = Problem::new(unit, vec![0; n], is_entry, random.outcomes().to_vec());
        let outcomes = &problem.outcomes()[0];
        let mut builder = MdpBuilder::new(n + 1);
        for landmark in 0..n {
            for (action, choice) in choices(&problem, landmark as u32).into_iter().enumerate() {
                let jump = match choice {
                    Choice::Move(index) => {
                        let own = problem.moves()[index as usize];
                        builder.transition(landmark, action, own.to as usize, 1.0 - f64::from(own.hazard));
                        f64::from(own.hazard)
                    }
                    Choice::Enter => 1.0,
                    _ => {
                        builder.transition(landmark, action, landmark, 1.0);
                        0.0
                    }
                };
                if jump > 0.0 {
                    builder.transition(landmark, action, n, jump * outcomes.unseen);
                    for &(to, p) in &outcomes.landings {
                        builder.transition(landmark, action, to as usize, jump * p);
                    }
                }
            }
        }
        builder.transition(n, 0, n, 1.0);
        let mdp = builder.build().unwrap();
        for steps in [1, 2, 3, 7, 20] {
            let exact = reach_within(&mdp, &[n - 1], steps);
            let horizon = Horizon::new(&problem, &[(n as u32 - 1, 0.0)], steps);
            for start in 0..n {
                let success = forecast_within(&problem, &horizon, start as u32).success;
                // A step costs a probability of 1e-5, so that of similar paths the shorter is
                // taken.
                assert!((success - exact[start]).abs() < 3e-4, "{seed} {steps}: {success} {exact:?}");
            }
        }
    }
}
