//! An encoder and a head: a distance between raw rows; alone or as twins.

use super::{Encoder, EncoderConfig, Initializer, PairHead, PairHeadConfig};
use crate::error::ConfigError;
use burn::{module::Module, tensor::Tensor};
use serde::{Deserialize, Serialize};

/// How many independent distances are learned side by side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ensemble {
    /// One.
    #[default]
    Single,
    /// Two, of which the larger is believed: what an actor minimises must not be a lucky underestimate.
    Twin,
}

impl Ensemble {
    /// How many there are.
    pub fn members(self) -> usize {
        match self {
            Self::Single => 1,
            Self::Twin => 2,
        }
    }
}

/// A distance between rows of `encoder.inputs` features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetricConfig {
    /// From raw rows to latent rows.
    pub encoder: EncoderConfig,
    /// From two latent rows to a number.
    pub head: PairHeadConfig,
    /// One or two of them.
    #[serde(default)]
    pub ensemble: Ensemble,
}

impl MetricConfig {
    /// Builds the networks.
    ///
    /// # Errors
    /// If a size is zero or does not divide.
    pub fn init(&self, init: &mut Initializer) -> Result<Metric, ConfigError> {
        let members = (0..self.ensemble.members()).map(|_| {
            let encoder = self.encoder.init(init).map_err(|error| error.inside("encoder"))?;
            let head = self.head.init(self.encoder.outputs, init).map_err(|error| error.inside("head"))?;
            Ok(MetricMember { encoder, head })
        });
        Ok(Metric { members: members.collect::<Result<_, _>>()? })
    }
}

/// One encoder with its head.
#[derive(Module, Debug)]
pub struct MetricMember {
    /// From raw rows to latent rows.
    pub encoder: Encoder,
    /// From two latent rows to a number.
    pub head: PairHead,
}

impl MetricMember {
    /// Latent rows of both, from one pass: the same row has the same bits whatever the sizes, so `d(x, x)` is 0.
    ///
    /// # Shapes
    /// `from: [n, inputs]`, `to: [m, inputs]` give `[n, latent]` and `[m, latent]`.
    pub fn encode(&self, from: Tensor<2>, to: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        let ([n, _], [m, _]) = (from.dims(), to.dims());
        let latent = self.encoder.forward(Tensor::cat(vec![from, to], 0));
        (latent.clone().narrow(0, 0, n), latent.narrow(0, n, m))
    }
}

/// See [`MetricConfig`]. Parameters are called `members.{i}.encoder.…` and `members.{i}.head.…`.
#[derive(Module, Debug)]
pub struct Metric {
    members: Vec<MetricMember>,
}

impl Metric {
    /// The independent distances.
    pub fn members(&self) -> &[MetricMember] {
        &self.members
    }

    /// Values of all pairs, of twins the larger: the maximum of two quasimetrics is one.
    ///
    /// # Shapes
    /// `from: [n, inputs]`, `to: [m, inputs]` give `[n, m]`.
    pub fn all_pairs(&self, from: Tensor<2>, to: Tensor<2>) -> Tensor<2> {
        let values = self.members.iter().map(|member| {
            let (x, y) = member.encode(from.clone(), to.clone());
            member.head.all_pairs(x, y)
        });
        values.reduce(Tensor::max_pair).expect("there is at least one member")
    }

    /// Values of the pairs `(from_i, to_i)`, of twins the larger.
    ///
    /// # Shapes
    /// `from, to: [n, inputs]` give `[n]`.
    pub fn rowwise(&self, from: Tensor<2>, to: Tensor<2>) -> Tensor<1> {
        let values = self.members.iter().map(|member| {
            let (x, y) = member.encode(from.clone(), to.clone());
            member.head.rowwise(x, y)
        });
        values.reduce(Tensor::max_pair).expect("there is at least one member")
    }
}
