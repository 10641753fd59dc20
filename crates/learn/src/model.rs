//! Trained models, which answer queries without data or optimizers.

use crate::{
    algorithm::Algorithm,
    batch::BatchTransform,
    device::ComputeDevice,
    error::LearnError,
    export::{Graph, Value},
    learner::{Learner, TensorDistance},
    restore::restore,
    run::{Checkpoint, Checkpoints, Run, RunConfig},
    scaling::{Affine, Scaling},
};
use burn::tensor::Tensor;
use isochrone_core::{
    Discount, GoalPolicy, LatentDistance, LatentMetric, ShapeError, TemporalDistance, shape::check_rows,
};
use isochrone_data::Spec;
use isochrone_nn::{module::Actor, state_dict::Mode};
use rayon::prelude::*;
use std::{path::Path, sync::Arc};

/// Rows per forward pass, so that networks of typical size need some tens of megabytes.
const CHUNK: usize = 2048;
/// The number of pairs that one thread compares at a time: threads do not wait for each other after
/// every layer of a small network.
const PAIRED_CHUNK: usize = 256;

/// Selects a checkpoint of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CheckpointSelector {
    /// The latest valid checkpoint.
    #[default]
    Last,
    /// The checkpoint of the best evaluation; the latest valid one if that is unavailable.
    Best,
    /// The checkpoint of a step.
    Step(u64),
}

/// A trained distance and policy.
pub struct Model {
    /// The distance; `None` for behavior cloning.
    pub distance: Option<LearnedDistance>,
    /// The policy; `None` if the dataset has no actions.
    pub policy: Option<LearnedPolicy>,
    /// The algorithm that trained it.
    pub algorithm: Algorithm,
    /// The discount per step.
    pub discount: Discount,
    /// The columns of the dataset.
    pub spec: Spec,
    /// The number of updates.
    pub step: u64,
    /// Warnings about checkpoints that were skipped or replaced by another.
    pub warnings: Vec<String>,
}

impl Model {
    /// Returns the current model of a learner.
    pub fn of(
        learner: &dyn Learner,
        config: &RunConfig,
        transform: &BatchTransform,
        spec: &Spec,
        step: u64,
    ) -> Self {
        let (algorithm, discount) = (config.learner.algorithm(), config.discount());
        let distance = learner.distance();
        let distance = distance.map(|distance| LearnedDistance {
            distance: distance.into(),
            transform: transform.clone(),
            discount,
        });
        let policy = learner.policy().map(|actor| LearnedPolicy::new(actor, transform.clone()));
        Self { distance, policy, algorithm, discount, spec: spec.clone(), step, warnings: Vec::new() }
    }

    /// Returns the learned distance; [`LearnError::NoDistance`] if the algorithm learns none.
    pub fn distance(&self) -> Result<LearnedDistance, LearnError> {
        self.distance.clone().ok_or(LearnError::NoDistance)
    }

    /// Returns the learned policy; [`LearnError::NoPolicy`] if the dataset has no actions.
    pub fn policy(&self) -> Result<LearnedPolicy, LearnError> {
        self.policy.clone().ok_or(LearnError::NoPolicy)
    }

    /// Loads the model of a run.
    ///
    /// ```no_run
    /// use isochrone_core::TemporalDistance as _;
    /// use isochrone_learn::model::{Model, CheckpointSelector};
    ///
    /// let model = Model::open("runs/maze".as_ref(), CheckpointSelector::Best)?;
    /// let distance = model.distance()?;
    /// println!("{:.1} steps", distance.steps(&[0.0, 0.0], &[5.0, 5.0])?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the folder is not a run, has no checkpoint yet, or the checkpoint is corrupt.
    pub fn open(folder: &Path, which: CheckpointSelector) -> Result<Self, LearnError> {
        Self::of_run(&Run::open(folder)?, which)
    }

    /// Loads the model of an open run.
    pub fn of_run(run: &Run, which: CheckpointSelector) -> Result<Self, LearnError> {
        Self::of_run_on(run, which, ComputeDevice::Cpu)
    }

