//! Judging and showing distances, whatever computed them.
//!
//! [`plot`] draws: a field of distances over a map with its isochrones, and ranked bars. It takes plain numbers,
//! so exact solvers, networks and anything else are shown by the same code.

pub mod plot;
