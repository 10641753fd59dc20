//! Refined distances beside exact ones.

mod ant;
mod mazes;
mod ring;
mod saved;
