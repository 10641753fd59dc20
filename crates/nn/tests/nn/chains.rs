//! On random Markov chains with one-hot states, the learned distance converges to the exact
//! successor distance of [`isochrone_core::exact`].

use crate::numbers::numbers;
use burn::{
    module::{Module, Param},
    tensor::{Device, Tensor, TensorData},
};
use isochrone_core::{
    Discount,
    exact::{ExactSolver, TabularMdp},
    rng,
};
use isochrone_nn::{
    loss::{
        ContrastiveOptions, Dual, DualConfig, InfoNce, contrastive_targets, distill, infonce,
        infonce_of_logits,
    },
    module::{
        Encoder, EncoderConfig, Ensemble, Initializer, Metric, MetricConfig, PairHeadConfig, Potential,
        TrunkConfig,
    },
    optim::{OptimizerConfig, Schedule, TrainState},
};
use rand_chacha::ChaCha8Rng;

const CHAINS: u64 = 20;
const GAMMA: f64 = 0.8;
const BATCH: usize = 128;

/// The range of future offsets of positives.
#[derive(Clone, Copy, PartialEq)]
enum Offsets {
    /// `k >= 0`: a state may be its own goal.
    FromZero,
    /// `k >= 1`, as in published code.
    FromOne,
}

/// A chain of five to seven states in which every state has two or three successors.
struct Chain {
    /// Cumulative transition probabilities.
    rows: Vec<Vec<(usize, f64)>>,
    /// Exact distances in nats, `[from][to]`.
    exact: Vec<Vec<f64>>,
}

impl Chain {
    fn random(seed: u64) -> Self {
        let mut rng = rng::stream(seed, 100);
        let states = 5 + rng::below(&mut rng, 3);
        let mut edges = Vec::new();
        for from in 0..states {
            let count = 2 + rng::below(&mut rng, 2);
            let weights: Vec<(usize, f64)> =
                (0..count).map(|_| (rng::below(&mut rng, states), 0.2 + rng::unit_f64(&mut rng))).collect();
            let total: f64 = weights.iter().map(|w| w.1).sum();
            for (to, weight) in weights {
                edges.push((from, to, weight / total));
            }
        }
        let mut rows = vec![Vec::new(); states];
        for &(from, to, probability) in &edges {
            let row: &mut Vec<(usize, f64)> = &mut rows[from];
            let sum = row.last().map_or(0.0, |last| last.1);
            row.push((to, sum + probability));
        }
        let mut merged = vec![vec![0.0; states]; states];
        edges.iter().for_each(|&(from, to, probability)| merged[from][to] += probability);
        let edges =
            (0..states * states).map(|at| (at / states, at % states, merged[at / states][at % states]));
        let mdp = TabularMdp::chain_from_edges(states, edges.filter(|edge| edge.2 > 0.0)).unwrap();
        let solver = ExactSolver::new(&mdp, Discount::new(GAMMA).unwrap());
        let to_goals: Vec<_> = (0..states).map(|goal| solver.to_goal(goal).unwrap()).collect();
        let exact =
            (0..states).map(|from| to_goals.iter().map(|to_goal| to_goal.nats(from)).collect()).collect();
        Self { rows, exact }
    }

    fn states(&self) -> usize {
        self.rows.len()
    }

    fn step(&self, from: usize, rng: &mut ChaCha8Rng) -> usize {
        let draw = rng::unit_f64(rng);
        let row = &self.rows[from];
        row.iter().find(|(_, up_to)| draw < *up_to).unwrap_or(&row[row.len() - 1]).0
    }

    /// Samples states, and goals after a geometric number of steps.
    fn batch(&self, offsets: Offsets, rng: &mut ChaCha8Rng) -> (Vec<usize>, Vec<usize>) {
        (0..BATCH)
            .map(|_| {
                let state = rng::below(rng, self.states());
                let mut goal = if offsets == Offsets::FromOne { self.step(state, rng) } else { state };
                while rng::unit_f64(rng) < GAMMA {
                    goal = self.step(goal, rng);
                }
                (state, goal)
            })
            .unzip()
    }

    /// Returns the mean relative error over reachable pairs of different states.
    fn error(&self, learned: &[f32]) -> f64 {
        let states = self.states();
        let pairs = (0..states * states).map(|at| (learned[at], self.exact[at / states][at % states]));
        let errors: Vec<f64> = pairs
            .filter(|(_, exact)| exact.is_finite() && *exact > 0.0)
            .map(|(learned, exact)| (f64::from(learned) - exact).abs() / exact)
            .collect();
        errors.iter().sum::<f64>() / errors.len() as f64
    }
}

fn one_hot(states: &[usize], width: usize, device: &Device) -> Tensor<2> {
    let mut values = vec![0.0f32; states.len() * width];
    states.iter().enumerate().for_each(|(row, &state)| values[row * width + state] = 1.0);
    Tensor::from_data(TensorData::new(values, [states.len(), width]), device)
}

/// Returns a network whose learning rate decays to zero in `steps` steps.
fn train_state<M: Module>(network: M, steps: usize, learning_rate: f64) -> TrainState<M> {
    let config = OptimizerConfig { learning_rate, schedule: Schedule::Cosine, ..OptimizerConfig::default() };
    TrainState::new(network, config, steps as u64).unwrap()
}

const LINEAR: TrunkConfig = TrunkConfig {
    width: 1,
    depth: 0,
    activation: isochrone_nn::module::Activation::Identity,
    normalization: isochrone_nn::module::Normalization::None,
};

