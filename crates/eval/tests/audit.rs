//! Audits of distance matrices: true distances pass, and problems of wrong distances are reported.

use isochrone_core::rng;
use isochrone_data::Dataset;
use isochrone_eval::{
    audit::{AcrossEpisodes, AuditError, Consistency, DistanceMatrix, Readings},
    refined::{RefinedConfig, RefinedDistance},
};

/// A dataset from a small environment, and the exact steps between its states.
struct GroundTruth {
    data: Dataset,
    /// The cell of every row of the dataset.
    cells: Vec<usize>,
    /// Exact steps between cells, `[from][to]`.
    exact: Vec<Vec<f64>>,
}

impl GroundTruth {
    /// Returns the matrix over every `stride`-th row; `change` gets the exact steps in both
    /// directions.
    fn matrix(&self, stride: usize, change: impl Fn(f64, f64) -> f64) -> DistanceMatrix {
        let rows: Vec<usize> = (0..self.cells.len()).step_by(stride).collect();
        let steps = |from: usize, to: usize| self.exact[self.cells[from]][self.cells[to]];
        let entries = rows
            .iter()
            .flat_map(|&from| rows.iter().map(move |&to| (from, to)))
            .map(|(from, to)| change(steps(from, to), steps(to, from)));
        let states: Vec<u64> = rows.iter().map(|&row| row as u64).collect();
        DistanceMatrix::new(&self.data, &states, entries.collect()).unwrap()
    }

    fn problems(&self, matrix: &DistanceMatrix) -> Vec<String> {
        let recorded = RefinedDistance::fit(&self.data, &RefinedConfig::default()).unwrap();
        let readings = Readings::of_matrix(matrix, &self.data);
        let found = Consistency::of_readings(&readings, 0);
        found.problems(AcrossEpisodes::new(&readings, &recorded, 0).rank_correlation(&readings))
    }
}

/// An 8 by 8 grid with a wall that has a one-way door from left to right and a distant opening; the
/// behavior policy is a random walk that never stays in place.
fn grid() -> GroundTruth {
    const SIDE: usize = 8;
    let next = |cell: usize| {
        let (row, column) = (cell / SIDE, cell % SIDE);
        let mut next = Vec::new();
        for (row, column) in [
            (row.wrapping_sub(1), column),
            (row + 1, column),
            (row, column.wrapping_sub(1)),
            (row, column + 1),
        ] {
            let crosses = (cell % SIDE == 3 && column == 4) || (cell % SIDE == 4 && column == 3);
            let is_open = !crosses || (row == 1 && column == 4) || row == 7;
            if row < SIDE && column < SIDE && is_open {
                next.push(row * SIDE + column);
            }
        }
        next
    };
    let exact = (0..SIDE * SIDE).map(|from| {
        let (mut steps, mut queue, mut at) = (vec![f64::INFINITY; SIDE * SIDE], vec![from], 0);
        steps[from] = 0.0;
        while at < queue.len() {
            let cell = queue[at];
            at += 1;
            for next in next(cell) {
                if steps[next].is_infinite() {
                    steps[next] = steps[cell] + 1.0;
                    queue.push(next);
                }
            }
        }
        steps
    });
    let exact = exact.collect();
    let mut random = rng::stream(3, 0);
    let mut cells = Vec::new();
    let episodes: Vec<(Vec<f32>, Vec<f32>)> = (0..20)
        .map(|_| {
            let mut cell = rng::below(&mut random, SIDE * SIDE);
            let mut rows = Vec::new();
            for _ in 0..=80 {
                cells.push(cell);
                rows.extend([(cell % SIDE) as f32, (cell / SIDE) as f32]);
                let next = next(cell);
                cell = next[rng::below(&mut random, next.len())];
            }
            (rows, Vec::new())
        })
        .collect();
    GroundTruth { data: Dataset::from_arrays(2, 0, episodes).unwrap(), cells, exact }
}

/// A one-way ring of 78 cells; every step moves one cell.
fn ring() -> GroundTruth {
    const CELLS: usize = 78;
    let mut random = rng::stream(4, 0);
    let mut cells = Vec::new();
    let episodes: Vec<(Vec<f32>, Vec<f32>)> = (0..20)
        .map(|_| {
            let first = rng::below(&mut random, CELLS);
            let mut rows = Vec::new();
            for step in 0..=60 {
                let cell = (first + step) % CELLS;
                cells.push(cell);
                let (sin, cos) = (std::f64::consts::TAU * cell as f64 / CELLS as f64).sin_cos();
                rows.extend([cos as f32, sin as f32]);
            }
            (rows, Vec::new())
        })
        .collect();
    let exact = (0..CELLS).map(|from| (0..CELLS).map(|to| ((to + CELLS - from) % CELLS) as f64).collect());
    GroundTruth { data: Dataset::from_arrays(2, 0, episodes).unwrap(), cells, exact: exact.collect() }
}

#[test]
fn true_distances_pass_for_any_choice_of_rows() {
    for (name, truth) in [("grid", grid()), ("ring", ring())] {
        for stride in [1, 3, 7] {
            let matrix = truth.matrix(stride, |forward, _| forward);
            assert_eq!(truth.problems(&matrix), Vec::<String>::new(), "{name}, every {stride} rows");
        }
    }
}

#[test]
fn problems_of_wrong_distances_are_reported() {
    let ring = ring();
    let of = |change: &dyn Fn(f64, f64) -> f64| ring.problems(&ring.matrix(2, change)).join("; ");
    let symmetric = of(&|forward, backward| forward.min(backward));
    assert!(
        symmetric.contains("across episodes, its rank correlation with recorded time is only"),
        "{symmetric}"
    );
    let doubled = of(&|forward, _| 2.0 * forward);
    assert!(doubled.contains("of recorded pairs read longer than they took"), "{doubled}");
    let saturated = of(&|forward, _| 8.0 * (1.0 - (-forward / 8.0).exp()));
    assert!(
        saturated.contains("of random pairs read shorter than the recorded speed limit allows"),
        "{saturated}"
    );
    let grid = grid();
    let tenfold = grid.problems(&grid.matrix(1, |forward, _| 10.0 * forward)).join("; ");
    assert!(tenfold.contains("one recorded step reads 10.0"), "{tenfold}");
}

#[test]
fn an_invalid_distance_matrix_is_an_error() {
    let data = ring().data;
    let of = |states: &[u64], steps: Vec<f64>| DistanceMatrix::new(&data, states, steps).unwrap_err();
    assert_eq!(of(&[0, 1], vec![0.0; 3]), AuditError::Size { states: 2, entries: 3 });
    assert_eq!(of(&[0, 5000], vec![0.0; 4]), AuditError::State { row: 1, state: 5000, n_states: 1220 });
    assert_eq!(of(&[7, 7], vec![0.0; 4]), AuditError::Twice { state: 7 });
    assert_eq!(of(&[0, 1], vec![0.0, 1.0, -1.0, 0.0]), AuditError::Entry { row: 1, column: 0, value: -1.0 });
    assert!(matches!(of(&[0, 1], vec![0.0, f64::NAN, 1.0, 0.0]), AuditError::Entry { column: 1, .. }));
    // The first rows of two episodes.
    assert_eq!(of(&[0, 61], vec![0.0; 4]), AuditError::NoRecordedPair);
    assert_eq!(of(&[], vec![]), AuditError::NoRecordedPair);
}
