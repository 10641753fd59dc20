//! Recipes: studies as TOML files.

use crate::{error::StudyError, files::read_text};
use isochrone_core::Discount;
use isochrone_data::formats::ReadOptions;
use isochrone_envs::DatasetId;
use isochrone_eval::rollout::LAST_THREE;
use isochrone_learn::{Algorithm, run::checkpoint::sha256};
use serde::{Deserialize, Deserializer, Serialize};
use std::{collections::BTreeMap, ops::Range, path::Path};
use toml::Table;

/// The built-in recipes.
pub const BUILT_IN: [(&str, &str); 22] = [
    ("nav2d", include_str!("../recipes/nav2d.toml")),
    ("nav2d-v2", include_str!("../recipes/nav2d-v2.toml")),
    ("mazes", include_str!("../recipes/mazes.toml")),
    ("antmaze", include_str!("../recipes/antmaze.toml")),
    ("antmaze-alone", include_str!("../recipes/antmaze-alone.toml")),
    ("pointmazes", include_str!("../recipes/pointmazes.toml")),
    ("pointmazes-two-levels", include_str!("../recipes/pointmazes-two-levels.toml")),
    ("antmazes", include_str!("../recipes/antmazes.toml")),
    ("waypoints", include_str!("../recipes/waypoints.toml")),
    ("two-levels", include_str!("../recipes/two-levels.toml")),
    ("two-levels-cmd1", include_str!("../recipes/two-levels-cmd1.toml")),
    ("d4rl", include_str!("../recipes/d4rl.toml")),
    ("d4rl-waypoints", include_str!("../recipes/d4rl-waypoints.toml")),
    ("d4rl-two-levels", include_str!("../recipes/d4rl-two-levels.toml")),
    ("nav2d-planners", include_str!("../recipes/nav2d-planners.toml")),
    ("mazes-planners", include_str!("../recipes/mazes-planners.toml")),
    ("antmaze-planners", include_str!("../recipes/antmaze-planners.toml")),
    ("nav2d-search", include_str!("../recipes/nav2d-search.toml")),
    ("mazes-search", include_str!("../recipes/mazes-search.toml")),
    ("d4rl-search", include_str!("../recipes/d4rl-search.toml")),
    ("policies-search", include_str!("../recipes/policies-search.toml")),
    ("two-levels-search", include_str!("../recipes/two-levels-search.toml")),
];

/// With more seeds, the tasks would overlap with those of evaluations during training.
pub const MAX_SEEDS: u64 = 1000;
/// The largest seed that others are counted from.
const MAX_FIRST_SEED: u64 = u32::MAX as u64;
/// The largest number of episodes, relative to the default of a dataset.
const MAX_DATA_SHARE: f64 = 100.0;
const MAX_RECIPE_BYTES: u64 = 1 << 20;

/// A study: datasets, methods and seeds to compare, how runs are evaluated, and what the report
/// shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// Title of the report.
    pub title: String,
    /// The summary of the study in one line.
    pub summary: String,
    /// The introduction of the report.
    #[serde(default)]
    pub about: String,
    /// Number of seeds.
    pub seeds: u64,
    /// The first seed; the others follow.
    #[serde(default)]
    pub first_seed: u64,
    /// Seed of the datasets.
    pub data_seed: u64,
    /// Size of the datasets, as a share of their default number of episodes.
    #[serde(default = "one")]
    pub data_share: f64,
    /// The dimensions of an observation that form a goal, such as a position; all if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<Range<usize>>,
    /// Gradient updates of methods that do not set their own number.
    pub steps: Option<u64>,
    /// How runs are evaluated.
    pub evaluation: EvaluationRecipe,
    /// Planners that are evaluated besides the policy alone.
    #[serde(default)]
    pub planners: Vec<PlannerRecipe>,
    /// Datasets by name.
    pub datasets: BTreeMap<String, DatasetRecipe>,
    /// Settings for all methods that have them.
    #[serde(default)]
    pub settings: Table,
    /// Methods by name.
    pub methods: BTreeMap<String, MethodRecipe>,
    /// Further variants of the settings: a hyperparameter search.
    #[serde(default)]
    pub variants: Vec<VariantRecipe>,
    /// Regression thresholds, which also hold for the quick version.
    #[serde(default)]
    pub thresholds: Vec<ThresholdRecipe>,
    /// The figures of the report.
    #[serde(default)]
    pub report: ReportRecipe,
    /// A version of the study that takes minutes.
    #[serde(default, skip_serializing)]
    pub quick: Option<QuickRecipe>,
}

