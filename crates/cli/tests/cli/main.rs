//! End-to-end tests of the command: its output and its errors.

mod architecture;
mod command_completions;
mod command_data;
mod command_distance;
mod command_eval;
mod command_exact;
mod command_export;
mod command_nearest;
mod command_plan;
mod command_train;
mod examples;
mod foreign;
mod help;
mod hostile;
mod kill;
#[cfg(target_os = "linux")]
mod offline;
mod run;
mod sources;
mod usability;
