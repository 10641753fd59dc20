//! Reports what to do if the feature `mujoco` is enabled and the MuJoCo library is missing.

use std::{env, path::Path};

fn main() {
    println!("cargo:rerun-if-env-changed=MUJOCO_DYNAMIC_LINK_DIR");
    if env::var_os("CARGO_FEATURE_MUJOCO").is_none() {
        return;
    }
    let folder = env::var("MUJOCO_DYNAMIC_LINK_DIR").unwrap_or_default();
    let library = Path::new(&folder).join("libmujoco.so");
    println!("cargo:rerun-if-changed={}", library.display());
    if !library.exists() {
        println!(
            "cargo::error=the feature `mujoco` needs MuJoCo 3.17.0, but {} does not exist; hint: run \
             `just mujoco` in the repository, or set MUJOCO_DYNAMIC_LINK_DIR to the folder of libmujoco.so",
            library.display()
        );
        std::process::exit(1);
    }
    // Programs of this package load the library from where it was at build time.
    println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}");
}
