//! Values and gradients of the pairs `(x_i, y_i)`. The backward pass recomputes the forward pass.

use super::{
    PairForm,
    math::{LANES, sum_lanes_of_two},
    threads::min_tasks,
    union,
    vectorize::vectorized,
};
use pulp::Arch;
use rayon::prelude::*;

/// The number of pairs per task.
const ROWS: usize = 32;
/// The operations that a feature takes: few, or comparisons with the other features of its group.
fn operations(form: PairForm) -> usize {
    match form {
        PairForm::Interval { group_width, .. } => 8 * group_width,
        _ => 4,
    }
}

/// Returns the values `[n]` of the pairs `(x_i, y_i)`.
pub fn rowwise(form: PairForm, x: &[f32], y: &[f32], mix: f32) -> Vec<f32> {
    let width = form.width();
    assert_eq!(x.len(), y.len());
    let arch = isochrone_core::vector_arch();
    let mut out = vec![0.0; x.len() / width];
    let rows = x.par_chunks(ROWS * width).zip(y.par_chunks(ROWS * width));
    let rows = rows.zip(out.par_chunks_mut(ROWS)).with_min_len(min_tasks(operations(form) * x.len()));
    rows.for_each(|((x, y), out)| {
        values_of_rows(arch, form, x, y, mix, out);
    });
    out
}

/// Returns the value of one pair, on the calling thread.
///
/// # Panics
/// If a row is shorter than the width of the form.
pub fn pair(form: PairForm, x: &[f32], y: &[f32], mix: f32) -> f32 {
    let (width, mut out) = (form.width(), [0.0]);
    values_of_rows(isochrone_core::vector_arch(), form, &x[..width], &y[..width], mix, &mut out);
    out[0]
}

/// Returns the gradients of `sum_i gradient_i value_i` with respect to `x`, `y` and the mix.
pub fn rowwise_backward(
    form: PairForm,
    x: &[f32],
    y: &[f32],
    mix: f32,
    gradient: &[f32],
) -> super::PairGradients {
    let width = form.width();
    let arch = isochrone_core::vector_arch();
    let (mut dx, mut dy) = (vec![0.0; x.len()], vec![0.0; y.len()]);
    let rows = x.par_chunks(ROWS * width).zip(y.par_chunks(ROWS * width)).zip(gradient.par_chunks(ROWS));
    let outs = dx.par_chunks_mut(ROWS * width).zip(dy.par_chunks_mut(ROWS * width));
    let dmix: Vec<f64> = rows
        .zip(outs)
        .with_min_len(min_tasks(operations(form) * x.len()))
        .map(|(((x, y), gradient), (dx, dy))| gradients_of_rows(arch, form, x, y, mix, gradient, dx, dy))
        .collect();
    super::PairGradients { dx, dy, dmix: dmix.iter().sum() }
}

fn values_of_rows(arch: Arch, form: PairForm, x: &[f32], y: &[f32], mix: f32, out: &mut [f32]) {
    match form {
        PairForm::Interval { group_width, .. } => union::values(arch, group_width, x, y, mix, out),
        _ => plain_values(arch, form, x, y, out),
    }
}

/// Writes the gradients of some rows, and returns that of the mix.
#[expect(clippy::too_many_arguments, reason = "plain slices of one kernel call")]
fn gradients_of_rows(
    arch: Arch,
    form: PairForm,
    x: &[f32],
    y: &[f32],
    mix: f32,
    gradient: &[f32],
    dx: &mut [f32],
    dy: &mut [f32],
) -> f64 {
    match form {
        PairForm::Interval { group_width, .. } => {
            union::gradients(arch, group_width, x, y, mix, gradient, dx, dy)
        }
        _ => {
            plain_gradients(arch, form, x, y, gradient, dx, dy);
            0.0
        }
    }
}

vectorized! {
    /// Writes the values of some rows of a form without intervals.
    fn plain_values(form: PairForm, x: &'a [f32], y: &'a [f32], out: &'a mut [f32]) {
        let width = form.width();
        for ((x, y), out) in x.chunks_exact(width).zip(y.chunks_exact(width)).zip(out) {
            // Comparisons would ignore a non-finite input.
            let poison = sum_lanes_of_two(x, y, |x, y| x * 0.0 + y * 0.0);
            *out = value(form, x, y) + poison;
        }
    }
}

