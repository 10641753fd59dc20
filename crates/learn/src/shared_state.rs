//! The state of a learner as one process sends it to others.

use crate::error::LearnError;
use isochrone_nn::{state_dict::LearnerState, store::Archive};

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

    /// Reads what [`to_bytes`](Self::to_bytes) returns.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LearnError> {
        Self::parse(bytes).ok_or(LearnError::Message)
    }

    fn parse(mut bytes: &[u8]) -> Option<Self> {
        let step = take_integer(&mut bytes)?;
        let mut next = || take_part(&mut bytes);
        let weights = Archive::from_bytes(next()?).ok()?;
        let training = Archive::from_bytes(next()?).ok()?;
        let numbers = serde_json::from_slice(next()?).ok()?;
        Some(Self { step, state: LearnerState { weights, training, numbers } })
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
