//! Sets the runtime search path of MuJoCo to its folder at build time; `isochrone-envs` checks that
//! the library exists.

fn main() {
    println!("cargo:rerun-if-env-changed=MUJOCO_DYNAMIC_LINK_DIR");
    if let (Some(_), Ok(folder)) =
        (std::env::var_os("CARGO_FEATURE_MUJOCO"), std::env::var("MUJOCO_DYNAMIC_LINK_DIR"))
    {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}");
    }
}
