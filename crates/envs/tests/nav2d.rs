//! The streets match their description, and rollouts match the exact solver.

use isochrone_core::{Discount, Environment as _, GoalPolicy as _, rng};
use isochrone_envs::{
    EnvId, Point,
    nav2d::{ExactPolicy, HEADINGS, Nav2d, Nav2dEnvironment, StreetMap, heading},
};

fn distance(a: Point, b: Point) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

#[test]
fn episodes_of_datasets_stay_on_one_street() {
    let streets = Nav2d::standard();
    let data = streets.dataset(300, 3);
    let mut streets_seen = [false; 4];
    for number in 0..data.n_episodes() {
        let episode = data.episode(number);
        assert!((5..=200).contains(&episode.steps), "{} steps", episode.steps);
        let sites: Vec<usize> = episode
            .observations
            .chunks(2)
            .map(|row| streets.nearest([f64::from(row[0]), f64::from(row[1])]))
            .collect();
        // With observation noise, the nearest site is sometimes a neighbor of the true one.
        let share = |street: usize| {
            let on = sites.iter().filter(|&&site| streets.sites()[site].directions[street].is_some()).count();
            on as f64 / sites.len() as f64
        };
        let best = (0..4).max_by(|&a, &b| share(a).total_cmp(&share(b))).unwrap();
        assert!(share(best) > 0.75, "episode {number} is on no street");
        streets_seen[best] = true;
        for action in episode.actions.chunks(2) {
            assert!((action[0].hypot(action[1]) - 1.0).abs() < 1e-6);
        }
    }
    assert_eq!(streets_seen, [true; 4]);
}

#[test]
fn datasets_depend_only_on_the_seed() {
    let streets = Nav2d::standard();
    let (few, many, other) = (streets.dataset(20, 5), streets.dataset(40, 5), streets.dataset(20, 6));
    for number in 0..20 {
        assert_eq!(few.episode(number), many.episode(number));
    }
    assert_ne!(few.content_hash(), other.content_hash());
}

/// Every transition leads forward along at least one street of each of its sites.
#[test]
fn streets_are_one_way() {
    let streets = Nav2d::standard();
    let sites = streets.sites();
    for from in 0..sites.len() {
        for &to in streets.successors(from) {
            let path = [0, 1].map(|axis| sites[to].place[axis] - sites[from].place[axis]);
            let is_forward = |site: usize| {
                sites[site]
                    .directions
                    .iter()
                    .flatten()
                    .any(|along| path[0] * along[0] + path[1] * along[1] > 0.0)
            };
            assert!(is_forward(from) && is_forward(to));
            assert!(distance(sites[from].place, sites[to].place) <= streets.map().reach);
        }
    }
    let ends = (0..sites.len()).filter(|&site| streets.successors(site).is_empty()).count();
    assert!((1..=6).contains(&ends), "{ends} dead ends");
}

#[test]
fn transitions_have_the_expected_frequencies() {
    let streets = Nav2d::standard();
    let site = (0..streets.sites().len()).find(|&site| streets.successors(site).len() >= 6).unwrap();
    let push = heading(3);
    let expected = streets.transitions(site, push);
    assert!((expected.iter().map(|(_, p)| p).sum::<f64>() - 1.0).abs() < 1e-12);
    let mut counts = vec![0.0; streets.sites().len()];
    let mut environment = streets.environment();
    const DRAWS: usize = 20_000;
    for number in 0..DRAWS as u64 {
        environment.reset(1, number);
        let goal = environment.goal_site();
        environment.set_sites(site, goal);
        environment.step(&push.map(|x| x as f32));
        counts[environment.site()] += 1.0;
    }
    for (to, probability) in expected {
        let deviation = (probability * (1.0 - probability) / DRAWS as f64).sqrt();
        let share = counts[to] / DRAWS as f64;
        assert!(
            (share - probability).abs() < 5.0 * deviation + 1e-6,
            "{to}: {share} instead of {probability}"
        );
    }
}

#[test]
fn tasks_are_far_and_reachable() {
    let streets = Nav2d::standard();
    for number in 0..500 {
        let (start, goal) = streets.task(9, number);
        assert!(streets.is_reachable(start, goal));
        assert!(
            distance(streets.sites()[start].place, streets.sites()[goal].place)
                >= streets.map().goal_distance
        );
    }
}

#[test]
fn an_episode_can_be_repeated() {
    let mut random = rng::stream(0, 0);
    let actions: Vec<[f32; 2]> =
        (0..50).map(|_| [(); 2].map(|()| rng::unit_f64(&mut random) as f32)).collect();
    let walk = || {
        let mut environment = EnvId::from_name("nav2d").unwrap().make().unwrap()();
        environment.reset(4, 17);
        let steps: Vec<_> = actions
            .iter()
            .map(|action| (environment.step(action), environment.observation().to_vec()))
            .collect();
        (environment.goal().to_vec(), steps)
    };
    assert_eq!(walk(), walk());
}

#[test]
fn actions_that_are_not_finite_count_as_zero() {
    let mut environment = Nav2d::standard().environment();
    environment.reset(0, 0);
    let step = environment.step(&[f32::NAN, f32::INFINITY]);
    assert!(step.reward.is_finite() && environment.observation().iter().all(|x| x.is_finite()));
}

