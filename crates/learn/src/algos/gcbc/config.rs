use crate::parts::{PolicyConfig, Size};
use serde::{Deserialize, Serialize};

/// Settings of [`Gcbc`](super::Gcbc).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GcbcConfig {
    /// The policy.
    pub policy: PolicyConfig,
}

impl GcbcConfig {
    /// Of a preset.
    pub fn of(size: Size) -> Self {
        Self { policy: PolicyConfig::of(size) }
    }
}
