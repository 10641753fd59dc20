//! Training of a network on the distances of a teacher.

use super::{
    DistillConfig, DistillHead, DistilledDistance,
    distance::About,
    features::FeatureMap,
    network::{Prediction, Student, tensor},
    pool::{BLOCK_ROWS, Target, TargetPool},
};
use crate::{
    device::OpenDevice,
    error::{ConfigError, ConfigErrorKind, Divergence, LearnError},
};
use burn::tensor::{Device, Tensor, TensorData, activation::softplus};
use isochrone_core::{TemporalDistance, rng};
use isochrone_data::Dataset;
use isochrone_nn::{
    loss::step_regression,
    module::Initializer,
    optim::{Adam, OptimizerConfig, Schedule, TrainState},
    store::Archive,
};

/// The number of near pairs, and of far pairs, per update of a pair network.
const PAIRS: usize = 256;
/// The number of blocks per update of a quasimetric, which compares all pairs of a block at the
/// cost of its rows.
const BLOCKS: usize = 16;
/// The first random stream of batches.
const STREAM: u64 = 1 << 33;

/// Trains a network to predict the distances of a teacher between states of a dataset.
///
/// Half of the pairs are from the same segment of an episode, in both directions, half from
/// different ones. Recorded time bounds their distances from above. From unreachable pairs, a pair
/// network learns to predict unreachability, and a quasimetric to return at least twice the longest
/// distance. The result for a seed is bit-identical for any number of threads. `progress` is called
/// after every update with the number of updates done and the loss.
///
/// ```
/// use isochrone_core::{Discount, TemporalDistance};
/// use isochrone_data::Dataset;
/// use isochrone_learn::distill::{DistillConfig, distill};
///
/// /// One step for each unit of a line.
/// struct Line;
///
/// impl TemporalDistance for Line {
///     fn width(&self) -> usize {
///         1
///     }
///     fn discount(&self) -> Discount {
///         Discount::new(0.99).unwrap()
///     }
///     fn paired_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
///         let unit = self.discount().nats_per_step() as f32;
///         from.iter().zip(to).map(|(from, to)| (to - from).abs() * unit).collect()
///     }
///     fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
///         from.iter().flat_map(|&from| self.paired_nats(&vec![from; to.len()], to)).collect()
///     }
/// }
///
/// let walk: Vec<f32> = (0..100).map(|step| step as f32).collect();
/// let data = Dataset::from_arrays(1, 0, [(walk, Vec::new())])?;
/// let distance = distill(&Line, &data, &DistillConfig { updates: 5, ..Default::default() }, |_, _| {})?;
/// assert_eq!(distance.steps(&[3.0], &[3.0])?, 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the device is unavailable, a setting does not fit the dataset, the teacher's states have
/// another width, no pair of states is reachable, or a value of the dataset or the loss is not
/// finite.
pub fn distill(
    teacher: &dyn TemporalDistance,
    data: &Dataset,
    config: &DistillConfig,
    mut progress: impl FnMut(u64, f64) + Send,
) -> Result<DistilledDistance, LearnError> {
    let width = data.spec().observation.width;
    if teacher.width() != width {
        return Err(LearnError::TeacherWidth { teacher: teacher.width(), data: width });
    }
    if config.updates == 0 {
        return Err(ConfigError::new("updates", 0, "must be at least 1", "3000 is enough for a maze").into());
    }
    if data.n_transitions() == 0 {
        return Err(LearnError::NothingToDistill);
    }
    let features = FeatureMap::fit(data, config)?;
    if features.is_slice() && config.head == DistillHead::Mrn {
        let hint = "distill into a pair network, or use all columns of a goal";
        let error = ConfigError::new("goal", "a slice", "not supported by a quasimetric", hint);
        return Err(error.of_kind(ConfigErrorKind::Unsupported).into());
    }
    let device = config.device.open()?;
    // On a thread of the pool: submitting work from outside costs a wake-up each time.
    rayon::scope(|_| {
        let pool = TargetPool::draw(teacher, data, features.is_slice(), config.seed)?;
        let about = About::new(config, &device, &features, &pool, data);
        let student = train(&pool, &features, &about, config, &device, &mut progress)?;
        let mut archive = Archive::default();
        archive.insert_module("network", &student);
        // An update may overflow a weight although its loss was finite.
        if let Some(name) = archive.first_non_finite() {
            return Err(diverged(config.updates, &format!("weight {name}"), f64::NAN));
        }
        features.insert_into(&mut archive);
        // Built from what a file would contain, so that saving and loading is bit-identical.
        Ok(DistilledDistance::from_archive(about, archive, &device.device).expect("the archive is complete"))
    })
}

