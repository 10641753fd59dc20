//! The first principal components of wide rows.

use isochrone_core::rng;

/// Additional directions of the iteration, which speed up its convergence.
const OVERSAMPLING: usize = 8;
/// The number of iterations: components whose variances differ by a tenth converge to 0.1 %.
const ITERATIONS: usize = 60;

/// The mean and the principal components of rows: `y = (x - mean) components^T * scale`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Projection {
    mean: Vec<f32>,
    /// `[n_components, width]`: orthonormal, by decreasing variance; empty if all dimensions are
    /// kept as they are.
    components: Vec<f32>,
    scale: f32,
    /// The standard deviation of each component of the result.
    pub deviations: Vec<f32>,
}

impl Projection {
    /// Fits the components of rows `[n, width]`; all dimensions are kept if `n_components` is 0 or
    /// no fewer.
    ///
    /// The result is scaled so that all `width` dimensions together have the variance `weight^2`,
    /// that of one standardized dimension times the weight. The share of variance that the kept
    /// components do not explain is lost: an embedding without structure gets little weight.
    pub fn fit(rows: &[f32], width: usize, n_components: usize, weight: f64) -> Self {
        let mean = mean(rows, width);
        let of_dimensions = variances(rows, &mean, width);
        let total: f64 = of_dimensions.iter().sum();
        let scale = if total > 0.0 { weight / total.sqrt() } else { 0.0 };
        let (components, variances) = match n_components {
            n if n == 0 || n >= width => (Vec::new(), of_dimensions),
            n => leading(&covariance(rows, &mean, width), width, n),
        };
        let deviations = variances.iter().map(|variance: &f64| (variance.max(0.0).sqrt() * scale) as f32);
        Self {
            mean: mean.iter().map(|&value| value as f32).collect(),
            components,
            scale: scale as f32,
            deviations: deviations.collect(),
        }
    }

    /// Appends the components of a row.
    pub fn apply(&self, row: &[f32], into: &mut Vec<f32>) {
        if self.components.is_empty() {
            into.extend(row.iter().zip(&self.mean).map(|(x, mean)| (x - mean) * self.scale));
        }
        for component in self.components.chunks_exact(self.mean.len().max(1)) {
            let terms = component.iter().zip(row).zip(&self.mean);
            into.push(terms.map(|((c, x), mean)| c * (x - mean)).sum::<f32>() * self.scale);
        }
    }
}

fn mean(rows: &[f32], width: usize) -> Vec<f64> {
    let mut mean = vec![0.0; width];
    for row in rows.chunks_exact(width) {
        mean.iter_mut().zip(row).for_each(|(sum, &value)| *sum += f64::from(value));
    }
    let n = (rows.len() / width).max(1) as f64;
    mean.iter_mut().for_each(|sum| *sum /= n);
    mean
}

/// Returns the variance of each dimension.
fn variances(rows: &[f32], mean: &[f64], width: usize) -> Vec<f64> {
    let mut squares = vec![0.0; width];
    for row in rows.chunks_exact(width) {
        let terms = squares.iter_mut().zip(row).zip(mean);
        terms.for_each(|((sum, &value), mean)| *sum += (f64::from(value) - mean).powi(2));
    }
    let n = (rows.len() / width).max(1) as f64;
    squares.into_iter().map(|sum| sum / n).collect()
}

/// Returns the covariance matrix, `[width, width]`.
fn covariance(rows: &[f32], mean: &[f64], width: usize) -> Vec<f64> {
    let mut matrix = vec![0.0; width * width];
    let mut centered = vec![0.0; width];
    for row in rows.chunks_exact(width) {
        for ((centered, &value), mean) in centered.iter_mut().zip(row).zip(mean) {
            *centered = f64::from(value) - mean;
        }
        for (at, &left) in centered.iter().enumerate() {
            let upper = &mut matrix[at * width + at..(at + 1) * width];
            upper.iter_mut().zip(&centered[at..]).for_each(|(sum, right)| *sum += left * right);
        }
    }
    let n = (rows.len() / width).max(1) as f64;
    for row in 0..width {
        for column in row..width {
            let value = matrix[row * width + column] / n;
            matrix[row * width + column] = value;
            matrix[column * width + row] = value;
        }
    }
    matrix
}

