//! States relative to the landmarks.

use std::ops::Deref;

/// The number of landmarks near a state at which paths may start or end.
pub(super) const NEAR: usize = 3;

/// Projected states and the landmarks near them.
#[derive(Default)]
pub(super) struct Places {
    /// The number of projected columns.
    pub width: usize,
    /// The number of landmarks listed for a state.
    pub listed: usize,
    /// `[n, width]`
    pub projected: Vec<f32>,
    /// Indices of landmarks, nearest first, and the hops to them in steps: `[n, listed]`
    pub near: Vec<(u32, f32)>,
}

/// A projected state and the landmarks near it, nearest first.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub projected: &'a [f32],
    /// Indices of landmarks, and the hops to them in steps.
    pub near: &'a [(u32, f32)],
}

impl Places {
    pub fn len(&self) -> usize {
        self.near.len() / self.listed
    }

    pub fn get(&self, state: usize) -> Place<'_> {
        Place {
            projected: &self.projected[state * self.width..][..self.width],
            near: &self.near[state * self.listed..][..self.listed],
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = Place<'_>> {
        (0..self.len()).map(|state| self.get(state))
    }

    /// Appends the states of other places near the same landmarks.
    pub fn append(mut self, other: Self) -> Self {
        self.projected.extend(other.projected);
        self.near.extend(other.near);
        Self { width: other.width, listed: other.listed, ..self }
    }
}

/// Some of the landmarks near a state, and the hops to them. It needs no allocation.
#[derive(Clone, Copy, Default)]
pub(super) struct Few {
    n: usize,
    landmarks: [(u32, f32); NEAR],
}

impl FromIterator<(u32, f32)> for Few {
    /// Takes the first [`NEAR`] landmarks.
    fn from_iter<I: IntoIterator<Item = (u32, f32)>>(landmarks: I) -> Self {
        let mut few = Self::default();
        for landmark in landmarks.into_iter().take(NEAR) {
            few.landmarks[few.n] = landmark;
            few.n += 1;
        }
        few
    }
}

impl Deref for Few {
    type Target = [(u32, f32)];

    fn deref(&self) -> &Self::Target {
        &self.landmarks[..self.n]
    }
}
