//! The places of an Arrow file: a magic number, the schema, record batches, an end marker and the
//! footer, without room for anything else.

use std::ops::Range;

const MAGIC: &[u8] = b"ARROW1";
/// What a message begins with, before its length.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// A message of length 0.
const END: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];
/// Parts begin at a multiple of this or less.
const ALIGNMENT: usize = 64;
/// The footer holds the schema as well, but not the envelope of the message.
const ENVELOPE_BYTES: usize = 1024;

/// Checks that the record batches, in any order, fill the bytes before the footer. Otherwise a file
/// could hold another one, which other programs would see.
pub(super) fn check(bytes: &[u8], footer: Range<usize>, batches: &[Range<usize>]) -> Result<(), String> {
    let foreign = |place: usize| format!("it has bytes at {place} that belong to no column");
    let is_padding = |gap: &[u8]| gap.len() < ALIGNMENT && gap.iter().all(|&byte| byte == 0);
    let body =
        bytes.get(..footer.start).and_then(|body| body.strip_prefix(MAGIC)).ok_or_else(|| foreign(0))?;
    let schema = MAGIC.len() + body.iter().position(|&byte| byte != 0).ok_or_else(|| foreign(0))?;
    let message: Option<[u8; 8]> = bytes[schema..footer.start].first_chunk().copied();
    let message = message.filter(|message| message[..4] == CONTINUATION && schema <= ALIGNMENT);
    let length = message.map(|message| u32::from_le_bytes([message[4], message[5], message[6], message[7]]));
    let length = length.ok_or_else(|| foreign(MAGIC.len()))? as usize;
    if length > footer.len() + ENVELOPE_BYTES {
        return Err(foreign(schema));
    }
    let mut batches: Vec<&Range<usize>> = batches.iter().collect();
    batches.sort_unstable_by_key(|batch| batch.start);
    let mut at = schema + 8 + length;
    for batch in batches {
        if !bytes.get(at..batch.start).is_some_and(is_padding) {
            return Err(foreign(at));
        }
        at = batch.end;
    }
    let rest = bytes.get(at..footer.start).ok_or_else(|| foreign(at))?;
    match rest.strip_suffix(&END) {
        Some(gap) if is_padding(gap) => Ok(()),
        _ => Err(foreign(at)),
    }
}