/// Returns the leading eigenvectors `[n, width]` of a covariance matrix and their eigenvalues, by
/// orthogonal iteration. The sign of a vector is that of its largest entry.
fn leading(covariance: &[f64], width: usize, n: usize) -> (Vec<f32>, Vec<f64>) {
    let mut random = rng::stream(0, 0);
    let n_vectors = (n + OVERSAMPLING).min(width);
    let mut vectors: Vec<Vec<f64>> =
        (0..n_vectors).map(|_| (0..width).map(|_| rng::normal(&mut random)).collect()).collect();
    orthonormalize(&mut vectors);
    let times =
        |vector: &[f64]| -> Vec<f64> { covariance.chunks_exact(width).map(|row| dot(row, vector)).collect() };
    for _ in 0..ITERATIONS {
        vectors = vectors.iter().map(|vector| times(vector)).collect();
        orthonormalize(&mut vectors);
    }
    let mut found: Vec<(f64, Vec<f64>)> =
        vectors.into_iter().map(|vector| (dot(&vector, &times(&vector)), vector)).collect();
    found.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    found.truncate(n);
    let mut components = Vec::with_capacity(n * width);
    for (_, vector) in &found {
        let largest = vector.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(1.0);
        components.extend(vector.iter().map(|&value| (value * largest.signum()) as f32));
    }
    (components, found.into_iter().map(|(variance, _)| variance).collect())
}

/// Makes vectors orthonormal, in their order. Vectors that depend on earlier ones become 0.
fn orthonormalize(vectors: &mut [Vec<f64>]) {
    for at in 0..vectors.len() {
        let (before, rest) = vectors.split_at_mut(at);
        let vector = &mut rest[0];
        let length = dot(vector, vector).sqrt();
        // Twice, since the first subtraction leaves rounding errors.
        for other in before.iter().chain(before.iter()) {
            let share = dot(other, vector);
            vector.iter_mut().zip(other).for_each(|(value, other)| *value -= share * other);
        }
        let rest = dot(vector, vector).sqrt();
        let factor = if rest > 1e-12 * length { 1.0 / rest } else { 0.0 };
        vector.iter_mut().for_each(|value| *value *= factor);
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_the_directions_of_largest_variance() {
        // Along (3, 4) / 5 with standard deviation 5, across it with 1, and a constant dimension.
        let mut random = rng::stream(7, 0);
        let row = |_| {
            let (along, across) = (5.0 * rng::normal(&mut random), rng::normal(&mut random));
            [0.6 * along - 0.8 * across + 9.0, 0.8 * along + 0.6 * across, 2.0].map(|x| x as f32)
        };
        let rows: Vec<f32> = (0..4000).flat_map(row).collect();
        let projection = Projection::fit(&rows, 3, 1, 2.0);
        for (found, expected) in projection.components.iter().zip([0.6, 0.8, 0.0]) {
            assert!((found - expected).abs() < 0.01, "{:?}", projection.components);
        }
        // 25 / 26 of the variance is kept, and all of it is 2^2.
        assert!((projection.deviations[0] - 2.0 * (25.0_f32 / 26.0).sqrt()).abs() < 0.02);
        let mut result = Vec::new();
        projection.apply(&[9.0 + 6.0, 8.0, 2.0], &mut result);
        assert!((result[0] - 10.0 * 2.0 / 26.0_f32.sqrt()).abs() < 0.1, "{result:?}");
        assert_eq!(projection, Projection::fit(&rows, 3, 1, 2.0), "deterministic");
    }

    #[test]
    fn all_dimensions_can_be_kept() {
        let projection = Projection::fit(&[1.0, 3.0, 3.0, -1.0], 2, 0, 1.0);
        let mut result = Vec::new();
        projection.apply(&[3.0, 3.0], &mut result);
        // The variances are 1 and 4.
        let expected = [1.0, 2.0].map(|value: f32| value / 5.0_f32.sqrt());
        assert!(result.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{result:?}");
        assert!(projection.deviations.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6));
    }

    #[test]
    fn constant_rows_have_components_without_variance() {
        let projection = Projection::fit(&[1.0, 2.0, 1.0, 2.0], 2, 1, 1.0);
        let mut result = Vec::new();
        projection.apply(&[1.0, 2.0], &mut result);
        assert_eq!((result, projection.deviations), (vec![0.0], vec![0.0]));
    }
}
