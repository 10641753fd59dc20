//! The probability that a jump intervenes while a row passes a landmark.

use super::{jumps::Jumps, landmarks::Landmarks, neighbors};

/// The number of visits that the rate of the neighborhood counts for.
const PRIOR_VISITS: f64 = 2.0;
/// The neighborhood of a landmark, in radii.
const NEIGHBORHOOD: f32 = 1.5;
/// The maximum probability per row, so that logarithms are finite.
const MAX: f64 = 0.999;

/// Hazards by landmark.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Hazards {
    /// The probability of a jump per row; 0 where no row in the neighborhood jumped.
    pub per_row: Vec<f64>,
    /// The number of rows with a next row.
    pub visits: Vec<f64>,
    /// The number of rows that jumped.
    pub jumped: Vec<f64>,
}

impl Hazards {
    /// Counts visits and jumps. A rate is shrunk to that of the neighborhood: few visits beside an
    /// entry look dangerous, few visits elsewhere do not. With a clearance, the hazard is the
    /// largest within it.
    pub fn count(jumps: &Jumps, landmarks: &Landmarks, clearance: f32) -> Self {
        let n = landmarks.len();
        let (visits, jumped) = jumps.visits(&landmarks.cells, n);
        let mut per_row = vec![0.0; n];
        if !jumps.jump_rows.is_empty() {
            let width = jumps.rows.width;
            let near = neighbors::within(&landmarks.values, width, NEIGHBORHOOD * landmarks.radius);
            for landmark in 0..n {
                let around = near[landmark].iter().map(|(other, _)| *other as usize);
                let sum = |of: &[f64]| of[landmark] + around.clone().map(|other| of[other]).sum::<f64>();
                let (jumps, all) = (sum(&jumped), sum(&visits));
                if jumps > 0.0 {
                    let prior = PRIOR_VISITS * jumps / all.max(1.0);
                    let rate = (jumped[landmark] + prior) / (visits[landmark] + PRIOR_VISITS);
                    per_row[landmark] = rate.min(MAX);
                }
            }
            if clearance > 0.0 {
                let near = neighbors::within(&landmarks.values, width, clearance);
                let largest = |landmark: usize| {
                    let around = near[landmark].iter().map(|(other, _)| per_row[*other as usize]);
                    around.fold(per_row[landmark], f64::max)
                };
                per_row = (0..n).map(largest).collect();
            }
        }
        Self { per_row, visits, jumped }
    }
}
