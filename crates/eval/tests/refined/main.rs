//! Refined distances compared with exact distances.

mod ant;
mod mazes;
mod parts;
mod ring;
mod saved;
mod threads;
