//! Dataset states on two axes of a high-dimensional observation space, colored by distance.

use crate::{MapDirection, PlanePanel, principal::principal_directions};
use isochrone_core::TemporalDistance;
use isochrone_data::{Dataset, Feature};

/// The number of states that are drawn: more would hide each other.
const MAX_STATES: u64 = 5000;
/// A column is named if its part of a principal axis exceeds this share of the largest part.
const MIN_NAMED: f64 = 0.25;

/// An axis of the observation space: a column, or a weighted sum of several.
#[derive(Debug, Clone, PartialEq)]
pub struct MapAxis {
    /// The name of the axis.
    pub name: String,
    /// Columns and their weights.
    parts: Vec<(usize, f64)>,
}

/// The states of a dataset on two axes.
pub struct StateMap {
    axes: [MapAxis; 2],
    /// `[n, width]`, evenly spaced over the dataset.
    states: Vec<f32>,
}

impl MapAxis {
    /// Returns the axis of a column of the observation.
    ///
    /// # Panics
    /// If the observation has fewer columns.
    pub fn column(observation: &Feature, column: usize) -> Self {
        assert!(column < observation.width, "the observation has fewer columns");
        Self { name: observation.dimension(column), parts: vec![(column, 1.0)] }
    }

    /// Returns the two principal directions of the states of a dataset, after every column is
    /// multiplied by its weight, such as steps per unit.
    ///
    /// # Panics
    /// If the number of weights is not the number of columns.
    pub fn principal(data: &Dataset, weights: &[f64]) -> [Self; 2] {
        let observation = &data.spec().observation;
        assert_eq!(weights.len(), observation.width, "one weight per column");
        // Columns of weight 0 are left out, unless all weights are 0.
        let equal = vec![1.0; weights.len()];
        let weights = if weights.iter().any(|weight| *weight != 0.0) { weights } else { &equal };
        let columns: Vec<usize> = (0..weights.len()).filter(|&column| weights[column] != 0.0).collect();
        let states = sample(data);
        let rows = states.chunks_exact(observation.width);
        let weighted: Vec<f64> = rows
            .flat_map(|row| columns.iter().map(|&column| f64::from(row[column]) * weights[column]))
            .collect();
        let directions = principal_directions(&weighted, columns.len());
        let mut number = 0;
        directions.map(|direction| {
            number += 1;
            let parts: Vec<(usize, f64)> = columns
                .iter()
                .zip(&direction)
                .map(|(&column, part)| (column, part * weights[column]))
                .collect();
            // Columns are ranked by their contribution, independent of their unit.
            let mut order: Vec<usize> = (0..columns.len()).collect();
            order.sort_by(|&a, &b| direction[b].abs().total_cmp(&direction[a].abs()));
            let largest = order.first().map_or(0.0, |&at| direction[at].abs());
            let is_named = |at: usize| direction[at].abs() > MIN_NAMED * largest;
            let first = order.first().filter(|&&at| is_named(at));
            let more = if order.get(1).is_some_and(|&at| is_named(at)) { ", ..." } else { "" };
            let name = first.map(|&at| format!(": {}{more}", observation.dimension(columns[at])));
            Self { name: format!("principal axis {number}{}", name.unwrap_or_default()), parts }
        })
    }

    /// Returns the columns and their weights.
    pub(crate) fn parts(&self) -> &[(usize, f64)] {
        &self.parts
    }

    fn at(&self, state: &[f32]) -> f64 {
        self.parts.iter().map(|&(column, part)| f64::from(state[column]) * part).sum()
    }
}

impl StateMap {
    /// Samples states of a dataset.
    pub fn new(data: &Dataset, axes: [MapAxis; 2]) -> Self {
        Self { axes, states: sample(data) }
    }

    /// Returns the names of the axes.
    pub fn axes(&self) -> [String; 2] {
        self.axes.clone().map(|axis| axis.name)
    }

