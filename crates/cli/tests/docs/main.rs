//! The documentation is current: its console blocks run, its links resolve, its numbers and
//! reference pages are those of the results and of the types, and its words are the field's.
//!
//! `ISOCHRONE_UPDATE_DOCS=1` rewrites the generated parts instead of comparing them.

mod book;
mod console;
mod links;
mod pages;
mod quotes;
mod reference;
mod results_table;
#[path = "../cli/run.rs"]
#[allow(dead_code, reason = "the tests of the command use more of it")]
mod run;
mod vocabulary;
mod width;
