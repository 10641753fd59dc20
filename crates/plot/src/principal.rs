//! The first two principal directions of states.

/// Iterations of the power method: enough for a figure, whatever the gap between eigenvalues.
const ITERATIONS: usize = 60;

/// Returns the first two principal directions of rows, `[n, width]`, each of length 1. The second
/// is zero if all rows lie on a line.
///
/// Power iteration uses the rows themselves: the covariance of wide observations would not fit into memory.
pub(crate) fn principal_directions(rows: &[f64], width: usize) -> [Vec<f64>; 2] {
    let n = (rows.len() / width.max(1)).max(1) as f64;
    let mut mean = vec![0.0; width];
    for row in rows.chunks_exact(width) {
        mean.iter_mut().zip(row).for_each(|(mean, value)| *mean += value / n);
    }
    let centered: Vec<f64> = rows
        .chunks_exact(width)
        .flat_map(|row| row.iter().zip(&mean).map(|(value, mean)| value - mean))
        .collect();
    let first = direction(&centered, width, None);
    let second = direction(&centered, width, Some(&first));
    [first, second]
}

/// The direction of largest variance, orthogonal to another.
fn direction(rows: &[f64], width: usize, other: Option<&[f64]>) -> Vec<f64> {
    // The initial direction follows the standard deviations, slightly perturbed to avoid symmetry.
    let mut squares = vec![0.0; width];
    for row in rows.chunks_exact(width) {
        squares.iter_mut().zip(row).for_each(|(square, value)| *square += value * value);
    }
    let mut direction: Vec<f64> = squares.iter().map(|square| square.sqrt()).collect();
    for (column, value) in direction.iter_mut().enumerate() {
        *value *= 1.0 + 0.1 * (column as f64).sin();
    }
    for _ in 0..ITERATIONS {
        let mut next = vec![0.0; width];
        for row in rows.chunks_exact(width) {
            let along: f64 = row.iter().zip(&direction).map(|(value, part)| value * part).sum();
            next.iter_mut().zip(row).for_each(|(next, value)| *next += along * value);
        }
        if let Some(other) = other {
            let along: f64 = next.iter().zip(other).map(|(next, part)| next * part).sum();
            next.iter_mut().zip(other).for_each(|(next, part)| *next -= along * part);
        }
        let length = next.iter().map(|part| part * part).sum::<f64>().sqrt();
        if length <= 1e-9 * squares.iter().sum::<f64>() {
            return vec![0.0; width];
        }
        direction = next.into_iter().map(|part| part / length).collect();
    }
    // The sign is arbitrary: the largest component is positive.
    let largest = direction.iter().copied().fold(0.0, |a: f64, b| if b.abs() > a.abs() { b } else { a });
    direction.iter().map(|part| part * largest.signum()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ellipse_has_two_axes_and_a_line_has_one() {
        let ellipse: Vec<f64> = (0..100)
            .flat_map(|step| {
                let angle = f64::from(step) / 100.0 * std::f64::consts::TAU;
                let (long, short) = (5.0 * angle.cos(), angle.sin());
                // The long axis points up and to the right; the last column is constant.
                [7.0 + 0.6 * long - 0.8 * short, 0.8 * long + 0.6 * short, 3.0]
            })
            .collect();
        let [first, second] = principal_directions(&ellipse, 3);
        for (found, expected) in [(first, [0.6, 0.8, 0.0]), (second, [0.8, -0.6, 0.0])] {
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?} {expected:?}");
        }
        let line: Vec<f64> = (0..50).flat_map(|step| [f64::from(step), 2.0 * f64::from(step)]).collect();
        assert_eq!(principal_directions(&line, 2)[1], [0.0, 0.0]);
    }
}