    /// Loads the model of an open run on a device, which need not be the one that trained it.
    pub fn of_run_on(
        run: &Run,
        which: CheckpointSelector,
        device: ComputeDevice,
    ) -> Result<Self, LearnError> {
        let device = device.open()?.device;
        let checkpoints = run.checkpoints();
        let mut warnings = Vec::new();
        let mut last = || {
            let (checkpoint, skipped) = checkpoints.latest_valid(Checkpoints::load_weights)?;
            warnings.extend(skipped);
            let (problem, hint) =
                ("the run has no checkpoint yet", "wait for the first checkpoint, or resume the run");
            checkpoint.ok_or_else(|| LearnError::malformed(run.folder(), problem, hint))
        };
        let Checkpoint { progress, snapshot } = match which {
            CheckpointSelector::Last => last()?,
            CheckpointSelector::Step(step) => checkpoints.load_weights(step)?,
            CheckpointSelector::Best => {
                let last = last()?;
                match last.progress.best.as_ref().map(|best| checkpoints.load_weights(best.step)) {
                    None => last,
                    Some(Ok(best)) => best,
                    Some(Err(error)) => {
                        warnings.push(format!("using the last checkpoint instead of the best: {error}"));
                        last
                    }
                }
            }
        };
        let (config, spec) = (run.config(), &run.manifest().data.spec);
        let context = config.context(spec, &device).limited_by(&snapshot.weights);
        let mut learner = config.learner.init(&context)?;
        let restored = restore(&mut *learner, Mode::Load, snapshot, &context);
        let scaling = restored.map_err(|problem| checkpoints.mismatch(progress.step, &problem))?;
        let transform = BatchTransform::new(&context, scaling);
        let model = Self::of(&*learner, config, &transform, spec, progress.step);
        Ok(Self { warnings, ..model })
    }
}

/// A learned distance between unscaled states. Clones share the networks.
#[derive(Clone)]
pub struct LearnedDistance {
    distance: Arc<dyn TensorDistance>,
    transform: BatchTransform,
    discount: Discount,
}

impl LearnedDistance {
    /// Returns the row that is farthest from the mean of the data, and its largest deviation over
    /// all dimensions in standard deviations; 0 if observations are not scaled.
    pub fn farthest(&self, rows: &[f32]) -> (usize, f32) {
        let scaling = &self.transform.scaling().observation;
        if *scaling == Affine::identity(self.width()) {
            return (0, 0.0);
        }
        let scaled = scaling.scaled(rows);
        let out = scaled.chunks(self.width()).map(|row| row.iter().fold(0f32, |max, x| max.max(x.abs())));
        out.enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b)).unwrap_or((0, 0.0))
    }

    /// Returns the latent states that the distance compares, `[n, latent width]`, and the latent
    /// width; `None` if the distance is not a quasimetric between latent states.
    ///
    /// Two networks of which the larger distance is used have their latent states side by side.
    ///
    /// # Panics
    /// If the length of `rows` is not a multiple of the width of a state.
    pub fn embed(&self, rows: &[f32]) -> Option<(Vec<f32>, usize)> {
        check_rows("rows", rows, self.width()).unwrap_or_else(ShapeError::panic);
        // Also known if there are no rows.
        let [_, width] = self.distance.embed(self.tensor(&vec![0.0; self.width()]))?.dims();
        let mut latent = Vec::with_capacity(rows.len() / self.width() * width);
        for rows in rows.chunks(CHUNK * self.width()) {
            latent.extend(numbers(self.distance.embed(self.tensor(rows))?));
        }
        Some((latent, width))
    }

    /// Adds the distance in steps between rows in the units of the data to a graph; `None` if it
    /// cannot be exported.
    pub(crate) fn onnx(&self, graph: &mut Graph, from: &Value, to: &Value) -> Option<Value> {
        let scaling = &self.transform.scaling().observation;
        let (from, to) = (graph.scaled(scaling, from), graph.scaled(scaling, to));
        let nats = self.distance.onnx(graph, &from, &to)?;
        let unit = graph.number(self.discount.nats_per_step());
        Some(graph.op("Div", &[&nats, &unit]))
    }

    /// Adds [`embed`](Self::embed) to a graph and returns the latent width; `None` if there is no
    /// embedding.
    pub(crate) fn onnx_embedding(&self, graph: &mut Graph, rows: &Value) -> Option<(Value, usize)> {
        let rows = graph.scaled(&self.transform.scaling().observation, rows);
        self.distance.onnx_embedding(graph, &rows)
    }

    fn tensor(&self, rows: &[f32]) -> Tensor<2> {
        self.transform.observations(rows)
    }
}

