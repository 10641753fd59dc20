//! Everything that a continued run needs, as named arrays and numbers.

use crate::{learner::Learner, parts::Trained, scaling::Scaling, setting::Setting};
use burn::module::Module;
use isochrone_nn::{loss::Dual, store::Archive};
use std::collections::BTreeMap;

/// The state of a learner at one step.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshot {
    /// What is needed to use it.
    pub weights: Archive,
    /// What is needed besides to go on: moments of optimisers, target networks.
    pub training: Archive,
    /// Multipliers and counters.
    pub numbers: BTreeMap<String, f64>,
}

/// A snapshot that is being written or read.
///
/// A learner walks over its parts in [`Learner::exchange`]; which way they go is the ledger's business.
#[derive(Debug)]
pub struct Ledger {
    snapshot: Snapshot,
    way: Way,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Saving,
    /// Everything.
    Resuming,
    /// Weights only.
    Using,
}

impl Ledger {
    /// Takes everything from a learner.
    pub fn saving() -> Self {
        Self { snapshot: Snapshot::default(), way: Way::Saving }
    }

    /// Gives everything to a learner that goes on.
    pub fn resuming(snapshot: Snapshot) -> Self {
        Self { snapshot, way: Way::Resuming }
    }

    /// Gives the weights to a learner that is only asked.
    pub fn using(snapshot: Snapshot) -> Self {
        Self { snapshot, way: Way::Using }
    }

    /// Puts a learner where a checkpoint was; gives the scale of the data. The error is a sentence about the file: also if a run that goes on would leave something over.
    pub fn restore(mut self, learner: &mut dyn Learner, setting: &Setting) -> Result<Scaling, String> {
        learner.exchange(&mut self)?;
        let widths = [setting.observation_width, setting.action_width];
        let scaling = Scaling::take_from(self.weights(), widths)?;
        let Snapshot { weights, training, numbers } = &self.snapshot;
        let left = weights.remaining().or(training.remaining()).or(numbers.keys().next().map(String::as_str));
        match left.filter(|_| self.way == Way::Resuming) {
            Some(name) => Err(format!("has {name}, which the learner has not")),
            None => Ok(scaling),
        }
    }

    /// The weights, for what is used but not trained.
    pub fn weights(&mut self) -> &mut Archive {
        &mut self.snapshot.weights
    }

    /// What was taken, or what is left.
    pub fn into_snapshot(self) -> Snapshot {
        self.snapshot
    }

    /// A network with its optimiser.
    pub fn trained<M: Module>(&mut self, name: &str, trained: &mut Trained<M>) -> Result<(), String> {
        match self.way {
            Way::Saving => {
                self.snapshot.weights.insert_module(name, trained.network());
                trained.insert_moments(name, &mut self.snapshot.training);
                self.snapshot.numbers.insert(format!("{name}.updates"), trained.updates() as f64);
            }
            Way::Resuming | Way::Using => {
                trained.edit(|network| self.snapshot.weights.take_module(name, network))?;
            }
        }
        if self.way == Way::Resuming {
            let updates = self.number(&format!("{name}.updates"))?;
            trained.take_moments(name, &mut self.snapshot.training, updates as u64)?;
        }
        Ok(())
    }

    /// A network that follows another and is not needed once training has ended.
    pub fn follower<M: Module>(&mut self, name: &str, network: &mut M) -> Result<(), String> {
        match self.way {
            Way::Saving => self.snapshot.training.insert_module(name, network),
            Way::Resuming => self.snapshot.training.take_module(name, network)?,
            Way::Using => {}
        }
        Ok(())
    }

    /// A multiplier.
    pub fn dual(&mut self, name: &str, dual: &mut Dual) -> Result<(), String> {
        match self.way {
            Way::Saving => {
                self.snapshot.numbers.insert(name.to_owned(), dual.raw());
            }
            Way::Resuming => dual.set_raw(self.number(name)?),
            Way::Using => {}
        }
        Ok(())
    }

    fn number(&mut self, name: &str) -> Result<f64, String> {
        self.snapshot.numbers.remove(name).ok_or_else(|| format!("has no number {name}"))
    }
}
