//! Regression of the actions of a teacher.

use super::{
    Advantages, DistilledPolicy, PolicyDistillConfig,
    pool::{ActionPool, Teacher},
    student::{About, Outputs},
};
use crate::{
    batch::BatchTransform,
    distill::train::diverged,
    error::LearnError,
    scaling::{Affine, Scaling, ScalingConfig},
};
use burn::tensor::{Device, Tensor, TensorData};
use isochrone_core::{GoalPolicy, TemporalDistance};
use isochrone_data::Dataset;
use isochrone_nn::{
    module::{Actor, Initializer},
    optim::{OptimizerConfig, Schedule, TrainState},
};

/// The range of predicted displacements, in root mean squares. Without a path, the waypoint is the
/// goal itself, which may be far.
const DISPLACEMENT_RANGE: f64 = 4.0;
/// The first random stream of batches.
const BATCH_STREAM: u64 = 1 << 35;

/// Trains a policy to act like a teacher at random states towards random goals of a dataset, with
/// the loss `mean (pi(s, g) - a)^2`.
///
/// `teacher_name` describes the teacher in the file of the policy. The result for a seed is
/// bit-identical for any number of threads. `progress` is called after every update with the number
/// of updates done and the loss.
///
/// ```
/// use isochrone_core::GoalPolicy;
/// use isochrone_data::Dataset;
/// use isochrone_learn::distill::policy::{PolicyDistillConfig, distill_policy};
///
/// /// Moves towards the goal on a line.
/// struct Straight;
///
/// impl GoalPolicy for Straight {
///     fn observation_width(&self) -> usize {
///         1
///     }
///     fn action_width(&self) -> usize {
///         1
///     }
///     fn actions(&self, observations: &[f32], goals: &[f32]) -> Vec<f32> {
///         observations.iter().zip(goals).map(|(x, goal)| (goal - x).clamp(-1.0, 1.0)).collect()
///     }
/// }
///
/// let walk: Vec<f32> = (0..100).map(|step| step as f32).collect();
/// let data = Dataset::from_arrays(1, 1, [(walk, vec![1.0; 99])])?;
/// let config = PolicyDistillConfig { goals: 50, updates: 20, width: 16, ..Default::default() };
/// let policy = distill_policy(&Straight, "straight", &data, &config, |_, _| {})?;
/// assert_eq!(policy.action(&[3.0], &[60.0])?.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the device is unavailable, a setting is out of range, the dataset has no states or no
/// actions, its widths differ from those of the teacher, or a value is not finite.
pub fn distill_policy(
    teacher: &dyn GoalPolicy,
    teacher_name: &str,
    data: &Dataset,
    config: &PolicyDistillConfig,
    progress: impl FnMut(u64, f64) + Send,
) -> Result<DistilledPolicy, LearnError> {
    distill((Teacher::Policy(teacher), teacher_name), data, config, Outputs::Actions, progress)
}

/// Trains a network to predict the displacements to the waypoints of a planner, in the dimensions
/// of a goal, for a [`WaypointPolicy`](super::WaypointPolicy). They are the actions of `teacher`.
///
/// The network is a mixture of Gaussians with the loss `- mean log p(displacement|s, g)`, and its
/// prediction the mean of the heaviest one: where two paths are about equally fast, it decides for
/// one of them.
///
/// # Errors
/// As [`distill_policy`].
///
/// # Panics
/// If the teacher's actions have another width than a goal.
pub fn distill_waypoints(
    teacher: &dyn GoalPolicy,
    teacher_name: &str,
    data: &Dataset,
    config: &PolicyDistillConfig,
    progress: impl FnMut(u64, f64) + Send,
) -> Result<DistilledPolicy, LearnError> {
    let goal_width = data.spec().goal_space().len();
    assert_eq!(teacher.action_width(), goal_width, "displacements have the width of a goal");
    distill((Teacher::Policy(teacher), teacher_name), data, config, Outputs::Displacements, progress)
}

/// Trains a network to predict waypoints of the data from which the goal is nearer, by a learned
/// distance: the upper level of a [`WaypointPolicy`](super::WaypointPolicy) that no planner taught.
///
/// The loss is that of [`distill_waypoints`], with the weights of [`Advantages`].
///
/// # Errors
/// Those of [`distill_policy`], and if all weights are zero.
pub fn extract_waypoints(
    distance: &dyn TemporalDistance,
    advantages: Advantages,
    data: &Dataset,
    config: &PolicyDistillConfig,
    progress: impl FnMut(u64, f64) + Send,
) -> Result<DistilledPolicy, LearnError> {
    advantages.check()?;
    let teacher = Teacher::Data(distance, advantages);
    distill((teacher, &advantages.describe()), data, config, Outputs::Displacements, progress)
}

