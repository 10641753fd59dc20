//! Hostile files: small ones that declare much, and paths that are no files. Every reader refuses
//! them, or reads them within a fixed amount of memory.

#[path = "../fuzz/allocation.rs"]
mod allocation;

mod archives;
mod categories;
mod episodes;
mod fixed_sizes;
mod flags;
#[cfg(unix)]
mod not_regular;
mod pages;
mod parquet_files;
mod polyglots;
mod processes;
mod records;
mod row_counts;
mod support;

#[global_allocator]
static ALLOCATOR: allocation::Counting = allocation::Counting;
