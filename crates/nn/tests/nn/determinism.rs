//! Training with the same seed is bit-identical for any number of threads.

use crate::{
    numbers::numbers,
    step::{Agent, Batch, Sizes},
};
use burn::{
    module::{Module, ModuleVisitor, Param},
    tensor::{Device, Tensor},
};
use isochrone_nn::module::{Activation, Normalization, PairHeadConfig, TrunkConfig};

/// The bit patterns of all parameters.
struct Bits(Vec<u32>);

impl ModuleVisitor for Bits {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        self.0.extend(numbers(parameter.val()).iter().map(|v| v.to_bits()));
    }
}

/// Returns the losses of 200 steps, and the weights after them.
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
    // States and goals are independent noise, so only the actor loss can decrease.
    assert!(one.0[199][1] < one.0[0][1], "the actor loss decreases: {:?} {:?}", one.0[0], one.0[199]);
    assert_eq!(one.0, two.0, "losses of 200 steps with 1 and 2 threads");
    assert!(one.1 == two.1, "weights after 200 steps with 1 and 2 threads");
}

#[test]
fn training_with_mrn_is_bit_identical_with_one_and_two_threads() {
    check(PairHeadConfig::Mrn { components: 2 });
}

#[test]
fn training_with_iqe_is_bit_identical_with_one_and_two_threads() {
    check(PairHeadConfig::Iqe { group_width: 8 });
}
