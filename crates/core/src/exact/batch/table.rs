//! The process as a table of small dense blocks, shared by all goals.

use super::super::mdp::TabularMdp;
use crate::Discount;
use std::collections::HashMap;

/// The number of actions that one vector operation evaluates.
pub(super) const LANES: usize = 4;
/// Successors come in quads, so that loops over them have few lengths, which the processor
/// predicts. On a grid with walls, lists of one to four successors become one quad.
const QUAD: usize = 4;
/// Four successors of a state.
pub(super) type Successors = [u32; QUAD];
/// For each of four successors, the weights of [`LANES`] actions.
pub(super) type Weights = [[f64; LANES]; QUAD];
/// A padded table may have this many weights per transition, which limits its memory.
const MAX_PADDING: usize = 8;

/// For every state the distinct successors of all its actions, and a block of weights with the
/// actions side by side, so that one pass over the successors evaluates all actions.
///
/// The weights are `w = gamma P(s'|s,a) / (1 - gamma P(s|s,a))`, with transitions to the state
/// itself eliminated. States with equal blocks share one copy: a grid has one per pattern of walls,
/// all of which fit into the first-level cache.
pub(super) struct ActionTable {
    states: Vec<Entry>,
    /// The distinct blocks of weights.
    pub(super) blocks: Vec<Block>,
    /// The successors of all states, padded with [`Self::NONE`].
    successors: Vec<Successors>,
    /// Per block and group of [`LANES`] actions, the weights of each quad of successors.
    pub(super) weights: Vec<Weights>,
    /// The largest number of transitions of a row, for bounds of rounding errors.
    pub(super) longest_row: usize,
    /// Whether every block is a single quad, as on grids; then blocks and their weights have the
    /// same numbers.
    pub(super) are_quads: bool,
    /// Whether the actions of every state are numbered from 0 without gaps.
    pub(super) are_actions_dense: bool,
}

/// The successors and the block of weights of a state.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) first_quad: u32,
    pub(super) block: u32,
}

/// The shape of a block: for each group of [`LANES`] actions, `n_quads` quads of weights.
#[derive(Clone, Copy)]
pub(super) struct Block {
    pub(super) first_weights: u32,
    pub(super) n_quads: u32,
    pub(super) n_groups: u32,
}

/// The numbers of blocks by the number of quads, followed by the bits of the weights.
type KnownBlocks = HashMap<Vec<u64>, u32>;

impl ActionTable {
    /// A padded successor.
    pub(super) const NONE: u32 = u32::MAX;

    /// Builds the table; `None` if padding makes it too large to be worth it.
    pub(super) fn new(mdp: &TabularMdp, discount: Discount) -> Option<Self> {
        let mut table = Self {
            states: Vec::with_capacity(mdp.n_states()),
            blocks: Vec::new(),
            successors: Vec::with_capacity(mdp.n_states()),
            weights: Vec::new(),
            longest_row: (0..mdp.n_rows()).map(|row| mdp.row(row).successors.len()).max().unwrap_or(0),
            are_quads: true,
            are_actions_dense: are_actions_dense(mdp),
        };
        let max_weights = MAX_PADDING * mdp.n_transitions() / (LANES * QUAD) + 1;
        let (mut known, mut key) = (KnownBlocks::new(), Vec::new());
        let (mut distinct, mut block) = (Vec::new(), Vec::new());
        for state in 0..mdp.n_states() {
            distinct_successors(mdp, state, &mut distinct);
            let n_quads = n_quads(&distinct);
            let n_groups = mdp.row_range(state).len().div_ceil(LANES);
            block.clear();
            block.resize(n_groups * n_quads, Weights::default());
            fill_block(mdp, discount, state, &distinct, &mut block);
            let shared = table.shared_block(&mut known, &mut key, n_quads, n_groups, &block);
            if table.weights.len() > max_weights || table.successors.len() > u32::MAX as usize / QUAD {
                return None;
            }
            table.states.push(Entry { first_quad: table.successors.len() as u32, block: shared });
            table.are_quads &= n_quads * n_groups == 1;
            let successor = |index: usize| distinct.get(index).copied().unwrap_or(Self::NONE);
            let quads = (0..n_quads).map(|quad| std::array::from_fn(|k| successor(quad * QUAD + k)));
            table.successors.extend(quads);
        }
        Some(table)
    }

    /// Returns the number of a block, which is stored once.
    fn shared_block(
        &mut self,
        known: &mut KnownBlocks,
        key: &mut Vec<u64>,
        n_quads: usize,
        n_groups: usize,
        weights: &[Weights],
    ) -> u32 {
        let bits = weights.as_flattened().as_flattened().iter().map(|weight| weight.to_bits());
        key.clear();
        key.push(n_quads as u64);
        key.extend(bits);
        if let Some(&block) = known.get(key.as_slice()) {
            return block;
        }
        let block = self.blocks.len() as u32;
        known.insert(key.clone(), block);
        self.blocks.push(Block {
            first_weights: self.weights.len() as u32,
            n_quads: n_quads as u32,
            n_groups: n_groups as u32,
        });
        self.weights.extend_from_slice(weights);
        block
    }

    /// Returns the block of a state and its padded successors.
    #[inline]
    pub(super) fn state(&self, state: usize) -> (u32, &[Successors]) {
        let Entry { first_quad, block } = self.states[state];
        let n_quads = self.blocks[block as usize].n_quads as usize;
        (block, &self.successors[first_quad as usize..][..n_quads])
    }
}

/// Returns the number of quads of successors; at least one, so that all states look alike.
fn n_quads(distinct: &[u32]) -> usize {
    distinct.len().div_ceil(QUAD).max(1)
}

fn are_actions_dense(mdp: &TabularMdp) -> bool {
    (0..mdp.n_states()).all(|state| mdp.rows(state).enumerate().all(|(index, row)| row.action == index))
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

/// Writes the weights of a state into a block of zeros: group by group, quad by quad.
fn fill_block(mdp: &TabularMdp, discount: Discount, state: usize, distinct: &[u32], block: &mut [Weights]) {
    let n_quads = n_quads(distinct);
    for (action, row) in mdp.rows(state).enumerate() {
        let stay = row.iter().find(|&(to, _)| to == state).map_or(0.0, |(_, p)| p);
        let factor = discount.gamma() / (1.0 - discount.gamma() * stay);
        for (to, p) in row.iter().filter(|&(to, _)| to != state) {
            let successor = distinct.binary_search(&(to as u32)).expect("all successors were collected");
            let quad = action / LANES * n_quads + successor / QUAD;
            block[quad][successor % QUAD][action % LANES] = p * factor;
        }
    }
}
