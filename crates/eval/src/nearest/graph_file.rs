//! Checks the graph in the file of a shard, whose edges the search library follows unchecked.
//!
//! All numbers are little-endian. The file has
//! - the number of rows and the bytes of a row (`u32` each), and the rows;
//! - a head of 64 bytes, whose types the library compares, except for that of the rows;
//! - the number of nodes, the most neighbors of a node on upper levels and on the lowest one, the
//!   highest level, and the node at which searches start (`u64` each);
//! - the level of each node (`i16`);
//! - the nodes: the number of its row (`u64`), its level (`i16`), and for each of its levels, from
//!   the lowest one, the number of neighbors and room for all of them (`u32` each).

use std::{
    fs::File,
    io::{BufReader, Error, ErrorKind, Read, Result},
    path::Path,
};

const HEAD_BYTES: usize = 64;
/// Behind the name and version of the library, and the kind of metric.
const TYPE_OF_ROWS_AT: usize = 14;
const TYPE_F32: u8 = 11;

/// Checks the file of a shard with rows of `row_numbers` numbers.
pub(super) fn check(path: &Path, row_numbers: usize) -> Result<()> {
    let file = File::open(path)?;
    let bytes = file.metadata()?.len();
    match check_contents(BufReader::with_capacity(1 << 20, file), bytes, row_numbers) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
            require(false, || format!("it ends within its graph, after {bytes} bytes"))
        }
        result => result,
    }
}

/// Checks contents of `bytes` bytes. Every loop and allocation is limited by them.
fn check_contents(file: impl Read, bytes: u64, row_numbers: usize) -> Result<()> {
    let mut file = Numbers(file);
    let (rows, row_bytes) = (file.u32()?, file.u32()?);
    let is_expected = usize::try_from(row_bytes).is_ok_and(|width| width == 4 * row_numbers);
    require(is_expected, || format!("its rows have {row_bytes} bytes instead of {}", 4 * row_numbers))?;
    file.skip(u64::from(rows) * u64::from(row_bytes))?;
    let head: [u8; HEAD_BYTES] = file.array()?;
    require(head[TYPE_OF_ROWS_AT] == TYPE_F32, || "its rows are not of 32-bit numbers".to_owned())?;
    let [nodes, upper, lowest, highest, start] =
        [file.u64()?, file.u64()?, file.u64()?, file.u64()?, file.u64()?];
    require(nodes == u64::from(rows), || format!("it has {nodes} nodes and {rows} rows"))?;
    if nodes == 0 {
        return Ok(());
    }
    // Two bytes for the level of each node follow: more nodes do not fit.
    require(2 * nodes <= bytes, || format!("{nodes} nodes do not fit in {bytes} bytes"))?;
    let levels: Vec<i16> = (0..nodes).map(|_| file.i16()).collect::<Result<_>>()?;
    let level_of = |node: u64| usize::try_from(node).ok().and_then(|node| levels.get(node).copied());
    let is_start = level_of(start).is_some_and(|level| level >= 0 && level as u64 >= highest);
    require(is_start, || format!("searches start at node {start} on level {highest}"))?;
    for (node, &level) in levels.iter().enumerate() {
        let (row, again) = (file.u64()?, file.i16()?);
        require(row < nodes, || format!("node {node} is row {row} of {rows}"))?;
        require(level >= 0 && level == again, || format!("node {node} has the levels {level} and {again}"))?;
        for on in 0..=level {
            let room = if on == 0 { lowest } else { upper };
            let neighbors = u64::from(file.u32()?);
            require(neighbors <= room, || {
                format!("node {node} has {neighbors} neighbors of at most {room}")
            })?;
            for _ in 0..neighbors {
                let neighbor = u64::from(file.u32()?);
                // A search goes on from a neighbor on the same level.
                let has_level = level_of(neighbor).is_some_and(|level| level >= on);
                require(has_level, || format!("node {node} has the neighbor {neighbor} on level {on}"))?;
            }
            file.skip((room - neighbors).saturating_mul(4))?;
        }
    }
    Ok(())
}

fn require(is_valid: bool, problem: impl FnOnce() -> String) -> Result<()> {
    if is_valid { Ok(()) } else { Err(Error::new(ErrorKind::InvalidData, problem())) }
}

/// Numbers that follow each other in a file.
struct Numbers<R>(R);

impl<R: Read> Numbers<R> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.0.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn i16(&mut self) -> Result<i16> {
        self.array().map(i16::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn skip(&mut self, bytes: u64) -> Result<()> {
        let skipped = std::io::copy(&mut self.0.by_ref().take(bytes), &mut std::io::sink())?;
        if skipped == bytes { Ok(()) } else { Err(ErrorKind::UnexpectedEof.into()) }
    }
}
