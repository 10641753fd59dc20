//! One CMD-1 step in isochrone: critic with potential, actor, Adam.

use burn::{
    module::Module,
    tensor::{Device, Tensor, TensorData},
};
use isochrone_core::rng;
use isochrone_nn::{
    loss::{ContrastiveOptions, InfoNce, infonce},
    module::{
        Actor, ActorConfig, EncoderConfig, Ensemble, Initializer, Metric, MetricConfig, PairHeadConfig,
        PolicyDistribution, Potential, TrunkConfig,
    },
    optim::{OptimizerConfig, TrainState},
};

pub const OBSERVATION: usize = 29;
pub const ACTION: usize = 8;
pub const LEARNING_RATE: f64 = 3e-4;
pub const BC_WEIGHT: f32 = 0.1;

/// The sizes of the networks.
#[derive(Clone, Copy)]
pub struct Sizes {
    pub trunk: TrunkConfig,
    pub latent: usize,
    pub head: PairHeadConfig,
}

/// States, actions, goals, goal actions, and the action noise of the actor.
#[derive(Clone)]
pub struct Batch {
    pub state: Tensor<2>,
    pub action: Tensor<2>,
    pub goal: Tensor<2>,
    pub goal_action: Tensor<2>,
    pub noise: Tensor<2>,
}

impl Batch {
    /// Draws standard normal numbers from stream `step` of `seed`.
    pub fn draw(size: usize, seed: u64, step: u64, device: &Device) -> Self {
        let mut rng = rng::stream(seed, step);
        let mut normal = |width: usize| {
            let values: Vec<f32> = (0..size * width)
                .map(|_| {
                    let (u, v) = (1.0 - rng::unit_f64(&mut rng), rng::unit_f64(&mut rng));
                    ((-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()) as f32
                })
                .collect();
            Tensor::<2>::from_data(TensorData::new(values, [size, width]), device)
        };
        Self {
            state: normal(OBSERVATION),
            action: normal(ACTION).tanh(),
            goal: normal(OBSERVATION),
            goal_action: normal(ACTION).tanh(),
            noise: normal(ACTION),
        }
    }
}

#[derive(Module, Debug)]
pub struct Critic {
    pub metric: Metric,
    pub potential: Potential,
}

pub struct Agent {
    pub critic: TrainState<Critic>,
    pub actor: TrainState<Actor>,
}

impl Agent {
    pub fn new(sizes: Sizes, seed: u64, device: &Device) -> Self {
        let Sizes { trunk, latent, head } = sizes;
        let mut init = Initializer::new(seed, 0, device);
        let encoder = EncoderConfig { inputs: OBSERVATION + ACTION, outputs: latent, trunk };
        let metric = MetricConfig { encoder, head, ensemble: Ensemble::Single }.init(&mut init).unwrap();
        let potential = Potential::new(OBSERVATION, trunk, &mut init).unwrap();
        let actor = ActorConfig {
            inputs: 2 * OBSERVATION,
            actions: ACTION,
            trunk,
            distribution: PolicyDistribution::default(),
        };
        let actor = actor.init(&mut Initializer::new(seed, 1, device)).unwrap();
        let config = OptimizerConfig { learning_rate: LEARNING_RATE, ..OptimizerConfig::default() };
        Self {
            critic: TrainState::new(Critic { metric, potential }, config, 1).unwrap(),
            actor: TrainState::new(actor, config, 1).unwrap(),
        }
    }

    /// Updates critic and actor once, and returns their losses.
    pub fn step(&mut self, batch: &Batch) -> [f64; 2] {
        let [n, _] = batch.state.dims();
        let critic = self.critic.network();
        let member = &critic.metric.members()[0];
        let rows =
            |state: &Tensor<2>, action: &Tensor<2>| Tensor::cat(vec![state.clone(), action.clone()], 1);
        let from_to =
            Tensor::cat(vec![rows(&batch.state, &batch.action), rows(&batch.goal, &batch.goal_action)], 0);
        let latent = member.encoder.forward(from_to);
        let potential = critic.potential.forward(batch.goal.clone());
        let options = ContrastiveOptions { potential: Some(potential), ..Default::default() };
        let (x, y) = (latent.clone().narrow(0, 0, n), latent.narrow(0, n, n));
        let critic_loss = infonce(InfoNce::default(), &member.head, x, y, options);
        self.critic.step(critic_loss.value.clone());

        let frozen = self.critic.frozen();
        let member = &frozen.metric.members()[0];
        let policy = self.actor.network().forward(batch.state.clone(), batch.goal.clone());
        let x = member.encoder.forward(rows(&batch.state, &policy.sample(batch.noise.clone())));
        let y = member.encoder.forward(rows(&batch.goal, &batch.goal_action));
        let distance = member.head.rowwise(x, y);
        let actor_loss = distance.mean() - policy.log_prob(batch.action.clone()).mean() * BC_WEIGHT;
        drop(frozen);
        self.actor.step(actor_loss.clone());
        [critic_loss.item(), f64::from(actor_loss.into_scalar::<f32>())]
    }
}
