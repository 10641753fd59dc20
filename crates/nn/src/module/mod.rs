//! Networks: configurations that are checked, then built with parameters drawn from our own random streams.

mod actor;
mod dense;
mod encoder;
mod init;
mod metric;
mod pair_head;
mod potential;

pub use actor::{ActionDistribution, Actor, ActorConfig, Spread};
pub use dense::{Dense, Norm};
pub use encoder::{Encoder, EncoderConfig, Normalisation, TrunkConfig};
pub use init::Initialiser;
pub use metric::{Ensemble, Metric, MetricConfig, MetricMember};
pub use pair_head::{InnerProduct, Iqe, MaxRelu, Mrn, PairHead, PairHeadConfig};
pub use potential::Potential;
