//! Exported models.
//!
//! Files are decoded and checked here. With `ISOCHRONE_ONNX_CASES` set to a folder, every file is
//! also written there with inputs and expected outputs, which
//! `crates/learn/tests/python/onnx_check.py` compares with ONNX Runtime.

use crate::support::{states_only, walks};
use isochrone_core::{GoalPolicy as _, TemporalDistance as _, rng};
use isochrone_data::{Bounds, Dataset, Episode, Spec};
use isochrone_learn::{
    Algorithm, Model, Preset, ScalingConfig, Training,
    export::{ExportError, OnnxPart, onnx_bytes, write_onnx},
    internals::{OnnxGraph, OnnxModel, OnnxSize},
    run::DataConfig,
};
use isochrone_nn::store::Archive;
use prost::Message as _;
use std::{collections::HashSet, path::Path};

/// The number of pairs that are compared.
const PAIRS: usize = 5_000;

/// The number of updates: enough that no parameter has its initial value.
fn updates() -> u64 {
    std::env::var("ISOCHRONE_ONNX_UPDATES").map_or(25, |text| text.parse().expect("a number of updates"))
}

/// A training whose model is exported.
struct Case {
    name: String,
    training: Training,
    data: Dataset,
}

/// Returns every algorithm at the small preset, and settings that change what is computed.
fn cases() -> Vec<Case> {
    let data = walks(6, 40);
    let training = |algorithm: Algorithm| {
        Training::new(algorithm).preset(Preset::Small).steps(updates()).batch_size(32).seed(3)
    };
    let case = |algorithm: Algorithm, variant: &str, settings: &[(&str, &str)]| {
        let set = |training: Training, (name, value): &(&str, &str)| match value.parse::<i64>() {
            Ok(number) => training.set(name, number),
            Err(_) => training.set(name, value),
        };
        let name = [algorithm.name(), variant].join(if variant.is_empty() { "" } else { "-" });
        let training = settings.iter().fold(training(algorithm), set);
        Case { name, training, data: data.clone() }
    };
    let mut cases: Vec<Case> = Algorithm::ALL.into_iter().map(|algorithm| case(algorithm, "", &[])).collect();
    let tanh_gaussian = ("policy.distribution.kind", "tanh_gaussian");
    cases.extend([
        case(Algorithm::Cmd1, "twin", &[("critic.ensemble", "twin"), tanh_gaussian]),
        case(Algorithm::Cmd1, "paper", &[("critic.activation", "relu"), ("critic.normalization", "none")]),
        case(Algorithm::Cmd1, "silu", &[("critic.activation", "silu"), ("critic.head.components", "1")]),
        case(Algorithm::Cmd1, "linear", &[("critic.depth", "0"), ("policy.depth", "0")]),
        case(Algorithm::Cmd1, "identity", &[("critic.activation", "identity")]),
        case(Algorithm::Cmd1, "iqe", &[("critic.head.kind", "iqe"), ("critic.head.group_width", "16")]),
        case(
            Algorithm::Cmd2,
            "max-relu",
            &[("critic.head.kind", "max_relu"), ("critic.head.components", "4")],
        ),
        case(Algorithm::Mqe, "euclidean", &[("critic.head.kind", "asymmetric_euclidean")]),
        case(Algorithm::Gcbc, "mixture", &[("policy.distribution.kind", "mixture")]),
        case(Algorithm::CrlNce, "twin", &[("critic.ensemble", "twin"), tanh_gaussian]),
        case(Algorithm::Qrl, "twin", &[("critic.ensemble", "twin"), tanh_gaussian]),
        case(Algorithm::Qrl, "mrn", &[("critic.head.kind", "mrn")]),
        case(Algorithm::Qrl, "one-group", &[("critic.head.group_width", "64")]),
        // A number of intervals that is not a power of two.
        case(Algorithm::Qrl, "odd", &[("critic.head.group_width", "6"), ("critic.latent", "66")]),
        case(Algorithm::Qrl, "no-union", &[("critic.head.group_width", "1")]),
        case(Algorithm::Ddpg, "gaussian", &[tanh_gaussian]),
    ]);
    for algorithm in Algorithm::ALL {
        if !algorithm.needs_actions() {
            let name = format!("{algorithm}-no-actions");
            cases.push(Case { name, training: training(algorithm), data: states_only() });
        }
    }
    // Full states as goals of the policy, bounded actions with other units, unscaled observations.
    for algorithm in [Algorithm::Cmd1, Algorithm::Ddpg] {
        let source = DataConfig { scaling: ScalingConfig::None, ..DataConfig::default() };
        let training = training(algorithm).data_config(source).discount(0.9);
        cases.push(Case { name: format!("{algorithm}-units"), training, data: in_other_units(&data) });
    }
    cases
}