/// How runs are evaluated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationRecipe {
    /// Number of evaluated checkpoints: the last of ten evenly spaced ones.
    #[serde(default = "one_checkpoint")]
    pub checkpoints: usize,
    /// Episodes of each task at each checkpoint.
    pub episodes: u64,
    /// Episodes at checkpoints before the last three, if fewer.
    pub earlier_episodes: Option<u64>,
    /// Seed of the tasks, to which the seed of the run is added.
    pub task_seed: u64,
    /// Evaluation of the policy at ten times during training.
    pub training: Option<TrainingEvaluation>,
}

/// Rollouts during training.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingEvaluation {
    /// Episodes of each task.
    pub episodes: u64,
    /// Seed of the tasks; the same for all runs.
    pub task_seed: u64,
}

/// A planner above the policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannerRecipe {
    /// Name in tables.
    pub name: String,
    /// The search method.
    pub search: SearchRecipe,
    /// Number of dataset states or transitions to plan over; all for recorded segments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub states: Option<usize>,
    /// Whether distances are calibrated to observed step counts.
    #[serde(default)]
    pub calibrated: bool,
    /// Whether the larger of the two directed distances is used.
    #[serde(default)]
    pub round_trip: bool,
    /// What the planner is distilled into, which is evaluated instead of the planner.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "student")]
    pub distilled: Option<Student>,
    /// Number of evaluated checkpoints: the last ones.
    #[serde(default = "one_checkpoint")]
    pub checkpoints: usize,
    /// Episodes of each task at each checkpoint.
    pub episodes: u64,
}

/// What a planner is distilled into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Student {
    /// A policy, which replaces the planner and the policy below it.
    Policy,
    /// A network of waypoints above the policy, which replaces the planner.
    Waypoints,
}

/// Reads a student; older results have `true` for a policy.
fn student<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Student>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected \"policy\" or \"waypoints\"")]
    enum Written {
        Name(Student),
        IsPolicy(bool),
    }
    Ok(match Written::deserialize(deserializer)? {
        Written::Name(student) => Some(student),
        Written::IsPolicy(is_policy) => is_policy.then_some(Student::Policy),
    })
}

/// The search method of a planner.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum SearchRecipe {
    /// [`PlanMethod::Greedy`](isochrone_eval::plan::PlanMethod::Greedy), with the learned distance.
    Greedy {
        /// Radius of the ball, in the units of observations.
        radius: f64,
    },
    /// [`PlanMethod::SoftGraph`](isochrone_eval::plan::PlanMethod::SoftGraph) or
    /// [`PlanMethod::Graph`](isochrone_eval::plan::PlanMethod::Graph), with the learned distance.
    Graph {
        /// The edge length up to which the distance is accurate, in steps; longer edges are
        /// expensive.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edge_scale_steps: Option<f64>,
        /// The longest edge, in steps; longer ones are left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_edge_steps: Option<f64>,
        /// How states are chosen.
        #[serde(default, skip_serializing_if = "VerticesRecipe::is_random")]
        vertices: VerticesRecipe,
    },
    /// [`RecordedPlanner`](isochrone_eval::plan::RecordedPlanner), without a learned distance.
    Recorded {
        /// The number of steps from the current state to the waypoint on the path.
        look_ahead_steps: f64,
    },
    /// [`StochasticPlanner`](isochrone_eval::chance::StochasticPlanner), without a learned
    /// distance.
    Stochastic {
        /// What failing costs, in steps; ten times the step limit by default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        price_of_failing: Option<f64>,
        /// Whether moves that the data lack are left out.
        #[serde(default)]
        recorded_only: bool,
    },
    /// [`Advantages`](isochrone_learn::distill::policy::Advantages) of the learned distance: no
    /// planner, but waypoints of the data, from which a network of waypoints is extracted.
    Advantages {
        /// The number of steps from a state to its waypoint.
        steps: u32,
        /// The inverse temperature of the weights, per step of the distance.
        alpha: f64,
    },
}

