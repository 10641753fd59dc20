//! Networks with a quasimetric head are quasimetrics for any weights.

use crate::numbers::{matrix, numbers};
use burn::tensor::Device;
use isochrone_core::rng;
use isochrone_nn::module::{EncoderConfig, Ensemble, Initializer, MetricConfig, PairHeadConfig, TrunkConfig};

const POINTS: usize = 400;
const TRIPLES: usize = 1_000_000;

fn check(head: PairHeadConfig, ensemble: Ensemble) {
    let device = Device::flex();
    let trunk = TrunkConfig { width: 48, depth: 2, ..Default::default() };
    let config = MetricConfig { encoder: EncoderConfig { inputs: 6, outputs: 64, trunk }, head, ensemble };
    let metric = config.init(&mut Initializer::new(3, 0, &device)).unwrap();
    let points = matrix(9, [POINTS, 6], &device) * 3.0;
    let d = numbers(metric.all_pairs(points.clone(), points.clone()));
    assert!(
        numbers(metric.rowwise(points.clone(), points.clone())).iter().all(|&d| d == 0.0),
        "d(x, x) is exactly 0"
    );
    let alone = numbers(metric.all_pairs(points.clone().narrow(0, 5, 1), points));
    assert_eq!(alone[5], 0.0, "the encoding of a row does not depend on the batch");
    let at = |i: usize, j: usize| d[i * POINTS + j];
    let scale = d.iter().fold(0.0f32, |a, &b| a.max(b));
    assert!(scale > 0.1 && (0..POINTS).all(|i| at(i, i) == 0.0) && d.iter().all(|&d| d >= 0.0), "{head:?}");
    let asymmetry = (0..POINTS).map(|i| (at(i, 0) - at(0, i)).abs()).fold(0.0f32, f32::max);
    assert!(asymmetry > 0.01 * scale, "{head:?} is not symmetric");
    let mut rng = rng::stream(8, 0);
    let mut point = || rng::below(&mut rng, POINTS);
    for _ in 0..TRIPLES {
        let (x, y, z) = (point(), point(), point());
        let slack = at(x, z) - at(x, y) - at(y, z);
        assert!(
            slack <= 1e-5 * scale,
            "{head:?}: d({x}, {z}) exceeds the path via {y} by {slack}, scale {scale}"
        );
    }
}

#[test]
fn mrn_is_a_quasimetric() {
    check(PairHeadConfig::Mrn { components: 1 }, Ensemble::Single);
    check(PairHeadConfig::Mrn { components: 8 }, Ensemble::Twin);
}

#[test]
fn iqe_is_a_quasimetric() {
    check(PairHeadConfig::Iqe { group_width: 8 }, Ensemble::Single);
}

#[test]
fn max_relu_is_a_quasimetric() {
    check(PairHeadConfig::MaxRelu { components: 4 }, Ensemble::Twin);
}
