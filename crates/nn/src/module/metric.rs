//! Learned distances: an encoder and a pair head, single or as an ensemble of two.

use super::{Encoder, EncoderConfig, Initializer, PairHead, PairHeadConfig};
use crate::error::ConfigError;
use burn::{module::Module, tensor::Tensor};
use serde::{Deserialize, Serialize};

/// The number of independent distances that are learned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ensemble {
    /// One distance.
    #[default]
    Single,
    /// Two distances, of which the larger is used, so that an actor does not exploit
    /// underestimates.
    Twin,
}

impl Ensemble {
    /// Returns the number of members.
    pub fn members(self) -> usize {
        match self {
            Self::Single => 1,
            Self::Twin => 2,
        }
    }
}

/// The configuration of a distance between rows of `encoder.inputs` features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetricConfig {
    /// The encoder from input rows to latent rows.
    pub encoder: EncoderConfig,
    /// The head from two latent rows to a distance.
    pub head: PairHeadConfig,
    /// The number of members.
    #[serde(default)]
    pub ensemble: Ensemble,
}

impl MetricConfig {
    /// Builds the networks.
    ///
    /// # Errors
    /// If a size is zero or does not divide the latent width.
    pub fn init(&self, init: &mut Initializer) -> Result<Metric, ConfigError> {
        let members = (0..self.ensemble.members()).map(|_| {
            let encoder = self.encoder.init(init).map_err(|error| error.inside("encoder"))?;
            let head = self.head.init(self.encoder.outputs, init).map_err(|error| error.inside("head"))?;
            Ok(MetricMember { encoder, head })
        });
        Ok(Metric { members: members.collect::<Result<_, _>>()? })
    }
}

/// One member of an ensemble: an encoder and its head.
#[derive(Module, Debug)]
pub struct MetricMember {
    /// The encoder from input rows to latent rows.
    pub encoder: Encoder,
    /// The head from two latent rows to a distance.
    pub head: PairHead,
}

impl MetricMember {
    /// Encodes both in one pass, so that equal rows have bit-identical latent rows for any batch
    /// sizes and `d(x, x)` is 0.
    ///
    /// # Shapes
    /// `from: [n, inputs]`, `to: [m, inputs]` give `[n, latent]` and `[m, latent]`.
    pub fn encode(&self, from: Tensor<2>, to: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        let ([n, _], [m, _]) = (from.dims(), to.dims());
        let latent = self.encoder.forward(Tensor::cat(vec![from, to], 0));
        (latent.clone().narrow(0, 0, n), latent.narrow(0, n, m))
    }
}

/// A learned distance; see [`MetricConfig`]. Its parameters are `members.{i}.encoder.…` and
/// `members.{i}.head.…`.
#[derive(Module, Debug)]
pub struct Metric {
    members: Vec<MetricMember>,
}

impl Metric {
    /// Returns whether the distance is a quasimetric for any parameters.
    pub fn is_quasimetric(&self) -> bool {
        self.members.iter().all(|member| member.head.is_quasimetric())
    }

    /// Returns the independent distances.
    pub fn members(&self) -> &[MetricMember] {
        &self.members
    }

    /// Returns the distances of all pairs, the maximum over members. The maximum of two
    /// quasimetrics is a quasimetric.
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

    /// Returns the distances of the pairs `(from_i, to_i)`, the maximum over members.
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
