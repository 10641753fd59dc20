//! Curves of many points, reduced to the resolution of a figure.
//!
//! All coordinates are positions in the figure, by increasing `x`.

use crate::contour::Point;

/// Points within a column of this width cannot be distinguished.
const COLUMN: f64 = 1.0;
/// A narrower gap is not visible; a curve that lacks every second value stays connected.
const MIN_GAP: f64 = 1.5 * COLUMN;
/// More points than this in each column are dense.
const DENSE: usize = 4;

/// Splits points at the gaps, which are `None`.
pub(super) fn pieces<T>(marks: impl IntoIterator<Item = (f64, Option<T>)>) -> Vec<Vec<(f64, T)>> {
    let mut pieces: Vec<Vec<(f64, T)>> = Vec::new();
    let mut is_after_gap = true;
    for (x, value) in marks {
        let Some(value) = value else {
            is_after_gap = true;
            continue;
        };
        match pieces.last_mut() {
            Some(piece) if !is_after_gap || piece.last().is_some_and(|(last, _)| x - last < MIN_GAP) => {
                piece.push((x, value));
            }
            _ => pieces.push(vec![(x, value)]),
        }
        is_after_gap = false;
    }
    pieces
}

/// Keeps the lowest and the highest point of each column, in their order, and both ends. Unlike
/// averages or every n-th point, this keeps a spike of a single point.
pub(super) fn thin_line(piece: &[Point]) -> Vec<Point> {
    let mut kept: Vec<Point> = piece.first().copied().into_iter().collect();
    for column in piece.chunk_by(same_column) {
        let by_height = |a: &&Point, b: &&Point| a.1.total_cmp(&b.1);
        let (Some(&low), Some(&high)) = (column.iter().max_by(by_height), column.iter().min_by(by_height))
        else {
            continue;
        };
        kept.extend(if low.0 <= high.0 { [low, high] } else { [high, low] });
    }
    kept.extend(piece.last());
    kept.dedup();
    kept
}

/// The mean of each column, if the columns have so many points that a line through all of them
/// would fill an area.
pub(super) fn mean_of_dense(piece: &[Point]) -> Option<Vec<Point>> {
    let columns = piece.chunk_by(same_column);
    let mean = |column: &[Point]| {
        let (x, y) = column.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
        let tenths = |sum: f64| (10.0 * sum / column.len() as f64).round() / 10.0;
        (tenths(x), tenths(y))
    };
    let means: Vec<Point> = columns.map(mean).collect();
    (means.len() > 1 && piece.len() > DENSE * means.len()).then_some(means)
}

/// The extreme edges of each column, as `(x, (top, bottom))`.
pub(super) fn thin_band(piece: &[(f64, (f64, f64))]) -> Vec<(f64, (f64, f64))> {
    let mut kept = Vec::new();
    for column in piece.chunk_by(same_column) {
        let edges = column.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(top, bottom), &(_, edges)| {
            (top.min(edges.0), bottom.max(edges.1))
        });
        kept.extend(column.first().map(|first| (first.0, edges)));
    }
    kept.extend(piece.last());
    kept.dedup();
    kept
}

fn same_column<T>(a: &(f64, T), b: &(f64, T)) -> bool {
    (a.0 / COLUMN).floor() == (b.0 / COLUMN).floor()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_split_unless_they_are_too_narrow() {
        let wide = [(0.0, Some(1)), (5.0, None), (10.0, Some(2)), (20.0, Some(3))];
        assert_eq!(pieces(wide), vec![vec![(0.0, 1)], vec![(10.0, 2), (20.0, 3)]]);
        let narrow = [(0.0, None), (0.1, Some(1)), (0.2, None), (0.3, Some(2)), (9.0, None)];
        assert_eq!(pieces(narrow), vec![vec![(0.1, 1), (0.3, 2)]]);
        assert!(pieces([(0.0, None::<f64>)]).is_empty());
    }

    #[test]
    fn a_spike_is_kept() {
        let mut points: Vec<Point> =
            (0..20_000).map(|k| (f64::from(k) / 100.0, 50.0 + f64::from(k % 7))).collect();
        points[7_777].1 = 3.0;
        let kept = thin_line(&points);
        assert!(kept.len() <= 402, "{}", kept.len());
        assert!(kept.contains(&points[7_777]));
        assert_eq!((kept.first(), kept.last()), (points.first(), points.last()));
        assert!(kept.is_sorted_by(|a, b| a.0 <= b.0));
    }

    #[test]
    fn only_dense_curves_have_a_mean() {
        let points: Vec<Point> = (0..1000).map(|k| (f64::from(k) / 100.0, f64::from(k % 2))).collect();
        let middle = mean_of_dense(&points).unwrap();
        assert!(middle.len() == 10 && middle.iter().all(|point| point.1 == 0.5), "{middle:?}");
        let sparse: Vec<Point> = points.iter().map(|point| (100.0 * point.0, point.1)).collect();
        assert_eq!(mean_of_dense(&sparse), None);
    }

    #[test]
    fn few_points_are_unchanged() {
        let points = [(0.0, 1.0), (4.0, 2.0), (8.0, 1.5)];
        assert_eq!(thin_line(&points), points);
        assert_eq!(thin_line(&points[..1]), points[..1]);
        assert!(thin_line(&[]).is_empty());
    }

    #[test]
    fn a_thinned_band_covers_the_full_band() {
        let band: Vec<_> = (0..1000).map(|k| (f64::from(k) / 100.0, (5.0 - f64::from(k % 3), 9.0))).collect();
        let kept = thin_band(&band);
        assert_eq!(kept.len(), 11);
        assert!(kept[..10].iter().all(|&(_, edges)| edges == (3.0, 9.0)));
    }
}
