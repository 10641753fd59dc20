//! Distillation of a teacher whose actions are known in closed form.

use crate::support::resealed;
use isochrone_core::{
    Discount, GoalPolicy, TemporalDistance,
    exact::{AllPairs, Direction, ExactSolver, GridWorld},
    rng,
};
use isochrone_data::Dataset;
use isochrone_learn::{
    ComputeDevice,
    distill::policy::{
        Advantages, DistilledPolicy, PolicyDistillConfig, WaypointPolicy, distill_policy, distill_waypoints,
        extract_waypoints,
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

/// A square of 15 by 15 cells with a wall that is open at the bottom, and the exact distances.
struct Walled {
    grid: GridWorld,
    exact: AllPairs,
}

impl Walled {
    fn solve() -> Self {
        let closed = format!("{}#{}\n", ".".repeat(7), ".".repeat(7));
        let grid = GridWorld::parse(&(closed.repeat(14) + &".".repeat(15))).unwrap();
        let exact = ExactSolver::new(&grid.to_mdp(0.0).unwrap(), Discount::new(0.99).unwrap()).all_pairs();
        Self { grid, exact: exact.unwrap() }
    }

    fn observation(&self, state: usize) -> [f32; 2] {
        let (row, column) = self.grid.position(state);
        [column as f32, row as f32]
    }

    /// The state of the nearest cell; a wall counts as the cell on its left.
    fn state(&self, observation: &[f32]) -> usize {
        let [column, row] = [0, 1].map(|axis| observation[axis].round().clamp(0.0, 14.0) as usize);
        let state = self.grid.state(row, column);
        state.or_else(|| self.grid.state(row, column - 1)).expect("the wall has one column")
    }

    /// Random walks that keep their heading for several moves.
    fn walks(&self) -> Dataset {
        let random = &mut rng::stream(5, 0);
        let walks = (0..300).map(|_| {
            let mut state = rng::below(random, self.grid.n_states());
            let (mut heading, mut states) = (Direction::ALL[0], self.observation(state).to_vec());
            for _ in 0..60 {
                if rng::below(random, 4) == 0 {
                    heading = Direction::ALL[rng::below(random, 4)];
                }
                let (row, column) = self.grid.position(state);
                let next = self.grid.neighbor(row, column, heading);
                state = next.and_then(|(row, column)| self.grid.state(row, column)).unwrap_or(state);
                states.extend(self.observation(state));
            }
            (states, vec![0.5; 2 * 60])
        });
        Dataset::from_arrays(2, 2, walks.collect::<Vec<_>>()).unwrap()
    }
}

impl TemporalDistance for Walled {
    fn width(&self) -> usize {
        2
    }

    fn discount(&self) -> Discount {
        Discount::new(0.99).unwrap()
    }

    fn paired_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        let pairs = from.chunks_exact(2).zip(to.chunks_exact(2));
        pairs.map(|(from, to)| self.exact.nats(self.state(from), self.state(to)) as f32).collect()
    }

    fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        from.chunks_exact(2).flat_map(|from| self.paired_nats(&from.repeat(to.len() / 2), to)).collect()
    }
}

/// Random walks pass on where the goal is nearer, also behind a wall; without weights, they do not.
#[test]
fn waypoints_of_random_walks_lead_nearer_to_the_goal() {
    let square = Walled::solve();
    let data = square.walks();
    let nearer = |alpha: f64| {
        let advantages = Advantages { steps: 6, alpha, ..Advantages::default() };
        let config = PolicyDistillConfig { starts_per_goal: 100, updates: 1500, ..config() };
        let network = extract_waypoints(&square, advantages, &data, &config, |_, _| ()).unwrap();
        assert!(
            network.has_displacements() && network.teacher().contains("6 steps"),
            "{}",
            network.teacher()
        );
        let policy = WaypointPolicy::new(&network, &Jump).expect("the same states");
        let random = &mut rng::stream(6, 0);
        let mut cell = || square.observation(rng::below(random, square.grid.n_states()));
        let pairs: Vec<_> = (0..400).map(|_| (cell(), cell())).collect();
        let is_nearer = |(from, goal): &&([f32; 2], [f32; 2])| {
            let waypoint = policy.waypoints(from, goal);
            square.paired_nats(&waypoint, goal)[0] < square.paired_nats(from, goal)[0]
        };
        pairs.iter().filter(is_nearer).count() as f64 / 400.0
    };
    let (weighted, unweighted) = (nearer(1.0), nearer(0.0));
    println!("{weighted} {unweighted}");
    assert!(weighted > 0.9 && unweighted < 0.7, "{weighted} {unweighted}");
}

#[test]
fn advantages_are_checked() {
    let refused = |advantages: Advantages| {
        let distance = Walled::solve();
        let found = extract_waypoints(&distance, advantages, &square(), &config(), |_, _| ());
        found.err().expect("an error").to_string()
    };
    let default = Advantages::default();
    let wrong = [
        ("steps", Advantages { steps: 0, ..default }),
        ("alpha", Advantages { alpha: f64::NAN, ..default }),
        ("max_weight", Advantages { max_weight: 0.0, ..default }),
    ];
    for (field, advantages) in wrong {
        let error = refused(advantages);
        assert!(error.contains(field) && error.contains("hint"), "{error}");
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
