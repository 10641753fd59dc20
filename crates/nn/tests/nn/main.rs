//! Tests of the public interface.

mod actor;
mod axioms;
mod backends;
mod chains;
mod determinism;
mod golden;
mod losses;
mod modules;
mod numbers;
mod weights;

#[path = "../../benches/step/fused.rs"]
mod step;
