//! The vector instructions that kernels use, on which the last bits of results depend.
//!
//! Wider vectors add in another order. Results are therefore equal bit for bit only between
//! processes with the same instruction set. A limit applies to the kernels of this workspace and
//! their matrix products. Burn's own operations are built without vector instructions that depend
//! on the processor.

use pulp::Arch;
use std::{fmt, str::FromStr, sync::OnceLock};

/// A set of vector instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum InstructionSet {
    /// What every processor of this architecture has: SSE2 on x86-64, NEON on ARM64.
    Baseline,
    /// AVX2 and fused multiply-add.
    Avx2,
    /// AVX-512.
    Avx512,
}

/// What the process was limited to.
static LIMIT: OnceLock<InstructionSet> = OnceLock::new();

impl InstructionSet {
    /// Returns the instruction set of this processor.
    pub fn of_processor() -> Self {
        Self::of(Arch::new())
    }

    /// Returns the instruction set that this process uses.
    pub fn in_use() -> Self {
        LIMIT.get().copied().unwrap_or_else(Self::of_processor)
    }

    /// Limits this process to an instruction set, if its processor has it. Call it before the first
    /// kernel: the limit of a process is set once.
    ///
    /// # Errors
    /// The instruction set in use, if it is not the one asked for.
    pub fn limit(self) -> Result<(), Self> {
        if self > Self::of_processor() {
            return Err(Self::of_processor());
        }
        match *LIMIT.get_or_init(|| self) {
            limit if limit == self => Ok(()),
            other => Err(other),
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn of(arch: Arch) -> Self {
        match arch {
            Arch::V4(_) => Self::Avx512,
            Arch::V3(_) => Self::Avx2,
            _ => Self::Baseline,
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn of(_: Arch) -> Self {
        Self::Baseline
    }
}

/// Returns the vector instructions that kernels of this process use.
#[doc(hidden)]
pub fn arch() -> Arch {
    #[cfg(target_arch = "x86_64")]
    match LIMIT.get() {
        Some(InstructionSet::Baseline) => return Arch::Scalar,
        Some(InstructionSet::Avx2) => {
            return pulp::x86::V3::try_new().map_or_else(Arch::new, Arch::V3);
        }
        Some(InstructionSet::Avx512) | None => {}
    }
    Arch::new()
}

impl InstructionSet {
    /// All instruction sets, narrowest first.
    pub const ALL: [Self; 3] = [Self::Baseline, Self::Avx2, Self::Avx512];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }
}

impl fmt::Display for InstructionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is none of an instruction set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown instruction set `{0}`; hint: {names}", names = InstructionSet::ALL.map(InstructionSet::name).join(", "))]
pub struct UnknownInstructionSet(pub String);

impl FromStr for InstructionSet {
    type Err = UnknownInstructionSet;

    fn from_str(name: &str) -> Result<Self, UnknownInstructionSet> {
        let found = Self::ALL.into_iter().find(|set| set.name() == name);
        found.ok_or_else(|| UnknownInstructionSet(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_limited_once() {
        let widest = InstructionSet::of_processor();
        assert_eq!(InstructionSet::in_use(), widest);
        if widest < InstructionSet::Avx512 {
            assert_eq!(InstructionSet::Avx512.limit(), Err(widest));
        }
        assert_eq!(InstructionSet::Baseline.limit(), Ok(()));
        assert_eq!(InstructionSet::in_use(), InstructionSet::Baseline);
        assert_eq!(InstructionSet::Baseline.limit(), Ok(()));
        if widest > InstructionSet::Baseline {
            assert_eq!(widest.limit(), Err(InstructionSet::Baseline));
        }
        for set in InstructionSet::ALL {
            assert_eq!(set.name().parse(), Ok(set));
        }
        let error = "mmx".parse::<InstructionSet>().unwrap_err().to_string();
        assert!(error.contains("mmx") && error.ends_with("hint: baseline, avx2, avx512"), "{error}");
    }
}
