//! Remote datasets, from servers that the tests start on this machine.

mod cache;
mod child;
mod hub;
mod server;
mod sources;
mod support;
