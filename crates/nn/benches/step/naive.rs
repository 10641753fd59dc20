//! The same step in plain Burn: its layers, its Adam, and pairs by broadcasting.

use super::fused::{ACTION, BC_WEIGHT, Batch, LEARNING_RATE, OBSERVATION};
use burn::{
    module::Module,
    tensor::{
        Device, Tensor,
        activation::{log_softmax, relu},
    },
};
use burn_nn::{LayerNorm, LayerNormConfig, Linear, LinearConfig};
use burn_optim::{AdamConfig, GradientsParams, ModuleOptimizer};
use isochrone_nn::{kernel::PairForm, module::ActionDistribution, op::chunked};

const WIDTH: usize = 512;
const FORM: PairForm = PairForm::MaxL2 { components: 1, max_width: WIDTH / 2, l2_width: WIDTH / 2 };

#[derive(Module, Debug)]
struct Mlp {
    layers: Vec<Linear>,
    norms: Vec<LayerNorm>,
    out: Linear,
}

impl Mlp {
    fn new(inputs: usize, outputs: usize, layer_norm: bool, device: &Device) -> Self {
        let widths = [inputs, WIDTH, WIDTH, WIDTH, WIDTH];
        let norms = if layer_norm { 4 } else { 0 };
        Self {
            layers: widths.windows(2).map(|w| LinearConfig::new(w[0], w[1]).init(device)).collect(),
            norms: (0..norms).map(|_| LayerNormConfig::new(WIDTH).init(device)).collect(),
            out: LinearConfig::new(WIDTH, outputs).init(device),
        }
    }

    fn forward(&self, mut x: Tensor<2>) -> Tensor<2> {
        for (index, layer) in self.layers.iter().enumerate() {
            x = layer.forward(x);
            x = relu(match self.norms.get(index) {
                Some(norm) => norm.forward(x),
                None => x,
            });
        }
        self.out.forward(x)
    }
}

#[derive(Module, Debug)]
struct Critic {
    encoder: Mlp,
    potential: Mlp,
}

pub struct Agent {
    critic: Critic,
    actor: Mlp,
    critic_optimizer: ModuleOptimizer,
    actor_optimizer: ModuleOptimizer,
}

impl Agent {
    pub fn new(layer_norm: bool, device: &Device) -> Self {
        let adam = || AdamConfig::new().with_epsilon(1e-8).init();
        Self {
            critic: Critic {
                encoder: Mlp::new(OBSERVATION + ACTION, WIDTH, layer_norm, device),
                potential: Mlp::new(OBSERVATION, 1, layer_norm, device),
            },
            actor: Mlp::new(2 * OBSERVATION, 2 * ACTION, layer_norm, device),
            critic_optimizer: adam(),
            actor_optimizer: adam(),
        }
    }

    pub fn step(self, batch: &Batch) -> (Self, [f64; 2]) {
        let Self { critic, actor, mut critic_optimizer, mut actor_optimizer } = self;
        let [n, _] = batch.state.dims();
        let device = batch.state.device();
        let mix = Tensor::<1>::zeros([1], &device);
        let rows =
            |state: &Tensor<2>, action: &Tensor<2>| Tensor::cat(vec![state.clone(), action.clone()], 1);
        let from_to =
            Tensor::cat(vec![rows(&batch.state, &batch.action), rows(&batch.goal, &batch.goal_action)], 0);
        let latent = critic.encoder.forward(from_to);
        let (x, y) = (latent.clone().narrow(0, 0, n), latent.narrow(0, n, n));
        let distances = chunked::differentiable(FORM, x, y, mix.clone());
        let logits = critic.potential.forward(batch.goal.clone()).reshape([1, n]) - distances;
        let both = log_softmax(logits.clone(), 1) + log_softmax(logits, 0);
        let critic_loss = (both * Tensor::<2>::eye(n, &device)).sum().div_scalar(n as f32).neg();
        let gradients = GradientsParams::from_grads(critic_loss.backward(), &critic);
        let critic = critic_optimizer.step(LEARNING_RATE, critic, gradients);

        let frozen = critic.clone().no_grad();
        let outputs = actor.forward(Tensor::cat(vec![batch.state.clone(), batch.goal.clone()], 1));
        let policy = ActionDistribution::TanhGaussian {
            mean: outputs.clone().narrow(1, 0, ACTION),
            log_std: outputs.narrow(1, ACTION, ACTION).clamp(-5.0, 2.0),
        };
        let x = frozen.encoder.forward(rows(&batch.state, &policy.sample(batch.noise.clone())));
        let y = frozen.encoder.forward(rows(&batch.goal, &batch.goal_action));
        let distance = chunked::rowwise(FORM, x, y, mix).mean();
        let actor_loss = distance - policy.log_prob(batch.action.clone()).mean() * BC_WEIGHT;
        let gradients = GradientsParams::from_grads(actor_loss.backward(), &actor);
        let actor = actor_optimizer.step(LEARNING_RATE, actor, gradients);
        let losses = [critic_loss, actor_loss].map(|loss| f64::from(loss.into_scalar::<f32>()));
        (Self { critic, actor, critic_optimizer, actor_optimizer }, losses)
    }
}
