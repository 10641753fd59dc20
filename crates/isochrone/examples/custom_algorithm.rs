//! An algorithm of one's own, trained and resumed by the trainer of this crate: a contrastive quasimetric between states.

use isochrone::prelude::{algorithm::*, *};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Config {
    critic: QuasimetricConfig,
    optimizer: OptimizerConfig,
}

struct StateContrast(TrainState<Metric>, LearnerContext);

impl AlgorithmDef for StateContrast {
    type Config = Config;
    const NAME: &'static str = "state-contrast";
    const IDEA: &'static str = "CMD-1 without actions, potential and policy";
    const PAPER: &'static str = "https://arxiv.org/abs/2406.17098";
    fn preset(preset: Preset) -> Config {
        Config { critic: QuasimetricConfig::preset(preset), optimizer: OptimizerConfig::default() }
    }
    fn new(config: Config, context: &LearnerContext) -> Result<Self, ConfigError> {
        let metric = config.critic.init(context.observation_width, &mut context.initializer(0))?;
        Ok(Self(TrainState::new(metric, config.optimizer, context.steps)?, context.clone()))
    }
}

impl Learner for StateContrast {
    fn goals(&self) -> Vec<GoalDistributionConfig> {
        vec![GoalDistributionConfig::default()]
    }
    fn update(&mut self, batch: &DeviceBatch) -> Metrics {
        let member = &self.0.network().members()[0];
        let (x, y) = member.encode(batch.observations.clone(), batch.goals[0].observations.clone());
        let loss = infonce(InfoNce::default(), &member.head, x, y, ContrastiveOptions::default());
        let mut metrics = Metrics::default();
        metrics.add("critic", &loss);
        self.0.step(loss.value);
        metrics
    }
    fn distance(&self) -> Option<Box<dyn TensorDistance>> {
        Some(Box::new(MetricDistance { metric: self.0.frozen(), input: CriticInput::new(&self.1) }))
    }
    fn visit_state(&mut self, state: &mut StateDict) -> Result<(), StateError> {
        self.0.visit_state("critic", state)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = Dataset::from_arrays(1, 0, [((0..=200).map(|step| step as f32).collect::<Vec<_>>(), [])])?;
    let folder = tempfile::tempdir()?;
    let training = || Training::new(Algorithm::of::<StateContrast>()).preset(Preset::Small).steps(40);
    let stop = StopHandle::default(); // stopped before its first update, then resumed to its end
    stop.stop();
    training().run_dir(folder.path().join("run")).stop(stop).fit(&data)?;
    let resumed = training().run_dir(folder.path().join("run")).fit(&data)?;
    let whole = training().fit(&data)?;
    let ask =
        |model: &Model| model.distance()?.steps(&[10.0], &[20.0]).map_err(Box::<dyn std::error::Error>::from);
    assert_eq!(ask(&resumed)?, ask(&whole)?, "a resumed run is bit-identical");
    println!("{:.1} steps", ask(&whole)?);
    Ok(())
}
