//! A custom algorithm, a contrastive quasimetric between states, that is trained, stopped and
//! resumed.

use isochrone::prelude::{algorithm::*, *};

struct StateContrast(TrainState<Metric>, LearnerContext);

impl AlgorithmDef for StateContrast {
    type Config = QuasimetricConfig; // any type that implements `Serialize` and `Deserialize`
    const NAME: &'static str = "state-contrast";
    const IDEA: &'static str = "CMD-1 without actions, potential and policy";
    const PAPER: &'static str = "https://arxiv.org/abs/2406.17098";
    fn preset(preset: Preset) -> QuasimetricConfig {
        QuasimetricConfig::preset(preset)
    }
    fn new(config: QuasimetricConfig, context: &LearnerContext) -> Result<Self, ConfigError> {
        let metric = config.init(context.observation_width, &mut context.initializer(0))?;
        Ok(Self(context.train_state(metric, OptimizerConfig::default())?, context.clone()))
    }
}

impl Learner for StateContrast {
    fn goals(&self) -> Vec<GoalDistributionConfig> {
        vec![GoalDistributionConfig::default()]
    }
    fn update(&mut self, batch: &DeviceBatch) -> Metrics {
        let member = &self.0.network().members()[0];
        let (x, y) = member.encode(batch.observations.clone(), batch.goals[0].observations.clone());
        let group = self.1.processes.negatives().cloned();
        let options = ContrastiveOptions { group, ..Default::default() };
        let loss = infonce(InfoNce::default(), &member.head, x, y, options);
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

struct StopAfter(u64, StopHandle);
impl Callbacks for StopAfter {
    fn on_step(&mut self, step: u64) {
        (step == self.0).then(|| self.1.stop());
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = Dataset::from_arrays(1, 0, [((0..=200).map(|step| step as f32).collect::<Vec<_>>(), [])])?;
    let (folder, stop) = (tempfile::tempdir()?, StopHandle::default());
    let training = || Training::new(Algorithm::of::<StateContrast>()).preset(Preset::Small).steps(200);
    let in_folder = || training().run_dir(folder.path().join("run"));
    let stopped = in_folder().callbacks(StopAfter(50, stop.clone())).stop(stop).fit(&data)?;
    let (resumed, uninterrupted) = (in_folder().fit(&data)?.distance()?, training().fit(&data)?.distance()?);
    let query = ([10.0], [20.0]);
    assert_eq!(resumed.steps(&query.0, &query.1)?, uninterrupted.steps(&query.0, &query.1)?, "bit-identical");
    println!("{:.1} steps; stopped after {} of 200", uninterrupted.steps(&query.0, &query.1)?, stopped.step);
    Ok(())
}