    /// Draws the steps between dataset states and one state. States without a path are gray.
    pub fn panel(
        &self,
        title: &str,
        distance: &dyn TemporalDistance,
        state: &[f32],
        direction: MapDirection,
    ) -> PlanePanel {
        let (panel, steps) =
            PlanePanel::of_steps(title, distance, &self.states, state, self.place(state), direction);
        let places = self.states.chunks_exact(state.len()).map(|state| self.place(state));
        let mut dots: Vec<([f64; 2], Option<f64>)> =
            places.zip(steps).map(|(at, steps)| (at, steps.is_finite().then_some(steps))).collect();
        // States with a path are drawn above those without.
        dots.sort_by_key(|(_, steps)| steps.is_some());
        PlanePanel { dots, ..panel }
    }

    /// Draws a planned path on a map of steps to its goal. `states` are all states of the path,
    /// `[n, width]`; without a path, only the start is drawn.
    pub fn draw_path(&self, panel: &mut PlanePanel, from: &[f32], states: Option<&[f32]>) {
        panel.set_path(from, states, |state| self.place(state));
    }

    fn place(&self, state: &[f32]) -> [f64; 2] {
        [self.axes[0].at(state), self.axes[1].at(state)]
    }
}

/// States of a dataset, `[n, width]`, evenly spaced over all episodes.
fn sample(data: &Dataset) -> Vec<f32> {
    evenly_spaced(data, MAX_STATES).into_iter().flat_map(|number| data.state(number)).copied().collect()
}

/// The numbers of at most `max` states of a dataset, evenly spaced over all episodes.
pub(crate) fn evenly_spaced(data: &Dataset, max: u64) -> Vec<u64> {
    let n_states = data.index().n_states();
    let n = n_states.min(max);
    (0..n).map(|number| number * n_states / n).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PlaneChart;
    use isochrone_core::{Discount, ShapeError};

    /// Steps along the first of three columns, forward only.
    struct Forward;

    impl TemporalDistance for Forward {
        fn width(&self) -> usize {
            3
        }

        fn discount(&self) -> Discount {
            Discount::new(0.9).unwrap()
        }

        fn paired_nats(&self, _: &[f32], _: &[f32]) -> Vec<f32> {
            unreachable!("maps compare all pairs")
        }

        fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
            self.check_all_pairs(from, to).unwrap_or_else(ShapeError::panic);
            let ahead =
                |from: &[f32], to: &[f32]| if to[0] < from[0] { f32::INFINITY } else { to[0] - from[0] };
            from.chunks(3).flat_map(|from| to.chunks(3).map(move |to| ahead(from, to))).collect()
        }
    }

    #[test]
    fn states_with_a_path_are_colored_and_others_are_gray() {
        let line: Vec<f32> = (0..100).flat_map(|step| [step as f32, 5.0, 0.1 * step as f32]).collect();
        let data = Dataset::from_arrays(3, 0, [(line, Vec::new())]).unwrap();
        let observation = &data.spec().observation;
        let map = StateMap::new(&data, [2, 0].map(|column| MapAxis::column(observation, column)));
        assert_eq!(map.axes(), ["observations[2]", "observations[0]"]);
        let goal = [50.0, 5.0, 5.0];
        let mut panel = map.panel("to the star", &Forward, &goal, MapDirection::To);
        assert_eq!(panel.dots.iter().filter(|(_, steps)| steps.is_some()).count(), 51);
        let far = panel.dots.iter().find(|(at, _)| *at == [0.0, 0.0]).unwrap();
        let steps = Discount::new(0.9).unwrap().steps_from_nats(50.0);
        assert!((far.1.unwrap() - steps).abs() < 1e-3, "{far:?}");
        map.draw_path(&mut panel, &[0.0, 5.0, 0.0], Some(&goal));
        let chart = PlaneChart { axes: map.axes(), panels: vec![panel], ..PlaneChart::default() };
        assert!(chart.draw().svg().contains("observations[2]"));
        // Principal axes leave out constant columns and columns of weight 0.
        let [first, second] = MapAxis::principal(&data, &[1.0, 1.0, 0.0]);
        assert_eq!(
            [first.name.as_str(), &second.name],
            ["principal axis 1: observations[0]", "principal axis 2"]
        );
        assert!((first.at(&[3.0, 5.0, 9.0]) - 3.0).abs() < 1e-6 && second.at(&[3.0, 5.0, 9.0]) == 0.0);
    }
}