/// The choice of the states of a graph.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerticesRecipe {
    /// Uniformly at random.
    #[default]
    Random,
    /// Such that every dataset state is near one of them.
    Coverage,
    /// Coverage of efficient trajectories.
    Efficient,
}

impl VerticesRecipe {
    // By reference, because serde calls it.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_random(&self) -> bool {
        *self == Self::Random
    }
}

/// The evaluation of a method with planners.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Planned {
    /// Number of the last checkpoints.
    pub checkpoints: usize,
    /// Episodes of each task.
    pub episodes: u64,
}

/// A dataset of a study.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DatasetRecipe {
    /// Published success rates in percent, by method.
    pub published: BTreeMap<String, f64>,
    /// The best published success rate, planners included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<BestPublished>,
}

/// The best published success rate on a dataset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BestPublished {
    /// Success rate in percent.
    pub percent: f64,
    /// The method.
    pub method: String,
}

/// A method of a study.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MethodRecipe {
    /// Gradient updates.
    pub steps: Option<u64>,
    /// The evaluation with planners, if it differs from that of other methods.
    pub planned: Option<Planned>,
    /// The inverse temperature of advantages, if it differs from that of the planners: it has to
    /// fit the scale of the method's distances.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// Settings of this method.
    pub settings: Table,
}

/// A variant of the settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VariantRecipe {
    /// Methods that the variant does not apply to.
    #[serde(default)]
    pub except: Vec<String>,
    /// The changed settings.
    pub settings: Table,
}

/// A regression threshold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThresholdRecipe {
    /// Methods; all if empty.
    #[serde(default)]
    pub methods: Vec<String>,
    /// The metric.
    pub metric: Metric,
    /// The planner; `None` for the policy alone.
    pub planner: Option<String>,
    /// A baseline whose success is added to the minimum.
    pub above: Option<String>,
    /// The minimum.
    pub min: f64,
}

/// A metric of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    Success,
    RankAhead,
    RankAcross,
}

/// The figures of a report.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReportRecipe {
    /// Figures, in this order.
    pub figures: Vec<FigureKind>,
    /// Methods whose distances and plans are drawn.
    pub mapped_methods: Vec<String>,
    /// The position of the state whose distances are mapped.
    pub place: [f64; 2],
    /// The starts and goals of the plans that are drawn.
    pub plans: Vec<[[f64; 2]; 2]>,
}

/// A kind of figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FigureKind {
    /// The success rate of every method, alone and with planners.
    Success,
    /// Success rates over training.
    Curves,
    /// Learned against exact distances.
    Calibration,
    /// Learned distances to and from a place.
    Maps,
    /// Plans of the first planner.
    Plans,
    /// Learned distances, exact distances and their difference.
    Exact,
}

/// The quick version of a study.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuickRecipe {
    /// Number of seeds.
    pub seeds: u64,
    /// Share of the gradient updates.
    pub steps_share: f64,
    /// Size of the datasets, as a share of their default number of episodes.
    pub data_share: f64,
    /// Episodes of each task, alone and with planners.
    pub episodes: u64,
    /// Evaluated checkpoints.
    pub checkpoints: usize,
}

fn one() -> f64 {
    1.0
}

fn one_checkpoint() -> usize {
    1
}

impl Recipe {
    /// Returns a built-in recipe.
    pub fn built_in(name: &str) -> Option<Self> {
        let (name, text) = BUILT_IN.into_iter().find(|(known, _)| *known == name)?;
        Some(Self::parse(text, Path::new(name)).unwrap_or_else(|error| panic!("{error}")))
    }

