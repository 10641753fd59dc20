//! The device that computes networks.

use isochrone::learn::{ComputeDevice, error::DeviceError};

/// The device of a command that computes networks.
#[derive(clap::Args, Clone, Copy)]
pub struct DeviceArgs {
    /// Device that computes networks: cpu, wgpu (a GPU) or wgpu:INDEX
    #[arg(long, value_name = "DEVICE", value_parser = parse, default_value = "cpu")]
    pub device: ComputeDevice,
}

impl DeviceArgs {
    /// Returns the device if it is available: for commands that do other work first.
    pub fn available(self) -> anyhow::Result<ComputeDevice> {
        self.device.open()?;
        Ok(self.device)
    }
}

fn parse(name: &str) -> Result<ComputeDevice, String> {
    name.parse().map_err(|error| match error {
        DeviceError::NotBuilt { .. } => {
            "this program was built without GPUs; hint: build it with --features wgpu, or use --device cpu"
                .to_owned()
        }
        _ => "not a device; hint: use cpu, wgpu or wgpu:INDEX".to_owned(),
    })
}
