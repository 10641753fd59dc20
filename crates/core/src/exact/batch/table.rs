//! The process as a table of small dense blocks, shared by all goals.

use super::super::mdp::TabularMdp;
use crate::Discount;
use std::collections::HashMap;

/// The number of actions that one vector operation evaluates.
pub(super) const LANES: usize = 4;
/// The weights of [`LANES`] actions for one successor.
pub(super) type Lane = [f64; LANES];
/// Successor lists are padded to a multiple of this, so that the loops over them have few lengths,
/// which the processor predicts. On a grid with walls, lists of one to four successors become one
/// length.
const SUCCESSOR_STEP: usize = 4;
/// A padded table may have this many weights per transition. Larger tables cost more to read than
/// the rows themselves.
const MAX_PADDING: usize = 8;

/// For every state the distinct successors of all its actions, and a block of weights with the
/// actions side by side, so that one pass over the successors evaluates all actions.
///
/// The weights are `w = gamma P(s'|s,a) / (1 - gamma P(s|s,a))`, with transitions to the state
/// itself eliminated. States with equal blocks share one copy: a grid has one per pattern of walls,
/// all of which fit into the first-level cache.
pub(super) struct ActionTable {
    states: Vec<StateBlock>,
    /// The successors of all states, padded with [`Self::NONE`].
    successors: Vec<u32>,
    /// Per block and group of [`LANES`] actions, one lane per successor.
    pub(super) weights: Vec<Lane>,
    /// The largest number of transitions of a row, for bounds of rounding errors.
    pub(super) longest_row: usize,
}

/// Where the successors and weights of a state are.
#[derive(Clone, Copy)]
struct StateBlock {
    first_successor: u32,
    n_successors: u32,
    first_weight: u32,
    n_groups: u32,
}

/// Blocks by their shape and the bits of their weights.
type KnownBlocks = HashMap<(usize, Vec<[u64; LANES]>), u32>;

impl ActionTable {
    /// A padded successor.
    pub(super) const NONE: u32 = u32::MAX;

    /// Builds the table; `None` if padding makes it too large to be worth it.
    pub(super) fn new(mdp: &TabularMdp, discount: Discount) -> Option<Self> {
        let mut table = Self {
            states: Vec::with_capacity(mdp.n_states()),
            successors: Vec::with_capacity(SUCCESSOR_STEP * mdp.n_states()),
            weights: Vec::new(),
            longest_row: (0..mdp.n_rows()).map(|row| mdp.row(row).successors.len()).max().unwrap_or(0),
        };
        let max_weights = MAX_PADDING * mdp.n_transitions() / LANES + SUCCESSOR_STEP;
        let (mut known, mut distinct, mut block) = (KnownBlocks::new(), Vec::new(), Vec::new());
        for state in 0..mdp.n_states() {
            distinct_successors(mdp, state, &mut distinct);
            let n_successors = distinct.len().next_multiple_of(SUCCESSOR_STEP);
            fill_block(mdp, discount, state, &distinct, n_successors, &mut block);
            let first_weight = table.shared_block(&mut known, n_successors, &block);
            if table.weights.len() > max_weights {
                return None;
            }
            table.states.push(StateBlock {
                first_successor: table.successors.len() as u32,
                n_successors: n_successors as u32,
                first_weight,
                n_groups: (block.len() / n_successors.max(1)) as u32,
            });
            table.successors.extend_from_slice(&distinct);
            table.successors.resize(table.successors.len() + n_successors - distinct.len(), Self::NONE);
        }
        (table.successors.len() < u32::MAX as usize).then_some(table)
    }

    /// Returns the first weight of a block, which is stored once.
    fn shared_block(&mut self, known: &mut KnownBlocks, n_successors: usize, block: &[Lane]) -> u32 {
        let key = (n_successors, block.iter().map(|lane| lane.map(f64::to_bits)).collect());
        *known.entry(key).or_insert_with(|| {
            self.weights.extend_from_slice(block);
            (self.weights.len() - block.len()) as u32
        })
    }

    /// Returns the padded successors of a state.
    pub(super) fn successors(&self, state: usize) -> &[u32] {
        let StateBlock { first_successor, n_successors, .. } = self.states[state];
        &self.successors[first_successor as usize..][..n_successors as usize]
    }

    /// Returns where a state's weights start, and the number of groups of actions: group by group,
    /// there is one lane per padded successor.
    pub(super) fn block(&self, state: usize) -> (u32, u32) {
        (self.states[state].first_weight, self.states[state].n_groups)
    }
}

/// Collects the successors of all actions of a state except itself, each once.
fn distinct_successors(mdp: &TabularMdp, state: usize, distinct: &mut Vec<u32>) {
    distinct.clear();
    for row in mdp.rows(state) {
        distinct.extend(row.successors.iter().filter(|&&to| to as usize != state));
    }
    distinct.sort_unstable();
    distinct.dedup();
}

/// Writes the weights of a state: group by group, one lane per successor.
fn fill_block(
    mdp: &TabularMdp,
    discount: Discount,
    state: usize,
    distinct: &[u32],
    n_successors: usize,
    block: &mut Vec<Lane>,
) {
    let n_groups = mdp.row_range(state).len().div_ceil(LANES);
    block.clear();
    block.resize(n_groups * n_successors, [0.0; LANES]);
    for (action, row) in mdp.rows(state).enumerate() {
        let stay = row.iter().find(|&(to, _)| to == state).map_or(0.0, |(_, p)| p);
        let factor = discount.gamma() / (1.0 - discount.gamma() * stay);
        for (to, p) in row.iter().filter(|&(to, _)| to != state) {
            let successor = distinct.binary_search(&(to as u32)).expect("all successors were collected");
            block[action / LANES * n_successors + successor][action % LANES] = p * factor;
        }
    }
}
