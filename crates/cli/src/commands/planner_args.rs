//! The flags of every command that plans.

use crate::commands::query::Asker;
use anyhow::bail;
use clap::ValueEnum;
use isochrone::{
    TemporalDistance,
    plan::{Path, PlanError, PlanMethod, Planner, PlannerConfig, RecordedPlanner, Waypoints},
};

#[derive(clap::Args)]
pub struct PlannerArgs {
    /// Planning method [default: recorded; graph if one of its settings is given]
    #[arg(long, value_enum)]
    planner: Option<PlannerArg>,

    /// Recorded: how many steps ahead on the path the policy is sent [default: 12]
    #[arg(long, value_name = "STEPS", allow_negative_numbers = true)]
    look_ahead: Option<f64>,

    /// Greedy: how near a recorded transition must start, in the units of observations [default: 3]
    #[arg(long, value_name = "DISTANCE", allow_negative_numbers = true)]
    radius: Option<f64>,

    /// Graph: the longest edge, in learned steps; with --calibrated in observed ones [default: 10]
    #[arg(long, value_name = "STEPS", allow_negative_numbers = true)]
    max_edge_steps: Option<f64>,

    /// Calibrate distances to observed step counts
    #[arg(long)]
    calibrated: bool,

    /// Use the larger of the two directed distances, so that edges are reversible
    #[arg(long)]
    round_trip: bool,

    /// Number of dataset states sampled as graph nodes [default: 1000]
    #[arg(long, value_name = "N")]
    states: Option<usize>,

    /// Random seed for sampling them [default: 0]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PlannerArg {
    /// Along recorded segments and short hops between them, the fastest that were recorded
    Recorded,
    /// Of the transitions recorded nearby, always the one that leads nearest in time to the goal
    Greedy,
    /// The shortest path over recorded states with edges of bounded length
    Graph,
}

/// Distances between all pairs of more would not fit in memory.
const MAX_GRAPH_STATES: usize = 10_000;
const MAX_MOVES: usize = 1_000_000;

/// Flags of planners that search with a learned distance.
const GRAPH_FLAGS: [&str; 6] =
    ["--radius", "--max-edge-steps", "--calibrated", "--round-trip", "--states", "--seed"];

/// A path, if there is one: where none is found is for the caller to say.
pub fn found(planned: Result<Path, PlanError>) -> anyhow::Result<Option<Path>> {
    match planned {
        Err(PlanError::NoPath) => Ok(None),
        other => Ok(Some(other?)),
    }
}

impl PlannerArgs {
    /// Whether plans follow recorded segments, not the learned distance.
    pub fn is_recorded(&self) -> bool {
        match self.planner {
            Some(planner) => planner == PlannerArg::Recorded,
            None => self.first_set_of(&GRAPH_FLAGS).is_none(),
        }
    }

    /// A flag that would do nothing is an error, not a surprise.
    pub fn check(&self) -> anyhow::Result<()> {
        if self.is_recorded() {
            if let Some(flag) = self.first_set_of(&GRAPH_FLAGS) {
                bail!(
                    "{flag} has no meaning for recorded segments; hint: leave it out, or give --planner graph"
                );
            }
            return Ok(());
        }
        let (planner, foreign) = match self.method() {
            PlanMethod::Greedy { .. } => ("greedy", ["--look-ahead", "--max-edge-steps"]),
            PlanMethod::Graph { .. } => ("graph", ["--look-ahead", "--radius"]),
        };
        if let Some(flag) = self.first_set_of(&foreign) {
            bail!(
                "{flag} has no meaning for the planner {planner}; hint: leave it out, or choose another --planner"
            );
        }
        Ok(())
    }

    /// A plan without a policy: nobody is sent ahead.
    pub fn check_without_policy(&self) -> anyhow::Result<()> {
        self.check()?;
        if self.look_ahead.is_some() {
            bail!("--look-ahead has no meaning without a policy; hint: it belongs to isochrone eval --plan");
        }
        Ok(())
    }

