//! The planner flags, shared by all commands that plan.

use crate::commands::query::LoadedRun;
use anyhow::bail;
use clap::ValueEnum;
use isochrone::{
    TemporalDistance,
    plan::{
        PartialGoals, Path, PlanError, PlanMethod, Planner, PlannerConfig, RecordedPlanner, Vertices,
        Waypoints,
    },
};

#[derive(clap::Args)]
pub struct PlannerArgs {
    /// Planning method [default: recorded; graph if one of its flags is given]
    #[arg(long, value_enum, value_name = "METHOD")]
    planner: Option<PlannerArg>,

    /// Recorded: steps from the current state to the waypoint given to the policy [default: 12]
    #[arg(long, value_name = "STEPS", allow_negative_numbers = true)]
    look_ahead: Option<f64>,

    /// Greedy: maximum distance to the start of a recorded transition, in observation units
    /// [default: 3]
    #[arg(long, value_name = "DISTANCE", allow_negative_numbers = true)]
    radius: Option<f64>,

    /// Graph: edge length up to which the distance is accurate, in learned steps, or in observed
    /// steps with --calibrated; longer edges cost far more than their length [default: 10]
    #[arg(long, value_name = "STEPS", allow_negative_numbers = true, conflicts_with = "max_edge_steps")]
    edge_scale_steps: Option<f64>,

    /// Graph: leave out longer edges, in the same steps, and plan again at every step
    #[arg(long, value_name = "STEPS", allow_negative_numbers = true)]
    max_edge_steps: Option<f64>,

    /// Choice of the dataset states [default: efficient; random with --max-edge-steps and for the
    /// planner greedy]
    #[arg(long, value_enum, value_name = "CHOICE")]
    vertices: Option<VerticesArg>,

    /// Calibrate distances to observed step counts
    #[arg(long)]
    calibrated: bool,

    /// Use the larger of the two directed distances, so that edges are reversible
    #[arg(long)]
    round_trip: bool,

    /// Maximum number of dataset states [default: 1000]
    #[arg(long, value_name = "N")]
    states: Option<usize>,

    /// Random seed for the choice of the states [default: 0]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PlannerArg {
    /// Fastest recorded segments, joined by short connections
    Recorded,
    /// Repeatedly takes the nearby recorded transition that ends nearest in time to the goal
    Greedy,
    /// Shortest path in a graph of recorded states, in which long edges are expensive
    Graph,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum VerticesArg {
    /// Every dataset state is near one of them
    Coverage,
    /// Uniformly at random, with the density of the data
    Random,
    /// Coverage of the parts of trajectories that moved efficiently
    Efficient,
}

/// The maximum number of graph nodes, so that the distances between all pairs fit in memory.
const MAX_GRAPH_STATES: usize = 10_000;
/// The maximum number of transitions of the greedy planner.
const MAX_TRANSITIONS: usize = 1_000_000;

/// The flags of the planners that search with a learned distance.
const GRAPH_FLAGS: [&str; 8] = [
    "--radius",
    "--edge-scale-steps",
    "--max-edge-steps",
    "--vertices",
    "--calibrated",
    "--round-trip",
    "--states",
    "--seed",
];

/// Converts the error that there is no path to `None`, which the caller reports.
pub fn path_or_none(planned: Result<Path, PlanError>) -> anyhow::Result<Option<Path>> {
    match planned {
        Err(PlanError::NoPath) => Ok(None),
        other => Ok(Some(other?)),
    }
}

impl PlannerArgs {
    /// Returns whether plans follow recorded segments instead of the learned distance.
    pub fn is_recorded(&self) -> bool {
        match self.planner {
            Some(planner) => planner == PlannerArg::Recorded,
            None => self.first_set_of(&GRAPH_FLAGS).is_none(),
        }
    }

    /// Rejects flags that would have no effect.
    pub fn check(&self) -> anyhow::Result<()> {
        if self.is_recorded() {
            if let Some(flag) = self.first_set_of(&GRAPH_FLAGS) {
                bail!(
                    "{flag} does not apply to recorded segments; hint: leave it out, or set --planner graph"
                );
            }
            return Ok(());
        }
        let (planner, other_flags) = match self.method() {
            PlanMethod::Greedy { .. } => {
                ("greedy", &["--look-ahead", "--edge-scale-steps", "--max-edge-steps"][..])
            }
            PlanMethod::SoftGraph { .. } | PlanMethod::Graph { .. } => {
                ("graph", &["--look-ahead", "--radius"][..])
            }
        };
        if let Some(flag) = self.first_set_of(other_flags) {
            bail!(
                "{flag} does not apply to the planner {planner}; hint: leave it out, or set another --planner"
            );
        }
        Ok(())
    }

    /// Checks the flags of a plan that no policy follows.
    pub fn check_without_policy(&self) -> anyhow::Result<()> {
        self.check()?;
        if self.look_ahead.is_some() {
            bail!("--look-ahead does not apply without a policy; hint: use it with isochrone eval --plan");
        }
        Ok(())
    }

