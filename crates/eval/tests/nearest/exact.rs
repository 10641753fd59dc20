use super::slope::{Opaque, Slope, WIDTH};
use isochrone_core::{LatentDistance as _, TemporalDistance as _};
use isochrone_data::Dataset;
use isochrone_eval::{
    calibration::Calibrated,
    nearest::{Direction, Nearest, SliceStates, nearest_latent},
    round_trip::RoundTrip,
};

#[test]
fn exact_search_agrees_with_sorting_all_distances() {
    let (slope, rows, query) = (Slope::new(1), Slope::positions(10_000, 2), Slope::positions(1, 3));
    let states = SliceStates { values: &rows, width: WIDTH };
    for direction in Direction::ALL {
        let found = Nearest::exact(&slope, &states).search(&query, direction, 7).unwrap();
        let (from, to) = direction.ordered(&query[..], &rows[..]);
        let mut all: Vec<(f32, u64)> = slope.all_pairs_nats(from, to).into_iter().zip(0..).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let found: Vec<(f32, u64)> = found.into_iter().map(|found| (found.nats, found.row)).collect();
        assert_eq!(found, all[..7]);
        let latent =
            nearest_latent(&*slope.metric(), &slope.embed(&rows), &slope.embed(&query), direction, 7);
        assert_eq!(latent.iter().map(|found| (found.nats, found.row)).collect::<Vec<_>>(), all[..7]);
    }
}

#[test]
fn the_directions_differ() {
    let (slope, rows) = (Slope::new(1), Slope::positions(2000, 2));
    let states = SliceStates { values: &rows, width: WIDTH };
    let nearest = Nearest::exact(&slope, &states);
    let [to, from] = Direction::ALL.map(|direction| nearest.search(&[0.5; WIDTH], direction, 10).unwrap());
    assert_ne!(to, from);
}

#[test]
fn a_query_of_another_width_is_rejected_and_few_states_give_few_results() {
    let (slope, rows) = (Slope::new(1), Slope::positions(3, 2));
    let states = SliceStates { values: &rows, width: WIDTH };
    let nearest = Nearest::exact(&slope, &states);
    assert!(nearest.search(&[0.5; WIDTH + 1], Direction::To, 10).is_err());
    assert_eq!(nearest.search(&[0.5; WIDTH], Direction::To, 10).unwrap().len(), 3);
    assert_eq!(nearest.search(&[0.5; WIDTH], Direction::To, 0).unwrap(), []);
}

#[test]
fn wrapped_distances_compare_latent_rows_as_they_compare_states() {
    let rows = Slope::positions(200, 2);
    let data = Dataset::from_arrays(WIDTH, 0, [(rows.clone(), Vec::new())]).unwrap();
    let distance = Calibrated::fit(RoundTrip(Slope::new(1)), &data, 0);
    let latent = distance.as_latent().unwrap();
    let (a, b) = rows.split_at(rows.len() / 2);
    assert_eq!(
        latent.metric().all_pairs_nats(&latent.embed(a), &latent.embed(b)),
        distance.all_pairs_nats(a, b)
    );
    assert!(RoundTrip(Opaque(Slope::new(1))).as_latent().is_none());
}
