//! The world of streets is what its description says, and what the exact solver computes is what happens in it.

use isochrone_core::{Discount, Environment as _, GoalPolicy as _, rng};
use isochrone_envs::{
    World,
    nav2d::{ExactPolicy, HEADINGS, Nav2d, Plan, apart, heading},
};

#[test]
fn recordings_stay_on_one_street() {
    let world = Nav2d::standard();
    let data = world.recordings(300, 3);
    let mut streets_seen = [false; 4];
    for number in 0..data.n_episodes() {
        let episode = data.episode(number);
        assert!((5..=200).contains(&episode.steps), "{} steps", episode.steps);
        let sites: Vec<usize> = episode
            .observations
            .chunks(2)
            .map(|row| world.nearest([f64::from(row[0]), f64::from(row[1])]))
            .collect();
        // Noise may show a neighbour in the place of a site, now and then.
        let share = |street: usize| {
            let on = sites.iter().filter(|&&site| world.sites()[site].leads[street].is_some()).count();
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
fn recordings_follow_from_the_seed_alone() {
    let world = Nav2d::standard();
    let (few, many, other) = (world.recordings(20, 5), world.recordings(40, 5), world.recordings(20, 6));
    for number in 0..20 {
        assert_eq!(few.episode(number), many.episode(number));
    }
    assert_ne!(few.content_hash(), other.content_hash());
}

/// No site has a way back along its street: only forward, by at least one of its streets.
#[test]
fn streets_are_one_way() {
    let world = Nav2d::standard();
    let sites = world.sites();
    for from in 0..sites.len() {
        for &to in world.ahead(from) {
            let way = [0, 1].map(|axis| sites[to].place[axis] - sites[from].place[axis]);
            let is_forward = |site: usize| {
                sites[site].leads.iter().flatten().any(|lead| way[0] * lead[0] + way[1] * lead[1] > 0.0)
            };
            assert!(is_forward(from) && is_forward(to));
            assert!(apart(sites[from].place, sites[to].place) <= world.plan().reach);
        }
    }
    let ends = (0..sites.len()).filter(|&site| world.ahead(site).is_empty()).count();
    assert!((1..=6).contains(&ends), "{ends} ends of ways");
}

#[test]
fn moves_happen_as_often_as_they_should() {
    let world = Nav2d::standard();
    let site = (0..world.sites().len()).find(|&site| world.ahead(site).len() >= 6).unwrap();
    let push = heading(3);
    let expected = world.moves(site, push);
    assert!((expected.iter().map(|(_, p)| p).sum::<f64>() - 1.0).abs() < 1e-12);
    let mut counts = vec![0.0; world.sites().len()];
    let mut environment = world.environment();
    const DRAWS: usize = 20_000;
    for number in 0..DRAWS as u64 {
        environment.reset(1, number);
        let goal = environment.goal_site();
        environment.place(site, goal);
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
fn tasks_are_far_and_can_be_done() {
    let world = Nav2d::standard();
    for number in 0..500 {
        let (start, goal) = world.task(9, number);
        assert!(world.leads_to(start, goal));
        assert!(apart(world.sites()[start].place, world.sites()[goal].place) >= world.plan().goal_distance);
    }
}

#[test]
fn an_episode_can_be_repeated() {
    let mut random = rng::stream(0, 0);
    let actions: Vec<[f32; 2]> =
        (0..50).map(|_| [(); 2].map(|()| rng::unit_f64(&mut random) as f32)).collect();
    let walk = || {
        let mut environment = World::Nav2d.open().unwrap()();
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
fn pushes_that_are_no_numbers_are_none() {
    let mut environment = Nav2d::standard().environment();
    environment.reset(0, 0);
    let step = environment.step(&[f32::NAN, f32::INFINITY]);
    assert!(step.reward.is_finite() && environment.observation().iter().all(|x| x.is_finite()));
}

/// What the solver says about arriving is what happens, within the noise of the attempts and of what is seen.
#[test]
fn the_exact_policy_arrives_as_often_as_it_says() {
    let world = Nav2d::standard();
    let policy = ExactPolicy::new(&world, Discount::new(0.9999).unwrap());
    let mut environment = world.environment();
    let (mut arrived, mut promised) = (0.0, 0.0);
    const TASKS: u64 = 400;
    for number in 0..TASKS {
        environment.reset(11, number);
        promised += policy.discounted_arrival(environment.site(), environment.goal_site());
        for _ in 0..world.plan().step_limit {
            let action = policy.actions(environment.observation(), environment.goal());
            let step = environment.step(&action);
            arrived += f64::from(u8::from(step.is_reached));
            if step.is_over {
                break;
            }
        }
    }
    let (arrived, promised) = (arrived / TASKS as f64, promised / TASKS as f64);
    assert!(
        promised > 0.97 && arrived > promised - 0.05 && arrived <= promised + 0.02,
        "{arrived} of {promised}"
    );
}

#[test]
fn the_table_is_the_world() {
    let world = Nav2d::standard();
    let process = world.to_mdp();
    assert_eq!(process.n_states(), world.sites().len());
    for site in (0..world.sites().len()).step_by(37) {
        for action in [0, HEADINGS / 3, HEADINGS - 1] {
            let mut moves = world.moves(site, heading(action));
            if moves.is_empty() {
                moves.push((site, 1.0));
            }
            let row: Vec<(usize, f64)> = process.action_row(site, action).unwrap().iter().collect();
            moves.retain(|(_, p)| *p > 0.0);
            moves.sort_by_key(|(to, _)| *to);
            assert_eq!(row.len(), moves.len());
            assert!(row.iter().zip(&moves).all(|(a, b)| a.0 == b.0 && (a.1 - b.1).abs() < 1e-12));
        }
    }
}

#[test]
fn descriptions_that_make_no_world_are_refused() {
    let with = |from: &str, to: &str| {
        assert!(Plan::STANDARD.contains(from), "{from}");
        Plan::parse(&Plan::STANDARD.replace(from, to))
            .and_then(Nav2d::new)
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    for (from, to, said) in [
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
        assert!(error.contains(said) && error.contains("hint:"), "{to}: {error}");
    }
}
