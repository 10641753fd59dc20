//! Sweeps of a window of layers that moves outward from the goal.

use super::system::System;

/// One in this many sweeps of a layer improves its actions; the others only evaluate them, which is
/// three times faster.
const SWEEPS_PER_CHOICE: usize = 4;
/// Smaller first values are rescaled before they underflow.
const MIN_FIRST_VALUE: f64 = 1e-150;

/// Runs the first march, from `u = 0`, so that each layer at first depends only on layers nearer to
/// the goal.
pub(super) fn first(system: &mut System<'_>, window: usize) {
    march(system, window, |system, layer| system.lift_layer(layer, MIN_FIRST_VALUE));
}

/// Runs a march from the current values. Returns the largest relative change in the last sweep of a
/// layer.
pub(super) fn again(system: &mut System<'_>, window: usize) -> f64 {
    march(system, window, |_, _| {})
}

/// Sweeps layers `head - window ..= head` for `head` = 1, 2, ... until the window has left the last
/// layer. `enter` is called on a layer after its first sweep.
fn march(system: &mut System<'_>, window: usize, enter: impl Fn(&mut System<'_>, usize)) -> f64 {
    let mut last_change = 0.0f64;
    for head in 1..system.n_layers() + window {
        for layer in head.saturating_sub(window).max(1)..=head.min(system.n_layers() - 1) {
            let age = head - layer;
            if age == window {
                last_change = last_change.max(system.improve_layer(layer));
            } else if age.is_multiple_of(SWEEPS_PER_CHOICE) {
                system.improve_layer(layer);
            } else {
                system.evaluate_layer(layer);
            }
            if age == 0 {
                enter(system, layer);
            }
        }
    }
    last_change
}
