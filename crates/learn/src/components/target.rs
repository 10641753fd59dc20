//! Target networks.

use burn::{
    module::{Module, ModuleMapper, ModuleVisitor, Param},
    optim::GradientsParams,
    tensor::Tensor,
};

/// Polyak update: moves every parameter of `target` the fraction `tau` of the way to that of `network`.
pub fn polyak_update<M: Module>(target: M, network: &M, tau: f32) -> M {
    let mut values = Values(GradientsParams::new());
    network.visit(&mut values);
    target.map(&mut Move { towards: values.0, tau })
}

/// Parameters by identity; the container is Burn's for gradients.
struct Values(GradientsParams);

impl ModuleVisitor for Values {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        self.0.register(parameter.id, parameter.val().inner());
    }
}

struct Move {
    towards: GradientsParams,
    tau: f32,
}

impl ModuleMapper for Move {
    fn map_float<const D: usize>(&mut self, parameter: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let towards = self.towards.remove::<D>(parameter.id).expect("the same network");
        parameter.map(|value| {
            let value = value.inner();
            let moved = value.clone() + (towards - value) * self.tau;
            Tensor::from_inner(moved)
        })
    }
}
