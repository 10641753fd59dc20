//! Same seed, same bits, whatever the number of threads.

use crate::{
    numbers::numbers,
    step::{Agent, Batch, Sizes},
};
use burn::{
    module::{Module, ModuleVisitor, Param},
    tensor::{Device, Tensor},
};
use isochrone_nn::module::{Activation, Normalization, PairHeadConfig, TrunkConfig};

/// All parameters, bit for bit.
struct Bits(Vec<u32>);

impl ModuleVisitor for Bits {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        self.0.extend(numbers(parameter.val()).iter().map(|v| v.to_bits()));
    }
}

/// Losses of all steps and weights after 200 of them.
fn train(threads: usize, head: PairHeadConfig) -> (Vec<[f64; 2]>, Vec<u32>) {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
        let device = Device::flex().autodiff();
        let trunk = TrunkConfig {
            width: 96,
            depth: 2,
            activation: Activation::Gelu,
            normalization: Normalization::LayerNorm,
        };
        let mut agent = Agent::new(Sizes { trunk, latent: 64, head }, 11, &device);
        let mut losses = Vec::new();
        for step in 0..200 {
            losses.push(agent.step(&Batch::draw(130, 2, step, &device)));
        }
        let mut bits = Bits(Vec::new());
        agent.critic.network().visit(&mut bits);
        agent.actor.network().visit(&mut bits);
        (losses, bits.0)
    })
}

fn check(head: PairHeadConfig) {
    let (one, two) = (train(1, head), train(2, head));
    assert!(one.1.len() > 20_000, "all parameters were compared");
    assert!(one.0.iter().flatten().all(|loss| loss.is_finite()));
    // States and goals are independent noise, so only the actor has something to learn.
    assert!(one.0[199][1] < one.0[0][1], "training descends: {:?} {:?}", one.0[0], one.0[199]);
    assert_eq!(one.0, two.0, "losses of 200 steps with 1 and 2 threads");
    assert!(one.1 == two.1, "weights after 200 steps with 1 and 2 threads");
}

#[test]
fn two_threads_train_to_the_same_bits_as_one_with_mrn() {
    check(PairHeadConfig::Mrn { components: 2 });
}

#[test]
fn two_threads_train_to_the_same_bits_as_one_with_iqe() {
    check(PairHeadConfig::Iqe { group_width: 8 });
}
