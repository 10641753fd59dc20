//! How far a robot gets in a number of frames.
//!
//! A displacement is the hop from a frame to the one `lag` frames later. It is expressed in frames
//! of typical motion: the lag at which the median displacement of the dataset is as large.

use super::{Demos, pace::Pace};
use isochrone_core::statistics::median;

/// The frame rate that the lags below belong to, and that of datasets without one.
const FRAMES_PER_SECOND: f64 = 30.0;
/// The number of displacements that a median is computed from.
const SAMPLES: usize = 50_000;

/// Numbers of frames, for the frame rate of a dataset.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frames {
    per_second: f64,
}

impl Frames {
    pub fn of(demos: &Demos<'_>) -> Self {
        Self { per_second: demos.data.frames_per_second().unwrap_or(FRAMES_PER_SECOND) }
    }

    /// Returns as many frames as `frames` at 30 frames per second.
    pub fn at_30(self, frames: usize) -> usize {
        ((frames as f64 * self.per_second / FRAMES_PER_SECOND).round() as usize).max(1)
    }
}

/// Displacements in frames of typical motion.
pub(super) struct Displacements {
    pace: Pace,
}

impl Displacements {
    /// Computes the typical displacement at each of `lags`, in increasing order.
    pub fn fit(demos: &Demos<'_>, lags: &[usize]) -> Self {
        let knots = lags.iter().map(|lag| (Self::typical_hop(demos, *lag), *lag as f64)).collect();
        Self { pace: Pace::through(knots) }
    }

    /// Returns the median hop over a lag.
    pub fn typical_hop(demos: &Demos<'_>, lag: usize) -> f64 {
        let every = (demos.data.index().n_states() as usize).div_ceil(SAMPLES).max(1);
        let hops = demos.map_episodes(|episode| hops(demos, episode, lag));
        median(hops.into_iter().flatten().step_by(every).collect())
    }

    /// Returns the displacement from each frame to the one `lag` frames later, in frames of typical
    /// motion.
    pub fn over(&self, demos: &Demos<'_>, episode: usize, lag: usize) -> Vec<f64> {
        hops(demos, episode, lag).into_iter().map(|hop| self.pace.of(hop)).collect()
    }
}

/// Returns the hop from each frame to the one `lag` frames later.
pub(super) fn hops(demos: &Demos<'_>, episode: usize, lag: usize) -> Vec<f64> {
    let (states, width) = (demos.states(episode), demos.width());
    let metric = &demos.metric;
    let later = states.chunks_exact(width).skip(lag);
    states.chunks_exact(width).zip(later).map(|(from, to)| f64::from(metric.steps(from, to))).collect()
}
