//! Quasimetric reinforcement learning.

use super::prelude::*;
use isochrone_data::sampling::GoalMixture;
use isochrone_nn::module::MetricMember;

/// Settings of [`Qrl`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct QrlConfig {
    /// The quasimetric, in steps; the latent dynamics have the same hidden layers.
    pub critic: QuasimetricConfig,
    /// The optimizer of both.
    pub critic_optimizer: OptimizerConfig,
    /// The goals of the pairs that are pushed apart: random states.
    pub critic_goals: GoalDistributionConfig,
    /// The distance in steps beyond which pairs are pushed apart less.
    pub push_offset: f32,
    /// The sharpness of that transition.
    pub push_beta: f32,
    /// The constraint that an observed transition is at most one step long; the margin applies to
    /// the mean squared violation.
    pub constraint: DualConfig,
    /// The weight of the continuity hinge; 0 for none.
    #[serde(default)]
    pub continuity_weight: f64,
    /// The policy.
    pub policy: PolicyConfig,
    /// How the policy is extracted from the distance.
    pub extraction: Extraction,
}

/// Quasimetric reinforcement learning: distances as large as observed transitions allow.
///
/// A quasimetric `d` between states, in steps:
///
/// `maximize E[ shape(d(s, g)) ] over any two states   subject to   E[ max(0, d(s, s') - 1)^2 ] <=
/// margin over transitions`
///
/// by dual ascent. For actions, latent dynamics `z + T(z, a)` are regressed to the latent state of
/// `s'` in the quasimetric itself. The distance is correct for deterministic dynamics, and
/// optimistic for stochastic ones, where an improbable transition counts as one step.
///
/// Wang, Torralba, Isola, Zhang, "Optimal Goal-Reaching Reinforcement Learning via Quasimetric
/// Learning" (2023).
pub struct Qrl {
    config: QrlConfig,
    context: LearnerContext,
    critic: TrainState<Critic>,
    dual: Dual,
    policy: Option<Policy>,
}

#[derive(Module, Debug)]
struct Critic {
    metric: Metric,
    /// One network for each member of the metric; empty without actions.
    dynamics: Vec<Encoder>,
}

impl Critic {
    /// Iterates over the members with their dynamics.
    fn members(&self) -> impl Iterator<Item = (&MetricMember, Option<&Encoder>)> {
        self.metric.members().iter().enumerate().map(|(index, member)| (member, self.dynamics.get(index)))
    }

    /// Returns the distance in steps from the state after these actions to the goals, `[n]`; the
    /// maximum over members.
    fn distance_after(&self, states: &Tensor<2>, actions: Tensor<2>, goals: &Tensor<2>) -> Tensor<1> {
        let all = self.members().map(|(member, dynamics)| {
            let (z, to) = member.encode(states.clone(), goals.clone());
            let dynamics = dynamics.expect("only called if there are actions");
            member.head.rowwise(next_latent(dynamics, z, actions.clone()), to)
        });
        all.reduce(Tensor::max_pair).expect("there is at least one")
    }
}

/// Predicts the latent states after actions, `[n, latent]`.
fn next_latent(dynamics: &Encoder, latent: Tensor<2>, actions: Tensor<2>) -> Tensor<2> {
    latent.clone() + dynamics.forward(Tensor::cat(vec![latent, actions], 1))
}

impl AlgorithmDef for Qrl {
    type Config = QrlConfig;

    const NAME: &'static str = "qrl";
    const IDEA: &'static str = "Quasimetric reinforcement learning";
    const PAPER: &'static str = "https://arxiv.org/abs/2304.01203";
    // Searched on pointmaze-medium-navigate: docs/results/two-levels-search.
    const ADVANTAGE_ALPHA: f64 = 3.0;

    fn preset(preset: Preset) -> QrlConfig {
        let mixture = GoalMixture { geometric: 0.0, random: 1.0, ..GoalMixture::default() };
        QrlConfig {
            critic: QuasimetricConfig::with_intervals(preset),
            critic_optimizer: OptimizerConfig::default(),
            critic_goals: GoalDistributionConfig { mixture, ..GoalDistributionConfig::default() },
            push_offset: 500.0,
            push_beta: 0.01,
            constraint: DualConfig { margin: 0.0025, learning_rate: 0.01, ..DualConfig::default() },
            continuity_weight: 0.0,
            policy: PolicyConfig::preset(preset),
            extraction: Extraction::default(),
        }
    }

