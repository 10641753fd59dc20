//! The planner flags, shared by all commands that plan.

use crate::commands::query::LoadedRun;
use anyhow::bail;
use clap::ValueEnum;
use isochrone::{
    TemporalDistance,
    chance::{ChanceConfig, ChanceModel, Objective, StochasticPlanner},
    data::Dataset,
    plan::{
        PartialGoals, Path, PlanError, PlanMethod, Planner, PlannerConfig, RecordedPlanner, Vertices,
        Waypoints,
    },
};
use std::sync::Arc;

#[derive(Clone, Copy, clap::Args, Default)]
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

    /// Stochastic: what failing costs, in steps; a higher price gambles less [default: ten times
    /// the step limit of the environment, or 10000]
    #[arg(long, value_name = "STEPS", allow_negative_numbers = true)]
    price_of_failing: Option<f64>,

    /// Stochastic: maximize the probability of arriving within N steps instead, which gambles only
    /// if the safe path takes too long
    #[arg(long, value_name = "N", conflicts_with = "price_of_failing")]
    within_steps: Option<usize>,

    /// Stochastic: leave out moves that the data lack, such as driving a corridor backward
    #[arg(long)]
    recorded_only: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PlannerArg {
    /// Fastest recorded segments, joined by short connections
    Recorded,
    /// Repeatedly takes the nearby recorded transition that ends nearest in time to the goal
    Greedy,
    /// Shortest path in a graph of recorded states, in which long edges are expensive
    Graph,
    /// Least expected steps with a price of failing, where jumps such as teleporters have counted
    /// outcomes
    Stochastic,
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

/// The flags of the stochastic planner.
const STOCHASTIC_FLAGS: [&str; 3] = ["--price-of-failing", "--within-steps", "--recorded-only"];
/// The default price of failing where no environment limits the steps.
const PRICE_OF_FAILING: f64 = 10_000.0;
/// The default price of failing, relative to the step limit of an environment.
const PRICE_PER_LIMIT: f64 = 10.0;
/// The maximum number of steps of a finite horizon, whose values are stored for every step.
const MAX_WITHIN_STEPS: usize = 10_000;

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
            None => self.first_set_of(&GRAPH_FLAGS).is_none() && !self.is_stochastic(),
        }
    }

    /// Returns whether plans consider the outcomes of jumps.
    pub fn is_stochastic(&self) -> bool {
        match self.planner {
            Some(planner) => planner == PlannerArg::Stochastic,
            None => self.first_set_of(&STOCHASTIC_FLAGS).is_some(),
        }
    }

    /// Returns whether plans need no learned distance.
    pub fn needs_only_data(&self) -> bool {
        self.is_recorded() || self.is_stochastic()
    }

    /// Builds the model of the stochastic planner.
    pub fn chance_model(&self, data: &Dataset) -> anyhow::Result<Arc<ChanceModel>> {
        let config = ChanceConfig { recorded_only: self.recorded_only, ..ChanceConfig::default() };
        Ok(Arc::new(ChanceModel::fit(data, &config)?))
    }

    /// Returns the objective of the stochastic planner in an environment with a step limit.
    fn objective(&self, step_limit: Option<usize>) -> anyhow::Result<Objective> {
        if let Some(steps) = self.within_steps {
            if steps == 0 || steps > MAX_WITHIN_STEPS {
                bail!("--within-steps {steps}; hint: give a number between 1 and {MAX_WITHIN_STEPS}");
            }
            return Ok(Objective::WithinSteps(steps));
        }
        let price = self.price(step_limit);
        if !(price.is_finite() && price > 0.0) {
            bail!("--price-of-failing {price}; hint: give a positive number of steps");
        }
        Ok(Objective::PriceOfFailing(price))
    }

    /// Returns the price of failing, in steps.
    fn price(&self, step_limit: Option<usize>) -> f64 {
        let default = step_limit.map_or(PRICE_OF_FAILING, |limit| PRICE_PER_LIMIT * limit as f64);
        self.price_of_failing.unwrap_or(default)
    }

    /// Builds the stochastic planner over the data of its model.
    pub fn stochastic(
        &self,
        model: &Arc<ChanceModel>,
        data: &Dataset,
        step_limit: Option<usize>,
    ) -> anyhow::Result<StochasticPlanner> {
        Ok(StochasticPlanner::new(Arc::clone(model), data, self.objective(step_limit)?)?)
    }

    /// Returns the flags without a seed that has no effect on the planner, for a command that has
    /// another use for it: alone, it selects no graph.
    pub fn with_used_seed(&self) -> Self {
        let unseeded = Self { seed: None, ..*self };
        if unseeded.needs_only_data() { unseeded } else { *self }
    }

    /// Rejects flags that would have no effect.
    pub fn check(&self) -> anyhow::Result<()> {
        if self.is_stochastic() {
            if let Some(flag) = self.first_set_of(&GRAPH_FLAGS).or(self.first_set_of(&["--look-ahead"])) {
                bail!(
                    "{flag} does not apply to the planner stochastic; hint: leave it out, or set another --planner"
                );
            }
            self.objective(None)?;
            return Ok(());
        }
        if let Some(flag) = self.first_set_of(&STOCHASTIC_FLAGS) {
            bail!(
                "{flag} applies to the planner stochastic; hint: leave it out, or set --planner stochastic"
            );
        }
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
    pub fn waypoints<'a>(
        &self,
        loaded: &'a LoadedRun,
        step_limit: Option<usize>,
    ) -> anyhow::Result<Box<dyn Waypoints + 'a>> {
        let planner = self.full_goal_waypoints(loaded, step_limit)?;
        Ok(match &loaded.model.spec.goal {
            Some(columns) => Box::new(PartialGoals::new(planner, loaded.data()?, columns.clone())),
            None => planner,
        })
    }

    /// Returns the source of waypoints to goals that are full states, such as states of the data.
    pub fn full_goal_waypoints<'a>(
        &self,
        loaded: &'a LoadedRun,
        step_limit: Option<usize>,
    ) -> anyhow::Result<Box<dyn Waypoints + 'a>> {
        self.check()?;
        if self.is_stochastic() {
            let model = loaded.chance(|data| self.chance_model(data))?;
            return Ok(Box::new(self.stochastic(model, loaded.data()?, step_limit)?));
        }
        if !self.is_recorded() {
            // The greedy planner takes recorded actions.
            let (recorded, acts) = (loaded.data()?.spec().action.width, loaded.model.spec.action.width);
            if matches!(self.method(), PlanMethod::Greedy { .. }) && recorded > 0 && recorded != acts {
                bail!(
                    "--data: actions of {recorded} dimensions, not {acts}; hint: give data with the same columns as the training data, or set another --planner"
                );
            }
            return Ok(Box::new(self.planner(loaded)?));
        }
        let look_ahead = self.look_ahead_steps()?;
        Ok(Box::new(RecordedPlanner::new(loaded.refined()?.clone(), loaded.data()?, look_ahead)))
    }

    fn look_ahead(&self) -> f64 {
        self.look_ahead.unwrap_or(RecordedPlanner::LOOK_AHEAD_STEPS)
    }

    /// Returns the steps from the current state to the waypoint of recorded segments.
    pub fn look_ahead_steps(&self) -> anyhow::Result<f64> {
        let look_ahead = self.look_ahead();
        if !(look_ahead.is_finite() && look_ahead > 0.0) {
            bail!("--look-ahead {look_ahead}; hint: give a positive number of steps");
        }
        Ok(look_ahead)
    }

    fn method(&self) -> PlanMethod {
        match self.planner.unwrap_or(PlannerArg::Graph) {
            PlannerArg::Greedy => PlanMethod::Greedy { radius: self.radius.unwrap_or(3.0) },
            PlannerArg::Graph | PlannerArg::Recorded | PlannerArg::Stochastic => match self.max_edge_steps {
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

    /// Returns the random seed.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(0)
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

    fn flags(&self) -> [(&'static str, bool); 13] {
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
            ("--price-of-failing", self.price_of_failing.is_some()),
            ("--within-steps", self.within_steps.is_some()),
            ("--recorded-only", self.recorded_only),
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
            seed: self.seed(),
        };
        Ok(config.build(loaded.distance()?, loaded.data()?)?)
    }

    /// Returns a hint for the case that no path was found.
    pub fn hint(&self) -> &'static str {
        if self.is_recorded() {
            return "try --planner graph, which searches with the learned distance";
        }
        if self.is_stochastic() {
            return match self.recorded_only {
                true => "leave out --recorded-only, so that moves that the data lack are tried",
                false => "raise --price-of-failing, or collect trajectories that connect start and goal",
            };
        }
        match self.method() {
            PlanMethod::Greedy { .. } => "try a larger --radius or more --states",
            PlanMethod::SoftGraph { .. } => "try more --states",
            PlanMethod::Graph { .. } => "try a longer --max-edge-steps or more --states",
        }
    }

    /// Describes the planner in words, in an environment with a step limit.
    pub fn describe(&self, step_limit: Option<usize>) -> String {
        if self.is_recorded() {
            return format!("recorded segments, {} steps ahead", self.look_ahead());
        }
        if self.is_stochastic() {
            let moves = if self.recorded_only { ", recorded moves only" } else { "" };
            return match self.within_steps {
                Some(steps) => format!("stochastic: arrive within {steps} steps{moves}"),
                None => format!("stochastic: failing costs {} steps{moves}", self.price(step_limit)),
            };
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
