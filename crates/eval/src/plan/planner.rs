//! The planner: a method, a distance, and the transitions that it searches.

#[cfg(feature = "nearest")]
use super::latent_states::LatentStates;
use super::{
    Follower, Path, PlanError, PlanMethod, Transitions, Waypoints, error,
    goal_cache::GoalCache,
    graph::Graph,
    greedy,
    pursuit::{Paths as _, Pursuit},
    soft_search::{SoftSearch, SoftView},
};
use crate::nearest::Direction;
use isochrone_core::{GoalPolicy, TemporalDistance, statistics};
use std::sync::Arc;

/// A planner over recorded transitions. It owns its distance; `D` may be a reference, a `Box` or an
/// `Arc`.
pub struct Planner<D> {
    search: Search,
    distance: D,
    transitions: Transitions,
    /// The nats from every node to recent goals.
    to_goals: GoalCache<Vec<f32>>,
}

/// A method with its data.
enum Search {
    Greedy { radius: f64 },
    SoftGraph(SoftSearch),
    Graph(Nodes),
}

/// A graph, and the latent rows of its states if it is large.
struct Nodes {
    graph: Graph,
    #[cfg(feature = "nearest")]
    latent: Option<LatentStates>,
}

/// The number of states above which edges are found with an index, if the distance compares latent
/// rows. All pairs of as many states take 256 MiB.
#[cfg(feature = "nearest")]
const MAX_ALL_PAIRS: usize = 8192;

impl Nodes {
    fn new(distance: &dyn TemporalDistance, states: &[f32], max_edge: f32) -> Result<Self, PlanError> {
        #[cfg(feature = "nearest")]
        if states.len() / distance.width() > MAX_ALL_PAIRS
            && let Some(latent) = LatentStates::of(distance, states)
        {
            let edges = latent.edges_into(max_edge);
            let edges = edges.map_err(|error| PlanError::Index { problem: error.to_string() })?;
            return Ok(Self { graph: Graph::of_edges(edges, max_edge), latent: Some(latent) });
        }
        let nats = distance.all_pairs_nats(states, states);
        Ok(Self {
            graph: Graph::new(&nats, max_edge),
            #[cfg(feature = "nearest")]
            latent: None,
        })
    }

    /// Returns whether all states within the maximum edge length of each other have an edge.
    fn has_all_edges(&self) -> bool {
        #[cfg(feature = "nearest")]
        return self.latent.is_none();
        #[cfg(not(feature = "nearest"))]
        true
    }
}

impl<D: TemporalDistance> Planner<D> {
    /// Creates a planner. A soft graph evaluates the distance between all pairs of states, which
    /// takes `4 n^2` bytes meanwhile; 8000 states are common. A graph with a maximum edge length
    /// evaluates the distance between all pairs of states, `n^2` of them. With the feature
    /// `nearest` and a distance that compares latent rows, a graph of more than 8192 states takes
    /// its edges from an index instead: between every state and its nearest ones among all states,
    /// every 8th, every 64th, and so on.
    ///
    /// # Errors
    /// If there are no transitions, a row is incomplete, a setting is not a positive number, or the
    /// index cannot be built.
    pub fn new(method: PlanMethod, distance: D, transitions: Transitions) -> Result<Self, PlanError> {
        error::check(method, &transitions, distance.width())?;
        let search = match method {
            PlanMethod::Greedy { radius } => {
                // A refined distance computes its table in the first query, which must not be one
                // of parallel rollouts. Graphs have compared their states.
                let state = &transitions.states[..distance.width()];
                distance.paired_nats(state, state);
                Search::Greedy { radius }
            }
            PlanMethod::SoftGraph { edge_scale_steps } => {
                let scale = edge_scale_steps * distance.discount().nats_per_step();
                Search::SoftGraph(SoftSearch::new(&distance, &transitions.states, scale as f32))
            }
            PlanMethod::Graph { max_edge_steps } => {
                let max_edge = max_edge_steps * distance.discount().nats_per_step();
                Search::Graph(Nodes::new(&distance, &transitions.states, max_edge as f32)?)
            }
        };
        let to_goals = GoalCache::new(transitions.states.len() / distance.width());
        Ok(Self { search, distance, transitions, to_goals })
    }

    /// Returns the distance that is used for planning.
    pub fn distance(&self) -> &D {
        &self.distance
    }

