//! Data with planted teleporters.

use crate::data::{RADIUS, Room, SIDE, apart};
use isochrone_core::{GoalPolicy as _, TemporalDistance as _, rng};
use isochrone_data::Dataset;
use isochrone_eval::{
    chance::{ChanceConfig, ChanceModel, JumpReport, Objective, StochasticPlanner},
    plan::Waypoints as _,
    refined::{RefinedConfig, RefinedDistance},
    straight::StraightController,
};
use std::sync::Arc;

const PRICE: Objective = Objective::PriceOfFailing(5_000.0);

fn model(data: &Dataset) -> Arc<ChanceModel> {
    Arc::new(ChanceModel::fit(data, &ChanceConfig::default()).unwrap())
}

/// Returns the index of the planted place nearest to a center.
fn planted(places: &[[f64; 2]], center: &[f32]) -> usize {
    let center = [f64::from(center[0]), f64::from(center[1])];
    let away = |place: &usize| apart(places[*place], center);
    let nearest = (0..places.len()).min_by(|a, b| away(a).total_cmp(&away(b))).unwrap();
    assert!(away(&nearest) < RADIUS, "{center:?} is near none of {places:?}");
    nearest
}

#[test]
fn planted_teleporters_are_found_with_their_counts() {
    for (noise_columns, seed) in [(0, 1), (0, 2), (3, 3)] {
        let room = Room { noise_columns, ..Room::with_teleporters() };
        let (data, counts) = room.data(40, 500, seed);
        let report = JumpReport::of(&data).unwrap();
        assert_eq!((report.entries.len(), report.exits.len()), (2, 3), "{report:?}");
        assert_eq!(report.columns, [0, 1]);
        let exit_of: Vec<usize> =
            report.exits.iter().map(|exit| planted(&room.exits, &exit.center)).collect();
        let mut found = vec![vec![0; 3]; 2];
        for entry in &report.entries {
            let own = planted(&room.entries, &entry.center);
            entry.exits.iter().zip(&exit_of).for_each(|(count, &exit)| found[own][exit] += count);
        }
        assert_eq!(found, counts);
        assert_eq!(report.jumps as u32, counts.iter().flatten().sum::<u32>());
    }
}

#[test]
fn plain_data_have_no_jumps() {
    for noise_columns in [0, 3] {
        let (data, _) = Room { noise_columns, ..Room::default() }.data(20, 400, 1);
        assert_eq!(JumpReport::of(&data).unwrap(), JumpReport::default());
    }
}

#[test]
fn kicks_that_land_anywhere_are_no_teleporters() {
    let room = Room::default();
    let mut random = rng::stream(9, 0);
    let kicked = (0..12).map(|episode| {
        let mut walk = room.walk(400, &mut random);
        // One long step of every fourth episode.
        if episode % 4 == 0 {
            let target = [[1.0, 1.0], [SIDE - 1.0, 1.0], [7.0, SIDE - 1.0]][episode / 4];
            let rest = walk.states[400..].chunks_exact_mut(2);
            let offset = [0, 1].map(|axis| target[axis] as f32);
            rest.for_each(|state| {
                (0..2).for_each(|axis| state[axis] = 0.2 * state[axis] + 0.8 * offset[axis]);
            });
        }
        (walk.states, walk.actions)
    });
    let data = Dataset::from_arrays(2, 2, kicked.collect::<Vec<_>>()).unwrap();
    assert_eq!(JumpReport::of(&data).unwrap().jumps, 0);
}

/// Drives straight towards waypoints; returns the number of steps to the goal and of jumps, if it
/// is reached.
fn drive(
    room: &Room,
    planner: &StochasticPlanner,
    controller: &StraightController,
    from: [f64; 2],
    goal: [f64; 2],
) -> Option<(usize, usize)> {
    let mut random = rng::stream(5, 0);
    let (mut here, mut seen, mut jumps) = (from, from, 0);
    let mut follower = planner.start_episodes(1).unwrap();
    let goal_state = goal.map(|x| x as f32);
    for steps in 0..400 {
        if apart(seen, goal) < 0.3 {
            return Some((steps, jumps));
        }
        let state = seen.map(|x| x as f32);
        let waypoint = follower.next(&[0], &state, &goal_state);
        let action = controller.actions(&state, &waypoint);
        let jump = room.step(&mut here, [0, 1].map(|axis| f64::from(action[axis])), &mut random);
        seen = here;
        if let Some((_, exit)) = jump {
            here = room.exits[exit];
            jumps += 1;
        }
    }
    None
}