    fn new(config: QrlConfig, context: &LearnerContext) -> Result<Self, ConfigError> {
        positive("push_offset", f64::from(config.push_offset))?;
        positive("push_beta", f64::from(config.push_beta))?;
        dual("constraint", &config.constraint)?;
        Continuity::check(config.continuity_weight)?;
        config.extraction.check()?;
        let inside = |error: ConfigError| error.inside("critic");
        let metric =
            config.critic.init(context.observation_width, &mut context.initializer(0)).map_err(inside)?;
        let QuasimetricConfig { latent, trunk, .. } = config.critic;
        let model = EncoderConfig { inputs: latent + context.action_width, outputs: latent, trunk };
        let count = if context.has_actions() { metric.members().len() } else { 0 };
        let mut init = context.initializer(1);
        let dynamics = (0..count).map(|_| model.init(&mut init)).collect::<Result<_, _>>().map_err(inside)?;
        let critic = context
            .train_state(Critic { metric, dynamics }, config.critic_optimizer)
            .map_err(|error| error.inside("critic_optimizer"))?;
        let policy = Policy::new(&config.policy, context)?;
        let dual = Dual::new(config.constraint);
        Ok(Self { config, context: context.clone(), critic, dual, policy })
    }
}

impl Qrl {
    /// Returns the spread loss, the constraint and the error of the dynamics, each summed over the
    /// members of the metric.
    fn losses(&self, batch: &DeviceBatch) -> [Option<Loss>; 3] {
        let (states, next, goals) =
            (&batch.observations, &batch.next_observations, &batch.goals[0].observations);
        let n = batch.rows();
        let (mut push, mut step, mut dynamics_errors) = (Vec::new(), Vec::new(), Vec::new());
        for (member, dynamics) in self.critic.network().members() {
            let all = Tensor::cat(vec![states.clone(), next.clone(), goals.clone()], 0);
            let latent = member.encoder.forward(all);
            let [z, z_next, z_goal] = [0, 1, 2].map(|part| latent.clone().narrow(0, part * n, n));
            let distances = member.head.rowwise(z.clone(), z_goal);
            push.push(qrl_spread(distances, self.config.push_offset, self.config.push_beta));
            step.push(local_constraint(member.head.rowwise(z.clone(), z_next.clone()), 1.0));
            if let Some(dynamics) = dynamics {
                let predicted = next_latent(dynamics, z, batch.actions.clone());
                let forward = member.head.rowwise(predicted.clone(), z_next.clone());
                let backward = member.head.rowwise(z_next, predicted);
                dynamics_errors.push(Loss::new((forward.square() + backward.square()).mean() * 0.5));
            }
        }
        [push, step, dynamics_errors].map(Loss::sum)
    }
}

impl Learner for Qrl {
    fn goals(&self) -> Vec<GoalDistributionConfig> {
        let goals = [self.config.critic_goals, self.config.policy.goals];
        goals.into_iter().chain(self.config.extraction.later_states()).collect()
    }

    fn update(&mut self, batch: &DeviceBatch) -> Metrics {
        let mut metrics = Metrics::default();
        let [push, step, dynamics] = self.losses(batch);
        let (push, step) = (push.expect("there is a member"), step.expect("there is a member"));
        metrics.add("push", &push);
        metrics.add("constraint", &step);
        metrics.put("constraint", "lambda", self.dual.lambda());
        let mut loss = push.value + step.value * self.dual.lambda();
        if let Some(dynamics) = dynamics {
            metrics.add("dynamics", &dynamics);
            loss = loss + dynamics.value;
        }
        let violation = metrics.get("constraint/violation").expect("the loss reports it");
        self.dual.update(self.context.processes.mean(violation));
        let continuity = Continuity { weight: self.config.continuity_weight, step: 1.0 };
        let loss = continuity.add_to(loss, batch, &mut metrics, |states, goals| {
            self.critic.network().metric.rowwise(states, goals)
        });
        self.critic.step(loss);

        if let Some(policy) = &mut self.policy {
            let critic = self.critic.frozen();
            let (states, goals) = (&batch.observations, &batch.goals[1]);
            let to = &goals.observations;
            let of_action = |actions: Tensor<2>| critic.distance_after(states, actions, to);
            // Minus the step that `of_action` has already taken.
            let of_states = |states: Tensor<2>| critic.metric.rowwise(states, to.clone()) - 1.0;
            let loss = policy.extract(self.config.extraction, batch, goals, of_action, of_states);
            metrics.add("actor", &loss);
        }
        metrics
    }

    fn distance(&self) -> Option<Box<dyn TensorDistance>> {
        let metric = self.critic.frozen().metric;
        Some(Box::new(StepMetricDistance { metric, discount: self.context.discount }))
    }

    fn policy(&self) -> Option<Actor> {
        self.policy.as_ref().map(Policy::frozen)
    }

    fn visit_state(&mut self, state: &mut StateDict) -> Result<(), StateError> {
        self.critic.visit_state("critic", state)?;
        self.dual.visit_state("lambda", state)?;
        self.policy.as_mut().map_or(Ok(()), |policy| policy.visit_state(state))
    }
}
