//! Named arrays as safetensors files.
//!
//! Names are the paths of the modules: `members.0.encoder.layers.2.weight` is the weight matrix of the third hidden layer of the
//! first encoder of a [`Metric`](crate::module::Metric). Weight matrices are stored `[inputs, outputs]`. The types list the names
//! of their parameters.

use crate::error::{ArchiveError, StateError};
use burn::{
    module::{Module, ModuleMapper, ModuleVisitor, Param},
    optim::GradientsParams,
    tensor::{Device, Tensor, TensorData},
};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use std::collections::{BTreeMap, HashMap};

/// The key of the description in the header of a file. There is no other: several would be written in any order.
const DESCRIPTION: &str = "isochrone";

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
        module.visit(&mut Insert { place: Place::new(prefix), archive: self, moments: None });
    }

    /// Adds the moments of the parameters of `module` under their names. One that never had a gradient has none.
    pub(crate) fn insert_moments<M: Module>(&mut self, prefix: &str, module: &M, moments: &GradientsParams) {
        module.visit(&mut Insert { place: Place::new(prefix), archive: self, moments: Some(moments) });
    }

    /// Takes the parameters of `module` out.
    ///
    /// # Errors
    /// If one is missing or has another shape; then the module is as it was.
    pub fn take_module<M: Module>(&mut self, prefix: &str, module: &mut M) -> Result<(), StateError> {
        let mut take = Take::new(prefix, self);
        let loaded = module.clone().map(&mut take);
        take.problem.map_or(Ok(()), Err)?;
        *module = loaded;
        Ok(())
    }

    /// Takes the moments of every parameter of `module` out.
    pub(crate) fn take_moments<M: Module>(
        &mut self,
        prefix: &str,
        module: &M,
    ) -> Result<GradientsParams, StateError> {
        let mut take = Take::new(prefix, self);
        module.visit(&mut take);
        take.problem.map_or(Ok(take.moments), Err)
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
        self.serialized(None)
    }

    /// The file, with a text about its contents in the header.
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
            (name, view.expect("the bytes are those of the shape"))
        });
        safetensors::serialize(views, header).expect("names are unique")
    }

    /// The text in the header of a file; `None` if it has none.
    ///
    /// # Errors
    /// If it is not a safetensors file.
    pub fn description(bytes: &[u8]) -> Result<Option<String>, ArchiveError> {
        let unreadable = |error: safetensors::SafeTensorError| ArchiveError::Unreadable(error.to_string());
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(unreadable)?;
        Ok(header.metadata().as_ref().and_then(|texts| texts.get(DESCRIPTION).cloned()))
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

/// Where a walk through a module is: the parts of the name of a parameter.
struct Place(Vec<String>);

impl Place {
    /// At the top of a module that is called `prefix`; nothing for no name.
    fn new(prefix: &str) -> Self {
        Self(if prefix.is_empty() { Vec::new() } else { vec![prefix.to_owned()] })
    }

    /// The name of the parameter there.
    fn name(&self) -> String {
        self.0.join(".")
    }
}

/// The steps of a visitor or mapper that has a `place`. Variants of enums are not part of names: a head is a head.
macro_rules! keep_place {
    () => {
        fn enter_module(&mut self, name: &str, container: &str) {
            if !container.starts_with("Enum:") {
                self.place.0.push(name.to_owned());
            }
        }

        fn exit_module(&mut self, _: &str, container: &str) {
            if !container.starts_with("Enum:") {
                self.place.0.pop();
            }
        }
    };
}

/// Puts every parameter, or its moment, into an archive.
struct Insert<'a> {
    place: Place,
    archive: &'a mut Archive,
    moments: Option<&'a GradientsParams>,
}

impl ModuleVisitor for Insert<'_> {
    keep_place!();

    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        let value = match self.moments {
            Some(moments) => moments.get::<D>(parameter.id),
            None => Some(parameter.val()),
        };
        if let Some(value) = value {
            let shape = value.dims();
            let values = value.into_data().try_into_vec().expect("single precision");
            self.archive.insert(self.place.name(), &shape, values);
        }
    }
}

/// Takes arrays out of an archive: as a mapper into the parameters, which keep their identity; as a visitor into
/// `moments`.
struct Take<'a> {
    place: Place,
    archive: &'a mut Archive,
    moments: GradientsParams,
    problem: Option<StateError>,
}

impl<'a> Take<'a> {
    fn new(prefix: &str, archive: &'a mut Archive) -> Self {
        Self { place: Place::new(prefix), archive, moments: GradientsParams::new(), problem: None }
    }

    /// The array of the parameter at this place; the first that is missing is remembered.
    fn next<const D: usize>(&mut self, shape: [usize; D], device: &Device) -> Option<Tensor<D>> {
        match self.archive.take(&self.place.name(), &shape) {
            Ok(values) => Some(Tensor::from_data(TensorData::new(values, shape), device)),
            Err(problem) => {
                self.problem.get_or_insert(problem);
                None
            }
        }
    }
}

impl ModuleMapper for Take<'_> {
    keep_place!();

    fn map_float<const D: usize>(&mut self, parameter: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let old = parameter.val();
        match self.next(old.dims(), &old.device()) {
            Some(new) => parameter.map(|old| if old.is_require_grad() { new.require_grad() } else { new }),
            None => parameter,
        }
    }
}

impl ModuleVisitor for Take<'_> {
    keep_place!();

    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        let value = parameter.val().inner();
        if let Some(moment) = self.next(value.dims(), &value.device()) {
            self.moments.register(parameter.id, moment);
        }
    }
}
