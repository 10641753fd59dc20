//! Validation of configurations, and reproducible initialization.

use crate::numbers::{matrix, numbers};
use burn::{module::Module, tensor::Device};
use isochrone_nn::module::{
    ActorConfig, EncoderConfig, Ensemble, Initializer, MetricConfig, PairHeadConfig, PolicyDistribution,
    Potential, TrunkConfig,
};

fn metric_config(outputs: usize, head: PairHeadConfig) -> MetricConfig {
    let trunk = TrunkConfig { width: 8, depth: 1, ..Default::default() };
    MetricConfig { encoder: EncoderConfig { inputs: 3, outputs, trunk }, head, ensemble: Ensemble::Single }
}

#[test]
fn configuration_errors_name_the_field_and_value() {
    let device = Device::flex();
    let init = || Initializer::new(0, 0, &device);
    let messages = [
        metric_config(0, PairHeadConfig::InnerProduct).init(&mut init()).unwrap_err(),
        metric_config(12, PairHeadConfig::Mrn { components: 5 }).init(&mut init()).unwrap_err(),
        metric_config(15, PairHeadConfig::Mrn { components: 3 }).init(&mut init()).unwrap_err(),
        metric_config(12, PairHeadConfig::Mrn { components: 0 }).init(&mut init()).unwrap_err(),
        metric_config(12, PairHeadConfig::Iqe { group_width: 8 }).init(&mut init()).unwrap_err(),
        metric_config(12, PairHeadConfig::MaxRelu { components: 7 }).init(&mut init()).unwrap_err(),
        metric_config(11, PairHeadConfig::AsymmetricEuclidean).init(&mut init()).unwrap_err(),
        Potential::new(3, TrunkConfig { width: 0, ..Default::default() }, &mut init()).unwrap_err(),
        ActorConfig {
            inputs: 3,
            actions: 2,
            trunk: TrunkConfig::default(),
            distribution: PolicyDistribution::FixedStd { std: 0.0 },
        }
        .init(&mut init())
        .unwrap_err(),
        ActorConfig {
            inputs: 3,
            actions: 2,
            trunk: TrunkConfig::default(),
            distribution: PolicyDistribution::TanhGaussian { min_log_std: 2.0, max_log_std: f32::NAN },
        }
        .init(&mut init())
        .unwrap_err(),
    ]
    .map(|error| error.to_string().lines().next().unwrap().to_owned());
    assert_eq!(
        messages.join("\n"),
        "encoder.outputs = 0: must be at least 1\n\
         head.components = 5: does not divide a latent width of 12\n\
         head.components = 3: does not divide a latent width of 15\n\
         head.components = 0: must be at least 1\n\
         head.group_width = 8: does not divide a latent width of 12\n\
         head.components = 7: does not divide a latent width of 12\n\
         head.kind = asymmetric_euclidean: needs two halves of a latent width of 11\n\
         trunk.width = 0: must be at least 1\n\
         distribution.std = 0: must be positive\n\
         distribution = [2, NaN]: is an empty range of log_std"
    );
}

#[test]
fn configurations_round_trip_through_json_and_reject_unknown_fields() {
    let config = metric_config(16, PairHeadConfig::Mrn { components: 2 });
    let text = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<MetricConfig>(&text).unwrap(), config);
    assert!(
        serde_json::from_str::<TrunkConfig>(r#"{"widths": 3}"#).unwrap_err().to_string().contains("widths")
    );
}

#[test]
fn initialization_depends_only_on_seed_and_stream() {
    let device = Device::flex();
    let x = matrix(1, [4, 3], &device);
    let output = |seed, stream| {
        let config =
            EncoderConfig { inputs: 3, outputs: 8, trunk: TrunkConfig { width: 16, ..Default::default() } };
        numbers(config.init(&mut Initializer::new(seed, stream, &device)).unwrap().forward(x.clone()))
    };
    assert_eq!(output(1, 0), output(1, 0));
    assert_ne!(output(1, 0), output(2, 0));
    assert_ne!(output(1, 0), output(1, 1));
}

#[test]
fn the_variance_of_weights_is_one_over_fan_in() {
    let device = Device::flex();
    let config =
        EncoderConfig { inputs: 50, outputs: 400, trunk: TrunkConfig { depth: 0, ..Default::default() } };
    let network = config.init(&mut Initializer::new(1, 0, &device)).unwrap();
    assert_eq!(network.num_params(), 50 * 400 + 400);
    let outputs = numbers(network.forward(burn::tensor::Tensor::ones([1, 50], &device)));
    let variance = outputs.iter().map(|v| v * v).sum::<f32>() / 400.0;
    assert!((variance - 1.0).abs() < 0.25, "50 inputs of 1 with variance 1/50 each: {variance}");
}

#[test]
fn a_twin_ensemble_returns_the_larger_distance() {
    let device = Device::flex();
    let config =
        MetricConfig { ensemble: Ensemble::Twin, ..metric_config(8, PairHeadConfig::Mrn { components: 1 }) };
    let metric = config.init(&mut Initializer::new(1, 0, &device)).unwrap();
    let (x, y) = (matrix(1, [6, 3], &device), matrix(2, [6, 3], &device));
    let each: Vec<Vec<f32>> = metric
        .members()
        .iter()
        .map(|member| {
            numbers(member.head.rowwise(member.encoder.forward(x.clone()), member.encoder.forward(y.clone())))
        })
        .collect();
    let larger: Vec<f32> = each[0].iter().zip(&each[1]).map(|(a, b)| a.max(*b)).collect();
    assert_ne!(each[0], each[1]);
    assert_eq!(numbers(metric.rowwise(x, y)), larger);
}
