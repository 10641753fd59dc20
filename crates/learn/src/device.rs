//! The device that computes networks.

use burn::tensor::Device;
use std::{fmt, str::FromStr};
use thiserror::Error;

/// A device that computes networks, by name: `cpu`, `wgpu` or `wgpu:INDEX`.
///
/// Results on the CPU are bit-identical on machines of the same type. Those of a GPU differ by
/// rounding, from the CPU and from other GPUs. Checkpoints do not depend on the device.
///
/// ```
/// use isochrone_learn::ComputeDevice;
///
/// let device: ComputeDevice = "cpu".parse()?;
/// assert_eq!(device.open()?.description, "cpu");
/// # Ok::<(), isochrone_learn::error::DeviceError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ComputeDevice {
    /// The CPU.
    #[default]
    Cpu,
    /// A GPU through wgpu (Vulkan, Metal, DirectX 12); needs the feature `wgpu`.
    Wgpu {
        /// The index in the list of adapters; `None` for the one that the graphics driver prefers.
        index: Option<usize>,
    },
}

/// A device that is ready for tensors.
#[derive(Debug, Clone)]
pub struct OpenDevice {
    /// The device, without automatic differentiation.
    pub device: Device,
    /// The name and, of a GPU, its adapter: `cpu`, or `wgpu:0 (NVIDIA RTX A4000)`.
    pub description: String,
}

/// A device that is unknown or unavailable.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The name is not that of a device.
    #[error("device {name:?}: not cpu, wgpu or wgpu:INDEX; hint: use cpu")]
    Unknown {
        /// The name.
        name: String,
    },
    /// The program was built without GPUs.
    #[error("device {device}: not part of this build; hint: build with the feature wgpu")]
    NotBuilt {
        /// The device.
        device: ComputeDevice,
    },
    /// There is no adapter with this index.
    #[error(
        "device {device}: no such adapter{}; hint: check the graphics driver, or use another device",
        match adapters { 0 => ", there is none".to_owned(), 1 => ", there is only wgpu:0".to_owned(), n => format!(", they are wgpu:0 to wgpu:{}", n - 1) }
    )]
    NoAdapter {
        /// The device.
        device: ComputeDevice,
        /// The number of adapters.
        adapters: usize,
    },
    /// The graphics driver does not provide the device.
    #[error("device {device}: {problem}; hint: check the graphics driver, or use another device")]
    Unavailable {
        /// The device.
        device: ComputeDevice,
        /// The reason that the graphics driver reports.
        problem: String,
    },
}

impl fmt::Display for ComputeDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => write!(f, "cpu"),
            Self::Wgpu { index: None } => write!(f, "wgpu"),
            Self::Wgpu { index: Some(index) } => write!(f, "wgpu:{index}"),
        }
    }
}

impl FromStr for ComputeDevice {
    type Err = DeviceError;

    /// Parses a name; a GPU is an error in a build without them.
    fn from_str(name: &str) -> Result<Self, DeviceError> {
        let unknown = || DeviceError::Unknown { name: name.to_owned() };
        let device = match name.split_once(':') {
            None if name == "cpu" => return Ok(Self::Cpu),
            None if name == "wgpu" => Self::Wgpu { index: None },
            Some(("wgpu", index)) if index.bytes().all(|byte| byte.is_ascii_digit()) => {
                Self::Wgpu { index: Some(index.parse().map_err(|_| unknown())?) }
            }
            _ => return Err(unknown()),
        };
        match cfg!(feature = "wgpu") {
            true => Ok(device),
            false => Err(DeviceError::NotBuilt { device }),
        }
    }
}

impl ComputeDevice {
    /// Prepares the device for tensors. Opening it again is cheap.
    ///
    /// # Errors
    /// If there is no such device, or this build does not support it.
    pub fn open(self) -> Result<OpenDevice, DeviceError> {
        match self {
            Self::Cpu => Ok(OpenDevice { device: Device::flex(), description: self.to_string() }),
            Self::Wgpu { index } => self.open_wgpu(index),
        }
    }

    #[cfg(not(feature = "wgpu"))]
    fn open_wgpu(self, _index: Option<usize>) -> Result<OpenDevice, DeviceError> {
        Err(DeviceError::NotBuilt { device: self })
    }

    #[cfg(feature = "wgpu")]
    fn open_wgpu(self, index: Option<usize>) -> Result<OpenDevice, DeviceError> {
        wgpu::open(self, index)
    }
}

impl OpenDevice {
    /// Whether this is the device of a description, however it was selected.
    pub fn is(&self, description: &str) -> bool {
        // `wgpu` and `wgpu:0` may be the same adapter.
        let adapter = |text: &str| text.split_once(" (").map_or(text, |(_, adapter)| adapter).to_owned();
        adapter(&self.description) == adapter(description)
    }
}

