//! Distillation of a teacher whose actions are known in closed form.

use crate::support::resealed;
use isochrone_core::GoalPolicy;
use isochrone_data::Dataset;
use isochrone_learn::{
    ComputeDevice,
    distill::policy::{
        DistilledPolicy, PolicyDistillConfig, WaypointPolicy, distill_policy, distill_waypoints,
    },
    error::LearnError,
};

/// Moves towards the goal in the plane, at most one unit per axis.
struct Straight;

impl GoalPolicy for Straight {
    fn observation_width(&self) -> usize {
        2
    }

    fn action_width(&self) -> usize {
        2
    }

    fn actions(&self, observations: &[f32], goals: &[f32]) -> Vec<f32> {
        observations.iter().zip(goals).map(|(x, goal)| (goal - x).clamp(-1.0, 1.0)).collect()
    }
}

/// A walk over a square of 20 by 20 cells, row by row.
fn square() -> Dataset {
    let states: Vec<f32> = (0..400).flat_map(|cell| [(cell % 20) as f32, (cell / 20) as f32]).collect();
    Dataset::from_arrays(2, 2, [(states, vec![0.5; 2 * 399])]).unwrap()
}

fn config() -> PolicyDistillConfig {
    PolicyDistillConfig {
        goals: 200,
        starts_per_goal: 20,
        updates: 600,
        width: 32,
        learning_rate: 3e-3,
        ..PolicyDistillConfig::default()
    }
}

#[test]
fn acts_like_its_teacher_for_new_goals() {
    let policy = distill_policy(&Straight, "straight", &square(), &config(), |_, _| ()).unwrap();
    assert!(policy.relative_error() < 0.35, "{}", policy.relative_error());
    for (from, goal) in [([3.0, 4.0], [15.0, 11.0]), ([17.0, 2.0], [4.0, 16.0])] {
        let (action, expected) = (policy.action(&from, &goal).unwrap(), Straight.actions(&from, &goal));
        let apart = action.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(apart < 0.3, "{from:?} to {goal:?}: {action:?}, not {expected:?}");
    }
}

/// Moves by the displacement to its goal.
struct Jump;

impl GoalPolicy for Jump {
    fn observation_width(&self) -> usize {
        2
    }

    fn action_width(&self) -> usize {
        2
    }

    fn actions(&self, observations: &[f32], goals: &[f32]) -> Vec<f32> {
        observations.iter().zip(goals).map(|(x, goal)| goal - x).collect()
    }
}

/// Below a network of waypoints that are at most a unit away, a policy acts like one that was given
/// the waypoints.
#[test]
fn a_policy_acts_towards_distilled_waypoints() {
    let network = distill_waypoints(&Straight, "straight", &square(), &config(), |_, _| ()).unwrap();
    assert!(network.has_displacements() && network.relative_error() < 0.35, "{}", network.relative_error());
    let policy = WaypointPolicy::new(&network, &Jump).expect("the same states");
    for (from, goal) in [([3.0, 4.0], [15.0, 11.0]), ([17.0, 2.0], [4.0, 16.0])] {
        let (action, expected) = (policy.actions(&from, &goal), Straight.actions(&from, &goal));
        let apart = action.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(apart < 0.3, "{from:?} to {goal:?}: {action:?}, not {expected:?}");
        let waypoint = policy.waypoints(&from, &goal);
        assert!(waypoint.iter().zip(&from).zip(&action).all(|((to, x), step)| (x + step - to).abs() < 1e-5));
    }
    let actions = distill_policy(&Straight, "straight", &square(), &config(), |_, _| ()).unwrap();
    assert!(WaypointPolicy::new(&actions, &Jump).is_none(), "its outputs are actions");
}

/// Goes around an obstacle on one side or the other; which one looks random.
struct EitherSide;

impl GoalPolicy for EitherSide {
    fn observation_width(&self) -> usize {
        2
    }

    fn action_width(&self) -> usize {
        2
    }

    fn actions(&self, observations: &[f32], goals: &[f32]) -> Vec<f32> {
        let side = |(from, goal): (&[f32], &[f32])| {
            let parity = (7.0 * from[0] + 3.0 * from[1] + 5.0 * goal[0] + goal[1]) as i32 % 2;
            [if parity == 0 { 1.0 } else { -1.0 }, 1.0]
        };
        observations.chunks_exact(2).zip(goals.chunks_exact(2)).flat_map(side).collect()
    }
}

