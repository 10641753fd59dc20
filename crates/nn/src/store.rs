//! Named tensors as safetensors files.
//!
//! Names are the paths of the modules: `members.0.encoder.layers.2.weight` is the weight matrix of
//! the third hidden layer of the first encoder of a [`Metric`](crate::module::Metric). Weight
//! matrices are stored `[inputs, outputs]`. The documentation of each module type lists the names
//! of its parameters.

use crate::{
    error::{ArchiveError, StateError},
    optim::ParameterTensors,
};
use burn::{
    module::{Module, ModuleMapper, ModuleVisitor, Param},
    tensor::{Device, Tensor, TensorData},
};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use std::collections::{BTreeMap, HashMap};

/// The only metadata key in the header of a file. Several keys would be written in random order.
const DESCRIPTION: &str = "isochrone";

/// Named single-precision tensors: the contents of a safetensors file.
///
/// Several networks can share an archive with different prefixes, such as `critic` and `actor`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Archive {
    arrays: BTreeMap<String, Array>,
}

/// A tensor in row-major order.
#[derive(Debug, Clone, PartialEq)]
struct Array {
    shape: Vec<usize>,
    values: Vec<f32>,
}

impl Archive {
    /// Adds a tensor.
    ///
    /// # Panics
    /// If the number of values does not match the shape.
    pub fn insert(&mut self, name: impl Into<String>, shape: &[usize], values: Vec<f32>) {
        assert_eq!(shape.iter().product::<usize>(), values.len(), "the values match the shape");
        self.arrays.insert(name.into(), Array { shape: shape.into(), values });
    }

    /// Removes and returns a tensor.
    ///
    /// # Errors
    /// If there is no tensor with this name, or its shape is different.
    pub fn take(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, StateError> {
        let Some(array) = self.arrays.get(name) else {
            return Err(StateError::MissingTensor { name: name.to_owned() });
        };
        if array.shape != shape {
            let (found, expected) = (array.shape.clone(), shape.to_vec());
            return Err(StateError::WrongShape { name: name.to_owned(), found, expected });
        }
        Ok(self.arrays.remove(name).expect("checked above").values)
    }

    /// Adds the parameters of `module` as `prefix.path`.
    pub fn insert_module<M: Module>(&mut self, prefix: &str, module: &M) {
        module.visit(&mut Insert { path: ParameterPath::new(prefix), archive: self, moments: None });
    }

    /// Adds the optimizer moments of the parameters of `module` under their names. Parameters
    /// without a gradient so far have no moments.
    pub(crate) fn insert_moments<M: Module>(&mut self, prefix: &str, module: &M, moments: &ParameterTensors) {
        module.visit(&mut Insert { path: ParameterPath::new(prefix), archive: self, moments: Some(moments) });
    }

    /// Removes the parameters of `module` from the archive and loads them into `module`.
    ///
    /// # Errors
    /// If a parameter is missing or has a different shape. The module is then unchanged.
    pub fn take_module<M: Module>(&mut self, prefix: &str, module: &mut M) -> Result<(), StateError> {
        let mut take = Take::new(prefix, self);
        let loaded = module.clone().map(&mut take);
        take.problem.map_or(Ok(()), Err)?;
        *module = loaded;
        Ok(())
    }

    /// Removes and returns the optimizer moments of every parameter of `module`.
    pub(crate) fn take_moments<M: Module>(
        &mut self,
        prefix: &str,
        module: &M,
    ) -> Result<ParameterTensors, StateError> {
        let mut take = Take::new(prefix, self);
        module.visit(&mut take);
        take.problem.map_or(Ok(take.moments), Err)
    }

    /// Iterates over the names and values of all tensors, in the order of names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[f32])> {
        self.arrays.iter().map(|(name, array)| (name.as_str(), array.values.as_slice()))
    }

    /// Returns the name of a remaining tensor, if there is one.
    pub fn remaining(&self) -> Option<&str> {
        self.arrays.keys().next().map(String::as_str)
    }

    /// Checks that all tensors were taken.
    ///
    /// # Errors
    /// [`StateError::Unused`] with the name of a remaining tensor.
    pub fn finish(&self) -> Result<(), StateError> {
        match self.remaining() {
            None => Ok(()),
            Some(name) => Err(StateError::Unused { name: name.to_owned() }),
        }
    }

    /// Returns the name of the first tensor with a non-finite value.
    pub fn first_non_finite(&self) -> Option<&str> {
        let mut arrays = self.arrays.iter();
        arrays
            .find(|(_, array)| array.values.iter().any(|value| !value.is_finite()))
            .map(|(name, _)| name.as_str())
    }

