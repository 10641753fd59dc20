//! Contrastive reinforcement learning, with two losses.

use super::prelude::*;
use serde::de::DeserializeOwned;

/// A contrastive loss of [`Crl`]: [`Nce`] or [`InfoNce`].
pub trait CrlLoss: Serialize + DeserializeOwned + Default + Copy + Send + 'static {
    /// The name of the algorithm with this loss.
    const NAME: &'static str;
    /// A one-line description.
    const IDEA: &'static str;

    /// Returns the loss of embeddings `x, y: [n, width]` of matched states and goals.
    fn loss(self, head: &PairHead, x: Tensor<2>, y: Tensor<2>, options: ContrastiveOptions) -> Loss;
}

/// Binary cross-entropy over all pairs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Nce {}

impl CrlLoss for Nce {
    const NAME: &'static str = "crl-nce";
    const IDEA: &'static str = "Contrastive reinforcement learning, binary cross-entropy";

    fn loss(self, head: &PairHead, x: Tensor<2>, y: Tensor<2>, options: ContrastiveOptions) -> Loss {
        binary_nce(head, x, y, options)
    }
}

impl CrlLoss for InfoNce {
    const NAME: &'static str = "crl-cpc";
    const IDEA: &'static str = "Contrastive reinforcement learning, softmax";

    fn loss(self, head: &PairHead, x: Tensor<2>, y: Tensor<2>, options: ContrastiveOptions) -> Loss {
        infonce(self, head, x, y, options)
    }
}

/// Settings of [`Crl`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CrlConfig<L> {
    /// The contrastive critic.
    pub critic: ContrastiveConfig,
    /// The optimizer of the critic.
    pub critic_optimizer: OptimizerConfig,
    /// The loss of the critic.
    pub loss: L,
    /// The goals of the critic: geometric offsets, starting at 0.
    pub critic_goals: GoalDistributionConfig,
    /// The fraction of rows without their action, from which distances between states are learned.
    pub state_only_fraction: f64,
    /// The weight of the continuity hinge; 0 for none.
    #[serde(default)]
    pub continuity_weight: f64,
    /// The policy.
    pub policy: PolicyConfig,
    /// How the policy is extracted from the critic.
    pub extraction: Extraction,
}

/// Contrastive reinforcement learning: a critic of future states that is not a metric.
///
/// `f(x, g) = phi(x) . psi(g) / sqrt(D)` is trained by binary cross-entropy over all pairs of a
/// batch ([`Nce`]) or by softmax ([`InfoNce`], also called CPC). At the optimum
/// `f = log p(g|x) - log p(g) + const`; the policy maximizes `f`, and `f(g, g) - f(s, g)` is the
/// distance.
///
/// Eysenbach, Zhang, Levine, Salakhutdinov, "Contrastive Learning as Goal-Conditioned Reinforcement
/// Learning" (2022). Offsets, goals and rows are those of [`Cmd1`](crate::algos::Cmd1), so that a
/// comparison isolates the critics.
pub struct Crl<L> {
    config: CrlConfig<L>,
    context: LearnerContext,
    input: CriticInput,
    critic: TrainState<ContrastiveCritic>,
    head: PairHead,
    policy: Option<Policy>,
}

impl<L: CrlLoss> AlgorithmDef for Crl<L> {
    type Config = CrlConfig<L>;

    const NAME: &'static str = L::NAME;
    const IDEA: &'static str = L::IDEA;
    const PAPER: &'static str = "https://arxiv.org/abs/2206.07568";

    fn preset(preset: Preset) -> CrlConfig<L> {
        CrlConfig {
            critic: ContrastiveConfig { embedding: preset.latent(), ..ContrastiveConfig::preset(preset) },
            critic_optimizer: OptimizerConfig::default(),
            loss: L::default(),
            critic_goals: GoalDistributionConfig::default(),
            state_only_fraction: 0.5,
            continuity_weight: 0.0,
            policy: PolicyConfig::preset(preset),
            extraction: Extraction::default(),
        }
    }