    /// What leads a policy.
    pub fn waypoints<'a>(&self, asker: &'a Asker) -> anyhow::Result<Box<dyn Waypoints + 'a>> {
        self.check()?;
        if !self.is_recorded() {
            return Ok(Box::new(self.planner(asker)?));
        }
        let look_ahead = self.look_ahead_steps();
        if !(look_ahead.is_finite() && look_ahead > 0.0) {
            bail!("--look-ahead {look_ahead}; hint: give a positive number of steps");
        }
        Ok(Box::new(RecordedPlanner::new(asker.refined()?.clone(), asker.data()?, look_ahead)))
    }

    fn look_ahead_steps(&self) -> f64 {
        self.look_ahead.unwrap_or(RecordedPlanner::LOOK_AHEAD_STEPS)
    }

    fn method(&self) -> PlanMethod {
        match self.planner.unwrap_or(PlannerArg::Graph) {
            PlannerArg::Greedy => PlanMethod::Greedy { radius: self.radius.unwrap_or(3.0) },
            PlannerArg::Graph | PlannerArg::Recorded => {
                PlanMethod::Graph { max_edge_steps: self.max_edge_steps.unwrap_or(10.0) }
            }
        }
    }

    fn states(&self) -> usize {
        self.states.unwrap_or(1000)
    }

    /// The first flag that was given.
    pub fn first_set(&self) -> Option<&'static str> {
        self.flags().into_iter().find(|(_, is_set)| *is_set).map(|(flag, _)| flag)
    }

    fn first_set_of(&self, names: &[&str]) -> Option<&'static str> {
        let set = self.flags().into_iter().filter(|(_, is_set)| *is_set);
        set.map(|(flag, _)| flag).find(|flag| names.contains(flag))
    }

    fn flags(&self) -> [(&'static str, bool); 8] {
        [
            ("--planner", self.planner.is_some()),
            ("--look-ahead", self.look_ahead.is_some()),
            ("--radius", self.radius.is_some()),
            ("--max-edge-steps", self.max_edge_steps.is_some()),
            ("--calibrated", self.calibrated),
            ("--round-trip", self.round_trip),
            ("--states", self.states.is_some()),
            ("--seed", self.seed.is_some()),
        ]
    }

    /// The planner that the flags describe, over the data of a run and with its distance.
    pub fn planner<'a>(&self, asker: &'a Asker) -> anyhow::Result<Planner<Box<dyn TemporalDistance + 'a>>> {
        let method = self.method();
        let (flag, value, max_states) = match method {
            PlanMethod::Greedy { radius } => ("--radius", radius, MAX_MOVES),
            PlanMethod::Graph { max_edge_steps } => ("--max-edge-steps", max_edge_steps, MAX_GRAPH_STATES),
        };
        if !(value.is_finite() && value > 0.0) {
            bail!("{flag} {value}; hint: give a positive number");
        }
        if self.states() == 0 || self.states() > max_states {
            bail!("--states {}; hint: give a number between 1 and {max_states}", self.states());
        }
        let config = PlannerConfig {
            method,
            round_trip: self.round_trip,
            calibrated: self.calibrated,
            transitions: self.states(),
            seed: self.seed.unwrap_or(0),
        };
        Ok(config.build(asker.distance()?, asker.data()?)?)
    }

    /// What to try where no path was found.
    pub fn hint(&self) -> &'static str {
        if self.is_recorded() {
            return "--planner graph searches with the learned distance, which may know one";
        }
        match self.method() {
            PlanMethod::Greedy { .. } => "try a larger --radius or more --states",
            PlanMethod::Graph { .. } => "try a longer --max-edge-steps or more --states",
        }
    }

    /// In words.
    pub fn describe(&self) -> String {
        if self.is_recorded() {
            return format!("recorded segments, {} steps ahead", self.look_ahead_steps());
        }
        let states = self.states();
        match self.method() {
            PlanMethod::Greedy { radius } => {
                format!("greedy: up to {states} recorded transitions, those that start within {radius}")
            }
            PlanMethod::Graph { max_edge_steps } => {
                let observed = if self.calibrated { "observed " } else { "" };
                let both = if self.round_trip { " in both directions" } else { "" };
                format!(
                    "graph: up to {states} recorded states, edges of up to {max_edge_steps} {observed}steps{both}"
                )
            }
        }
    }
}
