//! The algorithms, one file each: settings, learner, formula and citation.
//!
//! To add an algorithm, implement [`AlgorithmDef`](crate::AlgorithmDef) in a new file and add a row
//! to the table below, which presets, the command line, conformance tests, documentation and
//! benchmarks read.

mod cmd1;
mod cmd2;
mod crl;
mod ddpg;
mod gcbc;
mod gciql;
mod mqe;
mod prelude;
mod qrl;
mod tmd;

pub use cmd1::{Cmd1, Cmd1Config};
pub use cmd2::{Cmd2, Cmd2Config};
pub use crl::{Crl, CrlConfig, CrlLoss, Nce};
pub use ddpg::{Ddpg, DdpgConfig};
pub use gcbc::{Gcbc, GcbcConfig};
pub use gciql::{Gciql, GciqlConfig};
pub use mqe::{Mqe, MqeConfig};
pub use qrl::{Qrl, QrlConfig};
pub use tmd::{Tmd, TmdConfig};

use crate::algorithm::Algorithm;
use isochrone_nn::loss::InfoNce;

/// Defines a constant for every row, and a list of all.
macro_rules! table {
    ($($name:ident: $learner:ty,)*) => {
        #[allow(non_upper_case_globals, reason = "they read as the variants of an open enum")]
        impl Algorithm {
            $(
                #[doc = concat!("See [`", stringify!($learner), "`].")]
                pub const $name: Self = Self::of::<$learner>();
            )*

            /// The algorithms of this crate.
            pub const ALL: [Self; [$(stringify!($name)),*].len()] = [$(Self::$name),*];

            /// Returns the algorithm of this crate with this name.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|algorithm| algorithm.name() == name)
            }
        }
    };
}

table! {
    Cmd1: Cmd1,
    Cmd2: Cmd2,
    CrlNce: Crl<Nce>,
    CrlCpc: Crl<InfoNce>,
    Qrl: Qrl,
    Tmd: Tmd,
    Mqe: Mqe,
    Gcbc: Gcbc,
    Gciql: Gciql,
    Ddpg: Ddpg,
}
