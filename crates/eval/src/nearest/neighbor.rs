//! Results of a query, and the selection of the nearest.

/// A recorded state and its distance to or from the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbor {
    /// The row of the recorded state.
    pub row: u64,
    /// The distance in the direction of the query, in nats.
    pub nats: f32,
}

/// Returns the `k` nearest, nearest first. Ties are broken by row, so that results do not depend on
/// the order of candidates; NaN counts as farthest.
pub(super) fn nearest_first(mut found: Vec<Neighbor>, k: usize) -> Vec<Neighbor> {
    let order = |a: &Neighbor, b: &Neighbor| {
        let nan_last = a.nats.is_nan().cmp(&b.nats.is_nan());
        nan_last.then(a.nats.total_cmp(&b.nats)).then(a.row.cmp(&b.row))
    };
    if k == 0 {
        return Vec::new();
    }
    if found.len() > k {
        found.select_nth_unstable_by(k - 1, order);
        found.truncate(k);
    }
    found.sort_unstable_by(order);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_are_broken_by_row_and_nan_is_last() {
        let found = [f32::NAN, 2.0, 1.0, 2.0, -0.0, f32::INFINITY];
        let found = (0..).zip(found).map(|(row, nats)| Neighbor { row, nats });
        let rows = |k| nearest_first(found.clone().collect(), k).iter().map(|n| n.row).collect::<Vec<_>>();
        assert_eq!(rows(3), [4, 2, 1]);
        assert_eq!(rows(9), [4, 2, 1, 3, 5, 0]);
        assert_eq!(rows(0), [0; 0]);
    }
}
