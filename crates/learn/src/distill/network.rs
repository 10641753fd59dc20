//! The network that learns the distances of a teacher.

use super::{
    DistillHead,
    features::{FeatureMap, FeatureRows},
};
use burn::{
    module::Module,
    tensor::{Device, Tensor, TensorData, activation::softplus},
};
use isochrone_nn::{
    error::ConfigError,
    module::{Encoder, EncoderConfig, Initializer, MetricMember, PairHeadConfig, TrunkConfig},
};

/// The hidden layers: narrower than the default, with the same activation and normalization.
const HIDDEN: usize = 192;
const DEPTH: usize = 3;
/// The width of the quasimetric's latent states.
const LATENT: usize = 192;
const COMPONENTS: usize = 8;

/// A network with arbitrary output units. The parameters are named like those of an encoder, or
/// `encoder.…` and `head.…`.
#[derive(Module, Debug)]
pub enum Student {
    Pair(Encoder),
    Mrn(MetricMember),
}

/// The outputs of a network for pairs.
pub struct Prediction {
    /// The non-negative distances in units of the network, `[n]`.
    pub steps: Tensor<1>,
    /// Logits that a pair is unreachable, `[n]`; only of a pair network that was trained on such
    /// pairs.
    pub no_path: Option<Tensor<1>>,
}

impl Student {
    /// Creates a network for these features.
    pub fn new(
        head: DistillHead,
        features: &FeatureMap,
        knows_unreachable: bool,
        init: &mut Initializer,
    ) -> Result<Self, ConfigError> {
        let trunk = TrunkConfig { width: HIDDEN, depth: DEPTH, ..TrunkConfig::default() };
        let inputs = Self::inputs(head, features);
        Ok(match head {
            DistillHead::Pair => {
                let outputs = 1 + usize::from(knows_unreachable);
                Self::Pair(EncoderConfig { inputs, outputs, trunk }.init(init)?)
            }
            DistillHead::Mrn => {
                let encoder = EncoderConfig { inputs, outputs: LATENT, trunk }.init(init)?;
                let head = PairHeadConfig::Mrn { components: COMPONENTS }.init(LATENT, init)?;
                Self::Mrn(MetricMember { encoder, head })
            }
        })
    }

    fn inputs(head: DistillHead, features: &FeatureMap) -> usize {
        match head {
            DistillHead::Pair => 3 * features.width(),
            DistillHead::Mrn => features.width(),
        }
    }

    /// Returns a lower bound of the size in bytes of a network for these features.
    pub fn min_bytes(head: DistillHead, features: &FeatureMap) -> usize {
        (Self::inputs(head, features) + HIDDEN) * HIDDEN * size_of::<f32>()
    }

    /// Predicts the distances of pairs of rows.
    pub fn predict(
        &self,
        (from, to): (&FeatureRows, &FeatureRows),
        pairs: &[(usize, usize)],
        device: &Device,
    ) -> Prediction {
        let n = pairs.len();
        match self {
            Self::Pair(network) => {
                let mut inputs = Vec::with_capacity(3 * n * from.width());
                for &(i, j) in pairs {
                    let (state, goal) = (from.goal(i), to.goal(j));
                    inputs.extend_from_slice(from.start(i));
                    inputs.extend_from_slice(goal);
                    inputs.extend(goal.iter().zip(state).map(|(goal, state)| goal - state));
                }
                let outputs = network.forward(tensor(inputs, n, device));
                let column = |number| outputs.clone().narrow(1, number, 1).reshape([n]);
                let knows_unreachable = outputs.dims()[1] > 1;
                Prediction { steps: softplus(column(0), 1.0), no_path: knows_unreachable.then(|| column(1)) }
            }
            Self::Mrn(metric) => {
                let starts: Vec<&[f32]> = pairs.iter().map(|&(i, _)| from.start(i)).collect();
                let goals: Vec<&[f32]> = pairs.iter().map(|&(_, j)| to.start(j)).collect();
                let (x, y) =
                    metric.encode(tensor(starts.concat(), n, device), tensor(goals.concat(), n, device));
                Prediction { steps: metric.head.rowwise(x, y), no_path: None }
            }
        }
    }
}

/// Transfers rows to a device.
pub fn tensor(values: Vec<f32>, rows: usize, device: &Device) -> Tensor<2> {
    let width = values.len() / rows;
    Tensor::from_data(TensorData::new(values, [rows, width]), device)
}