fn distill(
    (teacher, teacher_name): (Teacher<'_>, &str),
    data: &Dataset,
    config: &PolicyDistillConfig,
    outputs: Outputs,
    mut progress: impl FnMut(u64, f64) + Send,
) -> Result<DistilledPolicy, LearnError> {
    config.check()?;
    let spec = data.spec();
    if spec.action.width == 0 || data.n_transitions() == 0 {
        return Err(LearnError::NoPolicy);
    }
    if teacher.observation_width() != spec.observation.width {
        let (teacher, data) = (teacher.observation_width(), spec.observation.width);
        return Err(LearnError::TeacherWidth { teacher, data });
    }
    if let (Teacher::Policy(policy), Outputs::Actions) = (teacher, outputs)
        && policy.action_width() != spec.action.width
    {
        let (teacher, data) = (policy.action_width(), spec.action.width);
        return Err(LearnError::TeacherActions { teacher, data });
    }
    let device = config.device.open()?.device;
    // On a thread of the pool: submitting work from outside costs a wake-up each time.
    rayon::scope(|_| {
        let mut scaling = Scaling::of(data, ScalingConfig::Standardize)?;
        let pool = ActionPool::draw(teacher, data, config);
        if outputs == Outputs::Displacements {
            scaling.action =
                Affine::of_root_mean_squares(&pool.actions, spec.goal_space().len(), DISPLACEMENT_RANGE);
        }
        let about = About {
            observation_width: spec.observation.width,
            action_width: scaling.action.shift.len(),
            goal: spec.goal_space(),
            width: config.width,
            updates: config.updates,
            seed: config.seed,
            teacher: teacher_name.to_owned(),
            data_sha256: data.content_hash().to_owned(),
            relative_error: f64::NAN,
            outputs,
        };
        let actor = train(&pool, &scaling, &about, config, &device, &mut progress)?;
        let mut student = DistilledPolicy::new(about, actor, scaling, &device);
        // An update may overflow a weight although its loss was finite.
        if let Some(name) = student.to_archive().first_non_finite() {
            return Err(diverged(config.updates, &format!("weight {name}"), f64::NAN));
        }
        student.set_relative_error(relative_error(&student, &pool));
        Ok(student)
    })
}

fn train(
    pool: &ActionPool,
    scaling: &Scaling,
    about: &About,
    config: &PolicyDistillConfig,
    device: &Device,
    progress: &mut (impl FnMut(u64, f64) + Send),
) -> Result<Actor, LearnError> {
    let device = device.clone().autodiff();
    let actor = about.actor(&mut Initializer::new(config.seed, 0, &device))?;
    let optimizer = OptimizerConfig {
        learning_rate: config.learning_rate,
        schedule: Schedule::Cosine,
        ..OptimizerConfig::default()
    };
    let mut state = TrainState::new(actor, optimizer, config.updates)?;
    let transform = BatchTransform::new(&about.context(&device), scaling.clone());
    let targets = scaling.action.scaled(&pool.actions);
    let sampler = pool.sampler();
    if sampler.is_empty() {
        return Err(LearnError::NothingToDistill);
    }
    let action_width = about.action_width;
    for update in 1..=config.updates {
        let rows = sampler.draw(config.batch_size, (config.seed, BATCH_STREAM + update));
        let pick = |values: &[f32], width: usize| -> Vec<f32> {
            rows.iter().flat_map(|&row| &values[row * width..][..width]).copied().collect()
        };
        let observations = transform.observations(&pick(&pool.observations, about.observation_width));
        let goals = transform.observations(&pick(&pool.goals, about.observation_width));
        let actions = TensorData::new(pick(&targets, action_width), [rows.len(), action_width]);
        let actions = Tensor::<2>::from_data(actions, &device).clamp(-1.0, 1.0);
        let predicted = state.network().forward(observations, transform.policy_goals(goals));
        let loss = match about.outputs {
            Outputs::Actions => (predicted.mode() - actions).square().mean(),
            Outputs::Displacements => predicted.log_prob(actions).mean().neg(),
        };
        let value = f64::from(loss.clone().into_scalar::<f32>());
        if !value.is_finite() {
            return Err(diverged(update, "loss", value));
        }
        state.step(loss);
        progress(update, value);
    }
    Ok(state.frozen())
}

/// Returns the error on goals that were held out, relative to that of the mean action; both are
/// weighted.
fn relative_error(student: &DistilledPolicy, pool: &ActionPool) -> f64 {
    let (width, action_width) = (student.observation_width(), student.action_width());
    let first = pool.first_held_out;
    let actions = &pool.actions[first * action_width..];
    let predicted = student.actions(&pool.observations[first * width..], &pool.goals[first * width..]);
    let weight = |row: usize| pool.weights.get(first + row).copied().map_or(1.0, f64::from);
    let rows = || actions.chunks_exact(action_width).enumerate();
    let total: f64 = rows().map(|(row, _)| weight(row)).sum();
    let mean: Vec<f64> = (0..action_width)
        .map(|column| {
            rows().map(|(row, action)| weight(row) * f64::from(action[column])).sum::<f64>() / total
        })
        .collect();
    let (mut error, mut spread) = (0.0, 0.0);
    for ((row, action), predicted) in rows().zip(predicted.chunks_exact(action_width)) {
        for ((action, predicted), mean) in action.iter().zip(predicted).zip(&mean) {
            error += weight(row) * f64::from(action - predicted).powi(2);
            spread += weight(row) * (f64::from(*action) - mean).powi(2);
        }
    }
    if spread > 0.0 { (error / spread).sqrt() } else { 0.0 }
}
