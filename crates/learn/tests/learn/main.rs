//! Tests of learning.

mod checkpoints;
mod configuration;
mod conformance;
mod custom;
mod distill;
mod divergence;
mod experiments;
mod identity;
mod shapes;
mod support;
mod table;
mod training;
mod truth;
