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
use crate::{
    npy::{Header, Kind, NumberType},
    zip_archive,
};
use std::{
    io::{BufReader, Cursor, Read},
    path::Path,
};

const HINT: &str = "write the file with scipy.sparse.save_npz(name, vstack([P_0, P_1, ...]).tocsr())";
/// A file that declares more than this multiple of its size plus `FREE_NUMBERS` is rejected.
/// Numbers of a transition matrix compress well, but hardly into two bits each.
const MAX_NUMBERS_PER_BYTE: u64 = 4;
const FREE_NUMBERS: u64 = 1 << 22;

type Archive = zip::ZipArchive<Cursor<Vec<u8>>>;

/// Reads an MDP from an `.npz` file.
pub fn read_mdp_npz(path: &Path) -> Result<NamedMdp, TabularError> {
    let bytes = super::read(path)?;
    let file_bytes = bytes.len() as u64;
    let mut archive = zip_archive::open(Cursor::new(bytes))
        .map_err(|problem| TabularError::malformed(path, problem, HINT))?;
    let mut reader = Reader { path, archive: &mut archive, file_bytes };
    reader.check_format()?;
    // What comes first bounds what follows, before memory is allocated for it.
    let shape = reader.integers("shape", 2)?;
    let &[n_rows, n_states] = shape.as_slice() else {
        return Err(reader.fail(format!("shape has {} entries, not 2", shape.len())));
    };
    if n_rows <= 0 || n_states <= 0 || n_rows % n_states != 0 {
        let problem = format!("shape is ({n_rows}, {n_states}), but rows must be a multiple of columns");
        return Err(reader.fail(problem));
    }
    let indptr = reader.integers("indptr", n_rows as u64 + 1)?;
    let transitions = u64::try_from(indptr.last().copied().unwrap_or(0)).unwrap_or(0);
    let indices = reader.integers("indices", transitions)?;
    let matrix = Csr { indptr, indices, data: reader.floats("data", transitions)? };
    matrix.check(path, "", n_rows as u64)?;
    let (n_states, n_actions) = (n_states as usize, (n_rows / n_states) as usize);
    let mdp = mdp_from_rows(path, n_states, n_actions, |action, state| (&matrix, action * n_states + state))?;
    Ok(NamedMdp { mdp, states: Vec::new(), actions: Vec::new() })
}

struct Reader<'a> {
    path: &'a Path,
    archive: &'a mut Archive,
    file_bytes: u64,
}

impl Reader<'_> {
    fn fail(&self, problem: impl Into<String>) -> TabularError {
        TabularError::malformed(self.path, problem, HINT)
    }

    /// Checks the name of the layout that SciPy stores: reading columns as rows would silently give
    /// a wrong result.
    fn check_format(&mut self) -> Result<(), TabularError> {
        let (header, values) = self
            .with_array("format", |header, values| {
                // The name of a layout has three letters.
                let mut bytes = Vec::new();
                values.take(64).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
                Ok((header, bytes))
            })
            .map_err(|problem| self.fail(problem))?;
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

    fn integers(&mut self, name: &str, expected: u64) -> Result<Vec<i64>, TabularError> {
        let kind = (Kind::Int, "int32 or int64");
        self.numbers(name, kind, expected, |number, bytes| number.read_integer(bytes))
    }

    fn floats(&mut self, name: &str, expected: u64) -> Result<Vec<f64>, TabularError> {
        let kind = (Kind::Float, "float64 or float32");
        self.numbers(name, kind, expected, |number, bytes| number.read(bytes))
    }

    /// Returns the elements of an array of four or eight bytes each. Collects those that exist; the
    /// declared length is not used to allocate memory.
    fn numbers<T>(
        &mut self,
        name: &str,
        (kind, kinds): (Kind, &str),
        expected: u64,
        next: impl Fn(NumberType, &mut &mut dyn Read) -> std::io::Result<T>,
    ) -> Result<Vec<T>, TabularError> {
        let limit = self.file_bytes.saturating_mul(MAX_NUMBERS_PER_BYTE).saturating_add(FREE_NUMBERS);
        let read = |header: Header, mut values: &mut dyn Read| {
            let number = NumberType::parse(&header.descr).filter(|number| number.kind == kind);
            let Some(number) = number.filter(|number| matches!(number.bytes, 4 | 8)) else {
                return Err(format!("{name} has type {}, not {kinds}", header.descr));
            };
            let declared = header.shape.iter().product::<u64>();
            if declared != expected {
                return Err(format!("{name} has {declared} entries, not {expected}"));
            }
            if declared > limit {
                return Err(format!("{name} has {declared} entries, more than the file can hold"));
            }
            let mut found = Vec::new();
            for _ in 0..declared {
                let value = next(number, &mut values);
                found.push(value.map_err(|error| {
                    format!("array '{name}' ends after {} elements: {error}", found.len())
                })?);
            }
            // The checksum is verified at the end.
            match std::io::copy(&mut values.take(1), &mut std::io::sink()) {
                Ok(0) => Ok(found),
                Ok(_) => Err(format!("array '{name}' has more than its {declared} elements")),
                Err(error) => Err(format!("array '{name}' is corrupt: {error}")),
            }
        };
        self.with_array(name, read).map_err(|problem| self.fail(problem))
    }

    /// Passes the header of an array and its numbers to `read` while they are unpacked.
    fn with_array<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(Header, &mut dyn Read) -> Result<T, String>,
    ) -> Result<T, String> {
        let entry = self.archive.by_name(&format!("{name}.npy"));
        let entry = entry.map_err(|_| format!("no readable array '{name}'"))?;
        let mut values = BufReader::with_capacity(1 << 16, entry);
        let header = Header::read(&mut values).map_err(|problem| format!("array '{name}': {problem}"))?;
        read(header, &mut values)
    }
}