impl TemporalDistance for LearnedDistance {
    fn width(&self) -> usize {
        self.transform.scaling().observation.shift.len()
    }

    fn discount(&self) -> Discount {
        self.discount
    }

    fn paired_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        self.check_paired(from, to).unwrap_or_else(ShapeError::panic);
        let of_chunk =
            |(from, to): (&[f32], &[f32])| numbers(self.distance.paired(self.tensor(from), self.tensor(to)));
        if !self.transform.is_on_cpu() {
            // Threads would wait for each other's work on a GPU.
            let chunk = CHUNK * self.width();
            return from.chunks(chunk).zip(to.chunks(chunk)).flat_map(of_chunk).collect();
        }
        let chunk = PAIRED_CHUNK * self.width();
        let chunks = from.par_chunks(chunk).zip(to.par_chunks(chunk));
        let distances: Vec<Vec<f32>> = chunks.map(of_chunk).collect();
        distances.concat()
    }

    fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        let (rows, columns) = self.check_all_pairs(from, to).unwrap_or_else(ShapeError::panic);
        let chunk = CHUNK * self.width();
        let mut all = Vec::with_capacity(rows * columns);
        for from in from.chunks(chunk) {
            let rows = from.len() / self.width();
            let first = all.len();
            all.resize(first + rows * columns, 0.0);
            let mut before = 0;
            for to in to.chunks(chunk) {
                let width = to.len() / self.width();
                let block = numbers(self.distance.all_pairs(self.tensor(from), self.tensor(to)));
                for (row, values) in block.chunks_exact(width).enumerate() {
                    let at = first + row * columns + before;
                    all[at..at + width].copy_from_slice(values);
                }
                before += width;
            }
        }
        all
    }

    fn as_latent(&self) -> Option<&dyn LatentDistance> {
        self.distance.latent_metric().map(|_| self as &dyn LatentDistance)
    }
}

impl LatentDistance for LearnedDistance {
    fn embed(&self, rows: &[f32]) -> Vec<f32> {
        let (latent, _) = Self::embed(self, rows).expect("`as_latent` checks it");
        latent
    }

    fn metric(&self) -> Arc<dyn LatentMetric> {
        self.distance.latent_metric().expect("`as_latent` checks it")
    }
}

/// A learned policy on unscaled states. Clones share the network.
#[derive(Clone)]
pub struct LearnedPolicy {
    actor: Actor,
    transform: BatchTransform,
}

impl LearnedPolicy {
    /// Creates a policy from its network.
    pub(crate) fn new(actor: Actor, transform: BatchTransform) -> Self {
        Self { actor, transform }
    }

    pub(crate) fn actor(&self) -> &Actor {
        &self.actor
    }

    pub(crate) fn scaling(&self) -> &Scaling {
        self.transform.scaling()
    }

    /// Adds the policy to a graph: rows in the units of the data give actions in those units.
    pub(crate) fn onnx(&self, graph: &mut Graph, observations: &Value, goals: &Value) -> Value {
        let scaling = self.transform.scaling();
        let (observations, goals) =
            (graph.scaled(&scaling.observation, observations), graph.scaled(&scaling.observation, goals));
        let goals = graph.slice(&goals, 1, self.transform.goal());
        let actions = graph.policy_mode(&self.actor, &observations, &goals);
        graph.unscaled(&scaling.action, &actions)
    }
}

impl GoalPolicy for LearnedPolicy {
    fn observation_width(&self) -> usize {
        self.transform.scaling().observation.shift.len()
    }

    fn action_width(&self) -> usize {
        self.transform.scaling().action.shift.len()
    }

    fn actions(&self, observations: &[f32], goals: &[f32]) -> Vec<f32> {
        self.check_actions(observations, goals).unwrap_or_else(ShapeError::panic);
        let goals = self.transform.policy_goals(self.transform.observations(goals));
        let actions = self.actor.forward(self.transform.observations(observations), goals).mode();
        self.transform.actions_to_host(actions)
    }
}

fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_into_vec().expect("single precision")
}