    /// Returns the bytes of the file. Equal archives give equal bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.serialized(None)
    }

    /// Returns the bytes of the file, with a description in its header.
    pub fn to_described_bytes(&self, description: &str) -> Vec<u8> {
        self.serialized(Some(HashMap::from([(DESCRIPTION.to_owned(), description.to_owned())])))
    }

    fn serialized(&self, header: Option<HashMap<String, String>>) -> Vec<u8> {
        let bytes: Vec<Vec<u8>> = self
            .arrays
            .values()
            .map(|array| array.values.iter().flat_map(|value| value.to_le_bytes()).collect())
            .collect();
        let views = self.arrays.iter().zip(&bytes).map(|((name, array), bytes)| {
            let view = TensorView::new(Dtype::F32, array.shape.clone(), bytes);
            (name, view.expect("the bytes match the shape"))
        });
        safetensors::serialize(views, header).expect("names are unique")
    }

    /// Returns the description in the header of a file, if there is one.
    ///
    /// # Errors
    /// If the bytes are not a safetensors file.
    pub fn description(bytes: &[u8]) -> Result<Option<String>, ArchiveError> {
        let unreadable = |error: safetensors::SafeTensorError| ArchiveError::Unreadable(error.to_string());
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(unreadable)?;
        Ok(header.metadata().as_ref().and_then(|texts| texts.get(DESCRIPTION).cloned()))
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// If the bytes are not a safetensors file of single-precision tensors.
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

/// The path of a parameter during a traversal of a module: the components of its name.
struct ParameterPath(Vec<String>);

impl ParameterPath {
    /// Creates the path of a module named `prefix`, which may be empty.
    fn new(prefix: &str) -> Self {
        Self(if prefix.is_empty() { Vec::new() } else { vec![prefix.to_owned()] })
    }

    /// Returns the name of the current parameter.
    fn name(&self) -> String {
        self.0.join(".")
    }
}

/// Implements the methods of a visitor or mapper that update its `path`. Enum variants are not part
/// of names.
macro_rules! track_path {
    () => {
        fn enter_module(&mut self, name: &str, container: &str) {
            if !container.starts_with("Enum:") {
                self.path.0.push(name.to_owned());
            }
        }

        fn exit_module(&mut self, _: &str, container: &str) {
            if !container.starts_with("Enum:") {
                self.path.0.pop();
            }
        }
    };
}

/// Adds every parameter, or its moment, to an archive.
struct Insert<'a> {
    path: ParameterPath,
    archive: &'a mut Archive,
    moments: Option<&'a ParameterTensors>,
}

impl ModuleVisitor for Insert<'_> {
    track_path!();

    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        let value = match self.moments {
            Some(moments) => moments.get::<Tensor<D>>(&parameter.id),
            None => Some(parameter.val()),
        };
        if let Some(value) = value {
            let shape = value.dims();
            let values = value.into_data().try_into_vec().expect("single precision");
            self.archive.insert(self.path.name(), &shape, values);
        }
    }
}

/// Removes tensors from an archive. As a mapper, it loads them into the parameters, which keep
/// their ids; as a visitor, it collects them in `moments`.
struct Take<'a> {
    path: ParameterPath,
    archive: &'a mut Archive,
    moments: ParameterTensors,
    problem: Option<StateError>,
}

impl<'a> Take<'a> {
    fn new(prefix: &str, archive: &'a mut Archive) -> Self {
        Self { path: ParameterPath::new(prefix), archive, moments: ParameterTensors::new(), problem: None }
    }

    /// Returns the tensor of the current parameter. The first error is stored in `problem`.
    fn next<const D: usize>(&mut self, shape: [usize; D], device: &Device) -> Option<Tensor<D>> {
        match self.archive.take(&self.path.name(), &shape) {
            Ok(values) => Some(Tensor::from_data(TensorData::new(values, shape), device)),
            Err(problem) => {
                self.problem.get_or_insert(problem);
                None
            }
        }
    }
}

impl ModuleMapper for Take<'_> {
    track_path!();

    fn map_float<const D: usize>(&mut self, parameter: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let old = parameter.val();
        match self.next(old.dims(), &old.device()) {
            Some(new) => parameter.map(|old| if old.is_require_grad() { new.require_grad() } else { new }),
            None => parameter,
        }
    }
}

impl ModuleVisitor for Take<'_> {
    track_path!();

    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        let value = parameter.val().inner();
        if let Some(moment) = self.next(value.dims(), &value.device()) {
            self.moments.register(parameter.id, moment);
        }
    }
}