    /// Returns the Euclidean distance of a state to the nearest dataset state, in units of the
    /// median transition length.
    pub fn distance_to_data(&self, state: &[f32]) -> f64 {
        let states = self.transitions.states.chunks_exact(self.width());
        let lengths = states.clone().zip(self.transitions.next_states.chunks_exact(self.width()));
        let typical = statistics::median(lengths.map(|(from, to)| greedy::apart(from, to)).collect());
        let nearest = states.map(|other| greedy::apart(state, other)).fold(f64::INFINITY, f64::min);
        if typical > 0.0 { nearest / typical } else { 0.0 }
    }

    fn width(&self) -> usize {
        self.distance.width()
    }

    fn row<'b>(&self, rows: &'b [f32], number: usize) -> &'b [f32] {
        &rows[number * self.width()..][..self.width()]
    }

    /// Returns the candidate waypoints, `[n, width]`: the next states of transitions, or the states
    /// of the graph.
    fn nodes(&self) -> &[f32] {
        match self.search {
            Search::Greedy { .. } => &self.transitions.next_states,
            Search::SoftGraph(_) | Search::Graph(_) => &self.transitions.states,
        }
    }

    /// Returns the nats from every node to each row of `[n, width]`, or from each row to every
    /// node.
    fn between_nodes_and(&self, direction: Direction, rows: &[f32]) -> Vec<f32> {
        #[cfg(feature = "nearest")]
        if let Search::Graph(Nodes { latent: Some(nodes), .. }) = &self.search
            && let Some(nats) = nodes.between(&self.distance, direction, rows)
        {
            return nats;
        }
        let (from, to) = direction.ordered(rows, self.nodes());
        self.distance.all_pairs_nats(from, to)
    }

    /// Returns a complete graph with its distance and its states.
    fn soft<'a>(&'a self, search: &'a SoftSearch) -> SoftView<'a> {
        SoftView { search, distance: &self.distance, states: &self.transitions.states }
    }

    /// Returns the nats from every node to each goal of `[n, width]`, directly or along the graph.
    fn to_goals(&self, goals: &[f32]) -> Vec<Arc<Vec<f32>>> {
        self.to_goals.get(goals, self.width(), |goals| {
            let (nats, n) = (self.between_nodes_and(Direction::To, goals), goals.len() / self.width());
            let of_goal = |goal: usize| {
                let straight: Vec<f32> = nats.iter().skip(goal).step_by(n).copied().collect();
                match &self.search {
                    Search::Graph(nodes) => nodes.graph.to_goal(&straight),
                    Search::Greedy { .. } | Search::SoftGraph(_) => straight,
                }
            };
            (0..n).map(of_goal).collect()
        })
    }

    /// Returns the next node for every row; `None` for the goal itself. A greedy search skips
    /// `visited` transitions.
    fn next_rows(&self, from: &[f32], goals: &[f32], visited: &[bool]) -> Vec<Option<usize>> {
        let rows = 0..from.len() / self.width();
        match &self.search {
            &Search::Greedy { radius } => {
                let to_goals = self.to_goals(goals);
                let next = |row: usize| {
                    let (here, goal) = (self.row(from, row), self.row(goals, row));
                    greedy::next(here, goal, &self.transitions, radius, &to_goals[row], visited)
                };
                rows.map(next).collect()
            }
            Search::SoftGraph(search) => {
                let paths = self.soft(search).nodes(from, goals).into_iter();
                paths.map(|nodes| nodes.first().map(|node| *node as usize)).collect()
            }
            Search::Graph(Nodes { graph, .. }) => {
                let (straight, to_goals) = (self.distance.paired_nats(from, goals), self.to_goals(goals));
                let reach = self.between_nodes_and(Direction::From, from);
                let n = self.nodes().len() / self.width();
                rows.map(|row| graph.next(&reach[row * n..][..n], straight[row], &to_goals[row])).collect()
            }
        }
    }

    /// Returns the next node on the path from a node; `None` for the goal itself.
    fn next_node(&self, node: usize, goal: &[f32], visited: &[bool]) -> Option<usize> {
        let here = self.row(self.nodes(), node);
        match &self.search {
            // The distances between nodes are known.
            Search::Graph(nodes) if nodes.has_all_edges() => {
                let straight = self.distance.paired_nats(here, goal)[0];
                nodes.graph.next_from(node, straight, &self.to_goals(goal)[0])
            }
            _ => self.next_rows(here, goal, visited)[0],
        }
    }

    /// Plans a path from a state to a goal. A greedy plan takes no transition twice.
    ///
    /// # Errors
    /// [`PlanError::NoPath`] if the search does not reach the goal, [`PlanError::Shape`] if a state
    /// has the wrong width.
    pub fn plan(&self, from: &[f32], goal: &[f32]) -> Result<Path, PlanError> {
        error::check_state("from", from, self.width())?;
        error::check_state("goal", goal, self.width())?;
        if let Search::SoftGraph(search) = &self.search {
            let waypoints = self.soft(search).paths(from, goal).concat();
            return Ok(Path::new(&self.distance, [from, &waypoints[..]].concat()));
        }
        let mut visited = vec![false; self.transitions.states.len() / self.width()];
        let (mut states, mut here) = (from.to_vec(), from);
        let mut next = self.next_rows(from, goal, &visited)[0];
        while let Some(node) = next {
            // In a graph, returning to a node means that the path is a cycle.
            if std::mem::replace(&mut visited[node], true) {
                return Err(PlanError::NoPath);
            }
            here = self.row(self.nodes(), node);
            states.extend(here);
            next = self.next_node(node, goal, &visited);
        }
        if !self.is_near(here, goal) {
            return Err(PlanError::NoPath);
        }
        states.extend(goal);
        Ok(Path::new(&self.distance, states))
    }

    /// Plans the path of every row; `None` without a path.
    fn plans(&self, from: &[f32], goals: &[f32]) -> Vec<Option<Path>> {
        let rows = from.chunks_exact(self.width()).zip(goals.chunks_exact(self.width()));
        match &self.search {
            // All goals at once.
            Search::SoftGraph(search) => {
                let paths = rows.zip(self.soft(search).paths(from, goals));
                let path = |((from, _), waypoints): ((&[f32], _), Vec<f32>)| {
                    Some(Path::new(&self.distance, [from, &waypoints[..]].concat()))
                };
                paths.map(path).collect()
            }
            _ => rows.map(|(from, goal)| self.plan(from, goal).ok()).collect(),
        }
    }

    fn is_near(&self, from: &[f32], goal: &[f32]) -> bool {
        match &self.search {
            // There is an edge between any two states.
            Search::SoftGraph(_) => true,
            Search::Greedy { radius } => greedy::apart(from, goal) <= *radius,
            Search::Graph(nodes) => self.distance.paired_nats(from, goal)[0] <= nodes.graph.max_edge,
        }
    }
}

