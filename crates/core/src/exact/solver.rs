//! The entry point of the exact methods: selects a method and solves goals in parallel.

use super::{
    batch::BatchSolver,
    bfs,
    certificate::Certificate,
    control, lu,
    mdp::{Structure, TabularMdp},
    method::Method,
    result::{AllPairs, GoalDistances},
    reverse::Predecessors,
};
use crate::Discount;
use rayon::prelude::*;
use std::sync::OnceLock;
use thiserror::Error;

/// Larger chains are solved by sweeps instead of a factorization. Fill-in depends on the graph; on
/// random chains with five successors, the worst case, a factorization takes 0.2 s at 2,000 states
/// and 7.5 s at 8,000, after which a goal costs 3 and 65 ms; sweeps take 7 and 26 ms per goal
/// without preparation.
const MAX_FACTORED_STATES: usize = 2_000;
/// A factorization with at most this relative error is accepted even if the tolerance is smaller,
/// because the remaining error is rounding.
const GOOD_FACTORIZATION: f64 = 1e-8;

/// An error of a distance query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SolveError {
    /// A goal is not a state.
    #[error("goal {goal} is out of range: there are {n_states} states; hint: states are numbered from 0")]
    GoalOutOfRange {
        /// The goal.
        goal: usize,
        /// The number of states.
        n_states: usize,
    },
    /// The set of goals is empty.
    #[error("no goal given; hint: give at least one goal state")]
    NoGoal,
    /// Breadth-first search was requested for stochastic dynamics.
    #[error("breadth-first search needs deterministic dynamics; hint: use policy iteration")]
    NotDeterministic,
    /// A method for Markov chains was requested for a process with several actions.
    #[error(
        "this method needs a Markov chain, but some states have several actions; hint: fix a policy first, or use policy iteration"
    )]
    NotAChain,
    /// The process has more states than the method supports.
    #[error("{n_states} states are more than the maximum of {max}; hint: merge rare states")]
    TooManyStates {
        /// The number of states.
        n_states: usize,
        /// The maximum.
        max: usize,
    },
    /// The factorization failed.
    #[error("the sparse factorization failed (singular matrix or out of memory); hint: use policy iteration")]
    Factorization,
}

/// Computes successor distances of one process at one discount.
///
/// Creating the solver costs one pass over the process, which all queries share. Several goals are
/// solved in parallel, each by one thread in a fixed order, so results are bit-identical for any
/// number of threads.
pub struct ExactSolver<'a> {
    mdp: &'a TabularMdp,
    discount: Discount,
    predecessors: Predecessors,
    method: Method,
    /// Whether the method was selected by structure, so that another may replace it if it misses
    /// the tolerance.
    automatic: bool,
    tolerance: f64,
    factors: OnceLock<Option<lu::DominantLu>>,
    batch: OnceLock<Option<BatchSolver<'a>>>,
}

impl<'a> ExactSolver<'a> {
    /// The relative error requested unless [`with_tolerance`](Self::with_tolerance) is called.
    pub const DEFAULT_TOLERANCE: f64 = 1e-9;

    /// Creates a solver with the method that suits the structure of the process.
    pub fn new(mdp: &'a TabularMdp, discount: Discount) -> Self {
        let method = match mdp.structure() {
            Structure::Deterministic => Method::BreadthFirst,
            Structure::Chain if mdp.n_states() <= MAX_FACTORED_STATES => Method::SparseLu,
            Structure::Chain | Structure::Control => Method::PolicyIteration,
        };
        Self {
            mdp,
            discount,
            predecessors: Predecessors::new(mdp),
            method,
            automatic: true,
            tolerance: Self::DEFAULT_TOLERANCE,
            factors: OnceLock::new(),
            batch: OnceLock::new(),
        }
    }

    /// Uses `method` only.
    ///
    /// # Errors
    /// If the method does not apply to this process.
    pub fn with_method(self, method: Method) -> Result<Self, SolveError> {
        match method {
            Method::BreadthFirst if self.mdp.structure() != Structure::Deterministic => {
                Err(SolveError::NotDeterministic)
            }
            Method::SparseLu if !self.mdp.is_chain() => Err(SolveError::NotAChain),
            _ => Ok(Self { method, automatic: false, ..self }),
        }
    }

    /// Sets the maximum relative error of every distance. If rounding does not allow it, the result
    /// is as accurate as possible and its certificate contains the actual bound.
    pub fn with_tolerance(mut self, relative_error: f64) -> Self {
        self.tolerance = relative_error.max(f64::EPSILON);
        self
    }

    /// Returns the distances from every state to `goal`.
    pub fn to_goal(&self, goal: usize) -> Result<GoalDistances, SolveError> {
        self.to_goal_set(&[goal])
    }

