//! Random plans beside the map of an environment: does one lead through a wall, or against a one-way door?

use super::environment::EnvironmentData;
use isochrone_eval::refined::RefinedDistance;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Plans that are looked at.
const PLANS: usize = 1000;

/// What was found of random plans. Segments are recorded motion; only the hops between them can be impossible.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct PlanCheck {
    /// Plans between pairs of states with a known path.
    pub plans: usize,
    /// Hops of all of them.
    pub hops: usize,
    /// Plans with a hop that the environment does not allow.
    pub impossible: usize,
}

impl PlanCheck {
    /// Plans between the first pairs of an environment that have a path.
    pub fn of(distance: &RefinedDistance, environment: &EnvironmentData) -> Self {
        let width = environment.data.spec().observation.width;
        let pairs =
            environment.pairs.from.par_chunks_exact(width).zip(environment.pairs.to.par_chunks_exact(width));
        let plan = |(from, to): (&[f32], &[f32])| {
            let path = distance.path(from, to).expect("they are whole states")?;
            let mut here = from;
            let mut check = Self { plans: 1, ..Self::default() };
            let segments = path.segments.iter();
            let ends = segments.map(|segment| {
                (environment.data.state(segment.first_row), environment.data.state(segment.last_row()))
            });
            for (begin, end) in ends.chain([(to, to)]) {
                check.hops += 1;
                check.impossible |= usize::from(!(environment.can_hop)(here, begin));
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
