//! Data-parallel training on MPI: a [`Collective`](isochrone_nn::group::Collective) of the
//! processes that `mpirun` or `srun` started.
//!
//! Without the feature `mpi`, this crate is empty.

#![cfg(feature = "mpi")]

mod communicator;
mod ffi;

pub use communicator::{Job, MpiError};
