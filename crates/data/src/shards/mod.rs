//! Parquet datasets of any size: many shards, read one row group at a time, divided among jobs.
//!
//! ```text
//! file, folder or glob -> Shards  all shards, from their footers
//!                      -> Unit    a range of row groups: what is read, written or skipped at once
//!                      -> Part    the consecutive units of one of several jobs
//! ```
//!
//! Units do not depend on the number of parts, so that results do not either. [`AddColumns`] writes
//! every unit with additional columns to a file of its own, atomically; a unit that is already
//! complete is skipped.

mod add_columns;
mod find;
mod last_states;
mod listing;
mod part;
mod rows;
mod shard;
mod unit;
mod unit_file;

pub use add_columns::{AddColumns, Goals, Keep, Written};
pub use listing::Shards;
pub use part::{Part, PartError};
pub use rows::{RowReader, Rows, StateColumns};
pub use shard::Shard;
pub use unit::Unit;