    fn new(config: CrlConfig<L>, context: &LearnerContext) -> Result<Self, ConfigError> {
        fraction("state_only_fraction", config.state_only_fraction)?;
        Continuity::check(config.continuity_weight)?;
        config.extraction.check()?;
        let input = CriticInput::new(context);
        let critic = config.critic.init(input, context.observation_width, &mut context.initializer(0));
        let critic = critic.map_err(|error| error.inside("critic"))?;
        let critic = context
            .train_state(critic, config.critic_optimizer)
            .map_err(|error| error.inside("critic_optimizer"))?;
        let head = PairHeadConfig::InnerProduct.init(config.critic.embedding, &mut context.initializer(1))?;
        let policy = Policy::new(&config.policy, context)?;
        Ok(Self { config, context: context.clone(), input, critic, head, policy })
    }
}

impl<L: CrlLoss> Crl<L> {
    /// Returns the sum of the contrastive losses of all pairs of encoders.
    fn contrast(&self, batch: &DeviceBatch) -> Loss {
        let from = self.input.of_batch(batch, &self.context, self.config.state_only_fraction);
        let losses = self.critic.network().members.iter().map(|member| {
            let x = member.phi.forward(from.clone());
            let y = member.psi.forward(batch.goals[0].observations.clone());
            let group = self.context.processes.negatives().cloned();
            let scale = 1.0 / (self.config.critic.embedding as f32).sqrt();
            self.config.loss.loss(&self.head, x, y, ContrastiveOptions { scale, potential: None, group })
        });
        Loss::sum(losses).expect("there is at least one member")
    }
}

/// Returns minus the minimum of `f` over all members, `[n]`: an unlikely goal is far away.
fn unlikelihood(critic: &ContrastiveCritic, rows: &Tensor<2>, goals: &Tensor<2>) -> Tensor<1> {
    let f = |member: &Embedding| member.rowwise(rows.clone(), goals.clone());
    critic.members.iter().map(f).reduce(Tensor::min_pair).expect("there is a member").neg()
}

impl<L: CrlLoss> Learner for Crl<L> {
    fn goals(&self) -> Vec<GoalDistributionConfig> {
        let goals = [self.config.critic_goals, self.config.policy.goals];
        goals.into_iter().chain(self.config.extraction.later_states()).collect()
    }

    fn update(&mut self, batch: &DeviceBatch) -> Metrics {
        let mut metrics = Metrics::default();
        let contrast = self.contrast(batch);
        metrics.add("critic", &contrast);
        let continuity = Continuity::in_nats(self.config.continuity_weight, self.context.discount);
        let loss = continuity.add_to(contrast.value, batch, &mut metrics, |states, goals| {
            unlikelihood(self.critic.network(), &self.input.states(states), &goals)
        });
        self.critic.step(loss);

        if let Some(policy) = &mut self.policy {
            let (critic, goals) = (self.critic.frozen(), &batch.goals[1]);
            let nats = |rows: Tensor<2>| unlikelihood(&critic, &rows, &goals.observations);
            let input = (self.input, self.context.discount);
            let loss = policy.extract_from_rows(self.config.extraction, batch, goals, input, nats);
            metrics.add("actor", &loss);
        }
        metrics
    }

    fn distance(&self) -> Option<Box<dyn TensorDistance>> {
        Some(Box::new(ContrastiveDistance { members: self.critic.frozen().members, input: self.input }))
    }

    fn policy(&self) -> Option<Actor> {
        self.policy.as_ref().map(Policy::frozen)
    }

    fn visit_state(&mut self, state: &mut StateDict) -> Result<(), StateError> {
        self.critic.visit_state("critic", state)?;
        self.policy.as_mut().map_or(Ok(()), |policy| policy.visit_state(state))
    }
}
