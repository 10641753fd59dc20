//! One-way streets in the plane.
//!
//! The states are *sites*: points placed along streets with some noise. A site leads only to nearby
//! sites that lie ahead of it, along a street of each. An action is a displacement in the plane;
//! the next site is random, and sites near the target of the action are more likely:
//!
//! ```text
//! P(q | p, a) ~ exp(-|q - (p + speed a)|^2 / (2 std^2))    over the sites q ahead of p
//! ```
//!
//! An observation is the position of the site with a little noise. A site without sites ahead is a
//! dead end.

mod collect;
mod curve;
mod definition;
mod environment;
mod exact;
mod street_map;
mod streets;

pub use environment::Nav2dEnvironment;
pub use exact::{ExactPolicy, HEADINGS, heading};
pub use street_map::{Collection, Street, StreetMap, StreetMapError};
pub use streets::{Nav2d, Site};

pub(crate) use definition::definitions;
