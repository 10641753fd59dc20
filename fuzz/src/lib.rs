//! What the targets share: limits on memory and time, a folder for files, and archives with valid
//! checksums.

mod allocation;
mod archive;
mod drain;
mod hang;
pub mod hdf5;
mod scratch;

pub use allocation::{LIMIT_BYTES, Limited};
pub use archive::{npz, npz_pieces};
pub use drain::Drain;
pub use scratch::{Scratch, fixture};

use std::path::Path;

/// The variable that names a folder in which a target stores its seeds before it exits.
const SEEDS: &str = "ISOCHRONE_FUZZ_SEEDS";

#[global_allocator]
static ALLOCATOR: Limited = Limited;

/// A named input from which fuzzing starts.
pub type Seed = (&'static str, Vec<u8>);

/// Prepares a process: a panic that the product catches is not a finding, all others abort. Stores
/// the seeds and exits if asked to.
pub fn start(seeds: impl FnOnce() -> Vec<Seed>) {
    std::panic::set_hook(Box::new(|panic| {
        if !isochrone_data::is_catching_panics() {
            eprintln!("{panic}\n{}", std::backtrace::Backtrace::force_capture());
            std::process::abort();
        }
    }));
    if let Some(folder) = std::env::var_os(SEEDS) {
        std::fs::create_dir_all(&folder).unwrap();
        for (name, bytes) in seeds() {
            std::fs::write(Path::new(&folder).join(name), bytes).unwrap();
        }
        std::process::exit(0);
    }
    allocation::watch();
}

/// Defines a fuzz target with its seeds.
#[macro_export]
macro_rules! target {
    ($seeds:expr, |$bytes:ident| $body:expr) => {
        libfuzzer_sys::fuzz_target!(
            init: $crate::start($seeds),
            |$bytes: &[u8]| {
                $crate::measured(|| $body);
            }
        );
    };
}

/// Runs one input; what it allocates and how long it takes is counted from here.
pub fn measured(run: impl FnOnce()) {
    allocation::begin();
    hang::limited(run);
}
