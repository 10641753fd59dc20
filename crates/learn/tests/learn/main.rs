//! Tests of learning.

mod checkpoints;
mod configuration;
mod conformance;
mod divergence;
mod support;