/// Returns walks whose goals are full states and whose actions have bounds other than `[-1, 1]`.
fn in_other_units(data: &Dataset) -> Dataset {
    let mut spec = Spec::new(4, 2);
    spec.action.bounds =
        [(-3.0, 5.0), (0.0, 20.0)].map(|(low, high)| Bounds { low: Some(low), high: Some(high) }).into();
    let episodes = (0..data.n_episodes()).map(|number| {
        let episode = data.episode(number);
        let actions = episode.actions.chunks(2).flat_map(|push| [1.0 + 4.0 * push[0], 10.0 + 10.0 * push[1]]);
        Episode {
            observations: episode.observations.to_vec(),
            actions: actions.collect(),
            ..Episode::default()
        }
    });
    Dataset::from_episodes(&spec, episodes).unwrap()
}

/// Returns random states within and around the data, and goals, of which every tenth is its state.
fn pairs(data: &Dataset) -> (Vec<f32>, Vec<f32>) {
    let mut random = rng::stream(11, 0);
    let mut states = Vec::new();
    let mut goals = Vec::new();
    let mut state = || {
        let episode = data.episode(rng::below(&mut random, data.n_episodes())).observations;
        let row = &episode.chunks(4).nth(rng::below(&mut random, episode.len() / 4)).unwrap();
        row.iter().map(|x| x + rng::unit_f64(&mut random) as f32 - 0.5).collect::<Vec<f32>>()
    };
    for pair in 0..PAIRS {
        let from = state();
        goals.extend(if pair % 10 == 0 { from.clone() } else { state() });
        states.extend(from);
    }
    (states, goals)
}

/// Returns what the library computes, and the width of a row; `None` if the model lacks the part.
fn expected(model: &Model, part: OnnxPart, states: &[f32], goals: &[f32]) -> Option<(Vec<f32>, usize)> {
    match part {
        OnnxPart::Distance => {
            let steps = model.distance.as_ref()?.paired_steps(states, goals).unwrap();
            Some((steps.into_iter().map(|steps| steps as f32).collect(), 1))
        }
        OnnxPart::Policy => {
            let policy = model.policy.as_ref()?;
            Some((policy.actions(states, goals), policy.action_width()))
        }
        OnnxPart::Embedding => model.distance.as_ref()?.embed(states),
    }
}

/// Returns the sizes of a value of the graph; 0 is the batch.
fn shape(graph: &OnnxGraph, name: &str) -> Vec<i64> {
    let value = graph.input.iter().chain(&graph.output).find(|value| value.name == name).unwrap();
    assert!(!value.doc_string.is_empty());
    let tensor = value.r#type.as_ref().unwrap().tensor_type.as_ref().unwrap();
    assert_eq!(tensor.elem_type, 1, "single precision");
    let size = |size: &OnnxSize| match size {
        OnnxSize::DimValue(size) => *size,
        OnnxSize::DimParam(name) => i64::from(name != "batch"),
    };
    tensor.shape.as_ref().unwrap().dim.iter().map(|dim| size(dim.value.as_ref().unwrap())).collect()
}