#[cfg(feature = "wgpu")]
mod wgpu {
    use super::{ComputeDevice, DeviceError, OpenDevice};
    use burn::{
        backend::{CubeDevice, DispatchDevice, WgpuDeviceKind},
        tensor::{Device, DeviceKind, DeviceType, wgpu::WgpuInitError},
    };
    use isochrone_nn::runtime::ignore_configuration_files;
    use std::sync::Mutex;

    /// The devices of this process, each of which can be initialized only once.
    static OPENED: Mutex<Vec<(ComputeDevice, OpenDevice)>> = Mutex::new(Vec::new());

    /// Opens an adapter by its index, or the one that the driver prefers.
    pub fn open(which: ComputeDevice, index: Option<usize>) -> Result<OpenDevice, DeviceError> {
        let mut opened = OPENED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some((_, device)) = opened.iter().find(|(known, _)| *known == which) {
            return Ok(device.clone());
        }
        ignore_configuration_files();
        let adapters: Vec<Device> = Device::enumerate(DeviceType::Wgpu).into_iter().collect();
        let missing = DeviceError::NoAdapter { device: which, adapters: adapters.len() };
        let device = match index {
            _ if adapters.is_empty() => return Err(missing),
            None => initialized(which, DeviceKind::DefaultDevice)?,
            Some(index) => {
                let device = adapters.into_iter().nth(index).ok_or(missing)?;
                match kind(&device) {
                    Some(kind) => initialized(which, kind)?,
                    // Of an unknown type; it is initialized by the first tensor.
                    None => device,
                }
            }
        };
        let adapter = device.identity().map(|identity| format!(" ({})", identity.name));
        let description = format!("{which}{}", adapter.unwrap_or_default());
        let device = OpenDevice { device, description };
        opened.push((which, device.clone()));
        Ok(device)
    }

    /// Initializes an adapter, so that a driver that refuses it is an error and not a panic.
    fn initialized(which: ComputeDevice, kind: DeviceKind) -> Result<Device, DeviceError> {
        match Device::wgpu_options().device_kind(kind.clone()).init() {
            Ok(device) => Ok(device),
            // The program initialized it by other means.
            Err(WgpuInitError::Registration { .. }) => Ok(Device::wgpu(kind)),
            Err(error) => {
                let problem = error.to_string().replace('\n', " ");
                Err(DeviceError::Unavailable { device: which, problem })
            }
        }
    }

    fn kind(device: &Device) -> Option<DeviceKind> {
        let DispatchDevice::Cube(CubeDevice::Wgpu(device)) = device.as_dispatch() else { return None };
        match device.kind {
            WgpuDeviceKind::DiscreteGpu(index) => Some(DeviceKind::DiscreteGpu(index)),
            WgpuDeviceKind::IntegratedGpu(index) => Some(DeviceKind::IntegratedGpu(index)),
            WgpuDeviceKind::VirtualGpu(index) => Some(DeviceKind::VirtualGpu(index)),
            WgpuDeviceKind::Cpu => Some(DeviceKind::Cpu),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_not_devices_are_errors() {
        for name in ["", "gpu", "cuda", "wgpu:", "wgpu:-1", "wgpu:+1", "wgpu:one", "wgpu:0:1", "cpu:0", "CPU"]
        {
            let error = name.parse::<ComputeDevice>().unwrap_err();
            assert_eq!(error, DeviceError::Unknown { name: name.to_owned() });
        }
        let index = "9".repeat(40);
        assert!(matches!(format!("wgpu:{index}").parse::<ComputeDevice>(), Err(DeviceError::Unknown { .. })));
    }

    #[test]
    fn a_build_without_gpus_names_the_feature() {
        for (name, index) in [("wgpu", None), ("wgpu:3", Some(3))] {
            let device = ComputeDevice::Wgpu { index };
            assert_eq!(device.to_string(), name);
            match cfg!(feature = "wgpu") {
                true => assert_eq!(name.parse(), Ok(device)),
                false => {
                    assert_eq!(name.parse::<ComputeDevice>(), Err(DeviceError::NotBuilt { device }));
                    let error = device.open().unwrap_err().to_string();
                    assert!(error.contains("feature wgpu"), "{error}");
                }
            }
        }
        assert_eq!("cpu".parse(), Ok(ComputeDevice::Cpu));
    }

    #[test]
    fn a_device_is_recognized_by_its_adapter() {
        let open = |description: &str| OpenDevice { device: Device::flex(), description: description.into() };
        assert!(open("wgpu (A)").is("wgpu:0 (A)"));
        assert!(!open("wgpu:0 (A)").is("wgpu:0 (B)"));
        assert!(!open("wgpu:0 (A)").is("cpu"));
        assert!(open("cpu").is("cpu"));
    }
}
