//! An algorithm that is defined outside of this crate.

use crate::support::{StopAfter, on_ranks, walks};
use burn::tensor::Tensor;
use isochrone_core::TemporalDistance as _;
use isochrone_data::sampling::GoalDistributionConfig;
use isochrone_learn::{
    Algorithm, AlgorithmDef, DeviceBatch, Learner, LearnerContext, Metrics, Model, Outcome, Preset,
    StateDict, StopHandle, TensorDistance, Training,
    components::{OptimizerConfig, TrainState},
    error::{ConfigError, LearnError, StateError},
    export::{OnnxPart, onnx_bytes},
    model::CheckpointSelector,
    run::{OpenOptions, Run},
};
use isochrone_nn::{
    loss::Loss,
    module::{Actor, Encoder, EncoderConfig, TrunkConfig},
};
use serde::{Deserialize, Serialize};

/// Regresses the distance between embeddings to 1 for observed steps: not a useful algorithm, but
/// trained like the others.
struct StepRegression {
    encoder: TrainState<Encoder>,
}

#[derive(Serialize, Deserialize)]
struct StepRegressionConfig {
    encoder: TrunkConfig,
    optimizer: OptimizerConfig,
}

impl AlgorithmDef for StepRegression {
    type Config = StepRegressionConfig;

    const NAME: &'static str = "step-regression";
    const IDEA: &'static str = "Embeddings in which observed steps have length 1";
    const PAPER: &'static str = "https://example.org";

    fn preset(preset: Preset) -> StepRegressionConfig {
        StepRegressionConfig { encoder: preset.trunk(), optimizer: OptimizerConfig::default() }
    }

    fn new(config: StepRegressionConfig, context: &LearnerContext) -> Result<Self, ConfigError> {
        let encoder = EncoderConfig { inputs: context.observation_width, outputs: 8, trunk: config.encoder };
        let encoder = encoder.init(&mut context.initializer(0))?;
        Ok(Self { encoder: TrainState::new(encoder, config.optimizer, context.steps)? })
    }
}

impl Learner for StepRegression {
    fn goals(&self) -> Vec<GoalDistributionConfig> {
        vec![GoalDistributionConfig::default()]
    }

    fn update(&mut self, batch: &DeviceBatch) -> Metrics {
        let lengths = Euclidean(self.encoder.network().clone())
            .paired(batch.observations.clone(), batch.next_observations.clone());
        let loss = Loss::new((lengths - 1.0).square().mean());
        let mut metrics = Metrics::default();
        metrics.add("encoder", &loss);
        self.encoder.step(loss.value);
        metrics
    }

    fn distance(&self) -> Option<Box<dyn TensorDistance>> {
        Some(Box::new(Euclidean(self.encoder.frozen())))
    }

    fn policy(&self) -> Option<Actor> {
        None
    }

    fn visit_state(&mut self, state: &mut StateDict) -> Result<(), StateError> {
        self.encoder.visit_state("encoder", state)
    }
}

struct Euclidean(Encoder);

impl TensorDistance for Euclidean {
    fn paired(&self, from: Tensor<2>, to: Tensor<2>) -> Tensor<1> {
        let [n, _] = from.dims();
        let difference = self.0.forward(from) - self.0.forward(to);
        (difference.square().sum_dim(1) + 1e-12).sqrt().reshape([n])
    }

    fn all_pairs(&self, from: Tensor<2>, to: Tensor<2>) -> Tensor<2> {
        let ([n, _], [m, _]) = (from.dims(), to.dims());
        let column = |at: usize| self.paired(from.clone(), to.clone().narrow(0, at, 1).repeat_dim(0, n));
        Tensor::cat((0..m).map(|at| column(at).reshape([n, 1])).collect(), 1)
    }
}

/// It is trained, stopped, resumed, opened and checked like the algorithms of this crate.
#[test]
fn algorithms_of_other_crates_are_trained_by_the_same_trainer() {
    let (folder, data) = (tempfile::tempdir().unwrap(), walks(4, 30));
    let custom = Algorithm::of::<StepRegression>();
    let training =
        || Training::new(custom).preset(Preset::Small).steps(8).batch_size(16).set("encoder.width", 16);
    let uninterrupted = training().fit(&data).unwrap();
    let run = folder.path().join("run");
    let stop = StopHandle::default();
    let stopped =
        training().run_dir(&run).callbacks(StopAfter(3, stop.clone())).stop(stop).train(&data).unwrap();
    assert_eq!((stopped.outcome, stopped.model.step), (Outcome::Stopped, 3));
    drop(stopped);
    let resumed = training().run_dir(&run).fit(&data).unwrap();
    let nats = |model: &Model| model.distance().unwrap().paired_nats(&[0.0; 4], &[1.0; 4]);
    assert_eq!((resumed.step, nats(&resumed)), (8, nats(&uninterrupted)));

    // Opening the run without the handle is an error that names the algorithm.
    let error = Run::open(&run).unwrap_err().to_string();
    assert!(error.contains("step-regression") && error.contains("cmd1"), "{error}");
    let opened =
        Run::open_with(&run, &OpenOptions { algorithms: vec![custom], ..OpenOptions::default() }).unwrap();
    assert_eq!(opened.config().learner.algorithm(), custom);
    assert_eq!(nats(&Model::of_run(&opened, CheckpointSelector::Last).unwrap()), nats(&uninterrupted));

    // Without a definition of its export, the error names what is missing.
    let error = onnx_bytes(&resumed, OnnxPart::Distance).unwrap_err().to_string();
    assert!(error.contains("step-regression") && error.contains("TensorDistance::onnx"), "{error}");

    let error = training().set("encoder.widht", 3).fit(&data).err().unwrap().to_string();
    assert!(error.contains("learner.encoder.widht") && error.contains("`width`"), "{error}");
    assert!(custom.settings(Preset::Small).iter().any(|setting| setting.name == "learner.encoder.width"));
}

/// Its gradients are not averaged, since it does not use `LearnerContext::train_state`: several
/// processes would train different networks.
#[test]
fn processes_whose_states_differ_are_an_error() {
    let data = walks(4, 30);
    let results = on_ranks(2, |group| {
        let training = Training::new(Algorithm::of::<StepRegression>()).preset(Preset::Small);
        training.steps(4).batch_size(16).group(group).train(&data)
    });
    for result in results {
        let error = result.err().expect("an error");
        assert!(
            matches!(error, LearnError::ProcessesDiffer { what: "state after an update", .. }),
            "{error}"
        );
    }
}
