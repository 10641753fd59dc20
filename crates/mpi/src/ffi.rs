//! The functions of `shim.c`.

#![expect(unsafe_code, reason = "declarations of C functions")]

use std::ffi::{c_int, c_void};

unsafe extern "C" {
    pub fn isochrone_mpi_start() -> *mut c_void;
    pub fn isochrone_mpi_rank(comm: *mut c_void) -> c_int;
    pub fn isochrone_mpi_size(comm: *mut c_void) -> c_int;
    pub fn isochrone_mpi_local_size(comm: *mut c_void) -> c_int;
    pub fn isochrone_mpi_split(comm: *mut c_void, group: c_int, rank: c_int) -> *mut c_void;
    pub fn isochrone_mpi_all_gather(comm: *mut c_void, mine: *const f32, count: c_int, all: *mut f32);
    pub fn isochrone_mpi_all_to_all(comm: *mut c_void, from: *const f32, count: c_int, to: *mut f32);
    pub fn isochrone_mpi_broadcast(comm: *mut c_void, bytes: *mut u8, count: c_int);
    pub fn isochrone_mpi_finish();
    pub fn isochrone_mpi_abort(code: c_int);
}
