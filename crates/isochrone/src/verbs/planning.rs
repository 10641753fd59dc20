//! How to look for ways: the flags of every verb that does.

use crate::verbs::situations::Asker;
use anyhow::bail;
use clap::ValueEnum;
use isochrone::{
    TemporalDistance,
    figures::Ways,
    plan::{Atlas, Planner},
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
const MOST_GRAPH_STATES: usize = 10_000;
const MOST_MOVES: usize = 1_000_000;

impl PlannerArgs {
    fn planner(&self) -> anyhow::Result<Planner> {
        let (flag, value, planner) = match self.planner {
            PlannerArg::Greedy => ("--radius", self.radius, Planner::Greedy { radius: self.radius }),
            PlannerArg::Graph => ("--horizon", self.horizon, Planner::Graph { horizon_steps: self.horizon }),
        };
        if !(value.is_finite() && value > 0.0) {
            bail!("{flag} {value}; hint: give a positive number");
        }
        let most = if self.planner == PlannerArg::Graph { MOST_GRAPH_STATES } else { MOST_MOVES };
        if self.states == 0 || self.states > most {
            bail!("--states {}; hint: give a number between 1 and {most}", self.states);
        }
        Ok(planner)
    }

    /// Recorded moves with the distance of a run, read as the flags say.
    pub fn with_atlas<T>(
        &self,
        asker: &Asker,
        then: impl FnOnce(&Atlas<'_>, &dyn TemporalDistance) -> T,
    ) -> anyhow::Result<T> {
        let planner = self.planner()?;
        let (distance, data) = (asker.distance()?, asker.data()?);
        let ways = Ways {
            planner,
            is_reversible: self.reversible,
            is_calibrated: self.calibrated,
            states: self.states,
            seed: self.seed,
        };
        Ok(ways.with_atlas(distance, data, then))
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
