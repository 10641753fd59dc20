//! Queries: where paths start and end, and which hops the graph confirms.

use super::{
    RefinedDistance,
    place::{Few, NEAR, Place, Places},
    route::Route,
    rows::apart,
};
use isochrone_core::TemporalDistance as _;
use rayon::prelude::*;

/// The number of landmarks tried near a dead end, where the nearest landmark has no edges.
const NEAR_DEAD_END: usize = 32;
/// How much farther than the nearest landmark those of a plan may be, in cover radii; never more
/// than [`MAX_HOP`].
const PLAN_RADII: f32 = 4.0;
/// The longest hop that is accepted, in steps.
const MAX_HOP: f32 = 12.0;
/// The longest hop that is accepted, in cover radii; the graph resolves longer ones.
const MAX_HOP_RADII: f32 = 4.0;
/// The number of states per parallel task.
const STATES_PER_TASK: usize = 1024;

impl RefinedDistance {
    /// Returns the route from one state to another.
    pub(super) fn route(&self, from: Place<'_>, to: Place<'_>) -> Route {
        let hop = apart(from.projected, to.projected);
        let (starts, ends) = (self.confirmed_starts(from), self.confirmed_ends(to));
        let (steps, first, last) = self.along((from, &starts), (to, &ends));
        if hop == 0.0 || self.is_shorter(hop, steps) {
            Route::Hop(hop)
        } else if steps.is_infinite() {
            Route::None
        } else {
            Route::Along { first, last }
        }
    }

    /// Returns the places of states, `[n, width]`.
    pub(super) fn places(&self, rows: &[f32]) -> Places {
        // The table is computed before parallel queries, not within one: a thread that waits for
        // its part of the table could pick up a query that itself waits for the table.
        self.paths().make_table();
        let task = STATES_PER_TASK * self.width();
        match rows.len() <= task {
            true => self.few_places(rows),
            false => {
                let parts: Vec<Places> = rows.par_chunks(task).map(|rows| self.few_places(rows)).collect();
                parts.into_iter().fold(Places::default(), Places::append)
            }
        }
    }

    /// Returns the places of the states of a task.
    fn few_places(&self, rows: &[f32]) -> Places {
        // Without a table, every landmark costs a search.
        let listed = if self.paths().has_table { NEAR.min(self.n_landmarks()) } else { 1 };
        let (n, width) = (rows.len() / self.width(), self.map.metric.projected_width());
        let (mut projected, mut near) = (Vec::with_capacity(n * width), Vec::with_capacity(n * listed));
        self.map.metric.project(rows, &mut projected);
        self.map.landmarks.nearest_few_of(&projected, listed, &mut near);
        Places { width, listed, projected, near }
    }

    /// Returns the distance between two states, each with its confirmed first or last landmarks.
    pub(super) fn reading_of(&self, from: (Place<'_>, &Few), to: (Place<'_>, &Few)) -> f32 {
        let hop = apart(from.0.projected, to.0.projected);
        if hop == 0.0 {
            return 0.0;
        }
        self.shorter(hop, self.along(from, to).0)
    }

    /// Returns the hop if it is shorter than the path and confirmed by the graph, or else the path.
    fn shorter(&self, hop: f32, along: f32) -> f32 {
        if self.is_shorter(hop, along) { hop } else { along }
    }

    fn is_shorter(&self, hop: f32, along: f32) -> bool {
        hop <= along && self.is_confirmed(hop, along)
    }

    /// Returns whether the graph confirms a hop: it is short, and the path is not much longer.
    fn is_confirmed(&self, hop: f32, along: f32) -> bool {
        hop <= MAX_HOP.min(MAX_HOP_RADII * self.map.radius + 2.0)
            && along <= 1.3 * hop + 2.0 * self.map.radius + 1.0
    }

    /// Returns the landmarks near a state that can be reached from it by a confirmed hop.
    pub(super) fn confirmed_starts(&self, place: Place<'_>) -> Few {
        let nearest = place.near[0].0;
        let is_start = |(first, _): &(u32, f32)| *first == nearest || self.is_hop(nearest, *first);
        place.near.iter().copied().filter(is_start).collect()
    }

    /// Returns the landmarks near a state from which it can be reached by a confirmed hop.
    pub(super) fn confirmed_ends(&self, place: Place<'_>) -> Few {
        let nearest = place.near[0].0;
        let is_end = |(last, _): &(u32, f32)| *last == nearest || self.is_hop(*last, nearest);
        place.near.iter().copied().filter(is_end).collect()
    }

