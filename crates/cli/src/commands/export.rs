//! `isochrone export`: a trained model as an ONNX file.

use crate::commands::{
    output::{Field, Report, StyleArgs, named, note, refuse_existing},
    query::{LoadedRun, RunArgs, parse_checkpoint},
};
use anyhow::bail;
use clap::ValueEnum;
use isochrone::learn::{
    ComputeDevice,
    export::{OnnxPart, onnx_bytes},
    model::CheckpointSelector,
    run::write_file,
};
use serde_json::json;
use std::{
    io::Write,
    path::{Path, PathBuf},
};

/// Export the network of a trained run as an ONNX file
///
/// ONNX Runtime and other programs run the file without isochrone, the run or the data. Inputs and
/// outputs are in the units of the dataset, in single precision, and the number of rows is free.
/// The distance is that of the network, as `isochrone distance --distance learned` prints it.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    run: RunArgs,

    /// Output file, which ends in .onnx
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,

    /// Part of the model to export
    #[arg(long, value_enum, value_name = "PART", default_value = "distance")]
    part: PartArg,

    /// Checkpoint to load: last, best or a step
    #[arg(long, default_value = "best", value_name = "CHECKPOINT", value_parser = parse_checkpoint)]
    checkpoint: CheckpointSelector,

    /// Overwrite an existing file
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    style: StyleArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PartArg {
    /// observation and goal give distance, in steps
    Distance,
    /// observation and goal give action, the deterministic action of the policy
    Policy,
    /// observation gives embedding, the latent state that the quasimetric of cmd1, cmd2 or qrl
    /// compares
    Embedding,
}

const EXAMPLES: &str = "\
Examples:
  isochrone export runs/maze -o distance.onnx
  isochrone export runs/maze --part policy -o policy.onnx --checkpoint last
  isochrone export runs/maze --part embedding -o embedding.onnx --force --json";

/// Runs the command; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    check_name(&args.output)?;
    refuse_existing(&args.output, args.force)?;
    let part = match args.part {
        PartArg::Distance => OnnxPart::Distance,
        PartArg::Policy => OnnxPart::Policy,
        PartArg::Embedding => OnnxPart::Embedding,
    };
    let loaded = LoadedRun::open(&args.run, args.checkpoint, None, ComputeDevice::Cpu)?;
    let (model, width) = (&loaded.model, loaded.model.spec.observation.width);
    let bytes = onnx_bytes(model, part)?;
    write_file(&args.output, &bytes)?;
    note(&format!("wrote {}: {} bytes", args.output.display(), bytes.len()));
    let columns = ["part", "algorithm", "step", "inputs", "input_width", "output", "unit"];
    let row = vec![
        Field::Text(part.name().to_owned()),
        Field::Text(model.algorithm.name().to_owned()),
        Field::Count(model.step as usize),
        Field::Text(part.inputs().join(" ")),
        Field::Count(width),
        Field::Text(part.output().to_owned()),
        Field::Text(part.unit().to_owned()),
    ];
    let facts = json!({
        "run": args.run.run, "file": args.output, "bytes": bytes.len(), "discount": model.discount.gamma(),
    });
    Ok(write!(out, "{}", Report::new(facts, named(columns), [row]).print(&args.style))?)
}

/// Returns an error if a file name does not end in `.onnx`, so that no other file is overwritten.
fn check_name(file: &Path) -> anyhow::Result<()> {
    if file.extension().is_some_and(|extension| extension == "onnx") {
        return Ok(());
    }
    let name = file.with_extension("onnx");
    bail!("{}: the name does not end in .onnx; hint: use -o {}", file.display(), name.display())
}
