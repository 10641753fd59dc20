//! Small mutations of real files.

use isochrone_core::rng::below;
use rand_chacha::{ChaCha8Rng, rand_core::Rng as _};

/// Numbers that often trigger errors.
const INTERESTING: [u64; 14] = [
    0,
    1,
    2,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    u64::MAX,
];

/// Applies one to six mutations.
pub fn mutate(bytes: &mut Vec<u8>, random: &mut ChaCha8Rng) {
    for _ in 0..=below(random, 6) {
        mutate_once(bytes, random);
    }
}

fn mutate_once(bytes: &mut Vec<u8>, random: &mut ChaCha8Rng) {
    let n = bytes.len();
    if n == 0 {
        bytes.push(random.next_u32() as u8);
        return;
    }
    // The structure of container files is near their ends.
    let at = match below(random, 4) {
        0 => n - 1 - below(random, n.min(400)),
        1 => below(random, n.min(400)),
        _ => below(random, n),
    };
    match below(random, 10) {
        0 | 1 => bytes[at] ^= 1 << below(random, 8),
        2 => bytes[at] = random.next_u32() as u8,
        3 | 4 => {
            let size = [1, 2, 4, 8][below(random, 4)];
            let value = INTERESTING[below(random, INTERESTING.len())].to_le_bytes();
            let end = (at + size).min(n);
            bytes[at..end].copy_from_slice(&value[..end - at]);
        }
        5 => {
            let change = below(random, 33) as u8;
            bytes[at] = bytes[at].wrapping_add(change).wrapping_sub(16);
        }
        6 => bytes.truncate(at),
        7 => drop(bytes.drain(at..(at + 1 + below(random, 16)).min(n))),
        8 => {
            let piece = bytes[at..(at + 1 + below(random, 64)).min(n)].to_vec();
            let to = below(random, n);
            bytes.splice(to..to, piece);
        }
        _ => {
            // Another digit, which is still valid in text formats.
            if let Some(digit) = bytes[at..].iter_mut().find(|byte| byte.is_ascii_digit()) {
                *digit = b'0' + below(random, 10) as u8;
            }
        }
    }
}