/// Checks what can be checked without running the graph.
fn check(bytes: &[u8], model: &Model, part: OnnxPart, width: usize) {
    let onnx = OnnxModel::decode(bytes).unwrap();
    assert_eq!((onnx.ir_version, onnx.producer_name.as_str()), (9, "isochrone"));
    assert_eq!((onnx.opset_import.len(), onnx.opset_import[0].version), (1, 20));
    let property = |key: &str| &onnx.metadata_props.iter().find(|entry| entry.key == key).unwrap().value;
    assert_eq!(property("algorithm"), model.algorithm.name());
    assert_eq!(property("discount").parse(), Ok(model.discount.gamma()));
    assert_eq!(property("step").parse(), Ok(updates()));
    assert_eq!((property("part").as_str(), property("unit").as_str()), (part.name(), part.unit()));
    assert_eq!(property("version"), &onnx.producer_version);

    let graph = onnx.graph.unwrap();
    let names: Vec<&String> = graph.input.iter().map(|value| &value.name).collect();
    assert_eq!(names, part.inputs());
    part.inputs().iter().for_each(|name| assert_eq!(shape(&graph, name), [0, 4]));
    let output = if part == OnnxPart::Distance { vec![0] } else { vec![0, width as i64] };
    assert_eq!((graph.output.len(), shape(&graph, part.output())), (1, output));

    // Every value is defined once and before it is used, and everything but the output is used.
    let mut defined: HashSet<&String> =
        names.into_iter().chain(graph.initializer.iter().map(|tensor| &tensor.name)).collect();
    assert_eq!(defined.len(), graph.input.len() + graph.initializer.len());
    let mut used: HashSet<&str> = HashSet::from([part.output()]);
    for node in &graph.node {
        assert!(node.input.iter().all(|name| defined.contains(name)), "{node:?}");
        assert!(node.output.iter().all(|name| defined.insert(name)), "{node:?}");
        used.extend(node.input.iter().map(String::as_str));
    }
    let unused: Vec<_> = defined.into_iter().filter(|name| !used.contains(name.as_str())).collect();
    assert!(unused.is_empty(), "{unused:?}");
    let size = |tensor_type: i32| if tensor_type == 1 { 4 } else { 8 };
    for tensor in &graph.initializer {
        let values = tensor.dims.iter().product::<i64>() as usize;
        assert_eq!(tensor.raw_data.len(), values * size(tensor.data_type), "{}", tensor.name);
    }
}

/// Writes a file with inputs and expected outputs for another runtime.
fn write_case(
    folder: &Path,
    name: &str,
    bytes: &[u8],
    inputs: [&[f32]; 2],
    (values, width): (Vec<f32>, usize),
) {
    std::fs::write(folder.join(format!("{name}.onnx")), bytes).unwrap();
    let mut archive = Archive::default();
    for (name, rows) in ["observation", "goal"].into_iter().zip(inputs) {
        archive.insert(name, &[rows.len() / 4, 4], rows.to_vec());
    }
    archive.insert("expected", &[values.len() / width, width], values);
    std::fs::write(folder.join(format!("{name}.safetensors")), archive.to_bytes()).unwrap();
}

