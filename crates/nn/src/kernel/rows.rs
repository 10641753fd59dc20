//! Values and gradients of the pairs `(x_i, y_i)`. The backward pass recomputes the forward pass.

use super::{
    PairForm,
    math::{LANES, sum_lanes_of_two},
    vectorize::vectorized,
};
use pulp::Arch;
use rayon::prelude::*;

const ROWS: usize = 32;

/// Returns the values `[n]` of the pairs `(x_i, y_i)`.
pub fn rowwise(form: PairForm, x: &[f32], y: &[f32], mix: f32) -> Vec<f32> {
    let width = form.width();
    assert_eq!(x.len(), y.len());
    let arch = Arch::new();
    let mut out = vec![0.0; x.len() / width];
    let rows = x.par_chunks(ROWS * width).zip(y.par_chunks(ROWS * width));
    rows.zip(out.par_chunks_mut(ROWS)).for_each(|((x, y), out)| {
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
    values_of_rows(Arch::new(), form, &x[..width], &y[..width], mix, &mut out);
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
    let arch = Arch::new();
    let (mut dx, mut dy) = (vec![0.0; x.len()], vec![0.0; y.len()]);
    let rows = x.par_chunks(ROWS * width).zip(y.par_chunks(ROWS * width)).zip(gradient.par_chunks(ROWS));
    let outs = dx.par_chunks_mut(ROWS * width).zip(dy.par_chunks_mut(ROWS * width));
    let dmix: Vec<f64> = rows
        .zip(outs)
        .map(|(((x, y), gradient), (dx, dy))| gradients_of_rows(arch, form, x, y, mix, gradient, dx, dy))
        .collect();
    super::PairGradients { dx, dy, dmix: dmix.iter().sum() }
}

vectorized! {
    fn values_of_rows(form: PairForm, x: &'a [f32], y: &'a [f32], mix: f32, out: &'a mut [f32]) {
        let width = form.width();
        for ((x, y), out) in x.chunks_exact(width).zip(y.chunks_exact(width)).zip(out) {
            // Comparisons would ignore a non-finite input.
            let poison = sum_lanes_of_two(x, y, |x, y| x * 0.0 + y * 0.0);
            *out = value(form, x, y, mix) + poison;
        }
    }
}

vectorized! {
    /// Writes the gradients of some rows, and returns that of the mix.
    fn gradients_of_rows(
        form: PairForm,
        x: &'a [f32],
        y: &'a [f32],
        mix: f32,
        gradient: &'a [f32],
        dx: &'a mut [f32],
        dy: &'a mut [f32],
    ) -> f64 {
        let width = form.width();
        let rows = x.chunks_exact(width).zip(y.chunks_exact(width)).zip(gradient);
        let outs = dx.chunks_exact_mut(width).zip(dy.chunks_exact_mut(width));
        let mut dmix = 0.0;
        for (((x, y), &g), (dx, dy)) in rows.zip(outs) {
            dmix += f64::from(value_backward(form, x, y, mix, g, dx, dy));
        }
        dmix
    }
}

#[inline(always)]
fn value(form: PairForm, x: &[f32], y: &[f32], mix: f32) -> f32 {
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
        PairForm::Interval { groups, group_width } => {
            let lengths = x.chunks_exact(group_width).zip(y.chunks_exact(group_width));
            let (sum, max) = lengths.fold((0.0, 0.0f32), |(sum, max), (x, y)| {
                let length = union(x, y, |_, _| ());
                (sum + length, max.max(length))
            });
            mix * max + (1.0 - mix) / groups as f32 * sum
        }
        PairForm::InnerProduct { .. } => sum_lanes_of_two(x, y, |x, y| x * y),
    }
}

/// Writes the gradients of one pair, scaled by `g`, and returns that of the mix.
#[inline(always)]
fn value_backward(
    form: PairForm,
    x: &[f32],
    y: &[f32],
    mix: f32,
    g: f32,
    dx: &mut [f32],
    dy: &mut [f32],
) -> f32 {
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
            0.0
        }
        PairForm::Interval { groups, group_width } => {
            let (mut longest, mut max, mut sum) = (0, -1.0, 0.0);
            let rows = x.chunks_exact(group_width).zip(y.chunks_exact(group_width));
            for (group, (x, y)) in rows.enumerate() {
                let length = union(x, y, |_, _| ());
                sum += length;
                if length > max {
                    (longest, max) = (group, length);
                }
            }
            for group in 0..groups {
                let at = group * group_width..(group + 1) * group_width;
                let weight = g * ((1.0 - mix) / groups as f32 + if group == longest { mix } else { 0.0 });
                let (dx, dy) = (&mut dx[at.clone()], &mut dy[at.clone()]);
                union(&x[at.clone()], &y[at], |start, stop| {
                    dx[start] -= weight;
                    dy[stop] += weight;
                });
            }
            g * (max - sum / groups as f32)
        }
        PairForm::InnerProduct { .. } => {
            dx.iter_mut().zip(y).for_each(|(dx, y)| *dx = g * y);
            dy.iter_mut().zip(x).for_each(|(dy, x)| *dy = g * x);
            0.0
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

/// Returns the length of the union of `[x_k, max(x_k, y_k)]`. Calls `visit(start, stop)` with the
/// features of the end points of every connected piece of positive length.
fn union(x: &[f32], y: &[f32], mut visit: impl FnMut(usize, usize)) -> f32 {
    // Groups are short, so the next interval is searched for instead of sorting, which needs no
    // allocation.
    let mut length = 0.0;
    let mut piece: Option<(usize, usize)> = None; // the features of the end points of the open piece
    let mut close = |piece: Option<(usize, usize)>| {
        if let Some((start, stop)) = piece {
            length += y[stop] - x[start];
            visit(start, stop);
        }
    };
    let mut last: Option<usize> = None;
    let after = |a: usize, b: usize| x[a].total_cmp(&x[b]).then(a.cmp(&b)).is_gt();
    while let Some(next) = (0..x.len())
        .filter(|&k| y[k] > x[k] && last.is_none_or(|last| after(k, last)))
        .reduce(|a, b| if after(a, b) { b } else { a })
    {
        last = Some(next);
        piece = match piece {
            Some((start, stop)) if x[next] < y[stop] => {
                Some((start, if y[next] > y[stop] { next } else { stop }))
            }
            open => {
                close(open);
                Some((next, next))
            }
        };
    }
    close(piece);
    length
}
