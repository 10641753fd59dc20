use super::{calibrated, draw_moves};
use isochrone_core::TemporalDistance;
use isochrone_data::Trajectories;
use isochrone_eval::{
    plan::{Atlas, Planner},
    reversible::Reversible,
};

/// How ways over recorded moves are looked for, and how a distance is read on them.
#[derive(Debug, Clone, Copy)]
pub struct Ways {
    /// How they are looked for.
    pub planner: Planner,
    /// Only where one can come back from.
    pub is_reversible: bool,
    /// In recorded steps.
    pub is_calibrated: bool,
    /// How many recorded states they may pass.
    pub states: usize,
    /// Of all draws.
    pub seed: u64,
}

impl Ways {
    /// Hands on the atlas and the distance as it is read: both borrow what is made here.
    pub fn with_atlas<T>(
        &self,
        distance: &dyn TemporalDistance,
        data: &Trajectories,
        then: impl FnOnce(&Atlas<'_>, &dyn TemporalDistance) -> T,
    ) -> T {
        let there_and_back = Reversible(distance);
        let chosen: &dyn TemporalDistance = if self.is_reversible { &there_and_back } else { distance };
        let read;
        let chosen = if self.is_calibrated {
            read = calibrated(chosen, data, self.seed);
            &read
        } else {
            chosen
        };
        let atlas = Atlas::new(self.planner, chosen, draw_moves(data, self.states, self.seed));
        then(&atlas, chosen)
    }
}
