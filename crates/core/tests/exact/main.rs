//! Tests of the exact solvers against hand calculation, brute force, simulation, each other, and
//! theory.

mod agreement;
mod batch;
mod brute_force;
mod extremes;
mod monte_carlo;
mod properties;
mod support;
mod threads;
mod worked_examples;
