//! Networks, built from validated configurations with parameters from seeded random streams.

mod actor;
mod dense;
mod encoder;
mod init;
mod metric;
mod mixture;
mod pair_head;
mod potential;

pub use crate::kernel::Activation;
pub use actor::{ActionDistribution, Actor, ActorConfig, PolicyDistribution};
pub use dense::{Dense, Norm};
pub use encoder::{Encoder, EncoderConfig, Normalization, TrunkConfig};
pub use init::{Initializer, MAX_PARAMETERS};
pub use metric::{Ensemble, Metric, MetricConfig, MetricMember};
pub use mixture::Mixture;
pub use pair_head::{PairHead, PairHeadConfig};
pub use potential::Potential;