vectorized! {
    /// Writes the gradients of some rows of a form without intervals.
    fn plain_gradients(
        form: PairForm,
        x: &'a [f32],
        y: &'a [f32],
        gradient: &'a [f32],
        dx: &'a mut [f32],
        dy: &'a mut [f32],
    ) {
        let width = form.width();
        let rows = x.chunks_exact(width).zip(y.chunks_exact(width)).zip(gradient);
        let outs = dx.chunks_exact_mut(width).zip(dy.chunks_exact_mut(width));
        for (((x, y), &g), (dx, dy)) in rows.zip(outs) {
            value_backward(form, x, y, g, dx, dy);
        }
    }
}

#[inline(always)]
fn value(form: PairForm, x: &[f32], y: &[f32]) -> f32 {
    match form {
        PairForm::MaxL2 { components, max_width, l2_width } => {
            let width = max_width + l2_width;
            let parts = x.chunks_exact(width).zip(y.chunks_exact(width)).map(|(x, y)| {
                let (x_max, x_l2) = x.split_at(max_width);
                let (y_max, y_l2) = y.split_at(max_width);
                largest_rise(x_max, y_max) + squared_distance(x_l2, y_l2).sqrt()
            });
            parts.sum::<f32>() / components as f32
        }
        PairForm::Interval { .. } => unreachable!("computed by `union`"),
        PairForm::InnerProduct { .. } => sum_lanes_of_two(x, y, |x, y| x * y),
    }
}

/// Writes the gradients of one pair, scaled by `g`.
#[inline(always)]
fn value_backward(form: PairForm, x: &[f32], y: &[f32], g: f32, dx: &mut [f32], dy: &mut [f32]) {
    match form {
        PairForm::MaxL2 { components, max_width, l2_width } => {
            let g = g / components as f32;
            let width = max_width + l2_width;
            for component in 0..components {
                let at = component * width;
                let (index, _) = largest(&x[at..at + max_width], &y[at..at + max_width]);
                if let Some(index) = index {
                    dx[at + index] = g;
                    dy[at + index] = -g;
                }
                let l2 = at + max_width..at + width;
                let length = squared_distance(&x[l2.clone()], &y[l2.clone()]).sqrt();
                let weight = if length > 0.0 { g / length } else { 0.0 };
                for f in l2 {
                    dx[f] = weight * (x[f] - y[f]);
                    dy[f] = -dx[f];
                }
            }
        }
        PairForm::Interval { .. } => unreachable!("computed by `union`"),
        PairForm::InnerProduct { .. } => {
            dx.iter_mut().zip(y).for_each(|(dx, y)| *dx = g * y);
            dy.iter_mut().zip(x).for_each(|(dy, x)| *dy = g * x);
        }
    }
}

/// Returns `max_k relu(x_k - y_k)` and the first feature that attains it, if it is positive.
#[inline(always)]
fn largest(x: &[f32], y: &[f32]) -> (Option<usize>, f32) {
    let (mut index, mut value) = (None, 0.0);
    for (f, (x, y)) in x.iter().zip(y).enumerate() {
        if x - y > value {
            (index, value) = (Some(f), x - y);
        }
    }
    (index, value)
}

/// Returns `max_k relu(x_k - y_k)`. A maximum does not depend on the order, so that it is taken in
/// lanes, which are vectorized.
#[inline(always)]
fn largest_rise(x: &[f32], y: &[f32]) -> f32 {
    let mut lanes = [0f32; LANES];
    let larger = |max: f32, rise: f32| if rise > max { rise } else { max };
    let (x_lanes, y_lanes) = (x.chunks_exact(LANES), y.chunks_exact(LANES));
    let rest = x_lanes.remainder().iter().zip(y_lanes.remainder());
    for (lane, (x, y)) in lanes.iter_mut().zip(rest) {
        *lane = larger(*lane, x - y);
    }
    for (x, y) in x_lanes.zip(y_lanes) {
        for lane in 0..LANES {
            lanes[lane] = larger(lanes[lane], x[lane] - y[lane]);
        }
    }
    lanes.into_iter().fold(0.0, larger)
}

#[inline(always)]
fn squared_distance(x: &[f32], y: &[f32]) -> f32 {
    sum_lanes_of_two(x, y, |x, y| (x - y) * (x - y))
}
