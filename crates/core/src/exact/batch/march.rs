//! Sweeps of the layers whose inputs still change, outward from the goal.

use super::{
    super::{control::relative_errors, reverse::ReverseSearch},
    field::Field,
};
use std::ops::Range;

/// The number of sweeps over all states after which the march is given up.
const MAX_SWEEPS: usize = 400;
/// The number of passes that follow each other two layers apart, so that a layer is swept this
/// often while it is in the cache. Where layers read only their neighbors, the values are those of
/// one pass after another.
const PASSES_PER_TRAIN: usize = 4;
/// A Newton step reduces the residual of the policy by this factor. The policy still changes, so
/// its values need not be exact.
const NEWTON_DROP: f64 = 1e-4;

/// The layers of breadth-first order, and when each was last swept and changed.
struct Layers {
    /// The positions of each layer; layer 0 is the goal.
    positions: Vec<Range<usize>>,
    /// Whether a state of the layer can move to another of the same layer.
    reads_itself: Vec<bool>,
    /// Whether a state of the layer can move more than one layer away from the goal.
    reads_far: Vec<bool>,
    /// The sweep, counted from 1, in which the layer was last swept, and last changed.
    swept: Vec<usize>,
    changed: Vec<usize>,
    /// The number of sweeps of layers so far.
    clock: usize,
    last_change: usize,
}

/// Solves for the values of all states. A layer joins after one sweep of those nearer to the goal,
/// and is swept until what it reads no longer changes by more than the relative `tolerance`.
///
/// Changes travel outward through all layers in one pass; changes that travel inward decay from
/// layer to layer. So the layers that change form a window that moves outward, as wide as accuracy
/// needs. If the process mixes well, all layers change until their common scale is right, the one
/// error that sweeps reduce slowly; then Newton steps correct it. Returns whether the values have
/// settled.
pub(super) fn march(field: &mut Field<'_>, search: &ReverseSearch, tolerance: f64) -> bool {
    let mut layers = Layers::new(field, search);
    let (last, n_states) = (layers.positions.len() - 1, search.order.len());
    let mut states_left = MAX_SWEEPS.saturating_mul(n_states);
    let (mut first, mut head) = (1, 0);
    loop {
        let was_complete = head == last;
        let train = layers.run_train(field, first, head, tolerance);
        first = train.first_reader;
        head = (head + PASSES_PER_TRAIN).min(last);
        if was_complete && train.n_swept == 0 {
            return true;
        }
        if train.n_swept > states_left {
            return false;
        }
        states_left -= train.n_swept;
        if was_complete && 2 * train.n_swept > PASSES_PER_TRAIN * n_states {
            // If the step fails, the sweeps continue without it.
            let system = field.policy_system();
            if let Some(errors) = system.and_then(|system| relative_errors(&system, NEWTON_DROP, tolerance)) {
                field.correct(&errors);
                layers.note_correction();
                first = 1;
            }
        }
    }
}

/// What the passes of one train did.
struct Train {
    /// The number of states swept, with repetitions.
    n_swept: usize,
    /// The first layer that may read a value that changed.
    first_reader: usize,
}

impl Layers {
    fn new(field: &Field<'_>, search: &ReverseSearch) -> Self {
        let ends = &search.layer_ends;
        let begins = std::iter::once(0).chain(ends.iter().copied());
        let positions: Vec<_> = begins.zip(ends).map(|(begin, &end)| begin as usize..end as usize).collect();
        let n = positions.len();
        let (mut reads_itself, mut reads_far) = (vec![false; n], vec![false; n]);
        for (layer, range) in positions.iter().enumerate() {
            let next_end = positions.get(layer + 1).map_or(range.end, |next| next.end);
            (reads_itself[layer], reads_far[layer]) = field.reads(range.clone(), next_end);
        }
        let (swept, changed) = (vec![0; n], vec![0; n]);
        Self { positions, reads_itself, reads_far, swept, changed, clock: 0, last_change: 0 }
    }

    /// Runs passes over the stale layers from `first` on. Each pass reaches one layer farther than
    /// the one before it; the first reaches the layer behind `head`.
    fn run_train(&mut self, field: &mut Field<'_>, first: usize, head: usize, tolerance: f64) -> Train {
        let last = self.positions.len() - 1;
        let next_head = (head + PASSES_PER_TRAIN).min(last);
        let mut train = Train { n_swept: 0, first_reader: next_head + 1 };
        for front in first..=next_head + 2 * (PASSES_PER_TRAIN - 1) {
            for pass in 0..PASSES_PER_TRAIN {
                // A change travels inward by one layer per pass.
                let reached = first.saturating_sub(pass).max(1)..=(head + 1 + pass).min(last);
                let layer = front.saturating_sub(2 * pass);
                if reached.contains(&layer) && self.is_stale(layer) {
                    let positions = self.positions[layer].clone();
                    train.n_swept += positions.len();
                    let has_changed = field.sweep(positions, tolerance);
                    self.note_sweep(layer, has_changed);
                    if has_changed {
                        train.first_reader = train.first_reader.min(self.first_reader(layer));
                    }
                }
            }
        }
        train
    }

    /// Whether the layer was never swept, or what it reads has changed since.
    fn is_stale(&self, layer: usize) -> bool {
        let swept = self.swept[layer];
        let has_changed = |other: usize| self.changed.get(other).is_some_and(|&changed| changed > swept);
        swept == 0
            || has_changed(layer - 1)
            || has_changed(layer + 1)
            || self.reads_itself[layer] && self.changed[layer] >= swept
            || self.reads_far[layer] && self.last_change > swept
    }

    fn note_sweep(&mut self, layer: usize, has_changed: bool) {
        self.clock += 1;
        self.swept[layer] = self.clock;
        if has_changed {
            self.changed[layer] = self.clock;
            self.last_change = self.clock;
        }
    }

    fn note_correction(&mut self) {
        self.clock += 1;
        self.changed[1..].fill(self.clock);
        self.last_change = self.clock;
    }

    /// Returns the first layer that may read the values of `layer`.
    fn first_reader(&self, layer: usize) -> usize {
        let nearest = layer.saturating_sub(1).max(1);
        (1..nearest).find(|&reader| self.reads_far[reader]).unwrap_or(nearest)
    }
}
