//! Weights as safetensors files.
//!
//! Names are the paths of the modules: `members.0.encoder.layers.2.weight` is the weight matrix of the third hidden layer of the
//! first encoder of a [`Metric`](crate::module::Metric). Weight matrices are stored `[inputs, outputs]`. The types list the names
//! of their parameters.

use crate::error::StoreError;
use burn::{
    module::{Module, ModuleVisitor, Param},
    store::{ModuleSnapshot, SafetensorsStore},
    tensor::{DType, Tensor},
};
use std::{
    fs::{self, File},
    io::Write,
    path::Path,
};

/// Writes the parameters of `module` to `path`, whole or not at all: to a temporary file beside it, synced, then renamed.
///
/// # Errors
/// If the file cannot be written.
pub fn save<M: Module>(module: &M, path: &Path) -> Result<(), StoreError> {
    let mut store = SafetensorsStore::from_bytes(None).skip_enum_variants(true);
    let unreadable = |error: String| StoreError::Unreadable { path: path.to_owned(), problem: error };
    module.save_into(&mut store).map_err(|error| unreadable(error.to_string()))?;
    let bytes = store.get_bytes().map_err(|error| unreadable(error.to_string()))?;
    write_atomically(path, &bytes).map_err(|source| StoreError::File { path: path.to_owned(), source })
}

/// Reads the parameters of `module` from `path`; every parameter must be there, in its shape, and nothing else.
///
/// # Errors
/// If the file cannot be read, or belongs to another network.
pub fn load<M: Module>(module: &mut M, path: &Path) -> Result<(), StoreError> {
    let bytes = fs::read(path).map_err(|source| StoreError::File { path: path.to_owned(), source })?;
    let mut store = SafetensorsStore::from_bytes(Some(bytes))
        .skip_enum_variants(true)
        .allow_partial(true)
        .validate(false);
    // Into a copy: what does not fit must not leave a mixture behind.
    let mut loaded = module.clone();
    let result = loaded
        .load_from(&mut store)
        .map_err(|error| StoreError::Unreadable { path: path.to_owned(), problem: error.to_string() })?;
    let mismatch = |problem: String| Err(StoreError::Mismatch { path: path.to_owned(), problem });
    if let Some(error) = result.errors.first() {
        return mismatch(error.to_string());
    }
    if let Some((name, _)) = result.missing.first() {
        return mismatch(format!("has no tensor {name}"));
    }
    if let Some(name) = result.unused.first() {
        return mismatch(format!("has a tensor {name} that the network has not"));
    }
    let mut types = Types(None);
    loaded.visit(&mut types);
    if let Some(found) = types.0 {
        return mismatch(format!("has a tensor of {found:?}, not F32"));
    }
    *module = loaded;
    Ok(())
}

/// The first type of a parameter that is not single precision.
struct Types(Option<DType>);

impl ModuleVisitor for Types {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        let found = parameter.val().dtype();
        if found != DType::F32 {
            self.0.get_or_insert(found);
        }
    }
}

fn write_atomically(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut name = path.file_name().ok_or(std::io::ErrorKind::InvalidInput)?.to_owned();
    name.push(".partial");
    let partial = path.with_file_name(name);
    let mut file = File::create(&partial)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&partial, path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Elsewhere a folder cannot be opened as a file.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
