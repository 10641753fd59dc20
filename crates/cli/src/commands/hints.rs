//! Translates hints of the library into flags of the command.

#[cfg(feature = "learn")]
use isochrone::{
    audit::AuditError,
    learn::{
        error::{DeviceError, LearnError},
        export::ExportError,
    },
};
use isochrone::{data::Remedy, exact::MapError};

/// Replaces names of the library in a message by the corresponding flags.
pub fn in_flags(message: &str) -> String {
    Remedy::ALL
        .into_iter()
        .fold(message.to_owned(), |message, remedy| message.replace(&remedy.to_string(), flag(remedy)))
}

/// Returns an addition to the hint of an error that applies only to the command line.
pub fn addition(error: &anyhow::Error) -> &'static str {
    if error.chain().any(|cause| matches!(cause.downcast_ref(), Some(MapError::SecondStart { .. }))) {
        return " and use --start for others";
    }
    #[cfg(feature = "learn")]
    if error.chain().any(|cause| matches!(cause.downcast_ref(), Some(AuditError::NoRecordedPair))) {
        return " (--stride N)";
    }
    #[cfg(feature = "learn")]
    if error.chain().any(<dyn std::error::Error>::is::<DeviceError>) {
        return DEVICE;
    }
    #[cfg(feature = "learn")]
    match error.chain().find_map(|cause| cause.downcast_ref()) {
        Some(ExportError::NoDistance { .. }) => return " (--part policy)",
        Some(ExportError::NoPolicy) => return " (--part distance, and train --actions)",
        Some(ExportError::NoEmbedding { .. }) => return " (--part distance, and train --algorithm)",
        _ => {}
    }
    #[cfg(feature = "learn")]
    match error.chain().find_map(|cause| cause.downcast_ref()) {
        Some(LearnError::Edited { .. }) => {
            return " (--accept-edits of train --resume, distance, nearest, plan, eval, audit, export, plot and runs)";
        }
        Some(LearnError::ProcessesNeedCpu) => return " (--device cpu)",
        Some(LearnError::Device(_)) => return DEVICE,
        Some(LearnError::RunExists { .. }) => return " (train --resume, or another --run)",
        Some(LearnError::NotFinite { .. } | LearnError::Diverged(_)) => return " (isochrone data validate)",
        _ => {}
    }
    ""
}

/// The flag that selects a device.
#[cfg(feature = "learn")]
const DEVICE: &str = " (--device)";

fn flag(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::Observations => "--observations",
        Remedy::Episode => "--episode",
        Remedy::Extras => "--no-extras",
        Remedy::Ends => "--ends",
        Remedy::FrameRate => "--fps",
        Remedy::ActionBounds => "--action-range",
        Remedy::Format => "--format",
        Remedy::Summary => "isochrone data inspect",
        Remedy::Writer => "isochrone data convert",
        Remedy::CaseColumn => "--case",
        Remedy::ActivityColumn => "--activity",
        Remedy::TimestampColumn => "--timestamp",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_remedy_has_a_flag() {
        for remedy in Remedy::ALL {
            assert_eq!(in_flags(&format!("use {remedy} here")), format!("use {} here", flag(remedy)));
        }
    }
}
