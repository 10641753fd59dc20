//! Backups between the latent rows of a quasimetric, for TMD and MQE.

use super::CriticInput;
use crate::{batch::DeviceBatch, processes::Processes};
use burn::tensor::Tensor;
use isochrone_nn::{
    loss::{BackupConfig, Loss, linex_backup},
    module::{MetricMember, PairHead},
    op::gather_rows,
};

/// The latent rows of a batch, each `[n, latent]`.
pub struct BackupRows {
    /// States, most of them with their actions.
    pub actions: Tensor<2>,
    /// The same states without actions.
    pub states: Tensor<2>,
    /// Goals.
    pub goals: Tensor<2>,
    /// Later states of the same episodes, without gradient.
    pub later: Tensor<2>,
}

impl BackupRows {
    /// Encodes rows of a critic, the states and the first goals of their batch, and
    /// `later: [n, observation width]` in one pass.
    ///
    /// Some rows must be without actions: invariance to actions alone does not bound `d(s, g)` from
    /// below, and `d = 0` between all states satisfies every backup of an action.
    pub fn encode(
        member: &MetricMember,
        input: CriticInput,
        batch: &DeviceBatch,
        rows: Tensor<2>,
        later: Tensor<2>,
    ) -> Self {
        let (states, goals) = (&batch.observations, &batch.goals[0].observations);
        let without = [states.clone(), goals.clone(), later].map(|rows| input.states(rows));
        let all = std::iter::once(rows).chain(without).collect();
        let (latent, n) = (member.encoder.forward(Tensor::cat(all, 0)), batch.rows());
        let [actions, states, goals, later] = [0, 1, 2, 3].map(|part| latent.clone().narrow(0, part * n, n));
        Self { actions, states, goals, later: later.detach() }
    }

    /// Returns `d(s, (s, a))`, `[n]`: 0 if choosing an action takes no time.
    pub fn action_distances(&self, head: &PairHead) -> Tensor<1> {
        head.rowwise(self.states.clone(), self.actions.clone())
    }

    /// Returns the LINEX loss of `d((s, a), g)` with the target `d(later, g) - log_discount`, over
    /// all pairs of rows and goals. `log_discounts: [n, 1]`.
    pub fn backup(
        &self,
        head: &PairHead,
        config: BackupConfig,
        log_discounts: Tensor<2>,
        processes: &Processes,
    ) -> Loss {
        let (goals, first_match) = match processes.negatives() {
            None => (self.goals.clone(), 0),
            Some(group) => (gather_rows(group, self.goals.clone()), group.rank() * self.goals.dims()[0]),
        };
        let distances = head.all_pairs(self.actions.clone(), goals.clone());
        let next = head.all_pairs(self.later.clone(), goals.detach());
        linex_backup(config, distances, next, log_discounts, first_match)
    }
}
