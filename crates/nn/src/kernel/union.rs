//! Lengths of unions of intervals, one group of features per vector lane, without sorting.
//!
//! The union of the intervals `[x_k, max(x_k, y_k)]` of a group has an end point at `x_k` exactly
//! if no other interval contains it, and likewise at `y_k`. Comparing all pairs of a short group
//! takes no branches, and the end points are the derivative: -1 at the starts of the union, 1 at
//! its stops.

use super::{math::sum_lanes_of_two, vectorize::vectorized};
use pulp::{Arch, Simd, WithSimd};

/// Writes the distances of some paired rows to `out`.
pub(super) fn values(arch: Arch, group_width: usize, x: &[f32], y: &[f32], mix: f32, out: &mut [f32]) {
    let groups = x.len() / group_width / out.len();
    let mut lengths = vec![0.0; groups * out.len()];
    arch.dispatch(Unions { group_width, x, y, lengths: &mut lengths, slopes: None });
    reduce(arch, &lengths, x, y, mix, out);
}

vectorized! {
    /// Reduces the lengths of the groups of every row to a distance.
    fn reduce(lengths: &'a [f32], x: &'a [f32], y: &'a [f32], mix: f32, out: &'a mut [f32]) {
        let (groups, width) = (lengths.len() / out.len(), x.len() / out.len());
        let rows = x.chunks_exact(width).zip(y.chunks_exact(width));
        for ((lengths, (x, y)), out) in lengths.chunks_exact(groups).zip(rows).zip(out) {
            let (sum, max) = lengths.iter().fold((0.0, 0.0f32), |(sum, max), &length| (sum + length, max.max(length)));
            // Comparisons would ignore a non-finite input.
            let poison = sum_lanes_of_two(x, y, |x, y| x * 0.0 + y * 0.0);
            *out = mix * max + (1.0 - mix) / groups as f32 * sum + poison;
        }
    }
}

/// Writes the gradients of some paired rows, each scaled by that of its distance, and returns that
/// of the mix.
#[expect(clippy::too_many_arguments, reason = "plain slices of one kernel call")]
pub(super) fn gradients(
    arch: Arch,
    group_width: usize,
    x: &[f32],
    y: &[f32],
    mix: f32,
    gradient: &[f32],
    dx: &mut [f32],
    dy: &mut [f32],
) -> f64 {
    let groups = x.len() / group_width / gradient.len();
    let mut lengths = vec![0.0; groups * gradient.len()];
    let slopes = Some([&mut *dx, &mut *dy]);
    arch.dispatch(Unions { group_width, x, y, lengths: &mut lengths, slopes });
    scale(arch, group_width, &lengths, mix, gradient, dx, dy)
}

vectorized! {
    /// Multiplies the derivatives of the lengths by the weights of their groups.
    fn scale(
        group_width: usize,
        lengths: &'a [f32],
        mix: f32,
        gradient: &'a [f32],
        dx: &'a mut [f32],
        dy: &'a mut [f32],
    ) -> f64 {
        let groups = lengths.len() / gradient.len();
        let width = groups * group_width;
        let mut dmix = 0.0;
        let rows = dx.chunks_exact_mut(width).zip(dy.chunks_exact_mut(width));
        for ((lengths, &g), (dx, dy)) in lengths.chunks_exact(groups).zip(gradient).zip(rows) {
            let (mut longest, mut max, mut sum) = (0, -1.0, 0.0);
            for (group, &length) in lengths.iter().enumerate() {
                sum += length;
                if length > max {
                    (longest, max) = (group, length);
                }
            }
            let parts = dx.chunks_exact_mut(group_width).zip(dy.chunks_exact_mut(group_width));
            for (group, (dx, dy)) in parts.enumerate() {
                let weight = g * ((1.0 - mix) / groups as f32 + if group == longest { mix } else { 0.0 });
                dx.iter_mut().chain(dy).for_each(|slope| *slope *= weight);
            }
            dmix += f64::from(g * (max - sum / groups as f32));
        }
        dmix
    }
}

/// Computes the union lengths of consecutive groups.
struct Unions<'a> {
    group_width: usize,
    /// `[group][group_width]`
    x: &'a [f32],
    y: &'a [f32],
    /// `[group]`
    lengths: &'a mut [f32],
    /// The derivatives of the lengths with respect to `x` and `y`.
    slopes: Option<[&'a mut [f32]; 2]>,
}

