//! The hash of a file's bytes.

use crate::{content_hash::hexadecimal, regular_file};
use sha2::{Digest as _, Sha256};
use std::{io::Read as _, path::Path};

/// Returns the size of a file, and the SHA-256 of its bytes in hexadecimal digits.
pub fn file_sha256(path: &Path) -> std::io::Result<(u64, String)> {
    let (mut state, mut file, mut bytes) = (Sha256::new(), regular_file::open(path)?, 0);
    let mut buffer = vec![0; 1 << 20];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok((bytes, hexadecimal(state)));
        }
        state.update(&buffer[..read]);
        bytes += read as u64;
    }
}
