//! Tests of learning.

mod checkpoints;
mod configuration;
mod conformance;
mod divergence;
mod experiments;
mod support;
mod truth;
