//! MDP files as NumPy archives: exactly what `scipy.sparse.save_npz` writes.
//!
//! ```python
//! scipy.sparse.save_npz("mdp.npz", scipy.sparse.vstack([P_left, P_right]).tocsr())
//! ```
//!
//! One CSR matrix of shape (actions x states, states): the transition matrices of the actions
//! stacked on top of each other. A Markov chain is a square matrix. Empty rows are actions that are
//! not available.

use super::{
    NamedMdp, TabularError,
    csr::{Csr, mdp_from_rows},
};
use crate::npy;
use std::{
    io::{Cursor, Read},
    path::Path,
};

const HINT: &str = "write the file with scipy.sparse.save_npz(name, vstack([P_0, P_1, ...]).tocsr())";
/// The maximum size of an unpacked array. Deflate expands by up to a factor of 1032.
const MAX_ARRAY_BYTES: u64 = 4 << 30;

type Array<'b> = npyz::NpyFile<npy::Checked<&'b [u8]>>;
type Archive = zip::ZipArchive<Cursor<Vec<u8>>>;

/// Reads an MDP from an `.npz` file.
pub fn read_mdp_npz(path: &Path) -> Result<NamedMdp, TabularError> {
    let bytes = super::read(path)?;
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes))
        .map_err(|error| TabularError::malformed(path, format!("not an npz archive: {error}"), HINT))?;
    let mut reader = Reader { path, archive: &mut archive };
    reader.check_format()?;
    let mut integers = |name: &str| reader.numbers::<i64, i32>(name, "int32 or int64");
    let (shape, indptr, indices) = (integers("shape")?, integers("indptr")?, integers("indices")?);
    let data = reader.numbers::<f64, f32>("data", "float64 or float32")?;
    let matrix = Csr { indptr, indices, data };
    let &[n_rows, n_states] = shape.as_slice() else {
        return Err(reader.fail(format!("shape has {} entries, not 2", shape.len())));
    };
    if n_rows <= 0 || n_states <= 0 || n_rows % n_states != 0 {
        let problem = format!("shape is ({n_rows}, {n_states}), but rows must be a multiple of columns");
        return Err(reader.fail(problem));
    }
    matrix.check(path, "", n_rows as u64)?;
    let (n_states, n_actions) = (n_states as usize, (n_rows / n_states) as usize);
    let mdp = mdp_from_rows(path, n_states, n_actions, |action, state| (&matrix, action * n_states + state))?;
    Ok(NamedMdp { mdp, states: Vec::new(), actions: Vec::new() })
}

struct Reader<'a> {
    path: &'a Path,
    archive: &'a mut Archive,
}

impl Reader<'_> {
    fn fail(&self, problem: impl Into<String>) -> TabularError {
        TabularError::malformed(self.path, problem, HINT)
    }

    /// Checks the name of the layout that SciPy stores: reading columns as rows would silently give
    /// a wrong result.
    fn check_format(&mut self) -> Result<(), TabularError> {
        let bytes = self.array_bytes("format")?;
        let npy = self.open("format", &bytes)?;
        let formats: Option<Vec<Vec<u8>>> =
            npy.data::<Vec<u8>>().ok().and_then(|data| data.collect::<Result<_, _>>().ok());
        match formats.as_deref() {
            Some([format]) if format == b"csr" => Ok(()),
            Some([format]) => {
                Err(self.fail(format!("format is {:?}, not 'csr'", String::from_utf8_lossy(format))))
            }
            _ => Err(self.fail("format is not a single string")),
        }
    }

    /// Returns the elements of an array of type `T`, or of the narrower type `N`.
    fn numbers<T: npyz::Deserialize, N: npyz::Deserialize + Into<T>>(
        &mut self,
        name: &str,
        expected: &str,
    ) -> Result<Vec<T>, TabularError> {
        let bytes = self.array_bytes(name)?;
        match self.open(name, &bytes)?.try_data::<T>() {
            Ok(data) => self.collect(name, data),
            Err(npy) => match npy.try_data::<N>() {
                Ok(data) => self.collect(name, data.map(|value| value.map(Into::into))),
                Err(npy) => {
                    Err(self.fail(format!("{name} has type {}, not {expected}", npy.dtype().descr())))
                }
            },
        }
    }

    /// Returns the unpacked bytes of an array, whatever length the archive declares.
    fn array_bytes(&mut self, name: &str) -> Result<Vec<u8>, TabularError> {
        unpack(self.archive, name).map_err(|problem| self.fail(problem))
    }

    fn open<'b>(&self, name: &str, bytes: &'b [u8]) -> Result<Array<'b>, TabularError> {
        npy::open(bytes).map_err(|problem| self.fail(format!("array '{name}': {problem}")))
    }

    /// Collects the elements that exist; the declared length is not used to allocate memory.
    fn collect<T>(
        &self,
        name: &str,
        elements: impl Iterator<Item = std::io::Result<T>>,
    ) -> Result<Vec<T>, TabularError> {
        let mut values = Vec::new();
        for element in elements {
            values.push(element.map_err(|error| {
                self.fail(format!("array '{name}' ends after {} elements: {error}", values.len()))
            })?);
        }
        Ok(values)
    }
}

fn unpack(archive: &mut Archive, name: &str) -> Result<Vec<u8>, String> {
    let entry = archive
        .by_name(&npyz::npz::file_name_from_array_name(name))
        .map_err(|_| format!("no readable array '{name}'"))?;
    let mut bytes = Vec::new();
    entry
        .take(MAX_ARRAY_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("array '{name}' is corrupt: {error}"))?;
    if bytes.len() as u64 > MAX_ARRAY_BYTES {
        return Err(format!("array '{name}' unpacks to more than {} GiB", MAX_ARRAY_BYTES >> 30));
    }
    Ok(bytes)
}