#[test]
fn every_algorithm_is_exported() {
    let folder = std::env::var_os("ISOCHRONE_ONNX_CASES");
    for Case { name, training, data } in cases() {
        let model = training.fit(&data).unwrap();
        let (states, goals) = pairs(&data);
        for part in OnnxPart::ALL {
            match (onnx_bytes(&model, part), expected(&model, part, &states, &goals)) {
                (Ok(bytes), Some(values)) => {
                    assert_eq!(bytes, onnx_bytes(&model, part).unwrap(), "equal models give equal bytes");
                    check(&bytes, &model, part, values.1);
                    if let Some(folder) = &folder {
                        let name = format!("{name}-{}", part.name());
                        write_case(folder.as_ref(), &name, &bytes, [&states, &goals], values);
                    }
                }
                (Err(error), None) => {
                    let is_missing = match error {
                        ExportError::NoDistance { .. } => model.distance.is_none(),
                        ExportError::NoPolicy => model.policy.is_none(),
                        ExportError::NoEmbedding { .. } => part == OnnxPart::Embedding,
                        _ => false,
                    };
                    assert!(is_missing && error.to_string().contains("hint:"), "{name}: {error}");
                }
                (exported, _) => panic!("{name}: {part:?}: {:?}", exported.map(|bytes| bytes.len())),
            }
        }
    }
}

/// Rows at these bounds are too rare in short training to be compared.
#[test]
fn distances_of_values_are_bounded_as_in_the_library() {
    let data = walks(2, 20);
    for algorithm in [Algorithm::Gciql, Algorithm::Ddpg] {
        let model = Training::new(algorithm).preset(Preset::Small).steps(1).batch_size(16);
        let bytes = onnx_bytes(&model.fit(&data).unwrap(), OnnxPart::Distance).unwrap();
        let graph = OnnxModel::decode(&bytes[..]).unwrap().graph.unwrap();
        let clip = graph.node.iter().find(|node| node.op_type == "Clip").unwrap();
        let constant = |name: &String| {
            let tensor = graph.initializer.iter().find(|tensor| tensor.name == *name).unwrap();
            f32::from_le_bytes(tensor.raw_data.clone().try_into().unwrap())
        };
        assert_eq!([1, 2].map(|input| constant(&clip.input[input])), [1e-6, 1.0], "{algorithm}");
    }
}

/// The distance is a function of the embeddings: equal states have equal ones, and the width is
/// known without rows.
#[test]
fn quasimetrics_have_embeddings() {
    let data = walks(3, 20);
    let rows = data.episode(0).observations;
    for algorithm in Algorithm::ALL {
        let model = Training::new(algorithm).preset(Preset::Small).steps(2).batch_size(16);
        let quasimetrics = [Algorithm::Cmd1, Algorithm::Cmd2, Algorithm::Qrl, Algorithm::Tmd, Algorithm::Mqe];
        let embeds = quasimetrics.contains(&algorithm);
        let model = model.set_if_known("critic.ensemble", "twin").fit(&data).unwrap();
        let Some(distance) = &model.distance else { continue };
        let Some((latent, width)) = distance.embed(rows) else {
            assert!(!embeds, "{algorithm}");
            continue;
        };
        assert!(embeds, "{algorithm}");
        assert_eq!((latent.len(), width), (rows.len() / 4 * 128, 128), "two members of 64");
        assert_eq!(distance.embed(&[]), Some((Vec::new(), 128)));
        let twice = distance.embed(&[&rows[..4], &rows[..4]].concat()).unwrap().0;
        assert_eq!(twice[..128], twice[128..]);
    }
}

#[test]
fn files_are_written_atomically_and_errors_name_them() {
    let (folder, data) = (tempfile::tempdir().unwrap(), walks(2, 20));
    let model = Training::new(Algorithm::Gcbc).preset(Preset::Small).steps(1).fit(&data).unwrap();
    let path = folder.path().join("policy.onnx");
    write_onnx(&model, OnnxPart::Policy, &path).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), onnx_bytes(&model, OnnxPart::Policy).unwrap());
    let error = write_onnx(&model, OnnxPart::Distance, &path).unwrap_err();
    assert!(error.to_string().contains("gcbc learns none"), "{error}");
    let missing = folder.path().join("no/such/policy.onnx");
    let error = write_onnx(&model, OnnxPart::Policy, &missing).unwrap_err().to_string();
    assert!(error.contains("no/such/policy.onnx") && error.contains("hint:"), "{error}");
    assert_eq!(folder.path().read_dir().unwrap().count(), 1);
}