impl WithSimd for Unions<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let (width, lanes) = (self.group_width, S::F32_LANES);
        // Features of one vector of groups: x, y, then the starts and the stops of the union.
        let mut features = vec![0.0; 4 * width * lanes];
        for (vector, lengths) in self.lengths.chunks_mut(lanes).enumerate() {
            let groups = lengths.len();
            let span = vector * lanes * width..(vector * lanes + groups) * width;
            let (values, ends) = features.split_at_mut(2 * width * lanes);
            let (xs, ys) = values.split_at_mut(width * lanes);
            for (to, from) in [(&mut *xs, &self.x[span.clone()]), (&mut *ys, &self.y[span.clone()])] {
                for (lane, group) in from.chunks_exact(width).enumerate() {
                    group.iter().enumerate().for_each(|(k, &value)| to[k * lanes + lane] = value);
                }
            }
            let (starts, stops) = ends.split_at_mut(width * lanes);
            let (xs, ys) = (S::as_simd_f32s(xs).0, S::as_simd_f32s(ys).0);
            let (starts, stops) = (S::as_mut_simd_f32s(starts).0, S::as_mut_simd_f32s(stops).0);
            let length = union(simd, xs, ys, starts, stops);
            simd.partial_store_f32s(lengths, length);
            let Some([dx, dy]) = &mut self.slopes else { continue };
            let infinity = simd.splat_f32s(f32::INFINITY);
            let (zero, one) = (simd.splat_f32s(0.0), simd.splat_f32s(1.0));
            for (start, stop) in starts.iter_mut().zip(stops.iter_mut()) {
                *start = simd.select_f32s(simd.less_than_f32s(*start, infinity), simd.neg_f32s(one), zero);
                *stop = simd.select_f32s(simd.less_than_f32s(*stop, infinity), one, zero);
            }
            let (starts, stops) = ends.split_at(width * lanes);
            for (to, from) in [(&mut dx[span.clone()], starts), (&mut dy[span], stops)] {
                for (lane, group) in to.chunks_exact_mut(width).enumerate() {
                    group.iter_mut().enumerate().for_each(|(k, value)| *value = from[k * lanes + lane]);
                }
            }
        }
    }
}

/// Returns the lengths of the unions of one vector of groups. Writes the features at which a piece
/// of a union starts and stops, and infinity for other features.
#[inline(always)]
fn union<S: Simd>(
    simd: S,
    x: &[S::f32s],
    y: &[S::f32s],
    starts: &mut [S::f32s],
    stops: &mut [S::f32s],
) -> S::f32s {
    let infinity = simd.splat_f32s(f32::INFINITY);
    let never = simd.less_than_f32s(infinity, infinity);
    for k in 0..x.len() {
        let (mut covers_start, mut covers_stop) = (never, never);
        for j in 0..x.len() {
            if j == k {
                continue;
            }
            // Of equal end points the first counts.
            let (before, beyond) = match j < k {
                true => (simd.less_than_or_equal_f32s(x[j], x[k]), simd.less_than_or_equal_f32s(y[k], y[j])),
                false => (simd.less_than_f32s(x[j], x[k]), simd.less_than_f32s(y[k], y[j])),
            };
            let covers = simd.and_m32s(before, simd.less_than_f32s(x[k], y[j]));
            covers_start = simd.or_m32s(covers_start, covers);
            let covers = simd.and_m32s(beyond, simd.less_than_f32s(x[j], y[k]));
            covers_stop = simd.or_m32s(covers_stop, covers);
        }
        let is_empty = simd.less_than_or_equal_f32s(y[k], x[k]);
        starts[k] = simd.select_f32s(simd.or_m32s(covers_start, is_empty), infinity, x[k]);
        stops[k] = simd.select_f32s(simd.or_m32s(covers_stop, is_empty), infinity, y[k]);
    }
    let zero = simd.splat_f32s(0.0);
    let mut length = zero;
    for &start in starts.iter() {
        // The piece that starts here ends at the first stop after it.
        let mut stop = infinity;
        for &other in stops.iter() {
            let is_after = simd.less_than_f32s(start, other);
            stop = simd.min_f32s(stop, simd.select_f32s(is_after, other, infinity));
        }
        let piece = simd.sub_f32s(stop, start);
        length = simd.add_f32s(length, simd.select_f32s(simd.less_than_f32s(start, infinity), piece, zero));
    }
    length
}