    /// Returns the source of waypoints for a policy.
    pub fn waypoints<'a>(&self, loaded: &'a LoadedRun) -> anyhow::Result<Box<dyn Waypoints + 'a>> {
        let planner = self.full_goal_waypoints(loaded)?;
        Ok(match &loaded.model.spec.goal {
            Some(columns) => Box::new(PartialGoals::new(planner, loaded.data()?, columns.clone())),
            None => planner,
        })
    }

    /// Returns the source of waypoints to goals that are full states.
    fn full_goal_waypoints<'a>(&self, loaded: &'a LoadedRun) -> anyhow::Result<Box<dyn Waypoints + 'a>> {
        self.check()?;
        if !self.is_recorded() {
            return Ok(Box::new(self.planner(loaded)?));
        }
        let look_ahead = self.look_ahead_steps();
        if !(look_ahead.is_finite() && look_ahead > 0.0) {
            bail!("--look-ahead {look_ahead}; hint: give a positive number of steps");
        }
        Ok(Box::new(RecordedPlanner::new(loaded.refined()?.clone(), loaded.data()?, look_ahead)))
    }

    fn look_ahead_steps(&self) -> f64 {
        self.look_ahead.unwrap_or(RecordedPlanner::LOOK_AHEAD_STEPS)
    }

    fn method(&self) -> PlanMethod {
        match self.planner.unwrap_or(PlannerArg::Graph) {
            PlannerArg::Greedy => PlanMethod::Greedy { radius: self.radius.unwrap_or(3.0) },
            PlannerArg::Graph | PlannerArg::Recorded => match self.max_edge_steps {
                Some(max_edge_steps) => PlanMethod::Graph { max_edge_steps },
                None => PlanMethod::SoftGraph { edge_scale_steps: self.edge_scale_steps.unwrap_or(10.0) },
            },
        }
    }

    fn vertices(&self) -> Vertices {
        match (self.vertices, self.method()) {
            (Some(VerticesArg::Coverage), _) => Vertices::Coverage,
            (Some(VerticesArg::Random), _) => Vertices::Random,
            (Some(VerticesArg::Efficient), _) => Vertices::Efficient,
            (None, PlanMethod::SoftGraph { .. }) => Vertices::Efficient,
            (None, PlanMethod::Greedy { .. } | PlanMethod::Graph { .. }) => Vertices::Random,
        }
    }

    fn states(&self) -> usize {
        self.states.unwrap_or(1000)
    }

    /// Returns the first planner flag that was given.
    pub fn first_set(&self) -> Option<&'static str> {
        self.flags().into_iter().find(|(_, is_set)| *is_set).map(|(flag, _)| flag)
    }

    fn first_set_of(&self, names: &[&str]) -> Option<&'static str> {
        let set = self.flags().into_iter().filter(|(_, is_set)| *is_set);
        set.map(|(flag, _)| flag).find(|flag| names.contains(flag))
    }

    fn flags(&self) -> [(&'static str, bool); 10] {
        [
            ("--planner", self.planner.is_some()),
            ("--look-ahead", self.look_ahead.is_some()),
            ("--radius", self.radius.is_some()),
            ("--edge-scale-steps", self.edge_scale_steps.is_some()),
            ("--max-edge-steps", self.max_edge_steps.is_some()),
            ("--vertices", self.vertices.is_some()),
            ("--calibrated", self.calibrated),
            ("--round-trip", self.round_trip),
            ("--states", self.states.is_some()),
            ("--seed", self.seed.is_some()),
        ]
    }

    /// Builds the planner over the data of a run with its learned distance.
    pub fn planner<'a>(
        &self,
        loaded: &'a LoadedRun,
    ) -> anyhow::Result<Planner<Box<dyn TemporalDistance + 'a>>> {
        let method = self.method();
        let (flag, value, max_states) = match method {
            PlanMethod::Greedy { radius } => ("--radius", radius, MAX_TRANSITIONS),
            PlanMethod::SoftGraph { edge_scale_steps } => {
                ("--edge-scale-steps", edge_scale_steps, MAX_GRAPH_STATES)
            }
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
            vertices: self.vertices(),
            seed: self.seed.unwrap_or(0),
        };
        Ok(config.build(loaded.distance()?, loaded.data()?)?)
    }

    /// Returns a hint for the case that no path was found.
    pub fn hint(&self) -> &'static str {
        if self.is_recorded() {
            return "try --planner graph, which searches with the learned distance";
        }
        match self.method() {
            PlanMethod::Greedy { .. } => "try a larger --radius or more --states",
            PlanMethod::SoftGraph { .. } => "try more --states",
            PlanMethod::Graph { .. } => "try a longer --max-edge-steps or more --states",
        }
    }

    /// Describes the planner in words.
    pub fn describe(&self) -> String {
        if self.is_recorded() {
            return format!("recorded segments, {} steps ahead", self.look_ahead_steps());
        }
        let states = self.states();
        let vertices = match self.vertices() {
            Vertices::Random => "",
            Vertices::Coverage => " that cover the data",
            Vertices::Efficient => " on efficient trajectories",
        };
        let observed = if self.calibrated { "observed " } else { "" };
        let both = if self.round_trip { " in both directions" } else { "" };
        match self.method() {
            PlanMethod::Greedy { radius } => {
                format!("greedy: up to {states} recorded transitions{vertices} that start within {radius}")
            }
            PlanMethod::SoftGraph { edge_scale_steps } => format!(
                "graph: up to {states} recorded states{vertices}, edges at a scale of {edge_scale_steps} {observed}steps{both}"
            ),
            PlanMethod::Graph { max_edge_steps } => format!(
                "graph: up to {states} recorded states{vertices}, edges of up to {max_edge_steps} {observed}steps{both}"
            ),
        }
    }
}
