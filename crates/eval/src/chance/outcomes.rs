//! Counted outcomes of jumps.

use super::{jumps::Jumps, landmarks::Landmarks, problem::Outcomes};
use crate::refined::nearest::Points;
use std::collections::BTreeMap;

/// The total weight of the prior over exits, which is uniform.
const PRIOR: f64 = 1.0;
/// The weight of an outcome that was never seen.
const UNSEEN: f64 = 1.0;

/// Returns the outcomes of every region: `p(e | region) = (1 - u) (count + prior / K) / (N +
/// prior)` for each of `K` exits, and `u = 1 / (N + 1)` for outcomes that were never seen.
pub fn of_regions(jumps: &Jumps, landmarks: &Landmarks) -> Vec<Outcomes> {
    let mut landings = vec![BTreeMap::<u32, f64>::new(); jumps.n_exits];
    let mut totals = vec![0.0; jumps.n_exits];
    for (&row, &exit) in jumps.jump_rows.iter().zip(&jumps.exit_of) {
        let (landmark, _) = landmarks.cells[row as usize + 1];
        *landings[exit as usize].entry(landmark).or_default() += 1.0;
        totals[exit as usize] += 1.0;
    }
    let of_region = |counts: Vec<u32>| {
        let n: f64 = counts.iter().map(|count| f64::from(*count)).sum();
        let unseen = UNSEEN / (n + UNSEEN);
        let mut at = BTreeMap::<u32, f64>::new();
        for (exit, count) in counts.into_iter().enumerate() {
            let p = (1.0 - unseen) * (f64::from(count) + PRIOR / jumps.n_exits as f64) / (n + PRIOR);
            for (landmark, landed) in &landings[exit] {
                *at.entry(*landmark).or_default() += p * landed / totals[exit];
            }
        }
        Outcomes { landings: at.into_iter().collect(), unseen }
    };
    jumps.counts().into_iter().map(of_region).collect()
}

/// Returns the region of each landmark: that of the nearest row that jumps.
pub fn regions(jumps: &Jumps, landmarks: &Landmarks) -> Vec<u32> {
    if jumps.jump_rows.is_empty() {
        return vec![0; landmarks.len()];
    }
    let rows = Points::new(&jumps.rows.select(&jumps.jump_rows), jumps.rows.width);
    let nearest = rows.nearest(&landmarks.values);
    nearest.into_iter().map(|(jump, _)| jumps.entry_of[jump as usize]).collect()
}
