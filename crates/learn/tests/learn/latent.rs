//! Distances as functions of latent rows.

use crate::support::walks;
use isochrone_core::TemporalDistance as _;
use isochrone_learn::{Algorithm, Preset, Training};

/// Single pairs and all pairs of latent rows have the distances of the model, for every head, with
/// one network and with two.
#[test]
fn latent_rows_have_the_distances_of_their_states() {
    let data = walks(3, 20);
    let rows = data.episode(0).observations;
    let (from, to) = (&rows[..4 * 8], &rows[4 * 8..4 * 20]);
    for algorithm in [Algorithm::Cmd1, Algorithm::Cmd2, Algorithm::Qrl, Algorithm::Tmd, Algorithm::Mqe] {
        for (ensemble, head) in [("single", "mrn"), ("twin", "mrn"), ("twin", "iqe"), ("single", "max_relu")]
        {
            let training = Training::new(algorithm).preset(Preset::Small).steps(3).batch_size(16);
            let training = training.set_if_known("critic.ensemble", ensemble);
            let model = training.set_if_known("critic.head.kind", head).fit(&data).unwrap();
            let distance = model.distance().unwrap();
            let latent = distance.as_latent().expect("quasimetrics compare latent rows");
            let (metric, x, y) = (latent.metric(), latent.embed(from), latent.embed(to));
            let (expected, found) = (distance.all_pairs_nats(from, to), metric.all_pairs_nats(&x, &y));
            assert_eq!(found.len(), 8 * 12);
            let width = metric.width();
            for (number, (expected, found)) in expected.iter().zip(found).enumerate() {
                let (x, y) = (&x[number / 12 * width..][..width], &y[number % 12 * width..][..width]);
                for found in [found, metric.nats(x, y)] {
                    assert!(
                        (expected - found).abs() <= 1e-4 * (1.0 + expected),
                        "{algorithm} {head}: {found}"
                    );
                }
            }
            assert!(metric.all_pairs_nats(&[], &y).is_empty());
        }
    }
}

#[test]
fn distances_without_a_quasimetric_have_no_latent_rows() {
    let data = walks(3, 20);
    for algorithm in [Algorithm::CrlNce, Algorithm::Gciql] {
        let training = Training::new(algorithm).preset(Preset::Small).steps(1).batch_size(16);
        assert!(training.fit(&data).unwrap().distance().unwrap().as_latent().is_none(), "{algorithm}");
    }
    for algorithm in [Algorithm::Cmd1, Algorithm::Qrl] {
        let training = Training::new(algorithm).preset(Preset::Small).steps(1).batch_size(16);
        let training = training.set("critic.head.kind", "asymmetric_euclidean");
        assert!(training.fit(&data).unwrap().distance().unwrap().as_latent().is_none(), "{algorithm}");
    }
}
