//! Readers, writers, validation and sampling, on real files.

mod content;
mod corruption;
mod fixtures;
mod lerobot;
mod out_of_core;
mod parquet_shards;
mod reference;
mod round_trip;
mod sampler;
mod shards;
mod support;
mod validation;