    /// Returns the steps along the graph, and the first and the last landmark of the path.
    fn along(&self, (from, starts): (Place<'_>, &Few), (to, ends): (Place<'_>, &Few)) -> (f32, u32, u32) {
        let confirmed = self.shortest(starts, ends);
        match confirmed.0.is_finite() {
            true => confirmed,
            false => self.shortest(&self.starts_near_dead_end(from), &self.ends_near_dead_end(to)),
        }
    }

    /// Returns the possible first landmarks if no edge starts at the nearest: those up to one cover
    /// radius farther away, which the graph cannot distinguish from it.
    pub(super) fn starts_near_dead_end(&self, place: Place<'_>) -> Vec<(u32, f32)> {
        let is_dead_end = !self.graph().has_edge_from(place.near[0].0);
        if is_dead_end { self.within_radii(place, 1.0) } else { self.confirmed_starts(place).to_vec() }
    }

    /// Returns the possible last landmarks if no edge ends at the nearest.
    fn ends_near_dead_end(&self, place: Place<'_>) -> Vec<(u32, f32)> {
        let is_dead_end = !self.graph().has_edge_to(place.near[0].0);
        if is_dead_end { self.within_radii(place, 1.0) } else { self.confirmed_ends(place).to_vec() }
    }

    /// Returns the route, which may start and end at landmarks farther away if no other is known.
    pub(super) fn best_route(&self, from: Place<'_>, to: Place<'_>) -> Route {
        match self.route(from, to) {
            Route::None => {
                let (starts, ends) = (self.within_radii(from, PLAN_RADII), self.within_radii(to, PLAN_RADII));
                let (steps, first, last) = self.shortest(&starts, &ends);
                if steps.is_finite() { Route::Along { first, last } } else { Route::None }
            }
            known => known,
        }
    }

    /// Returns the length of the shortest path from one of the landmarks `starts` to one of `ends`,
    /// including the hops to them, and its first and last landmark.
    pub(super) fn shortest(&self, starts: &[(u32, f32)], ends: &[(u32, f32)]) -> (f32, u32, u32) {
        let mut shortest = (f32::INFINITY, 0, 0);
        for &(last, hop_to) in ends {
            self.paths().to_goal(last, |steps| {
                for &(first, hop_from) in starts {
                    let through = hop_from + steps[first as usize] + hop_to;
                    if through < shortest.0 {
                        shortest = (through, first, last);
                    }
                }
            });
        }
        shortest
    }

    /// Returns the landmarks that are at most `radii` cover radii farther away than the nearest.
    fn within_radii(&self, place: Place<'_>, radii: f32) -> Vec<(u32, f32)> {
        let mut near = self.map.landmarks.nearest_few(place.projected, NEAR_DEAD_END);
        let farthest = near[0].1 + (radii * self.map.radius).min(MAX_HOP);
        near.retain(|(_, hop)| *hop <= farthest);
        near
    }

    fn is_hop(&self, from: u32, to: u32) -> bool {
        let graph = self.graph();
        let hop = apart(graph.landmark(from as usize), graph.landmark(to as usize));
        self.paths().to_goal(to, |steps| self.is_confirmed(hop, steps[from as usize]))
    }

    pub(super) fn all_pairs<T: Send>(
        &self,
        from: &[f32],
        to: &[f32],
        unit: impl Fn(f32) -> T + Sync,
    ) -> Vec<T> {
        let (from, to) = (self.places(from), self.places(to));
        let ends: Vec<Few> = to.iter().map(|to| self.confirmed_ends(to)).collect();
        let row = |state: usize| {
            let from = from.get(state);
            let starts = self.confirmed_starts(from);
            let readings = to.iter().zip(&ends).map(|to| unit(self.reading_of((from, &starts), to)));
            readings.collect::<Vec<T>>()
        };
        match from.len() * to.len() <= STATES_PER_TASK {
            true => (0..from.len()).flat_map(row).collect(),
            false => (0..from.len()).into_par_iter().flat_map_iter(row).collect(),
        }
    }

    pub(super) fn paired<T: Send>(&self, from: &[f32], to: &[f32], unit: impl Fn(f32) -> T + Sync) -> Vec<T> {
        self.paths().make_table();
        let readings = |(from, to): (&[f32], &[f32])| {
            let (from, to) = (self.few_places(from), self.few_places(to));
            let reading = |(from, to)| {
                let (starts, ends) = (self.confirmed_starts(from), self.confirmed_ends(to));
                unit(self.reading_of((from, &starts), (to, &ends)))
            };
            from.iter().zip(to.iter()).map(reading).collect::<Vec<T>>()
        };
        // Without a table, a task is a single search.
        let task = if self.paths().has_table { STATES_PER_TASK * self.width() } else { self.width() };
        match from.len() <= task {
            true => readings((from, to)),
            false => from.par_chunks(task).zip(to.par_chunks(task)).flat_map_iter(readings).collect(),
        }
    }
}