fn train(
    pool: &TargetPool,
    features: &FeatureMap,
    about: &About,
    config: &DistillConfig,
    device: &OpenDevice,
    progress: &mut (impl FnMut(u64, f64) + Send),
) -> Result<Student, LearnError> {
    let device = device.device.clone().autodiff();
    let mut init = Initializer::new(config.seed, 0, &device);
    let student = Student::new(config.head, features, about.knows_unreachable, &mut init)?;
    let optimizer = OptimizerConfig {
        learning_rate: 2e-3,
        schedule: Schedule::Cosine,
        max_grad_norm: 1.0,
        adam: Adam { beta_2: 0.98, ..Adam::default() },
    };
    let mut state = TrainState::new(student, optimizer, config.updates)?;
    let rows = features.rows(&pool.rows);
    for update in 1..=config.updates {
        let loss = match state.network() {
            Student::Pair(_) => {
                let targets = draw_pairs(pool, config.seed, update);
                let pairs: Vec<(usize, usize)> =
                    targets.iter().map(|target| (target.from as usize, target.to as usize)).collect();
                let batch = Batch::of_pairs(&targets);
                batch.loss(state.network().predict((&rows, &rows), &pairs, &device), about, &device)
            }
            Student::Mrn(metric) => {
                let n_blocks = pool.n_blocks(features.columns.width);
                let random = &mut rng::stream(config.seed, STREAM + update);
                let blocks: Vec<usize> = (0..BLOCKS).map(|_| rng::below(random, n_blocks)).collect();
                let starts =
                    blocks.iter().flat_map(|block| (0..BLOCK_ROWS).map(move |row| block * BLOCK_ROWS + row));
                let starts: Vec<&[f32]> = starts.map(|row| rows.start(row)).collect();
                let latent = metric.encoder.forward(tensor(starts.concat(), starts.len(), &device));
                let of_block = |block: usize| {
                    let latent = latent.clone().narrow(0, block * BLOCK_ROWS, BLOCK_ROWS);
                    metric.head.all_pairs(latent.clone(), latent).reshape([BLOCK_ROWS * BLOCK_ROWS])
                };
                let steps = Tensor::cat((0..BLOCKS).map(of_block).collect(), 0);
                Batch::of_blocks(pool, &blocks).loss(Prediction { steps, no_path: None }, about, &device)
            }
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

/// Samples pairs, as many near as far, unless there are none of one kind.
fn draw_pairs(pool: &TargetPool, seed: u64, update: u64) -> Vec<Target> {
    let random = &mut rng::stream(seed, STREAM + update);
    let kinds = [&pool.near, &pool.far].into_iter().filter(|kind| !kind.is_empty());
    kinds
        .flat_map(|kind| (0..PAIRS).map(|_| kind[rng::below(random, kind.len())]).collect::<Vec<_>>())
        .collect()
}

/// The targets of an update.
struct Batch {
    /// The distances in steps; infinite if there is no path.
    steps: Vec<f32>,
    /// Non-negative weights; 0 for pairs that are not trained on.
    weights: Vec<f32>,
}

impl Batch {
    fn of_pairs(targets: &[Target]) -> Self {
        Self { steps: targets.iter().map(|target| target.steps).collect(), weights: vec![1.0; targets.len()] }
    }

    /// Returns all pairs of some blocks; near and far pairs have the same total weight.
    fn of_blocks(pool: &TargetPool, blocks: &[usize]) -> Self {
        let n = blocks.len() * BLOCK_ROWS * BLOCK_ROWS;
        let mut batch = Self { steps: vec![0.0; n], weights: vec![0.0; n] };
        for (number, &block) in blocks.iter().enumerate() {
            for targets in pool.of_block(block) {
                for target in targets {
                    let index = number * BLOCK_ROWS * BLOCK_ROWS + target.index_in_block();
                    batch.steps[index] = target.steps;
                    batch.weights[index] = 1.0 / targets.len() as f32;
                }
            }
        }
        batch
    }

    fn loss(&self, prediction: Prediction, about: &About, device: &Device) -> Tensor<1> {
        let column = |value: &dyn Fn(f32, f32) -> f32| {
            let values = self.steps.iter().zip(&self.weights).map(|(steps, weight)| value(*steps, *weight));
            Tensor::<1>::from_data(TensorData::new(values.collect::<Vec<f32>>(), [self.steps.len()]), device)
        };
        let total = |counts: &dyn Fn(f32) -> bool| {
            let pairs = self.steps.iter().zip(&self.weights).filter(|(steps, _)| counts(**steps));
            pairs.map(|(_, weight)| weight).sum::<f32>().max(f32::MIN_POSITIVE)
        };
        let steps = prediction.steps * about.unit_steps;
        let Some(no_path) = prediction.no_path else {
            // A quasimetric is finite: a large distance stands for unreachable.
            let (far, total) = (2.0 * about.longest_steps, total(&|_| true));
            let limits = column(&|steps, _| if steps.is_finite() { f32::MAX } else { far });
            let targets = column(&|steps, _| steps.min(far));
            return step_regression(steps.min_pair(limits), targets, column(&|_, weight| weight / total))
                .value;
        };
        let finite = total(&f32::is_finite);
        let weights = column(&|steps, weight| if steps.is_finite() { weight / finite } else { 0.0 });
        let targets = column(&|steps, _| if steps.is_finite() { steps } else { 0.0 });
        // The cross-entropy of reachability.
        let is_unreachable = column(&|steps, _| f32::from(u8::from(steps.is_infinite())));
        let entropy = (softplus(no_path.clone(), 1.0) - no_path * is_unreachable).mean();
        step_regression(steps, targets, weights).value + entropy
    }
}

pub(super) fn diverged(step: u64, metric: &str, value: f64) -> LearnError {
    let metric = format!("distillation {metric}");
    Divergence { step, metric, value, last_finite: None, last_checkpoint: None }.into()
}