/// The mean of two sides would lead into the obstacle.
#[test]
fn a_network_of_waypoints_decides_between_two_sides() {
    let network = distill_waypoints(&EitherSide, "either side", &square(), &config(), |_, _| ()).unwrap();
    let displacements = |from: [f32; 2], goal: [f32; 2]| network.actions(&from, &goal);
    for (from, goal) in [([3.0, 4.0], [15.0, 11.0]), ([17.0, 2.0], [4.0, 16.0]), ([9.0, 9.0], [2.0, 1.0])] {
        let step = displacements(from, goal);
        assert!((step[0].abs() - 1.0).abs() < 0.2 && (step[1] - 1.0).abs() < 0.2, "{step:?}");
    }
}

#[test]
fn same_seed_gives_the_same_bytes_for_any_number_of_threads() {
    let bytes = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let config = PolicyDistillConfig { updates: 20, ..config() };
        let distilled = || distill_policy(&Straight, "straight", &square(), &config, |_, _| ());
        pool.install(distilled).unwrap().to_bytes()
    };
    let one = bytes(1);
    assert!(one == bytes(2) && one == bytes(3), "bits depend on the number of threads");
}

#[test]
fn a_file_gives_the_same_policy_and_a_damaged_one_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(DistilledPolicy::FILE_NAME);
    let config = PolicyDistillConfig { updates: 5, ..config() };
    let policy = distill_policy(&Straight, "straight", &square(), &config, |_, _| ()).unwrap();
    policy.save(&path).unwrap();
    let read = DistilledPolicy::load_on(&path, ComputeDevice::Cpu).unwrap();
    assert_eq!(read.to_bytes(), policy.to_bytes());
    assert_eq!(read.teacher(), "straight");
    let (from, goal) = ([1.0, 2.0], [9.0, 9.0]);
    assert_eq!(read.actions(&from, &goal), policy.actions(&from, &goal));
    let mut bytes = policy.to_bytes();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let field = text.find("\\\"width\\\":32").or_else(|| text.find("\"width\":32")).expect("its header");
    let number = field + text[field..].find("32").unwrap();
    bytes[number] = b'9';
    std::fs::write(&path, &bytes).unwrap();
    let error = DistilledPolicy::load_on(&path, ComputeDevice::Cpu).err().expect("another width").to_string();
    assert!(error.contains("hint: distill the planner again"), "{error}");
    // The checksum fits, but the weights do not.
    std::fs::write(&path, resealed(&bytes)).unwrap();
    let error = DistilledPolicy::load_on(&path, ComputeDevice::Cpu).err().expect("another width").to_string();
    assert!(error.contains("hint: distill the planner again"), "{error}");
    let mut bytes = policy.to_bytes();
    for at in (0..bytes.len()).step_by(bytes.len() / 200) {
        bytes[at] ^= 1 << (at % 8);
        std::fs::write(&path, &bytes).unwrap();
        assert!(DistilledPolicy::load_on(&path, ComputeDevice::Cpu).is_err(), "a flipped bit in byte {at}");
        bytes[at] ^= 1 << (at % 8);
    }
    std::fs::write(&path, &policy.to_bytes()[..100]).unwrap();
    assert!(DistilledPolicy::load_on(&path, ComputeDevice::Cpu).is_err());
}

#[test]
fn settings_and_widths_are_checked() {
    let refused = |config: PolicyDistillConfig, data: &Dataset| {
        distill_policy(&Straight, "straight", data, &config, |_, _| ()).err().expect("an error")
    };
    let error = refused(PolicyDistillConfig { goals: 1, ..config() }, &square()).to_string();
    assert!(error.contains("goals") && error.contains("hint"), "{error}");
    let line = Dataset::from_arrays(1, 1, [(vec![0.0, 1.0], vec![1.0])]).unwrap();
    assert!(matches!(refused(config(), &line), LearnError::TeacherWidth { teacher: 2, data: 1 }));
    let plane = Dataset::from_arrays(2, 1, [(vec![0.0; 4], vec![1.0])]).unwrap();
    assert!(matches!(refused(config(), &plane), LearnError::TeacherActions { teacher: 2, data: 1 }));
    // The only update spoils the weights: no loss follows that could show it.
    let diverged = refused(PolicyDistillConfig { updates: 1, learning_rate: 1e39, ..config() }, &square());
    assert!(diverged.to_string().contains("distillation weight"), "{diverged}");
    let still = Dataset::from_arrays(2, 0, [(vec![0.0; 4], vec![])]).unwrap();
    assert!(matches!(refused(config(), &still), LearnError::NoPolicy));
}
