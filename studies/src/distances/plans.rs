//! Checks whether random plans pass through a wall, or a one-way door in the wrong direction.

use super::environment::EnvironmentData;
use isochrone_eval::refined::RefinedDistance;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The number of plans.
const PLANS: usize = 1000;

/// The result of a check of random plans. Recorded segments are possible by construction; only the
/// edges between them can be impossible.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct PlanCheck {
    /// The number of plans between pairs of states with a known path.
    pub plans: usize,
    /// The number of edges between recorded segments in all plans.
    pub hops: usize,
    /// The number of plans with an edge that the environment does not allow.
    pub impossible: usize,
}

impl PlanCheck {
    /// Checks plans between the first pairs of an environment that have a path.
    pub fn of(distance: &RefinedDistance, environment: &EnvironmentData) -> Self {
        let width = environment.data.spec().observation.width;
        let pairs =
            environment.pairs.from.par_chunks_exact(width).zip(environment.pairs.to.par_chunks_exact(width));
        let plan = |(from, to): (&[f32], &[f32])| {
            let path = distance.path(from, to).expect("they are full states")?;
            let mut here = from;
            let mut check = Self { plans: 1, ..Self::default() };
            let segments = path.segments.iter();
            let ends = segments.map(|segment| {
                (environment.data.state(segment.first_row), environment.data.state(segment.last_row()))
            });
            for (begin, end) in ends.chain([(to, to)]) {
                check.hops += 1;
                check.impossible |= usize::from(!(environment.is_connected)(here, begin));
                here = end;
            }
            Some(check)
        };
        let add = |a: Self, b: Self| Self {
            plans: a.plans + b.plans,
            hops: a.hops + b.hops,
            impossible: a.impossible + b.impossible,
        };
        let plans: Vec<Self> = pairs.filter_map(plan).collect();
        plans.into_iter().take(PLANS).fold(Self::default(), add)
    }
}
