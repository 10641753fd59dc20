//! Tests of learning.

mod checkpoints;
mod configuration;
mod conformance;
mod divergence;
mod experiments;
mod identity;
mod shapes;
mod support;
mod truth;