impl<D: TemporalDistance> Waypoints for Planner<D> {
    fn next(&self, from: &[f32], goals: &[f32]) -> Vec<f32> {
        if let Search::SoftGraph(search) = &self.search {
            let rows: Vec<usize> = (0..from.len() / self.width()).collect();
            return Pursuit::new(Box::new(self.soft(search)), rows.len()).next(&rows, from, goals);
        }
        let next = self.next_rows(from, goals, &[]).into_iter().zip(goals.chunks_exact(self.width()));
        let rows = next.flat_map(|(next, goal)| next.map_or(goal, |node| self.row(self.nodes(), node)));
        rows.copied().collect()
    }

    fn is_reachable(&self, from: &[f32], goals: &[f32]) -> Vec<bool> {
        let pairs = from.chunks_exact(self.width()).zip(goals.chunks_exact(self.width()));
        let next = self.next_rows(from, goals, &[]).into_iter().zip(pairs);
        next.map(|(next, (from, goal))| next.is_some() || self.is_near(from, goal)).collect()
    }

    fn path_steps(&self, from: &[f32], goals: &[f32]) -> Vec<f64> {
        let plans = self.plans(from, goals).into_iter();
        plans.map(|path| path.map_or(f64::INFINITY, |path| path.steps())).collect()
    }

    fn hop_ratios(&self, from: &[f32], goals: &[f32]) -> Option<Vec<f64>> {
        Some(self.plans(from, goals).iter().flatten().map(Path::hop_ratio).collect())
    }

    fn start_episodes(&self, n_episodes: usize) -> Option<Box<dyn Follower + '_>> {
        let Search::SoftGraph(search) = &self.search else { return None };
        Some(Box::new(Pursuit::new(Box::new(self.soft(search)), n_episodes)))
    }

    fn actions(&self, policy: &dyn GoalPolicy, observations: &[f32], goals: &[f32]) -> Vec<f32> {
        let Search::Greedy { radius } = self.search else {
            return policy.actions(observations, &self.next(observations, goals));
        };
        let mut actions = policy.actions(observations, goals);
        let rows = observations.chunks_exact(self.width()).zip(self.to_goals(goals));
        for (own, (here, to_goal)) in actions.chunks_exact_mut(policy.action_width()).zip(rows) {
            if let Some(recorded) = greedy::action(here, &self.transitions, radius, &to_goal) {
                own.copy_from_slice(recorded);
            }
        }
        actions
    }
}