    /// Returns the distances from every state to the first of `goals` that is reached.
    ///
    /// Each is at most the smallest distance to a single goal, and smaller if the dynamics
    /// determine which goal is reached.
    pub fn to_goal_set(&self, goals: &[usize]) -> Result<GoalDistances, SolveError> {
        let goals = checked_goals(goals, self.mdp.n_states())?;
        match self.method {
            Method::BreadthFirst => Ok(bfs::solve(self.mdp, &self.predecessors, self.discount, &goals)),
            Method::PolicyIteration => Ok(self.by_policy_iteration(&goals)),
            Method::SparseLu => self.by_factorization(&goals),
        }
    }

    /// Solves several goals in parallel and returns `keep(distances)` for each, in the given order.
    /// Use it if the distances to all goals do not fit in memory.
    ///
    /// Goals share a table of the process, so that each is faster than with
    /// [`to_goal`](Self::to_goal). The distances agree within their certificates, not bit for bit;
    /// they do not depend on the other goals.
    pub fn map_goals<T: Send>(
        &self,
        goals: &[usize],
        keep: impl Fn(GoalDistances) -> T + Sync,
    ) -> Result<Vec<T>, SolveError> {
        let batch = self.batch_for(goals.len());
        goals.par_iter().map(|&goal| self.in_batch(batch, goal).map(&keep)).collect()
    }

    /// Returns the work that `n_goals` goals share, if the method has any.
    fn batch_for(&self, n_goals: usize) -> Option<&BatchSolver<'a>> {
        let pays = n_goals > 1 && self.method == Method::PolicyIteration;
        pays.then(|| self.batch.get_or_init(|| BatchSolver::new(self.mdp, self.discount)).as_ref()).flatten()
    }

    /// Solves one goal of several; goals that the batch cannot solve are solved separately.
    fn in_batch(&self, batch: Option<&BatchSolver<'a>>, goal: usize) -> Result<GoalDistances, SolveError> {
        let Some(batch) = batch else { return self.to_goal(goal) };
        let goals = checked_goals(&[goal], self.mdp.n_states())?;
        let search = self.predecessors.search_from(&goals);
        match batch.solve(&search, self.tolerance) {
            Some(distances) => Ok(distances),
            None => self.to_goal(goal),
        }
    }

    /// Returns the distances between all pairs of states, which take `8 n^2` bytes.
    pub fn all_pairs(&self) -> Result<AllPairs, SolveError> {
        let n_states = self.mdp.n_states();
        let goals: Vec<usize> = (0..n_states).collect();
        let columns = self.map_goals(&goals, |distances| (distances.certificate, distances.into_nats()))?;
        let mut nats = Vec::with_capacity(n_states * n_states);
        let mut worst = Certificate { residual_steps: 0.0 };
        for (certificate, column) in columns {
            nats.extend_from_slice(&column);
            if certificate.residual_steps() > worst.residual_steps() {
                worst = certificate;
            }
        }
        Ok(AllPairs { n_states, discount: self.discount, nats, certificate: worst })
    }

    fn by_policy_iteration(&self, goals: &[usize]) -> GoalDistances {
        let search = self.predecessors.search_from(goals);
        control::solve(self.mdp, search, goals.len(), self.discount, self.tolerance)
    }

    fn by_factorization(&self, goals: &[usize]) -> Result<GoalDistances, SolveError> {
        let search = self.predecessors.search_from(goals);
        let factored = match goals {
            &[goal] => {
                let factors = self.factors.get_or_init(|| lu::factor(self.mdp, self.discount, |_| true));
                factors
                    .as_ref()
                    .map(|factors| lu::solve_goal(self.mdp, factors, self.discount, &search, goal))
            }
            set => lu::solve_set(self.mdp, self.discount, &search, set),
        };
        let good_enough = self.tolerance.max(GOOD_FACTORIZATION);
        match factored {
            None if !self.automatic => Err(SolveError::Factorization),
            None => Ok(self.by_policy_iteration(goals)),
            // Distant goals at a small discount underflow in the factors, but not in the sweeps.
            Some(factored) if self.automatic && factored.certificate.relative_error() > good_enough => {
                let swept = self.by_policy_iteration(goals);
                let is_better = swept.certificate.residual_steps() < factored.certificate.residual_steps();
                Ok(if is_better { swept } else { factored })
            }
            Some(factored) => Ok(factored),
        }
    }
}

/// Returns the goals sorted and without duplicates, after a range check.
pub(super) fn checked_goals(goals: &[usize], n_states: usize) -> Result<Vec<usize>, SolveError> {
    if goals.is_empty() {
        return Err(SolveError::NoGoal);
    }
    if let Some(&goal) = goals.iter().find(|&&goal| goal >= n_states) {
        return Err(SolveError::GoalOutOfRange { goal, n_states });
    }
    let mut goals = goals.to_vec();
    goals.sort_unstable();
    goals.dedup();
    Ok(goals)
}
