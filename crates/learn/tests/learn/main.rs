//! Integration tests.

mod checkpoints;
mod configuration;
mod conformance;
mod custom;
mod devices;
mod displacement;
mod distill;
mod distill_policy;
mod divergence;
mod experiments;
mod extraction;
mod foreign_runs;
mod ground_truth;
mod identity;
mod latent;
mod onnx;
mod processes;
mod shapes;
mod support;
mod table;
mod training;
