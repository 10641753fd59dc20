//! Target networks.

use burn::{
    module::{Module, ModuleMapper, ModuleVisitor, Param},
    optim::GradientsParams,
    tensor::Tensor,
};

/// Moves every parameter of `target` the fraction `rate` of the way to that of `network`.
pub fn follow<M: Module>(target: M, network: &M, rate: f32) -> M {
    let mut leaders = Leaders(GradientsParams::new());
    network.visit(&mut leaders);
    target.map(&mut Follow { leaders: leaders.0, rate })
}

/// Values by identity; the container is Burn's for gradients.
struct Leaders(GradientsParams);

impl ModuleVisitor for Leaders {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        self.0.register(parameter.id, parameter.val().inner());
    }
}

struct Follow {
    leaders: GradientsParams,
    rate: f32,
}

impl ModuleMapper for Follow {
    fn map_float<const D: usize>(&mut self, parameter: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let leader = self.leaders.remove::<D>(parameter.id).expect("the same network");
        parameter.map(|value| {
            let value = value.inner();
            let moved = value.clone() + (leader - value) * self.rate;
            Tensor::from_inner(moved)
        })
    }
}
