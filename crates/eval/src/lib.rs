//! Judging and showing distances, whatever computed them.
//!
//! [`plot`] draws: a field of distances over a map with its isochrones, ranked bars, and curves of training. It takes
//! plain numbers, so exact solvers, networks and anything else are shown by the same code.

pub mod plot;
