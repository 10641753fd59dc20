//! Weights on disk.

use crate::numbers::{matrix, numbers};
use burn::{
    module::Module,
    optim::{GradientsParams, ModuleOptimizer},
    tensor::Device,
};
use isochrone_nn::{
    error::StoreError,
    module::{EncoderConfig, Ensemble, Initialiser, Metric, MetricConfig, PairHeadConfig, TrunkConfig},
    optim::Adam,
    store,
};

fn metric(seed: u64, width: usize, device: &Device) -> Metric {
    let trunk = TrunkConfig { width, depth: 2, ..Default::default() };
    let encoder = EncoderConfig { inputs: 4, outputs: 16, trunk };
    let head = PairHeadConfig::Iqe { group_width: 4 };
    MetricConfig { encoder, head, ensemble: Ensemble::Twin }
        .init(&mut Initialiser::new(seed, 0, device))
        .unwrap()
}

#[test]
fn saved_weights_come_back_bit_for_bit_under_documented_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("metric.safetensors");
    let device = Device::flex();
    let (saved, mut loaded) = (metric(1, 8, &device), metric(2, 8, &device));
    store::save(&saved, &path).unwrap();
    let x = matrix(1, [5, 4], &device);
    let expected = numbers(saved.all_pairs(x.clone(), x.clone()));
    assert_ne!(numbers(loaded.all_pairs(x.clone(), x.clone())), expected);
    store::load(&mut loaded, &path).unwrap();
    assert_eq!(numbers(loaded.all_pairs(x.clone(), x)), expected);

    let bytes = std::fs::read(&path).unwrap();
    let header = usize::try_from(u64::from_le_bytes(bytes[..8].try_into().unwrap())).unwrap();
    let header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + header]).unwrap();
    let mut names: Vec<&str> = header.as_object().unwrap().keys().map(String::as_str).collect();
    names.retain(|name| name.starts_with("members.0"));
    names.sort_unstable();
    let expected = [
        "members.0.encoder.layers.0.bias",
        "members.0.encoder.layers.0.weight",
        "members.0.encoder.layers.1.bias",
        "members.0.encoder.layers.1.weight",
        "members.0.encoder.norms.0.gain",
        "members.0.encoder.norms.0.shift",
        "members.0.encoder.norms.1.gain",
        "members.0.encoder.norms.1.shift",
        "members.0.encoder.out.bias",
        "members.0.encoder.out.weight",
        "members.0.head.mix_logit",
    ];
    assert_eq!(names, expected);
    assert_eq!(
        header["members.0.encoder.layers.0.weight"]["shape"],
        serde_json::json!([4, 8]),
        "[inputs, outputs]"
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
}

#[test]
fn weights_of_another_network_and_damaged_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("metric.safetensors");
    let device = Device::flex();
    store::save(&metric(1, 8, &device), &path).unwrap();
    let whole = std::fs::read(&path).unwrap();
    assert!(matches!(store::load(&mut metric(1, 9, &device), &path), Err(StoreError::Mismatch { .. })));

    let encoder = EncoderConfig {
        inputs: 4,
        outputs: 16,
        trunk: TrunkConfig { width: 8, depth: 2, ..Default::default() },
    };
    let mut lone = encoder.init(&mut Initialiser::new(1, 0, &device)).unwrap();
    let error = store::load(&mut lone, &path).unwrap_err().to_string();
    assert!(error.contains("metric.safetensors") && error.contains("hint:"), "{error}");

    let mut huge = whole.clone();
    huge[..8].copy_from_slice(&u64::MAX.to_le_bytes());
    for damaged in [&whole[..whole.len() / 2], &whole[..4], &[][..], &huge[..]] {
        std::fs::write(&path, damaged).unwrap();
        let error = store::load(&mut metric(1, 8, &device), &path).unwrap_err();
        assert!(matches!(error, StoreError::Unreadable { .. }), "{error}");
    }
    let absent = folder.path().join("absent.safetensors");
    assert!(matches!(store::load(&mut metric(1, 8, &device), &absent), Err(StoreError::File { .. })));
}

/// Parameters keep their identity through a file, so the optimiser finds its moments again.
#[test]
fn training_goes_on_from_saved_weights_as_if_uninterrupted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("metric.safetensors");
    let device = Device::flex().autodiff();
    let x = matrix(1, [16, 4], &device);
    let step = |metric: Metric, optimiser: &mut ModuleOptimizer| {
        let loss = metric.all_pairs(x.clone(), x.clone()).mean();
        let gradients = GradientsParams::from_grads(loss.backward(), &metric);
        optimiser.step(1e-2, metric, gradients)
    };
    let mut optimiser: ModuleOptimizer = Adam::default().into();
    let mut first = metric(1, 8, &device);
    for _ in 0..3 {
        first = step(first, &mut optimiser);
    }
    store::save(&first, &path).unwrap();
    let mut resumed = metric(1, 8, &device);
    store::load(&mut resumed, &path).unwrap();
    let mut resumed_optimiser = optimiser.clone();
    let outputs = |metric: Metric| numbers(metric.no_grad().all_pairs(x.clone(), x.clone()));
    let first = outputs(step(first, &mut optimiser));
    assert_eq!(outputs(step(resumed, &mut resumed_optimiser)), first);
}
