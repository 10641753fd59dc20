//! Single linkage: points are in the same cluster if a chain of short hops connects them.

use crate::refined::rows::apart;
use std::collections::BTreeMap;

/// Returns the cluster of every row of `[n, width]`, and the number of clusters. Rows are binned
/// into cells of half the distance, and cells are linked whose centers are within it. Clusters are
/// numbered by their first row.
pub fn clusters(rows: &[f32], width: usize, distance: f32) -> (Vec<u32>, usize) {
    let side = distance / 2.0;
    let mut cells: BTreeMap<Vec<i64>, usize> = BTreeMap::new();
    let mut cell_of = Vec::with_capacity(rows.len() / width);
    for row in rows.chunks_exact(width) {
        let cell = row.iter().map(|x| (x / side).floor() as i64).collect();
        let number = cells.len();
        cell_of.push(*cells.entry(cell).or_insert(number));
    }
    let mut centers = vec![Vec::new(); cells.len()];
    for (cell, number) in &cells {
        centers[*number] = cell.iter().map(|&x| (x as f32 + 0.5) * side).collect::<Vec<f32>>();
    }
    // Depth-first search, from the cell of the first row on.
    let mut cluster = vec![u32::MAX; centers.len()];
    let mut n_clusters = 0;
    for first in 0..centers.len() {
        if cluster[first] != u32::MAX {
            continue;
        }
        let mut open = vec![first];
        cluster[first] = n_clusters;
        while let Some(here) = open.pop() {
            for other in 0..centers.len() {
                // The centers of neighboring cells are computed with rounding.
                let is_near = apart(&centers[here], &centers[other]) <= distance * 1.001;
                if cluster[other] == u32::MAX && is_near {
                    cluster[other] = n_clusters;
                    open.push(other);
                }
            }
        }
        n_clusters += 1;
    }
    (cell_of.into_iter().map(|cell| cluster[cell]).collect(), n_clusters as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_of_short_hops_are_one_cluster() {
        let rows: Vec<f32> = (0..50).map(|i| i as f32 * 0.5).chain([100.0, 101.0, -40.0]).collect();
        let (clusters, n) = clusters(&rows, 1, 3.0);
        assert_eq!(n, 3);
        assert!(clusters[..50].iter().all(|cluster| *cluster == 0), "{clusters:?}");
        assert_eq!(clusters[50..], [1, 1, 2]);
    }
}
