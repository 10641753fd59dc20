//! Saving and loading of weights and optimizer states.

use crate::numbers::{matrix, numbers};
use burn::tensor::Device;
use isochrone_nn::{
    error::{ArchiveError, StateError},
    module::{EncoderConfig, Ensemble, Initializer, Metric, MetricConfig, PairHeadConfig, TrunkConfig},
    optim::{OptimizerConfig, TrainState},
    state_dict::{LearnerState, Mode, StateDict},
    store::Archive,
};

fn metric(seed: u64, width: usize, device: &Device) -> Metric {
    let trunk = TrunkConfig { width, depth: 2, ..Default::default() };
    let encoder = EncoderConfig { inputs: 4, outputs: 16, trunk };
    let head = PairHeadConfig::Iqe { group_width: 4 };
    MetricConfig { encoder, head, ensemble: Ensemble::Twin }
        .init(&mut Initializer::new(seed, 0, device))
        .unwrap()
}

fn saved(metric: &Metric) -> Vec<u8> {
    let mut archive = Archive::default();
    archive.insert_module("", metric);
    archive.to_bytes()
}

#[test]
fn saved_weights_load_bit_identical_under_documented_names() {
    let device = Device::flex();
    let (first, mut loaded) = (metric(1, 8, &device), metric(2, 8, &device));
    let bytes = saved(&first);
    let x = matrix(1, [5, 4], &device);
    let expected = numbers(first.all_pairs(x.clone(), x.clone()));
    assert_ne!(numbers(loaded.all_pairs(x.clone(), x.clone())), expected);
    let mut archive = Archive::from_bytes(&bytes).unwrap();
    archive.take_module("", &mut loaded).unwrap();
    assert_eq!(archive.remaining(), None);
    assert_eq!(numbers(loaded.all_pairs(x.clone(), x)), expected);

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
}

#[test]
fn weights_of_another_network_and_corrupt_files_are_rejected() {
    let device = Device::flex();
    let bytes = saved(&metric(1, 8, &device));
    let take = |mut metric: Metric| Archive::from_bytes(&bytes).unwrap().take_module("", &mut metric);
    assert!(matches!(take(metric(1, 9, &device)), Err(StateError::WrongShape { .. })));
    let trunk = TrunkConfig { width: 8, depth: 3, ..Default::default() };
    let encoder = EncoderConfig { inputs: 4, outputs: 16, trunk };
    let mut deeper = encoder.init(&mut Initializer::new(1, 0, &device)).unwrap();
    let missing = Archive::from_bytes(&bytes).unwrap().take_module("members.0.encoder", &mut deeper);
    assert!(missing.unwrap_err().to_string().contains("members.0.encoder.layers.2.weight"));

    let mut huge = bytes.clone();
    huge[..8].copy_from_slice(&u64::MAX.to_le_bytes());
    for corrupt in [&bytes[..bytes.len() / 2], &bytes[..4], &[][..], &huge[..]] {
        let error = Archive::from_bytes(corrupt).unwrap_err();
        assert!(matches!(error, ArchiveError::Unreadable(_)), "{error}");
    }
}

#[test]
fn a_resumed_train_state_equals_an_uninterrupted_one_and_missing_moments_are_rejected() {
    let device = Device::flex().autodiff();
    let x = matrix(1, [16, 4], &device);
    let config = OptimizerConfig { learning_rate: 1e-2, ..OptimizerConfig::default() };
    let fresh = || TrainState::new(metric(1, 8, &device), config, 10).unwrap();
    let step = |state: &mut TrainState<Metric>| {
        let loss = state.network().all_pairs(x.clone(), x.clone()).mean();
        state.step(loss);
    };
    let mut first = fresh();
    (0..3).for_each(|_| step(&mut first));
    let mut save = StateDict::new(Mode::Save, LearnerState::default());
    first.visit_state("critic", &mut save).unwrap();
    let state = save.finish().unwrap();

    let mut resumed = fresh();
    let mut resume = StateDict::new(Mode::Resume, state.clone());
    resumed.visit_state("critic", &mut resume).unwrap();
    resume.finish().unwrap();
    let outputs = |state: &TrainState<Metric>| numbers(state.frozen().all_pairs(x.clone(), x.clone()));
    step(&mut first);
    step(&mut resumed);
    assert_eq!(outputs(&first), outputs(&resumed));

    let partial = LearnerState { training: Archive::default(), ..state.clone() };
    let error = fresh().visit_state("critic", &mut StateDict::new(Mode::Resume, partial)).unwrap_err();
    assert!(
        matches!(&error, StateError::MissingTensor { name } if name.starts_with("critic.first")),
        "{error}"
    );
    let mut unused = StateDict::new(Mode::Resume, state);
    unused.network("critic", &mut metric(1, 8, &device)).unwrap();
    assert!(matches!(unused.finish(), Err(StateError::Unused { .. })));
}

#[test]
fn a_description_in_the_header_can_be_read_back() {
    let mut archive = Archive::default();
    archive.insert("one", &[1], vec![1.0]);
    let bytes = archive.to_described_bytes("a description");
    assert_eq!(bytes, archive.to_described_bytes("a description"));
    assert_eq!(Archive::description(&bytes).unwrap().as_deref(), Some("a description"));
    assert_eq!(Archive::from_bytes(&bytes).unwrap(), archive);
    assert_eq!(Archive::description(&archive.to_bytes()).unwrap(), None);
    assert!(matches!(Archive::description(b"not safetensors"), Err(ArchiveError::Unreadable(_))));
}
