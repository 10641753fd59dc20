//! What processes that train together agree on.

use crate::error::LearnError;
use isochrone_nn::group::ProcessGroup;
use sha2::{Digest as _, Sha256};

/// Returns the result of this process, or an error if any process of a group has one. All processes
/// must call it, so that none waits for another that failed.
///
/// # Errors
/// That of this process, or [`LearnError::OtherProcess`].
pub fn agree<T, E: From<LearnError>>(group: Option<&ProcessGroup>, result: Result<T, E>) -> Result<T, E> {
    let Some(group) = group else { return result };
    let failures = group.all_of("failures", u32::from(result.is_err()));
    match failures.iter().position(|failed| *failed != 0) {
        Some(rank) => result.and(Err(LearnError::OtherProcess { rank }.into())),
        None => result,
    }
}

/// Checks that all processes of a group have the same bytes, which they do not send.
pub(crate) fn check_equal(group: &ProcessGroup, what: &'static str, bytes: &[u8]) -> Result<(), LearnError> {
    let digest = Sha256::digest(bytes);
    let hash = u32::from_le_bytes([digest[0], digest[1], digest[2], digest[3]]);
    match group.all_of(what, hash).iter().position(|other| *other != hash) {
        Some(rank) => Err(LearnError::ProcessesDiffer { rank, what }),
        None => Ok(()),
    }
}
