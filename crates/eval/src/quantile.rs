//! Quantiles by nearest rank, which need no sorting and are values themselves.

use std::cmp::Ordering;

/// Returns the value at a quantile, in an order such as `f32::total_cmp`; `None` without values.
/// Values are rearranged.
pub(crate) fn at_quantile<T: Copy>(
    values: &mut [T],
    share: f64,
    order: impl FnMut(&T, &T) -> Ordering,
) -> Option<T> {
    let place = ((values.len() as f64 * share) as usize).min(values.len().checked_sub(1)?);
    Some(*values.select_nth_unstable_by(place, order).1)
}
