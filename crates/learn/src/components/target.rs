//! Target networks.

use burn::{
    module::{Module, ModuleMapper, ModuleVisitor, Param, ParamId},
    tensor::{Tensor, container::TensorContainer},
};

/// Polyak update: every parameter of `target` becomes `(1 - tau) target + tau network`.
pub fn polyak_update<M: Module>(target: M, network: &M, tau: f32) -> M {
    let mut values = Values(TensorContainer::new());
    network.visit(&mut values);
    target.map(&mut Interpolate { towards: values.0, tau })
}

/// Parameters by identifier.
struct Values(TensorContainer<ParamId>);

impl ModuleVisitor for Values {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        self.0.register(parameter.id, parameter.val().inner());
    }
}

struct Interpolate {
    towards: TensorContainer<ParamId>,
    tau: f32,
}

impl ModuleMapper for Interpolate {
    fn map_float<const D: usize>(&mut self, parameter: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let towards =
            self.towards.remove::<Tensor<D>>(&parameter.id).expect("both networks have the same parameters");
        parameter.map(|value| {
            let value = value.inner();
            let updated = value.clone() + (towards - value) * self.tau;
            Tensor::from_inner(updated)
        })
    }
}
