//! Renders the SVG documents of figures: the elements and attributes that this crate writes, and no
//! others.
//!
//! A general renderer brings 27 more crates, for style sheets, filters and the shaping of all
//! scripts.

mod font;
mod page;
mod path;
mod png;
mod style;

pub(super) use page::render;
pub(super) use png::encode;