    /// Reads a recipe file.
    ///
    /// # Errors
    /// If the file cannot be read or the recipe is invalid.
    pub fn load(path: &Path) -> Result<Self, StudyError> {
        Self::parse(&read_text(path, MAX_RECIPE_BYTES)?, path)
    }

    /// Parses the text of a recipe; `path` is the file named in errors. With `base`, the text lists
    /// changes to a built-in recipe, and `only` the methods to keep.
    ///
    /// # Errors
    /// If the recipe is invalid.
    pub fn parse(text: &str, path: &Path) -> Result<Self, StudyError> {
        let wrong = |problem: String, hint| StudyError::Invalid { path: path.into(), problem, hint };
        let refused = |error: toml::de::Error| {
            wrong(error.to_string().trim_end().replace('\n', " "), "the built-in recipes are examples")
        };
        let changes: Table = toml::from_str(text).map_err(refused)?;
        let recipe: Self = match changes.get("base") {
            // The text is parsed again, so that errors name a line.
            None => toml::from_str(text).map_err(refused)?,
            Some(base) => {
                let Some(table) = base.as_str().and_then(built_in_table) else {
                    let known = BUILT_IN.map(|(name, _)| name).join(", ");
                    return Err(wrong(format!("base = {base} is none of {known}"), "name a built-in recipe"));
                };
                changed(table, changes).try_into().map_err(refused)?
            }
        };
        recipe.check(path)?;
        Ok(recipe)
    }

    /// Returns how a method acts with a planner of this name, in words.
    pub(crate) fn acts(&self, planner: &str) -> String {
        let is_extracted = |one: &PlannerRecipe| {
            one.name == planner && matches!(one.search, SearchRecipe::Advantages { .. })
        };
        let preposition = if self.planners.iter().any(is_extracted) { "as" } else { "with the planner" };
        format!("{preposition} {planner}")
    }

    /// Returns an error that names the file `path` if a value is wrong.
    pub(crate) fn check(&self, path: &Path) -> Result<(), StudyError> {
        let quick = self.quick.map(|_| self.clone().quick());
        let wrong = self.wrong_value().or_else(|| {
            let (problem, hint) = quick?.wrong_value()?;
            Some((format!("quick: {problem}"), hint))
        });
        match wrong {
            Some((problem, hint)) => Err(StudyError::Invalid { path: path.into(), problem, hint }),
            None => Ok(()),
        }
    }

    /// Returns a wrong value and a hint.
    fn wrong_value(&self) -> Option<(String, &'static str)> {
        let dataset = self.datasets.keys().find(|name| DatasetId::from_name(name).is_none());
        let method = self.methods.keys().find(|name| Algorithm::named(name).is_none());
        let has_steps = |method: &MethodRecipe| method.steps.or(self.steps).is_some_and(|steps| steps > 0);
        let wrong = if let Some(name) = dataset {
            (format!("{name} is not a dataset"), "name a dataset of the list of environments")
        } else if let Some(name) = method {
            (format!("{name} is not a method"), "name an algorithm")
        } else if self.methods.is_empty() || self.datasets.is_empty() {
            ("no method or no dataset".into(), "name at least one of each")
        } else if let Some((name, _)) = self.methods.iter().find(|(_, method)| !has_steps(method)) {
            (format!("{name} has no steps"), "set steps for it or for all methods")
        } else if let Some(planner) = self.planners.iter().find(|planner| !planner.has_its_states()) {
            (format!("states of the planner {}", planner.name), "set them for greedy and graph planners only")
        } else if let Some(planner) = self.planners.iter().find(|planner| !planner.has_its_edges()) {
            (format!("edges of the planner {}", planner.name), "set edge_scale_steps or max_edge_steps")
        } else if let Some(planner) = self.planners.iter().find(|planner| !planner.has_its_advantages()) {
            let hint = "set steps to 1 or more, alpha to 0 or more, and distilled = \"waypoints\"";
            (format!("advantages of the planner {}", planner.name), hint)
        } else if let Some((name, alpha)) = self.wrong_alpha() {
            (format!("alpha = {alpha} of {name}"), "set a number of 0 or more, for planners with advantages")
        } else if let Some(problem) = self.wrong_goal() {
            (problem, "give dimensions of observations, such as goal = { start = 0, end = 2 }")
        } else if !(1..=MAX_SEEDS).contains(&self.seeds) {
            (format!("seeds = {}", self.seeds), "set a number between 1 and 1000")
        } else if !(self.data_share > 0.0 && self.data_share <= MAX_DATA_SHARE) {
            (format!("data_share = {}", self.data_share), "set a number above 0 and up to 100")
        } else if let Some(quick) =
            self.quick.filter(|quick| quick.steps_share.is_nan() || quick.steps_share <= 0.0)
        {
            (format!("steps_share = {}", quick.steps_share), "set a number above 0")
        } else if self.first_seed > MAX_FIRST_SEED {
            (format!("first_seed = {}", self.first_seed), "set a number up to 4294967295")
        } else if self.evaluation.task_seed > MAX_FIRST_SEED {
            (format!("task_seed = {}", self.evaluation.task_seed), "set a number up to 4294967295")
        } else {
            return None;
        };
        Some(wrong)
    }

