//! Named arrays as safetensors files.
//!
//! Names are the paths of the modules: `members.0.encoder.layers.2.weight` is the weight matrix of the third hidden layer of the
//! first encoder of a [`Metric`](crate::module::Metric). Weight matrices are stored `[inputs, outputs]`. The types list the names
//! of their parameters.

use crate::error::{ArchiveError, StateError};
use burn::{
    module::{Module, ModuleMapper, ModuleVisitor, Param},
    tensor::{Tensor, TensorData},
};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use std::collections::BTreeMap;

/// Named arrays of single precision: the contents of a safetensors file.
///
/// Several networks share an archive under prefixes of their own: `critic`, `actor`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Archive {
    arrays: BTreeMap<String, Array>,
}

/// Numbers and their shape, row by row.
#[derive(Debug, Clone, PartialEq)]
struct Array {
    shape: Vec<usize>,
    values: Vec<f32>,
}

impl Archive {
    /// Adds an array.
    ///
    /// # Panics
    /// If there are not as many values as the shape says.
    pub fn insert(&mut self, name: impl Into<String>, shape: &[usize], values: Vec<f32>) {
        assert_eq!(shape.iter().product::<usize>(), values.len(), "values fill their shape");
        self.arrays.insert(name.into(), Array { shape: shape.into(), values });
    }

    /// Takes an array of this shape out.
    ///
    /// # Errors
    /// If there is none of this name and shape.
    pub fn take(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, StateError> {
        let Some(array) = self.arrays.get(name) else {
            return Err(StateError::MissingTensor { name: name.to_owned() });
        };
        if array.shape != shape {
            let (found, expected) = (array.shape.clone(), shape.to_vec());
            return Err(StateError::WrongShape { name: name.to_owned(), found, expected });
        }
        Ok(self.arrays.remove(name).expect("it was there").values)
    }

    /// Adds the parameters of `module` as `prefix.path`.
    pub fn insert_module<M: Module>(&mut self, prefix: &str, module: &M) {
        module.visit(&mut Named::new(prefix, |name: String, tensor: TensorData| {
            let shape = tensor.shape().to_vec();
            self.insert(name, &shape, tensor.try_into_vec().expect("parameters are single precision"));
        }));
    }

    /// Takes the parameters of `module` out.
    ///
    /// # Errors
    /// If one is missing or has another shape; then the module is as it was.
    pub fn take_module<M: Module>(&mut self, prefix: &str, module: &mut M) -> Result<(), StateError> {
        let mut assign = Assign { path: Place::new(prefix), archive: self, problem: None };
        let loaded = module.clone().map(&mut assign);
        match assign.problem {
            Some(problem) => Err(problem),
            None => {
                *module = loaded;
                Ok(())
            }
        }
    }

    /// The name of an array that was not taken.
    pub fn remaining(&self) -> Option<&str> {
        self.arrays.keys().next().map(String::as_str)
    }

    /// The name of the first array with a number that is not finite.
    pub fn first_non_finite(&self) -> Option<&str> {
        let mut arrays = self.arrays.iter();
        arrays
            .find(|(_, array)| array.values.iter().any(|value| !value.is_finite()))
            .map(|(name, _)| name.as_str())
    }

    /// The file; equal archives give equal bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let bytes: Vec<Vec<u8>> = self
            .arrays
            .values()
            .map(|array| array.values.iter().flat_map(|value| value.to_le_bytes()).collect())
            .collect();
        let views = self.arrays.iter().zip(&bytes).map(|((name, array), bytes)| {
            let view = TensorView::new(Dtype::F32, array.shape.clone(), bytes);
            (name, view.expect("the bytes are those of the shape"))
        });
        safetensors::serialize(views, None).expect("names are unique")
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If it is not a safetensors file of single-precision arrays.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ArchiveError> {
        let file =
            SafeTensors::deserialize(bytes).map_err(|error| ArchiveError::Unreadable(error.to_string()))?;
        let mut arrays = BTreeMap::new();
        for (name, view) in file.iter() {
            if view.dtype() != Dtype::F32 {
                let (name, dtype) = (name.to_owned(), format!("{:?}", view.dtype()));
                return Err(ArchiveError::WrongDtype { name, dtype });
            }
            let numbers = view.data().as_chunks::<4>().0.iter();
            let values = numbers.map(|bytes| f32::from_le_bytes(*bytes)).collect();
            arrays.insert(name.to_owned(), Array { shape: view.shape().to_vec(), values });
        }
        Ok(Self { arrays })
    }
}

/// Where a walk through a module is, as the name of a parameter. Variants of enums are not part of names: a head is a head.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    parts: Vec<String>,
}

impl Place {
    /// At the top of a module that is called `prefix`; nothing for no name.
    pub fn new(prefix: &str) -> Self {
        Self { parts: if prefix.is_empty() { Vec::new() } else { vec![prefix.to_owned()] } }
    }

    /// Into a part.
    pub fn enter(&mut self, name: &str, container: &str) {
        if !container.starts_with("Enum:") {
            self.parts.push(name.to_owned());
        }
    }

    /// Out of a part.
    pub fn exit(&mut self, container: &str) {
        if !container.starts_with("Enum:") {
            self.parts.pop();
        }
    }

    /// The name of the parameter there.
    pub fn name(&self) -> String {
        self.parts.join(".")
    }
}

/// Hands every parameter out with its name.
struct Named<F> {
    path: Place,
    give: F,
}

impl<F: FnMut(String, TensorData)> Named<F> {
    fn new(prefix: &str, give: F) -> Self {
        Self { path: Place::new(prefix), give }
    }
}

impl<F: FnMut(String, TensorData)> ModuleVisitor for Named<F> {
    fn enter_module(&mut self, name: &str, container: &str) {
        self.path.enter(name, container);
    }

    fn exit_module(&mut self, _: &str, container: &str) {
        self.path.exit(container);
    }

    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        (self.give)(self.path.name(), parameter.val().into_data());
    }
}

/// Puts every parameter in from an archive, keeping its identity.
struct Assign<'a> {
    path: Place,
    archive: &'a mut Archive,
    problem: Option<StateError>,
}

impl ModuleMapper for Assign<'_> {
    fn enter_module(&mut self, name: &str, container: &str) {
        self.path.enter(name, container);
    }

    fn exit_module(&mut self, _: &str, container: &str) {
        self.path.exit(container);
    }

    fn map_float<const D: usize>(&mut self, parameter: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let shape = parameter.val().dims();
        match self.archive.take(&self.path.name(), &shape) {
            Ok(values) => parameter.map(|old| {
                let new = Tensor::from_data(TensorData::new(values, shape), &old.device());
                if old.is_require_grad() { new.require_grad() } else { new }
            }),
            Err(problem) => {
                self.problem.get_or_insert(problem);
                parameter
            }
        }
    }
}
