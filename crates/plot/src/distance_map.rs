//! Learned distances on a plane of the observation space.

use crate::{Colors, PlaneChart, PlaneField, PlanePanel, axis::limits};
use isochrone_core::TemporalDistance;
use isochrone_data::Dataset;

/// The direction of the distances on a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapDirection {
    /// From cells to one state.
    To,
    /// From one state to cells.
    From,
}

/// The number of states that determine where there are data.
const MAX_STATES: usize = 40_000;
/// Cells farther than this many cells from any state are not drawn, because there are no data.
const MARGIN_CELLS: usize = 1;

/// The part of a plane of the observation space that the data cover.
pub struct MapFrame {
    dimensions: [usize; 2],
    x: (f64, f64),
    y: (f64, f64),
    columns: usize,
    rows: usize,
    is_known: Vec<bool>,
}

impl MapFrame {
    /// Finds the cells of two dimensions that have data; the longer side has `cells` cells.
    pub fn new(data: &Dataset, dimensions: [usize; 2], cells: usize) -> Self {
        let width = data.spec().observation.width;
        let every = (data.index().n_states() / MAX_STATES as u64).max(1);
        let places: Vec<[f64; 2]> = (0..data.n_episodes())
            .flat_map(|episode| {
                let view = data.episode(episode);
                // The stride runs over all episodes, so that short episodes contribute more than
                // their starts.
                let first = data.index().states(episode).start;
                let rows = view.observations.chunks_exact(width).zip(first..);
                let rows = rows.filter(|(_, state)| state.is_multiple_of(every));
                rows.map(|(row, _)| dimensions.map(|dimension| f64::from(row[dimension]))).collect::<Vec<_>>()
            })
            .filter(|place| place.iter().all(|x| x.is_finite()))
            .collect();
        let range = |axis: usize| {
            limits(places.iter().map(|place| place[axis])).map_or((0.0, 1.0), |(low, high)| {
                let room = 0.03 * (high - low).max(1e-6);
                (low - room, high + room)
            })
        };
        let (x, y) = (range(0), range(1));
        let (longer, shorter) = ((x.1 - x.0).max(y.1 - y.0), (x.1 - x.0).min(y.1 - y.0));
        let is_shared = longer <= PlaneChart::MAX_ASPECT * shorter;
        let count = |(low, high): (f64, f64)| match is_shared {
            true => ((cells as f64 * (high - low) / longer).round() as usize).max(1),
            false => cells,
        };
        let (columns, rows) = (count(x), count(y));
        let mut is_known = vec![false; columns * rows];
        let around =
            |cell: usize, n: usize| cell.saturating_sub(MARGIN_CELLS)..n.min(cell + MARGIN_CELLS + 1);
        for place in &places {
            let column = ((place[0] - x.0) / (x.1 - x.0) * columns as f64) as usize;
            let row = ((y.1 - place[1]) / (y.1 - y.0) * rows as f64) as usize;
            for row in around(row, rows) {
                is_known[row * columns..][around(column, columns)].fill(true);
            }
        }
        Self { dimensions, x, y, columns, rows, is_known }
    }

    /// Draws the steps between cells and one state, with isochrones. Cells take their other
    /// dimensions from the state.
    pub fn panel(
        &self,
        title: &str,
        distance: &dyn TemporalDistance,
        state: &[f32],
        direction: MapDirection,
    ) -> PlanePanel {
        let centers = PlaneField::centers(self.x, self.y, self.columns, self.rows);
        let known: Vec<usize> = (0..centers.len()).filter(|&cell| self.is_known[cell]).collect();
        let mut cells = state.repeat(known.len());
        for (row, &cell) in cells.chunks_exact_mut(state.len()).zip(&known) {
            for (axis, &dimension) in self.dimensions.iter().enumerate() {
                row[dimension] = centers[cell][axis] as f32;
            }
        }
        let (panel, steps) =
            PlanePanel::of_steps(title, distance, &cells, state, self.place(state), direction);
        let mut values = vec![None; centers.len()];
        known.into_iter().zip(steps).for_each(|(cell, steps)| values[cell] = Some(steps));
        let field = PlaneField { x: self.x, y: self.y, columns: self.columns, values };
        PlanePanel { field: Some(field), ..panel }
    }

    /// Draws a planned path on a map of steps to its goal. `states` are all states of the path,
    /// `[n, width]`; without a path, only the start is drawn.
    pub fn draw_path(&self, panel: &mut PlanePanel, from: &[f32], states: Option<&[f32]>) {
        panel.set_path(from, states, |state| self.place(state));
    }

    /// Returns the numbers of columns and rows of cells.
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.columns, self.rows)
    }

    /// Returns the ranges of both axes.
    pub(crate) fn ranges(&self) -> [(f64, f64); 2] {
        [self.x, self.y]
    }

    /// Returns, for every cell, row by row from the top, whether there are data.
    pub(crate) fn is_known(&self) -> &[bool] {
        &self.is_known
    }

    /// The position of a state on the map.
    fn place(&self, state: &[f32]) -> [f64; 2] {
        self.dimensions.map(|dimension| f64::from(state[dimension]))
    }
}

impl PlanePanel {
    /// Creates a panel without values for the steps between states, `[n, width]`, and one state at
    /// `place`; returns the steps as well.
    pub(crate) fn of_steps(
        title: &str,
        distance: &dyn TemporalDistance,
        states: &[f32],
        state: &[f32],
        place: [f64; 2],
        direction: MapDirection,
    ) -> (Self, Vec<f64>) {
        let at = vec![place];
        let (steps, legend, starts, goals) = match direction {
            MapDirection::To => {
                (distance.all_pairs_steps(states, state), "steps to the star", Vec::new(), at)
            }
            MapDirection::From => {
                (distance.all_pairs_steps(state, states), "steps from the circle", at, Vec::new())
            }
        };
        let steps = steps.expect("maps have full states");
        let largest = steps.iter().copied().filter(|steps| steps.is_finite()).fold(0.0, f64::max).max(1e-9);
        let colors = Some(Colors::Distance { legend: legend.to_owned(), largest });
        (Self { title: title.to_owned(), colors, starts, goals, ..Self::default() }, steps)
    }

    /// Draws a planned path, or only its start if there is no path.
    pub(crate) fn set_path(
        &mut self,
        from: &[f32],
        states: Option<&[f32]>,
        place: impl Fn(&[f32]) -> [f64; 2],
    ) {
        self.planned = vec![states.unwrap_or_default().chunks_exact(from.len()).map(&place).collect()];
        self.starts = vec![place(from)];
    }
}

/// Gives maps of distances a common color scale, so that they can be compared.
pub fn on_one_scale(panels: &mut [PlanePanel]) {
    let largest_of = |panel: &PlanePanel| match &panel.colors {
        Some(Colors::Distance { largest, .. }) => *largest,
        _ => 0.0,
    };
    let common = panels.iter().map(largest_of).fold(0.0, f64::max);
    for panel in panels {
        if let Some(Colors::Distance { largest, .. }) = &mut panel.colors {
            *largest = common;
        }
    }
}