    /// Returns the quick version, or the recipe itself if it has none.
    #[must_use]
    pub fn quick(mut self) -> Self {
        let Some(QuickRecipe { seeds, steps_share, data_share, episodes, checkpoints }) = self.quick else {
            return self;
        };
        let shorter = |steps: u64| ((steps as f64 * steps_share) as u64).max(1);
        (self.seeds, self.data_share, self.steps) = (seeds, data_share, self.steps.map(shorter));
        self.evaluation =
            EvaluationRecipe { checkpoints, episodes, earlier_episodes: None, ..self.evaluation };
        for planner in &mut self.planners {
            (planner.checkpoints, planner.episodes) = (1, episodes);
        }
        for method in self.methods.values_mut() {
            (method.steps, method.planned) = (method.steps.map(shorter), None);
        }
        self
    }

    /// Returns the recipe with only the given methods, or all methods if none are given.
    ///
    /// # Errors
    /// If the recipe does not have one of the methods.
    pub fn with_methods(mut self, methods: &[Algorithm]) -> Result<Self, StudyError> {
        let known: Vec<&str> = self.methods().into_iter().map(Algorithm::name).collect();
        if let Some(unknown) = methods.iter().find(|method| !known.contains(&method.name())) {
            return Err(StudyError::UnknownMethod { method: unknown.name().to_owned(), known });
        }
        if !methods.is_empty() {
            self.methods.retain(|name, _| methods.iter().any(|method| method.name() == name));
        }
        Ok(self)
    }

    /// Returns the methods, in the order of tables.
    pub fn methods(&self) -> Vec<Algorithm> {
        Algorithm::ALL.into_iter().filter(|method| self.methods.contains_key(method.name())).collect()
    }

    /// Returns a method whose inverse temperature is out of range, or that no planner uses.
    fn wrong_alpha(&self) -> Option<(&str, f64)> {
        let is_used =
            self.planners.iter().any(|planner| matches!(planner.search, SearchRecipe::Advantages { .. }));
        let is_wrong = |alpha: &f64| !(is_used && alpha.is_finite() && *alpha >= 0.0);
        let mut methods = self.methods.iter();
        methods.find_map(|(name, method)| Some((name.as_str(), method.alpha.filter(is_wrong)?)))
    }

    /// Returns what is wrong with the dimensions of goals, if anything.
    fn wrong_goal(&self) -> Option<String> {
        let goal = self.goal.as_ref()?;
        let width = |name: &str| {
            let id = DatasetId::from_name(name).expect("checked before");
            id.env().dataset_spec().observation.width
        };
        let narrow = self.datasets.keys().find(|name| goal.is_empty() || goal.end > width(name))?;
        Some(format!("goal = {goal:?} is no slice of the {} dimensions of {narrow}", width(narrow)))
    }

    /// Returns how datasets are read.
    pub(crate) fn read_options(&self) -> ReadOptions {
        ReadOptions { goal: self.goal.clone(), ..ReadOptions::default() }
    }

