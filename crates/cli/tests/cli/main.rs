//! The command as people meet it: what it prints, and how it fails.

mod architecture;
mod examples;
mod foreign;
mod hostile;
mod kill;
mod run;
mod sources;
mod usability;
mod verb_data;
mod verb_distance;
mod verb_eval;
mod verb_exact;
mod verb_plan;
mod verb_train;
