//! Data-parallel training on MPI: a `Collective` of `isochrone-nn` over the processes that `mpirun`
//! or `srun` started.
//!
//! Without the feature `mpi`, this crate is empty.

#![cfg(feature = "mpi")]

mod communicator;
mod ffi;

pub use communicator::{Job, MpiError};