    /// Returns the gradient updates of a method.
    pub fn steps(&self, method: Algorithm) -> u64 {
        self.methods[method.name()].steps.or(self.steps).expect("checked when the recipe was read")
    }

    /// The evaluation of a method with a planner.
    pub(crate) fn planned(&self, method: Algorithm, planner: &PlannerRecipe) -> Planned {
        let PlannerRecipe { checkpoints, episodes, .. } = *planner;
        self.methods[method.name()].planned.unwrap_or(Planned { checkpoints, episodes })
    }

    /// Episodes of each task at a checkpoint with `later` checkpoints after it.
    pub(crate) fn episodes(&self, later: usize, default: u64) -> u64 {
        let earlier = self.evaluation.earlier_episodes.filter(|_| later >= LAST_THREE);
        earlier.map_or(default, |earlier| earlier.min(default))
    }

    /// The discount of exact distances, which is that of the settings.
    pub(crate) fn discount(&self) -> Option<Discount> {
        Discount::new(self.settings.get("discount")?.as_float()?).ok()
    }
}

/// A built-in recipe as a table, with the changes that it makes to its own base.
fn built_in_table(name: &str) -> Option<Table> {
    let (_, text) = BUILT_IN.into_iter().find(|(known, _)| *known == name)?;
    let table: Table = toml::from_str(text).expect("built-in recipes are TOML");
    match table.get("base").and_then(toml::Value::as_str) {
        None => Some(table),
        Some(base) => Some(changed(built_in_table(base)?, table)),
    }
}

/// Applies changes to a recipe: tables are merged unless they are of another `kind`, everything
/// else is replaced, and `only` names the methods to keep.
fn changed(mut recipe: Table, mut changes: Table) -> Table {
    fn merge(into: &mut Table, changes: Table) {
        for (name, value) in changes {
            // A setting that is replaced as a whole keeps no part of its own from the base.
            let part = format!("{name}.");
            into.retain(|other, _| !other.starts_with(&part));
            match (into.get_mut(&name), value) {
                (Some(toml::Value::Table(into)), toml::Value::Table(changes))
                    if changes.get("kind").is_none_or(|kind| into.get("kind") == Some(kind)) =>
                {
                    merge(into, changes);
                }
                (_, value) => {
                    into.insert(name, value);
                }
            }
        }
    }
    changes.remove("base");
    let only = changes.remove("only");
    merge(&mut recipe, changes);
    if let (Some(toml::Value::Array(only)), Some(toml::Value::Table(methods))) =
        (only, recipe.get_mut("methods"))
    {
        methods.retain(|name, _| only.iter().any(|kept| kept.as_str() == Some(name)));
    }
    recipe
}

impl PlannerRecipe {
    /// Whether a graph has either an edge scale or a maximum edge length.
    fn has_its_edges(&self) -> bool {
        match self.search {
            SearchRecipe::Graph { edge_scale_steps, max_edge_steps, .. } => {
                edge_scale_steps.is_some() != max_edge_steps.is_some()
            }
            _ => true,
        }
    }

    /// Whether advantages are in range and become a network of waypoints, since they are no
    /// planner.
    fn has_its_advantages(&self) -> bool {
        match self.search {
            SearchRecipe::Advantages { steps, alpha } => {
                steps > 0 && alpha.is_finite() && alpha >= 0.0 && self.distilled == Some(Student::Waypoints)
            }
            _ => true,
        }
    }

    /// Whether a number of states is set if and only if the planner samples states.
    fn has_its_states(&self) -> bool {
        let samples = matches!(self.search, SearchRecipe::Greedy { .. } | SearchRecipe::Graph { .. });
        samples == self.states.is_some_and(|states| states > 0)
    }
}

impl VariantRecipe {
    /// Returns the changed settings in one line.
    pub fn label(&self) -> String {
        let one = |(name, value): (&String, &toml::Value)| format!("`{name} = {value}`");
        self.settings.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    pub(crate) fn hash(&self) -> u32 {
        u32::from_str_radix(&sha256(self.label().as_bytes())[..8], 16).expect("hexadecimal digits")
    }
}
