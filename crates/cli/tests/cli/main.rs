//! End-to-end tests of the command: its output and its errors.

mod architecture;
mod command_completions;
mod command_data;
mod command_demos;
mod command_distance;
mod command_eval;
mod command_exact;
mod command_explore;
mod command_export;
mod command_graph;
mod command_nearest;
mod command_plan;
mod command_remote;
mod command_score;
mod command_train;
mod examples;
mod foreign;
mod help;
mod hostile;
mod kill;
mod kill_score;
mod lerobot;
#[cfg(target_os = "linux")]
mod offline;
mod run;
mod score_data;
mod shrunk_file;
mod sources;
mod terminal;
mod usability;
