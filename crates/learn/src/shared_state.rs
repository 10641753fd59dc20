//! The state of a learner as one process sends it to others.

use crate::error::LearnError;
use isochrone_nn::{error::ArchiveError, state_dict::LearnerState, store::Archive};
use sha2::{Digest as _, Sha256};

/// The state of a learner after `step` updates.
pub struct SharedState {
    pub step: u64,
    pub state: LearnerState,
}

impl SharedState {
    /// Returns the step, then the weights, the training state and the numbers, each after its
    /// length.
    pub fn to_bytes(&self) -> Vec<u8> {
        let LearnerState { weights, training, numbers } = &self.state;
        let numbers = serde_json::to_vec(numbers).expect("names and numbers");
        let mut bytes = self.step.to_le_bytes().to_vec();
        for part in [weights.to_bytes(), training.to_bytes(), numbers] {
            bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
            bytes.extend_from_slice(&part);
        }
        bytes
    }

    /// Returns the step and the state.
    ///
    /// # Errors
    /// If the bytes are not those of [`to_bytes`](Self::to_bytes).
    pub fn from_bytes(bytes: &[u8]) -> Result<(u64, LearnerState), LearnError> {
        Self::parse(bytes).ok_or(LearnError::Message)
    }

    fn parse(mut bytes: &[u8]) -> Option<(u64, LearnerState)> {
        let step = take_integer(&mut bytes)?;
        let [weights, training, numbers] =
            [take_part(&mut bytes)?, take_part(&mut bytes)?, take_part(&mut bytes)?];
        let archive = |bytes: &[u8]| -> Result<Archive, ArchiveError> { Archive::from_bytes(bytes) };
        let numbers = serde_json::from_slice(numbers).ok()?;
        Some((
            step,
            LearnerState { weights: archive(weights).ok()?, training: archive(training).ok()?, numbers },
        ))
    }

    /// Returns a hash that is the same for equal states only, up to chance.
    pub fn hash(&self) -> u32 {
        let digest = Sha256::digest(self.to_bytes());
        u32::from_le_bytes([digest[0], digest[1], digest[2], digest[3]])
    }
}

fn take_integer(bytes: &mut &[u8]) -> Option<u64> {
    let (first, rest) = bytes.split_first_chunk::<8>()?;
    *bytes = rest;
    Some(u64::from_le_bytes(*first))
}

fn take_part<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(take_integer(bytes)?).ok()?;
    let (part, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(part)
}
