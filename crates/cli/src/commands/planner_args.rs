//! How to look for ways: the flags of every verb that does.

use crate::commands::query::Asker;
use anyhow::bail;
use clap::ValueEnum;
use isochrone::{
    TemporalDistance,
    plan::{Path, PlanError, PlanMethod, Planner, PlannerConfig},
};

#[derive(clap::Args)]
pub struct PlannerArgs {
    /// How the way is looked for
    #[arg(long, value_enum, default_value = "graph")]
    planner: PlannerArg,

    /// Greedy: how near a recorded move must begin, in the units of observations
    #[arg(long, value_name = "DISTANCE", default_value_t = 3.0)]
    radius: f64,

    /// Graph: the longest edge, in learned steps; with --calibrated in recorded ones
    #[arg(long, value_name = "STEPS", default_value_t = 10.0)]
    horizon: f64,

    /// Read distances by what the run says of states that were recorded a known number of steps apart
    #[arg(long)]
    calibrated: bool,

    /// Go only where one can come back from: no gambles, where chance decides where a move leads
    #[arg(long)]
    reversible: bool,

    /// How many recorded states the way may pass, drawn at random
    #[arg(long, value_name = "N", default_value_t = 1000)]
    states: usize,

    /// Of the draw of states
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PlannerArg {
    /// Of the moves recorded nearby, always the one that leads nearest in time to the goal
    Greedy,
    /// The shortest way over recorded states, each within a horizon of the one before
    Graph,
}

/// Distances between all pairs of more would not fit in memory.
const MAX_GRAPH_STATES: usize = 10_000;
const MAX_MOVES: usize = 1_000_000;

/// A path, if there is one: where none is found is for the caller to say.
pub fn found(planned: Result<Path, PlanError>) -> anyhow::Result<Option<Path>> {
    match planned {
        Err(PlanError::NoPath) => Ok(None),
        other => Ok(Some(other?)),
    }
}

impl PlannerArgs {
    fn method(&self) -> anyhow::Result<PlanMethod> {
        let (flag, value, method) = match self.planner {
            PlannerArg::Greedy => ("--radius", self.radius, PlanMethod::Greedy { radius: self.radius }),
            PlannerArg::Graph => {
                ("--horizon", self.horizon, PlanMethod::Graph { max_edge_steps: self.horizon })
            }
        };
        if !(value.is_finite() && value > 0.0) {
            bail!("{flag} {value}; hint: give a positive number");
        }
        let most = if self.planner == PlannerArg::Graph { MAX_GRAPH_STATES } else { MAX_MOVES };
        if self.states == 0 || self.states > most {
            bail!("--states {}; hint: give a number between 1 and {most}", self.states);
        }
        Ok(method)
    }

    /// The planner that the flags describe, over the data of a run and with its distance.
    pub fn planner<'a>(&self, asker: &'a Asker) -> anyhow::Result<Planner<Box<dyn TemporalDistance + 'a>>> {
        let config = PlannerConfig {
            method: self.method()?,
            round_trip: self.reversible,
            calibrated: self.calibrated,
            transitions: self.states,
            seed: self.seed,
        };
        Ok(config.build(asker.distance()?, asker.data()?)?)
    }

    /// Whether flags were said that only a plan needs.
    pub fn is_said(&self) -> bool {
        self.calibrated || self.reversible
    }

    /// What to try where no way was found.
    pub fn hint(&self) -> &'static str {
        match self.planner {
            PlannerArg::Greedy => "try a larger --radius or more --states",
            PlannerArg::Graph => {
                "try a longer --horizon or more --states; --calibrated makes horizons recorded steps"
            }
        }
    }

    /// In words.
    pub fn describe(&self) -> String {
        let Self { radius, horizon, states, .. } = self;
        match self.planner {
            PlannerArg::Greedy => {
                format!("greedy: up to {states} recorded moves, those that begin within {radius}")
            }
            PlannerArg::Graph => {
                let read = if self.calibrated { "recorded " } else { "" };
                let back = if self.reversible { " there and back" } else { "" };
                format!("graph: up to {states} recorded states, edges of up to {horizon} {read}steps{back}")
            }
        }
    }
}
