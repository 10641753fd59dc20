//! The algorithms, one folder each: a configuration and a learner.
//!
//! Adding one: a folder, a variant of [`AlgorithmConfig`] and of [`Algorithm`] (the compiler finds every match), and the conformance suite runs over its presets
//! by itself.

mod check;
mod cmd1;
mod cmd2;
mod crl;
mod ddpg;
mod gcbc;
mod gciql;
mod qrl;

pub use cmd1::{Cmd1, Cmd1Config};
pub use cmd2::{Cmd2, Cmd2Config};
pub use crl::{Crl, CrlConfig, CrlLoss};
pub use ddpg::{Ddpg, DdpgConfig};
pub use gcbc::{Gcbc, GcbcConfig};
pub use gciql::{Gciql, GciqlConfig};
pub use qrl::{Qrl, QrlConfig};

use crate::{learner::Learner, parts::Size, setting::Setting};
use isochrone_nn::{error::ConfigError, loss::InfoNce};
use serde::{Deserialize, Serialize};

/// An algorithm and its settings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "algorithm", rename_all = "snake_case")]
pub enum AlgorithmConfig {
    /// See [`Cmd1`].
    Cmd1(Cmd1Config),
    /// See [`Cmd2`].
    Cmd2(Cmd2Config),
    /// See [`Crl`].
    Crl(CrlConfig),
    /// See [`Qrl`].
    Qrl(QrlConfig),
    /// See [`Gcbc`].
    Gcbc(GcbcConfig),
    /// See [`Gciql`].
    Gciql(GciqlConfig),
    /// See [`Ddpg`].
    Ddpg(DdpgConfig),
}

/// What people ask for by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// Contrastive metric distillation in one step.
    Cmd1,
    /// Contrastive metric distillation in two steps.
    Cmd2,
    /// Contrastive reinforcement learning with binary cross-entropy.
    CrlNce,
    /// Contrastive reinforcement learning with softmax.
    CrlCpc,
    /// Quasimetric reinforcement learning.
    Qrl,
    /// Goal-conditioned behaviour cloning.
    Gcbc,
    /// Goal-conditioned implicit Q-learning.
    Gciql,
    /// Deep deterministic policy gradients with hindsight goals.
    Ddpg,
}

impl Algorithm {
    /// All of them.
    pub const ALL: [Self; 8] =
        [Self::Cmd1, Self::Cmd2, Self::CrlNce, Self::CrlCpc, Self::Qrl, Self::Gcbc, Self::Gciql, Self::Ddpg];

    /// As people write it.
    pub fn name(self) -> &'static str {
        self.name_and_idea().0
    }

    /// What it does, in a line.
    pub fn idea(self) -> &'static str {
        self.name_and_idea().1
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }

    fn name_and_idea(self) -> (&'static str, &'static str) {
        match self {
            Self::Cmd1 => {
                ("cmd1", "Contrastive metric distillation in one step: a quasimetric as contrastive critic")
            }
            Self::Cmd2 => {
                ("cmd2", "Contrastive metric distillation in two steps: a contrastive critic, distilled")
            }
            Self::CrlNce => ("crl-nce", "Contrastive reinforcement learning, binary cross-entropy"),
            Self::CrlCpc => ("crl-cpc", "Contrastive reinforcement learning, softmax"),
            Self::Qrl => ("qrl", "Quasimetric reinforcement learning"),
            Self::Gcbc => ("gcbc", "Goal-conditioned behaviour cloning; knows no distance"),
            Self::Gciql => ("gciql", "Goal-conditioned implicit Q-learning"),
            Self::Ddpg => ("ddpg", "Deep deterministic policy gradients with hindsight goals"),
        }
    }

    /// Its settings at a size.
    pub fn preset(self, size: Size) -> AlgorithmConfig {
        match self {
            Self::Cmd1 => AlgorithmConfig::Cmd1(Cmd1Config::of(size)),
            Self::Cmd2 => AlgorithmConfig::Cmd2(Cmd2Config::of(size)),
            Self::CrlNce => AlgorithmConfig::Crl(CrlConfig::of(size, CrlLoss::Nce)),
            Self::CrlCpc => AlgorithmConfig::Crl(CrlConfig::of(size, CrlLoss::Cpc(InfoNce::default()))),
            Self::Qrl => AlgorithmConfig::Qrl(QrlConfig::of(size)),
            Self::Gcbc => AlgorithmConfig::Gcbc(GcbcConfig::of(size)),
            Self::Gciql => AlgorithmConfig::Gciql(GciqlConfig::of(size)),
            Self::Ddpg => AlgorithmConfig::Ddpg(DdpgConfig::of(size)),
        }
    }
}

impl AlgorithmConfig {
    /// The learner at its start.
    ///
    /// # Errors
    /// If a setting is impossible, or the data have not what the algorithm needs.
    pub fn init(&self, setting: &Setting) -> Result<Box<dyn Learner>, ConfigError> {
        let learner: Result<Box<dyn Learner>, ConfigError> = match *self {
            Self::Cmd1(config) => Cmd1::new(config, setting).map(|learner| Box::new(learner) as _),
            Self::Cmd2(config) => Cmd2::new(config, setting).map(|learner| Box::new(learner) as _),
            Self::Crl(config) => Crl::new(config, setting).map(|learner| Box::new(learner) as _),
            Self::Qrl(config) => Qrl::new(config, setting).map(|learner| Box::new(learner) as _),
            Self::Gcbc(config) => Gcbc::new(config, setting).map(|learner| Box::new(learner) as _),
            Self::Gciql(config) => Gciql::new(config, setting).map(|learner| Box::new(learner) as _),
            Self::Ddpg(config) => Ddpg::new(config, setting).map(|learner| Box::new(learner) as _),
        };
        learner.map_err(|error| {
            // In files, hidden layers are settings of the network itself.
            let plain = |text: String| text.replace("encoder.", "").replace("trunk.", "");
            let error = ConfigError { field: plain(error.field), hint: plain(error.hint), ..error };
            if error.field.starts_with("learner.") { error } else { error.inside("learner") }
        })
    }

    /// Which one it is.
    pub fn algorithm(&self) -> Algorithm {
        match self {
            Self::Cmd1(_) => Algorithm::Cmd1,
            Self::Cmd2(_) => Algorithm::Cmd2,
            Self::Crl(CrlConfig { loss: CrlLoss::Nce, .. }) => Algorithm::CrlNce,
            Self::Crl(_) => Algorithm::CrlCpc,
            Self::Qrl(_) => Algorithm::Qrl,
            Self::Gcbc(_) => Algorithm::Gcbc,
            Self::Gciql(_) => Algorithm::Gciql,
            Self::Ddpg(_) => Algorithm::Ddpg,
        }
    }

    /// As people write it.
    pub fn name(&self) -> &'static str {
        self.algorithm().name()
    }
}