#[test]
fn the_safe_path_goes_around_the_entries() {
    let room = Room::with_teleporters();
    let (data, _) = room.data(40, 500, 1);
    let planner = StochasticPlanner::new(model(&data), &data, PRICE).unwrap();
    let controller = StraightController::fit(&data).unwrap();
    // The straight line from start to goal crosses an entry.
    for (from, goal) in [([4.0, 3.0], [4.0, 11.0]), ([7.0, 3.0], [13.0, 3.0])] {
        let forecasts = planner.forecasts(&from.map(|x| x as f32), &goal.map(|x| x as f32)).unwrap();
        assert!(forecasts.safe.success > 0.95, "{forecasts:?}");
        let (steps, jumps) = drive(&room, &planner, &controller, from, goal).expect("it arrives");
        let steps = steps as f64;
        assert_eq!(jumps, 0, "{steps} {forecasts:?}");
        assert!((steps - forecasts.safe.steps).abs() < 0.35 * steps, "{steps} {forecasts:?}");
    }
}

#[test]
fn the_price_and_the_horizon_decide_about_a_gamble() {
    // The exits are at the goal and in a corner from which the walk is long.
    let room = Room { entries: vec![[2.0, 2.0]], exits: vec![[13.0, 13.0], [13.0, 1.0]], noise_columns: 0 };
    let (data, _) = room.data(60, 500, 4);
    let model = model(&data);
    let (from, goal) = ([4.0, 4.0], [13.0, 13.0]);
    let forecasts = |objective| {
        let planner = StochasticPlanner::new(Arc::clone(&model), &data, objective).unwrap();
        (planner.forecasts(&from, &goal).unwrap(), planner.path(&from, &goal).unwrap().unwrap())
    };
    let (safe, path) = forecasts(PRICE);
    assert!(safe.safe.success > 0.98 && path.iter().all(|waypoint| waypoint.by != "enter"), "{path:?}");
    assert!(safe.gamble.steps < safe.safe.steps, "{safe:?}");
    // Straight ahead, 45 to 64 steps; in 40, only the teleporter leads there.
    let (hurried, path) = forecasts(Objective::WithinSteps(30));
    assert_eq!(path.last().unwrap().by, "enter", "{path:?}");
    assert!((0.3..0.7).contains(&hurried.safe.success), "{hurried:?}");
    let (patient, path) = forecasts(Objective::WithinSteps(200));
    assert!(patient.safe.success > 0.98 && path.iter().all(|waypoint| waypoint.by != "enter"), "{patient:?}");
}

#[test]
fn paths_in_deterministic_data_are_as_long_as_refined_distances() {
    let (data, _) = Room::default().data(40, 500, 1);
    let refined = RefinedDistance::fit(&data, &RefinedConfig::default()).unwrap();
    let planner = StochasticPlanner::new(model(&data), &data, PRICE).unwrap();
    let mut random = rng::stream(3, 0);
    for _ in 0..30 {
        let mut draw = || [0, 1].map(|_| (1.0 + 12.0 * rng::unit_f64(&mut random)) as f32);
        let (from, to) = (draw(), draw());
        let known = refined.steps(&from, &to).unwrap();
        let forecast = planner.forecasts(&from, &to).unwrap().safe;
        assert_eq!(forecast.success, 1.0);
        let tolerance = 0.15 * known + 5.0;
        assert!((forecast.steps - known).abs() < tolerance, "{from:?} {to:?}: {known} {forecast:?}");
    }
}

#[test]
fn untested_moves_need_data_that_undo_moves() {
    let (data, _) = Room::default().data(40, 500, 1);
    let all = model(&data);
    assert!(all.reversible_share() > 0.9 && all.n_untested() > 0);
    let recorded = ChanceConfig { recorded_only: true, ..ChanceConfig::default() };
    assert_eq!(ChanceModel::fit(&data, &recorded).unwrap().n_untested(), 0);
    // A ring that is only driven in one direction.
    let ring = |episode: u64| {
        let mut random = rng::stream(7, episode);
        let mut angle = std::f64::consts::TAU * rng::unit_f64(&mut random);
        let mut states = Vec::new();
        for _ in 0..=200 {
            states.extend(
                [angle.cos(), angle.sin()].map(|x| (5.0 * x + 0.02 * rng::normal(&mut random)) as f32),
            );
            angle += 0.05 * rng::unit_f64(&mut random);
        }
        (states, Vec::new())
    };
    let one_sided = model(&Dataset::from_arrays(2, 0, (0..60).map(ring)).unwrap());
    assert_eq!((one_sided.jumps().jumps, one_sided.n_untested()), (0, 0), "{}", one_sided.reversible_share());
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let (data, _) = Room::with_teleporters().data(20, 400, 1);
    let with_threads = |n: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
        pool.install(|| {
            let model = model(&data);
            let planner = StochasticPlanner::new(Arc::clone(&model), &data, PRICE).unwrap();
            let from = [2.0, 2.0, 12.0, 12.0, 4.0, 3.0];
            let goals = [12.0, 12.0, 2.0, 2.0, 4.0, 11.0];
            let mut follower = planner.start_episodes(3).unwrap();
            let followed = follower.next(&[0, 1, 2], &from, &goals);
            assert_eq!(planner.is_reachable(&from, &goals), [true; 3]);
            (model.problem().clone(), model.landmark_rows().to_vec(), planner.next(&from, &goals), followed)
        })
    };
    let (one, four) = (with_threads(1), with_threads(4));
    assert!(one == four);
}
