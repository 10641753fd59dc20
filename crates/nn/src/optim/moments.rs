//! Moments of an optimizer, to and from named arrays.

use crate::{
    error::StateError,
    store::{Archive, Place},
};
use burn::{
    module::{Module, ModuleVisitor, Param},
    optim::GradientsParams,
    tensor::{Tensor, TensorData},
};

/// Puts the moments of `network` in under the names of their parameters. One that never had a gradient has none.
pub fn insert<M: Module>(network: &M, prefix: &str, moments: &GradientsParams, archive: &mut Archive) {
    network.visit(&mut Collect { moments, archive, name: Place::new(prefix) });
}

/// Takes the moments of every parameter of `network` out.
pub fn take<M: Module>(
    network: &M,
    prefix: &str,
    archive: &mut Archive,
) -> Result<GradientsParams, StateError> {
    let mut restore =
        Restore { moments: GradientsParams::new(), archive, name: Place::new(prefix), problem: None };
    network.visit(&mut restore);
    restore.problem.map_or(Ok(restore.moments), Err)
}

struct Collect<'a> {
    moments: &'a GradientsParams,
    archive: &'a mut Archive,
    name: Place,
}

impl ModuleVisitor for Collect<'_> {
    fn enter_module(&mut self, name: &str, container: &str) {
        self.name.enter(name, container);
    }

    fn exit_module(&mut self, _: &str, container: &str) {
        self.name.exit(container);
    }

    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        if let Some(values) = self.moments.get::<D>(parameter.id) {
            let shape = values.dims();
            let values = values.into_data().try_into_vec().expect("single precision");
            self.archive.insert(self.name.name(), &shape, values);
        }
    }
}

struct Restore<'a> {
    moments: GradientsParams,
    archive: &'a mut Archive,
    name: Place,
    problem: Option<StateError>,
}

impl ModuleVisitor for Restore<'_> {
    fn enter_module(&mut self, name: &str, container: &str) {
        self.name.enter(name, container);
    }

    fn exit_module(&mut self, _: &str, container: &str) {
        self.name.exit(container);
    }

    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        let value = parameter.val().inner();
        let shape = value.dims();
        match self.archive.take(&self.name.name(), &shape) {
            Ok(values) => {
                let values = Tensor::<D>::from_data(TensorData::new(values, shape), &value.device());
                self.moments.register(parameter.id, values);
            }
            Err(problem) => {
                self.problem.get_or_insert(problem);
            }
        }
    }
}
