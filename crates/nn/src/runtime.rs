//! Configuration of Burn and its GPU runtime.

use burn_std::config::{BurnConfig, RuntimeConfig as _};

/// Sets the default configuration of Burn and, with the feature `wgpu`, of its GPU runtime, unless
/// the program has set one.
///
/// Otherwise both would search for configuration files (`burn.toml`, `cubecl.toml`) in the working
/// directory and all its parents and apply them: a dataset unpacked from an archive could name a
/// file that training then overwrites with its log. Every network and every device is created after
/// a call of this.
pub fn ignore_configuration_files() {
    BurnConfig::try_set(BurnConfig::default());
    #[cfg(feature = "wgpu")]
    cubecl_runtime::config::CubeClRuntimeConfig::try_set(Default::default());
}
