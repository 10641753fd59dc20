//! Compiles the shim with the MPI library's own compiler wrapper, which knows its headers.

fn main() {
    println!("cargo::rerun-if-changed=src/shim.c");
    println!("cargo::rerun-if-env-changed=MPICC");
    #[cfg(feature = "mpi")]
    link();
}

#[cfg(feature = "mpi")]
fn link() {
    let mpicc = std::env::var("MPICC").unwrap_or_else(|_| "mpicc".to_owned());
    // Open MPI, MPICH and Intel MPI all print the command line of the C compiler.
    let shown = match std::process::Command::new(&mpicc).arg("-show").output() {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
        _ => {
            println!(
                "cargo::error={mpicc}: not found; hint: install an MPI library with headers (Debian: libopenmpi-dev), or set MPICC"
            );
            return;
        }
    };
    cc::Build::new().compiler(&mpicc).file("src/shim.c").warnings(true).compile("isochrone_mpi_shim");
    for word in shown.split_whitespace() {
        if let Some(folder) = word.strip_prefix("-L") {
            println!("cargo::rustc-link-search=native={folder}");
        } else if let Some(library) = word.strip_prefix("-l") {
            println!("cargo::rustc-link-lib={library}");
        }
    }
}