/// Returns the success rate of a policy over tasks of one seed, and calls `at_start` after each
/// reset.
fn success_rate(
    streets: &Nav2d,
    tasks: u64,
    policy: impl Fn(&[f32], &[f32]) -> Vec<f32>,
    mut at_start: impl FnMut(&Nav2dEnvironment),
) -> f64 {
    let mut environment = streets.environment();
    let mut successes = 0;
    for number in 0..tasks {
        environment.reset(11, number);
        at_start(&environment);
        for _ in 0..streets.map().max_episode_steps {
            let action = policy(environment.observation(), environment.goal());
            let step = environment.step(&action);
            successes += u32::from(step.success);
            if step.terminated {
                break;
            }
        }
    }
    f64::from(successes) / tasks as f64
}

/// The success rate agrees with the solver, up to sampling error and observation noise.
#[test]
fn the_exact_policy_succeeds_as_often_as_computed() {
    let streets = Nav2d::standard();
    let policy = ExactPolicy::new(&streets, Discount::new(0.9999).unwrap());
    let mut expected = 0.0;
    const TASKS: u64 = 400;
    let act = |observation: &[f32], goal: &[f32]| policy.actions(observation, goal);
    let observed = success_rate(&streets, TASKS, act, |environment| {
        expected += policy.discounted_success(environment.site(), environment.goal_site());
    });
    expected /= TASKS as f64;
    assert!(
        expected > 0.97 && observed > expected - 0.05 && observed <= expected + 0.02,
        "{observed} of {expected}"
    );
}

/// On the streets of version 2, moving straight towards the goal reaches less than 40 % of the
/// goals, and the exact policy more than 99 %; on those of version 1, straight motion suffices for
/// four of five.
#[test]
fn straight_motion_fails_on_version_2() {
    const TASKS: u64 = 1000;
    let straight =
        |observation: &[f32], goal: &[f32]| vec![goal[0] - observation[0], goal[1] - observation[1]];
    let streets = Nav2d::version_2();
    let exact = ExactPolicy::new(&streets, Discount::new(0.9999).unwrap());
    let act = |observation: &[f32], goal: &[f32]| exact.actions(observation, goal);
    let rates = [
        success_rate(&streets, TASKS, straight, |_| ()),
        success_rate(&streets, TASKS, act, |_| ()),
        success_rate(&Nav2d::standard(), TASKS, straight, |_| ()),
    ];
    println!("straight {}, exact {}, straight on version 1 {}", rates[0], rates[1], rates[2]);
    assert!(rates[0] < 0.4 && rates[1] > 0.99 && rates[2] > 0.75, "{rates:?}");
}

/// Every site of version 2 can be reached from every other: a wrong turn costs time only.
#[test]
fn version_2_has_no_dead_ends() {
    let streets = Nav2d::version_2();
    let sites = streets.sites().len();
    assert!((0..sites).all(|from| (0..sites).all(|to| streets.is_reachable(from, to))));
}

#[test]
fn the_mdp_has_the_transitions_of_the_environment() {
    let streets = Nav2d::standard();
    let process = streets.to_mdp();
    assert_eq!(process.n_states(), streets.sites().len());
    for site in (0..streets.sites().len()).step_by(37) {
        for action in [0, HEADINGS / 3, HEADINGS - 1] {
            let mut transitions = streets.transitions(site, heading(action));
            if transitions.is_empty() {
                transitions.push((site, 1.0));
            }
            let row: Vec<(usize, f64)> = process.action_row(site, action).unwrap().iter().collect();
            transitions.retain(|(_, p)| *p > 0.0);
            transitions.sort_by_key(|(to, _)| *to);
            assert_eq!(row.len(), transitions.len());
            assert!(row.iter().zip(&transitions).all(|(a, b)| a.0 == b.0 && (a.1 - b.1).abs() < 1e-12));
        }
    }
}

#[test]
fn invalid_descriptions_are_rejected() {
    let with = |from: &str, to: &str| {
        assert!(StreetMap::STANDARD.contains(from), "{from}");
        StreetMap::parse(&StreetMap::STANDARD.replace(from, to))
            .and_then(Nav2d::new)
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    for (from, to, named) in [
        ("speed = 1.25", "speed = 0", "speed"),
        ("speed = 1.25", "speed = nan", "speed"),
        ("speed = 1.25", "", "speed"),
        ("speed = 1.25", "velocity = 1.25", "velocity"),
        ("sites_per_unit = 2.0", "sites_per_unit = 1e9", "sites_per_unit"),
        ("points = [[-13, 0], [18, 0]]", "points = [[-13, 0]]", "west to east"),
        ("points = [[-13, 0], [18, 0]]", "points = [[-13, 0], [1e30, 0]]", "west to east"),
        ("drift_kept = 0.8", "drift_kept = 1.0", "drift_kept"),
        ("goal_distance = 6.0", "goal_distance = 600.0", "far enough"),
    ] {
        let error = with(from, to);
        assert!(error.contains(named) && error.contains("hint:"), "{to}: {error}");
    }
}