fn metric(states: usize, stream: u32, device: &Device) -> Metric {
    let encoder = EncoderConfig { inputs: states, outputs: 32, trunk: LINEAR };
    let config =
        MetricConfig { encoder, head: PairHeadConfig::Mrn { components: 1 }, ensemble: Ensemble::Single };
    config.init(&mut Initializer::new(1, stream, device)).unwrap()
}

#[derive(Module, Debug)]
struct Cmd1 {
    metric: Metric,
    potential: Potential,
}

/// Returns the distances of all pairs, learned by CMD-1.
fn cmd1(chain: &Chain, offsets: Offsets, steps: usize, seed: u64) -> Vec<f32> {
    let device = Device::flex().autodiff();
    let states = chain.states();
    let mut init = Initializer::new(seed, 1, &device);
    let network = Cmd1 {
        metric: metric(states, 0, &device),
        potential: Potential::new(states, LINEAR, &mut init).unwrap(),
    };
    let mut state = train_state(network, steps, 0.03);
    let mut rng = rng::stream(seed, 7);
    for _ in 0..steps {
        let network = state.network();
        let (from, to) = chain.batch(offsets, &mut rng);
        let (from, to) = (one_hot(&from, states, &device), one_hot(&to, states, &device));
        let member = &network.metric.members()[0];
        let options = ContrastiveOptions {
            potential: Some(network.potential.forward(to.clone())),
            scale: 1.0,
            group: None,
        };
        let (x, y) = (member.encoder.forward(from), member.encoder.forward(to));
        let loss = infonce(InfoNce::default(), &member.head, x, y, options);
        state.step(loss.value);
    }
    let all = one_hot(&(0..states).collect::<Vec<_>>(), states, &device);
    numbers(state.network().metric.all_pairs(all.clone(), all))
}

#[derive(Module, Debug)]
struct Cmd2 {
    phi: Encoder,
    psi: Encoder,
    metric: Metric,
    log_temperature: Param<Tensor<1>>,
}

/// Returns the distances of all pairs, learned by CMD-2: a distilled contrastive critic.
fn cmd2(chain: &Chain, seed: u64) -> Vec<f32> {
    const STEPS: usize = 1200;
    let device = Device::flex().autodiff();
    let states = chain.states();
    let encoder = EncoderConfig { inputs: states, outputs: 16, trunk: LINEAR };
    let mut init = Initializer::new(seed, 1, &device);
    let network = Cmd2 {
        phi: encoder.init(&mut init).unwrap(),
        psi: encoder.init(&mut init).unwrap(),
        metric: metric(states, 0, &device),
        log_temperature: Param::initialized(
            burn::module::ParamId::from(1 << 40),
            Tensor::<1>::from_data([1.5f32], &device).require_grad(),
        ),
    };
    let normalized = |rows: Tensor<2>| rows.clone() / (rows.square().sum_dim(1).sqrt() + 1e-6);
    let mut dual = Dual::new(DualConfig { margin: 1e-4, learning_rate: 0.02, ..Default::default() });
    let mut state = train_state(network, STEPS, 0.02);
    let mut rng = rng::stream(seed, 7);
    for _ in 0..STEPS {
        let network = state.network();
        let (from, to) = chain.batch(Offsets::FromZero, &mut rng);
        let (from, to) = (one_hot(&from, states, &device), one_hot(&to, states, &device));
        let temperature = network.log_temperature.val().exp().reshape([1, 1]);
        let phi = normalized(network.phi.forward(from.clone())) * temperature.clone();
        let phi_goal = normalized(network.phi.forward(to.clone())) * temperature;
        let psi = normalized(network.psi.forward(to.clone()));
        let critic = infonce_of_logits(InfoNce::default(), phi.clone().matmul(psi.clone().transpose()));
        let member = &network.metric.members()[0];
        let distances = member.head.all_pairs(member.encoder.forward(from), member.encoder.forward(to));
        let targets = contrastive_targets(phi, phi_goal, psi);
        let distilled = distill(distances, targets, 0, dual.lambda());
        dual.update(
            distilled.diagnostics.read().into_iter().find(|(name, _)| *name == "violation").unwrap().1,
        );
        state.step(critic.value + distilled.value);
    }
    let all = one_hot(&(0..states).collect::<Vec<_>>(), states, &device);
    numbers(state.network().metric.all_pairs(all.clone(), all))
}

/// Returns the mean relative error, averaged over all chains.
fn mean_error(learn: impl Fn(&Chain, u64) -> Vec<f32>) -> f64 {
    let errors: Vec<f64> = (0..CHAINS)
        .map(|seed| {
            let chain = Chain::random(seed);
            chain.error(&learn(&chain, seed))
        })
        .collect();
    println!("{errors:.3?}");
    errors.iter().sum::<f64>() / CHAINS as f64
}

#[test]
fn cmd1_recovers_the_exact_distance() {
    let error = mean_error(|chain, seed| cmd1(chain, Offsets::FromZero, 3000, seed));
    assert!(error <= 0.05, "mean relative error {error:.4}");
}

/// Without offset 0, the potential can absorb an arbitrary term per goal. This shows that the test
/// above can fail.
#[test]
fn cmd1_without_offset_zero_does_not_recover_the_exact_distance() {
    let error = mean_error(|chain, seed| cmd1(chain, Offsets::FromOne, 1000, seed));
    assert!(error > 0.1, "mean relative error {error:.4}");
}

#[test]
fn cmd2_recovers_the_exact_distance() {
    let error = mean_error(cmd2);
    assert!(error <= 0.10, "mean relative error {error:.4}");
}
