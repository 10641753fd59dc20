//! The comparison of latent rows outside of tensors, pair by pair.

use isochrone_core::LatentMetric;
use isochrone_nn::{
    kernel::{PairForm, Pairs, all_pairs, pair},
    module::Metric,
};
use std::ops::Range;

/// The pair heads of a metric on latent rows side by side: the largest of their values, times a
/// scale.
pub(super) struct HeadMetric {
    heads: Vec<Head>,
    width: usize,
    /// The factor from the unit of the metric to nats.
    scale: f32,
}

struct Head {
    form: PairForm,
    mix: f32,
    /// The columns of a latent row.
    columns: Range<usize>,
}

impl HeadMetric {
    pub fn new(metric: &Metric, scale: f32) -> Self {
        let (mut heads, mut width) = (Vec::new(), 0);
        for member in metric.members() {
            let (form, start) = (member.head.form(), width);
            width += form.width();
            heads.push(Head { form, mix: member.head.mix_value(), columns: start..width });
        }
        Self { heads, width, scale }
    }

    /// Returns the columns of one head, row by row.
    fn part(&self, head: &Head, rows: &[f32]) -> Vec<f32> {
        rows.chunks_exact(self.width).flat_map(|row| &row[head.columns.clone()]).copied().collect()
    }
}

impl LatentMetric for HeadMetric {
    fn width(&self) -> usize {
        self.width
    }

    fn nats(&self, from: &[f32], to: &[f32]) -> f32 {
        let value =
            |head: &Head| pair(head.form, &from[head.columns.clone()], &to[head.columns.clone()], head.mix);
        self.heads.iter().map(value).fold(f32::NEG_INFINITY, larger) * self.scale
    }

    fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        if from.is_empty() || to.is_empty() {
            return Vec::new();
        }
        let values = self.heads.iter().map(|head| match &self.heads[..] {
            [_] => all_pairs(&Pairs::new(head.form, from, to, head.mix), None),
            _ => all_pairs(
                &Pairs::new(head.form, &self.part(head, from), &self.part(head, to), head.mix),
                None,
            ),
        });
        let largest = |a: Vec<f32>, b: Vec<f32>| a.into_iter().zip(b).map(|(a, b)| larger(a, b)).collect();
        let mut values = values.reduce(largest).expect("there is at least one member");
        values.iter_mut().for_each(|value| *value *= self.scale);
        values
    }
}

/// Returns the larger value; NaN if one of them is NaN.
fn larger(a: f32, b: f32) -> f32 {
    if a >= b || a.is_nan() { a } else { b }
}
