//! The interface of distances that compare latent rows.

use std::sync::Arc;

/// A distance that is a function of latent rows: `d(s, g) = metric(embed(s), embed(g))`.
///
/// Latent rows can be computed once and compared many times, for example by an index of nearest
/// states. [`TemporalDistance::as_latent`](crate::TemporalDistance::as_latent) returns this view of
/// a distance.
pub trait LatentDistance: Send + Sync {
    /// Returns the latent rows of states.
    ///
    /// # Shapes
    /// `[n, width]` gives `[n, latent width]`.
    ///
    /// # Panics
    /// If the length of `rows` is not a multiple of the width of a state.
    fn embed(&self, rows: &[f32]) -> Vec<f32>;

    /// Returns the distance between latent rows.
    fn metric(&self) -> Arc<dyn LatentMetric>;
}

/// A directed distance between latent rows, in nats.
pub trait LatentMetric: Send + Sync {
    /// Returns the width of a latent row.
    fn width(&self) -> usize;

    /// Returns the distance from one latent row to another. It is called for single pairs, many
    /// times, and must not panic for rows of [`width`](Self::width) numbers.
    fn nats(&self, from: &[f32], to: &[f32]) -> f32;

    /// Returns the distances from every row of `from` to every row of `to`.
    ///
    /// # Shapes
    /// `from: [n, width]` and `to: [m, width]` give `[n, m]`.
    fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        let width = self.width();
        let row = |from| to.chunks_exact(width).map(move |to| self.nats(from, to));
        from.chunks_exact(width).flat_map(row).collect()
    }
}
