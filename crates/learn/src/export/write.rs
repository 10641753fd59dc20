//! From a part of a model to a file.

use super::{ExportError, Graph, OnnxPart, proto};
use crate::{model::Model, run::write_file};
use prost::Message as _;
use std::path::Path;

/// The version of the file format that was released with the operator set.
const IR_VERSION: i64 = 9;
/// The first operator set with `Gelu`.
const OPSET: i64 = 20;
/// Readers of protobuf refuse larger messages.
const MAX_BYTES: usize = i32::MAX as usize;

/// Returns a part of a model as the bytes of an ONNX file. Equal models give equal bytes.
///
/// The metadata of the file are `version` (of isochrone), `algorithm`, `discount`, `step` (the
/// number of updates), `part` and `unit` (of the output).
///
/// # Errors
/// If the model does not have the part, or its algorithm does not define how it is exported.
pub fn onnx_bytes(model: &Model, part: OnnxPart) -> Result<Vec<u8>, ExportError> {
    let model = onnx_model(model, part)?;
    match model.encoded_len() {
        bytes if bytes > MAX_BYTES => Err(ExportError::TooLarge { bytes }),
        _ => Ok(model.encode_to_vec()),
    }
}

/// Writes a part of a model as an ONNX file, atomically; an existing file is replaced.
///
/// # Errors
/// As [`onnx_bytes`], and if the file cannot be written.
pub fn write_onnx(model: &Model, part: OnnxPart, path: &Path) -> Result<(), ExportError> {
    Ok(write_file(path, &onnx_bytes(model, part)?)?)
}

fn onnx_model(model: &Model, part: OnnxPart) -> Result<proto::Model, ExportError> {
    let entry = |(key, value): (&str, String)| proto::Entry { key: key.to_owned(), value };
    let version = env!("CARGO_PKG_VERSION");
    let metadata = [
        ("version", version.to_owned()),
        ("algorithm", model.algorithm.name().to_owned()),
        ("discount", model.discount.gamma().to_string()),
        ("step", model.step.to_string()),
        ("part", part.name().to_owned()),
        ("unit", part.unit().to_owned()),
    ];
    Ok(proto::Model {
        ir_version: IR_VERSION,
        producer_name: "isochrone".to_owned(),
        producer_version: version.to_owned(),
        graph: Some(part_graph(model, part)?),
        opset_import: vec![proto::OperatorSet { domain: String::new(), version: OPSET }],
        metadata_props: metadata.into_iter().map(entry).collect(),
    })
}

fn part_graph(model: &Model, part: OnnxPart) -> Result<proto::Graph, ExportError> {
    let algorithm = model.algorithm.name();
    let distance = || model.distance.as_ref().ok_or(ExportError::NoDistance { algorithm });
    let width = model.spec.observation.width;
    let mut graph = Graph::default();
    let input = |graph: &mut Graph, name: &str, about: &str| graph.input(name, width, about);
    let state = input(&mut graph, "observation", "The states, in the units of the dataset.");
    let goal_about = "The goals, as complete observations in the units of the dataset.";
    match part {
        OnnxPart::Distance => {
            let goal = input(&mut graph, "goal", goal_about);
            let steps = distance()?.onnx(&mut graph, &state, &goal);
            let steps = steps.ok_or(ExportError::Unsupported { algorithm })?;
            let about = "The distances in steps: nats divided by ln(1 / discount).";
            graph.output(part.output(), &steps, &[], about);
        }
        OnnxPart::Policy => {
            let goal = input(&mut graph, "goal", goal_about);
            let policy = model.policy.as_ref().ok_or(ExportError::NoPolicy)?;
            let actions = policy.onnx(&mut graph, &state, &goal);
            let about = "The deterministic actions of the policy, in the units of the dataset.";
            graph.output(part.output(), &actions, &[model.spec.action.width], about);
        }
        OnnxPart::Embedding => {
            let embedding = distance()?.onnx_embedding(&mut graph, &state);
            let (rows, width) = embedding.ok_or(ExportError::NoEmbedding { algorithm })?;
            graph.output(part.output(), &rows, &[width], "The latent states that the distance compares.");
        }
    }
    Ok(graph.finish(part.name()))
}
