//! Gaps in the data between two states.

use super::{
    edges::{Cells, Edge},
    rows::{Rows, apart},
};

/// A gap in the data between a start and a goal: the nearest pair of a recorded state that can be
/// reached from the start and a recorded state from which the goal can be reached. A demonstration
/// from the one to the other closes the gap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gap {
    /// The row that can be reached from the start, counted over all episodes of the dataset.
    pub from_row: u64,
    /// The row from which the goal can be reached.
    pub to_row: u64,
    /// The hop between the two rows, in steps.
    pub steps: f64,
    /// The fraction of all rows that can be reached from the start.
    pub reached: f64,
    /// The fraction of all rows from which the goal can be reached.
    pub leading: f64,
}

impl Gap {
    /// Returns the nearest rows of two sets of landmarks; `None` if one of them has no rows.
    ///
    /// Pairs of landmarks are visited in the order of a lower bound on the distance of their rows,
    /// until no remaining pair can be nearer.
    pub(crate) fn between(rows: &Rows, cells: &Cells, reached: &[bool], leading: &[bool]) -> Option<Self> {
        let mut members = vec![Vec::new(); reached.len()];
        let mut radius = vec![0f32; reached.len()];
        for (row, &(landmark, hop)) in cells.iter().enumerate() {
            let landmark = landmark as usize;
            if reached[landmark] || leading[landmark] {
                members[landmark].push(row);
                radius[landmark] = radius[landmark].max(hop);
            }
        }
        // The row nearest to a landmark represents it.
        let center = |landmark: usize| {
            let nearest = members[landmark].iter().min_by(|a, b| cells[**a].1.total_cmp(&cells[**b].1));
            nearest.map(|&row| (landmark, rows.row(row), radius[landmark] + cells[row].1))
        };
        let some = |set: &[bool]| -> Vec<(usize, &[f32], f32)> {
            (0..set.len()).filter(|&landmark| set[landmark]).filter_map(center).collect()
        };
        let leads = some(leading);
        let mut pairs: Vec<(f32, usize, usize)> = Vec::new();
        for (from, at, reach) in some(reached) {
            let bounds = leads.iter().map(|(to, goal, other)| (apart(at, goal) - reach - other, from, *to));
            pairs.extend(bounds);
        }
        pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let mut nearest = (f32::INFINITY, 0, 0);
        for (bound, from, to) in pairs {
            if bound > nearest.0 {
                break;
            }
            for &from in &members[from] {
                for &to in &members[to] {
                    let hop = apart(rows.row(from), rows.row(to));
                    if (hop, from, to) < nearest {
                        nearest = (hop, from, to);
                    }
                }
            }
        }
        let share = |set: &[bool]| {
            let rows_of = |landmark: usize| if set[landmark] { members[landmark].len() } else { 0 };
            (0..set.len()).map(rows_of).sum::<usize>() as f64 / rows.len() as f64
        };
        let (hop, from, to) = nearest;
        hop.is_finite().then(|| Self {
            from_row: from as u64,
            to_row: to as u64,
            steps: f64::from(hop),
            reached: share(reached),
            leading: share(leading),
        })
    }
}

/// Returns the landmarks that can be reached from the seeds or, if `backwards`, those from which a
/// seed can be reached.
pub(crate) fn closure(landmarks: usize, edges: &[Edge], seeds: &[u32], backwards: bool) -> Vec<bool> {
    let ends = |edge: &Edge| if backwards { (edge.to, edge.from) } else { (edge.from, edge.to) };
    let mut order: Vec<(u32, u32)> = edges.iter().map(ends).collect();
    order.sort_unstable();
    let (mut is_in, mut open) = (vec![false; landmarks], seeds.to_vec());
    while let Some(landmark) = open.pop() {
        if std::mem::replace(&mut is_in[landmark as usize], true) {
            continue;
        }
        let first = order.partition_point(|(from, _)| *from < landmark);
        open.extend(order[first..].iter().take_while(|(from, _)| *from == landmark).map(|(_, to)| *to));
    }
    is_in
}

#[cfg(test)]
mod tests {
    use crate::refined::{RefinedConfig, RefinedDistance};
    use isochrone_data::Dataset;

    /// Two consecutive lines, and no trajectory from the first to the second.
    fn lines() -> (Dataset, RefinedDistance) {
        let line = |from: f32| (0..200).map(|step| from + 0.1 * step as f32).collect::<Vec<f32>>();
        let data =
            Dataset::from_arrays(1, 0, [line(0.0), line(25.0)].map(|line| (line, Vec::new()))).unwrap();
        let refined = RefinedDistance::fit(&data, &RefinedConfig::default()).unwrap();
        (data, refined)
    }

    #[test]
    fn the_gap_is_between_the_end_of_one_line_and_the_start_of_the_other() {
        let (data, refined) = lines();
        let gap = refined.gap(&data, &[5.0], &[40.0]).unwrap().unwrap();
        assert_eq!((gap.from_row, gap.to_row), (199, 200));
        assert!((gap.steps - 51.0).abs() < 1.0, "{gap:?}");
        // From 5 on, and up to 40: three quarters of each line.
        assert!((gap.reached - 0.375).abs() < 0.05 && (gap.leading - 0.375).abs() < 0.05, "{gap:?}");
    }

    #[test]
    fn backward_along_a_line_the_gap_is_between_start_and_goal() {
        let (data, refined) = lines();
        let gap = refined.gap(&data, &[15.0], &[3.0]).unwrap().unwrap();
        assert!(gap.from_row.abs_diff(150) <= 15 && gap.to_row.abs_diff(30) <= 15, "{gap:?}");
        assert!((gap.steps - 120.0).abs() < 30.0, "{gap:?}");
    }

    #[test]
    fn there_is_no_gap_if_a_path_is_known() {
        let (data, refined) = lines();
        assert_eq!(refined.gap(&data, &[5.0], &[15.0]).unwrap(), None);
        assert_eq!(refined.gap(&data, &[5.0], &[5.0]).unwrap(), None);
        assert!(refined.gap(&data, &[5.0, 1.0], &[5.0]).is_err());
    }
}
