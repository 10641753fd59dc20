//! One-way streets in the plane.
//!
//! The states are *sites*: points laid along streets with some noise. From a site one can only get
//! to those near it that lie ahead, as both streets see it. An action is a push in the plane; where
//! it leads is random, the more likely the nearer to where it aims:
//!
//! ```text
//! P(q | p, a) ~ exp(-|q - (p + speed a)|^2 / (2 std^2))    over the sites q ahead of p
//! ```
//!
//! An observation is the site with a little noise. A site from which nothing lies ahead is a dead end.

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
