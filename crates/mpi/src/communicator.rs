//! The processes of an MPI job.

#![expect(unsafe_code, reason = "calls of the C shim, whose buffers are checked here")]

use crate::ffi;
use isochrone_nn::group::{Collective, ProcessGroup};
use std::{
    ffi::{c_int, c_void},
    sync::atomic::{AtomicBool, Ordering},
};
use thiserror::Error;

/// Why an MPI job cannot be joined.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MpiError {
    /// MPI can be started once in the life of a process.
    #[error("MPI was started before; hint: start it once in a process")]
    Started,
    /// The library allows calls from the first thread only.
    #[error(
        "the MPI library does not support threads; hint: use one with MPI_THREAD_SERIALIZED, such as Open MPI"
    )]
    Threads,
}

/// All processes of an MPI job.
#[derive(Debug)]
pub struct Job {
    group: ProcessGroup,
    local_size: usize,
}

static IS_STARTED: AtomicBool = AtomicBool::new(false);

impl Job {
    /// Joins the job that this process was started for.
    ///
    /// # Errors
    /// If it was called before, or the MPI library does not support threads.
    pub fn join() -> Result<Self, MpiError> {
        if IS_STARTED.swap(true, Ordering::SeqCst) {
            return Err(MpiError::Started);
        }
        // Safety: the first call of the library in this process.
        let comm = unsafe { ffi::isochrone_mpi_start() };
        if comm.is_null() {
            return Err(MpiError::Threads);
        }
        // Safety: `comm` is a communicator that is never freed.
        let local_size = unsafe { ffi::isochrone_mpi_local_size(comm) } as usize;
        Ok(Self { group: ProcessGroup::new(Communicator(comm)), local_size })
    }

    /// All processes of the job.
    pub fn group(&self) -> &ProcessGroup {
        &self.group
    }

    /// The number of processes of the job on this machine.
    pub fn local_size(&self) -> usize {
        self.local_size
    }

    /// Leaves the job, which waits until all processes do.
    pub fn leave(self) {
        // Safety: the library is running, and nothing calls it afterwards: the trainer that uses
        // the group has ended.
        unsafe { ffi::isochrone_mpi_finish() }
    }

    /// Ends all processes of the job, for a failure that the others cannot know of.
    pub fn abort(code: u8) {
        // Safety: the library is running.
        unsafe { ffi::isochrone_mpi_abort(c_int::from(code)) }
    }
}

/// A communicator of the library, which lives as long as the process.
struct Communicator(*mut c_void);

// Safety: the pointer is to a constant, and the library was started with support for calls from any
// thread, one at a time: a group belongs to one training.
unsafe impl Send for Communicator {}
unsafe impl Sync for Communicator {}

/// Converts a number of elements to that of MPI.
fn count(elements: usize) -> c_int {
    c_int::try_from(elements).expect("a message has at most 2^31 elements")
}

impl Collective for Communicator {
    fn rank(&self) -> usize {
        // Safety: a valid communicator.
        unsafe { ffi::isochrone_mpi_rank(self.0) as usize }
    }

    fn size(&self) -> usize {
        // Safety: a valid communicator.
        unsafe { ffi::isochrone_mpi_size(self.0) as usize }
    }

    fn all_gather(&self, mine: &[f32], all: &mut [f32]) {
        assert_eq!(all.len(), mine.len() * self.size());
        // Safety: `all` has space for `mine.len()` elements of every process.
        unsafe { ffi::isochrone_mpi_all_gather(self.0, mine.as_ptr(), count(mine.len()), all.as_mut_ptr()) }
    }

    fn all_to_all(&self, from: &[f32], to: &mut [f32]) {
        let part = from.len() / self.size();
        assert!(from.len() == to.len() && from.len() == part * self.size());
        // Safety: both have `part` elements for every process.
        unsafe { ffi::isochrone_mpi_all_to_all(self.0, from.as_ptr(), count(part), to.as_mut_ptr()) }
    }

    fn broadcast(&self, bytes: &mut [u8]) {
        // Safety: the slice has this length.
        unsafe { ffi::isochrone_mpi_broadcast(self.0, bytes.as_mut_ptr(), count(bytes.len())) }
    }

    fn split(&self, size: usize) -> Box<dyn Collective> {
        let rank = self.rank();
        // Safety: a valid communicator, and all of its processes call this.
        Box::new(Self(unsafe { ffi::isochrone_mpi_split(self.0, count(rank / size), count(rank)) }))
    }
}
