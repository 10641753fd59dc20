//! Demonstrations: the commands `progress`, `doctor` and `gaps`.

pub mod doctor;
mod doctor_page;
pub mod gaps;
mod lerobot;
pub mod progress;
mod source;
