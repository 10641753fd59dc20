//! Refined distances compared with exact distances.

mod ant;
mod mazes;
mod ring;
mod saved;
