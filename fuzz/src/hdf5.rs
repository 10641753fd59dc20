//! Checksums inside HDF5 files: superblocks of versions 2 and 3, and object headers of version 2.

/// Returns a file with valid checksums of its superblock and object headers.
pub fn with_checksums(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if bytes.starts_with(b"\x89HDF\r\n\x1a\n") && bytes.len() >= 48 && bytes[8] >= 2 {
        sign(&mut bytes, 0, 44);
    }
    let mut at = 0;
    while let Some(found) = bytes[at..].windows(4).position(|window| window == b"OHDR") {
        at += found;
        if let Some(length) = header_length(&bytes[at..]) {
            sign(&mut bytes, at, length);
        }
        at += 4;
    }
    bytes
}

/// Returns the length of an object header, without its checksum.
fn header_length(bytes: &[u8]) -> Option<usize> {
    let flags = *bytes.get(5)?;
    let times = if flags & 0x20 != 0 { 16 } else { 0 };
    let phases = if flags & 0x10 != 0 { 4 } else { 0 };
    let (size_at, size_bytes) = (6 + times + phases, 1usize << (flags & 3));
    let size = bytes.get(size_at..size_at + size_bytes)?;
    let size =
        size.iter().rev().try_fold(0usize, |sum, byte| Some(sum.checked_mul(256)? + usize::from(*byte)))?;
    size.checked_add(size_at + size_bytes)
}

/// Stores the checksum of `length` bytes from `start` behind them, if there is room.
fn sign(bytes: &mut [u8], start: usize, length: usize) {
    let Some(end) = start.checked_add(length) else { return };
    if let Some(place) = end.checked_add(4).filter(|last| *last <= bytes.len()) {
        let sum = lookup3(&bytes[start..end]);
        bytes[end..place].copy_from_slice(&sum.to_le_bytes());
    }
}

/// Jenkins' hash, with an initial value of 0.
fn lookup3(bytes: &[u8]) -> u32 {
    let start = 0xdead_beef_u32.wrapping_add(bytes.len() as u32);
    let (mut a, mut b, mut c) = (start, start, start);
    let word = |part: &[u8]| part.iter().rev().fold(0u32, |sum, byte| sum << 8 | u32::from(*byte));
    let mut rest = bytes;
    while rest.len() > 12 {
        a = a.wrapping_add(word(&rest[..4]));
        b = b.wrapping_add(word(&rest[4..8]));
        c = c.wrapping_add(word(&rest[8..12]));
        for (x, y, z, turn) in
            [(0, 2, 1, 4), (1, 0, 2, 6), (2, 1, 0, 8), (0, 2, 1, 16), (1, 0, 2, 19), (2, 1, 0, 4)]
        {
            // x -= y; x ^= y rotated; y += z
            let mut v = [a, b, c];
            v[x] = v[x].wrapping_sub(v[y]) ^ v[y].rotate_left(turn);
            v[y] = v[y].wrapping_add(v[z]);
            [a, b, c] = v;
        }
        rest = &rest[12..];
    }
    if rest.is_empty() {
        return c;
    }
    let part = |from: usize| word(&rest[from.min(rest.len())..(from + 4).min(rest.len())]);
    a = a.wrapping_add(part(0));
    b = b.wrapping_add(part(4));
    c = c.wrapping_add(part(8));
    c = (c ^ b).wrapping_sub(b.rotate_left(14));
    a = (a ^ c).wrapping_sub(c.rotate_left(11));
    b = (b ^ a).wrapping_sub(a.rotate_left(25));
    c = (c ^ b).wrapping_sub(b.rotate_left(16));
    a = (a ^ c).wrapping_sub(c.rotate_left(4));
    b = (b ^ a).wrapping_sub(a.rotate_left(14));
    (c ^ b).wrapping_sub(b.rotate_left(24))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_its_author() {
        assert_eq!(lookup3(b""), 0xdead_beef);
        assert_eq!(lookup3(b"Four score and seven years ago"), 0x1777_0551);
    }
}
