use super::slope::{Opaque, Slope, WIDTH};
use isochrone_core::TemporalDistance;
use isochrone_eval::plan::{PlanMethod, Planner, Transitions};

/// More states than a graph compares in all pairs.
const STATES: usize = 9000;

/// Returns the lengths of paths in steps, and the longest edge.
fn lengths(distance: impl TemporalDistance, max_edge_steps: f64) -> (Vec<f64>, f64) {
    let states = Slope::positions(STATES, 2);
    let transitions = Transitions { next_states: states.clone(), states, actions: Vec::new() };
    let planner = Planner::new(PlanMethod::Graph { max_edge_steps }, distance, transitions).unwrap();
    let (from, to) = (Slope::positions(10, 5), Slope::positions(10, 6));
    let pairs = from.chunks_exact(WIDTH).zip(to.chunks_exact(WIDTH));
    let paths: Vec<_> = pairs.map(|(from, to)| planner.plan(from, to).unwrap()).collect();
    let longest = paths.iter().flat_map(|path| path.edge_steps.clone()).fold(0.0, f64::max);
    (paths.iter().map(isochrone_eval::plan::Path::steps).collect(), longest)
}

#[test]
fn paths_over_a_large_graph_are_as_short_as_with_all_pairs() {
    let slope = Slope::new(1);
    let discount = slope.discount().nats_per_step();
    let states = Slope::positions(200, 2);
    let nats = slope.paired_nats(&states[..100 * WIDTH], &states[100 * WIDTH..]);
    // A fifth of a typical distance: paths have several edges.
    let max_edge = f64::from(nats.iter().sum::<f32>()) / 100.0 / discount / 5.0;
    let ((indexed, longest), (all_pairs, _)) = (lengths(&slope, max_edge), lengths(Opaque(&slope), max_edge));
    assert!(longest <= max_edge * (1.0 + 1e-5), "{longest} of {max_edge}");
    for (indexed, all_pairs) in indexed.iter().zip(&all_pairs) {
        // The planner itself treats paths within 2 % as equally long.
        assert!((indexed / all_pairs - 1.0).abs() <= 0.03, "{indexed} instead of {all_pairs}");
    }
}
