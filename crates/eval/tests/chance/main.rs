//! Stochastic planning, compared with the exact solver, with all policies of small problems, and
//! with planted teleporters.

mod data;
mod exact;
mod teleporters;
