//! Pairs of landmarks that are near each other.

use crate::refined::rows::apart;
use rayon::prelude::*;

/// Returns, for each row of `[n, width]`, the other rows within a distance, ascending, and how far
/// they are.
pub fn within(rows: &[f32], width: usize, distance: f32) -> Vec<Vec<(u32, f32)>> {
    let n = rows.len() / width;
    let row = |number: usize| &rows[number * width..][..width];
    let near = |number: usize| {
        let others = (0..n).filter(|&other| other != number);
        let others = others.map(|other| (other as u32, apart(row(number), row(other))));
        others.filter(|(_, apart)| *apart <= distance).collect()
    };
    (0..n).into_par_iter().map(near).collect()
}
