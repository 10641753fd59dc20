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
use crate::npy::{Header, Kind, NumberType};
use std::{
    io::{Cursor, Read},
    path::Path,
};

const HINT: &str = "write the file with scipy.sparse.save_npz(name, vstack([P_0, P_1, ...]).tocsr())";
/// The maximum size of an unpacked array. Deflate expands by up to a factor of 1032.
const MAX_ARRAY_BYTES: u64 = 4 << 30;

type Archive = zip::ZipArchive<Cursor<Vec<u8>>>;

/// Reads an MDP from an `.npz` file.
pub fn read_mdp_npz(path: &Path) -> Result<NamedMdp, TabularError> {
    let bytes = super::read(path)?;
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes))
        .map_err(|error| TabularError::malformed(path, format!("not an npz archive: {error}"), HINT))?;
    let mut reader = Reader { path, archive: &mut archive };
    reader.check_format()?;
    let shape = reader.integers("shape")?;
    let (indptr, indices) = (reader.integers("indptr")?, reader.integers("indices")?);
    let matrix = Csr { indptr, indices, data: reader.floats("data")? };
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
        let (header, values) = self.open("format", &bytes)?;
        let length: Option<usize> =
            header.descr.strip_prefix("'|S").and_then(|text| text.strip_suffix('\'')?.parse().ok());
        let is_single = header.shape.iter().all(|&length| length == 1);
        match length.filter(|_| is_single).and_then(|length| values.get(..length)) {
            Some(b"csr") => Ok(()),
            Some(format) => {
                Err(self.fail(format!("format is {:?}, not 'csr'", String::from_utf8_lossy(format))))
            }
            None => Err(self.fail("format is not a single string")),
        }
    }

    fn integers(&mut self, name: &str) -> Result<Vec<i64>, TabularError> {
        self.numbers(name, (Kind::Int, "int32 or int64"), |number, bytes| number.read_integer(bytes))
    }

    fn floats(&mut self, name: &str) -> Result<Vec<f64>, TabularError> {
        self.numbers(name, (Kind::Float, "float64 or float32"), |number, bytes| number.read(bytes))
    }

    /// Returns the elements of an array of four or eight bytes each. Collects those that exist; the
    /// declared length is not used to allocate memory.
    fn numbers<T>(
        &mut self,
        name: &str,
        (kind, expected): (Kind, &str),
        next: impl Fn(NumberType, &mut &[u8]) -> std::io::Result<T>,
    ) -> Result<Vec<T>, TabularError> {
        let bytes = self.array_bytes(name)?;
        let (header, mut rest) = self.open(name, &bytes)?;
        let number = NumberType::parse(&header.descr).filter(|number| number.kind == kind);
        let Some(number) = number.filter(|number| matches!(number.bytes, 4 | 8)) else {
            return Err(self.fail(format!("{name} has type {}, not {expected}", header.descr)));
        };
        let mut values = Vec::new();
        for _ in 0..header.shape.iter().product::<u64>() {
            values.push(next(number, &mut rest).map_err(|error| {
                self.fail(format!("array '{name}' ends after {} elements: {error}", values.len()))
            })?);
        }
        Ok(values)
    }

    /// Returns the unpacked bytes of an array, whatever length the archive declares.
    fn array_bytes(&mut self, name: &str) -> Result<Vec<u8>, TabularError> {
        unpack(self.archive, name).map_err(|problem| self.fail(problem))
    }

    /// Returns the header of an array and the bytes after it.
    fn open<'b>(&self, name: &str, mut bytes: &'b [u8]) -> Result<(Header, &'b [u8]), TabularError> {
        let header = Header::read(&mut bytes);
        header
            .map(|header| (header, bytes))
            .map_err(|problem| self.fail(format!("array '{name}': {problem}")))
    }
}

fn unpack(archive: &mut Archive, name: &str) -> Result<Vec<u8>, String> {
    let entry = archive.by_name(&format!("{name}.npy")).map_err(|_| format!("no readable array '{name}'"))?;
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
