use super::slope::{Opaque, Slope, WIDTH, asymmetry};
use isochrone_core::{LatentDistance as _, TemporalDistance};
use isochrone_eval::nearest::{Direction, IndexConfig, Nearest, NearestError, NearestIndex, SliceStates};

const STATES: usize = 6000;
/// Several shards.
const CONFIG: IndexConfig =
    IndexConfig { shard_rows: 2500, connectivity: 16, expansion_add: 128, expansion_search: 64 };

fn build(slope: &Slope, rows: &[f32], threads: usize) -> NearestIndex {
    let states = SliceStates { values: rows, width: WIDTH };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| NearestIndex::build(slope, &states, CONFIG, &|_| ()).unwrap())
}

#[test]
fn recall_is_at_least_99_percent_in_both_directions() {
    let (slope, rows) = (Slope::new(1), Slope::positions(STATES, 2));
    let states = SliceStates { values: &rows, width: WIDTH };
    let ratio = asymmetry(&slope, &rows);
    assert!(ratio >= 0.3, "the asymmetry is {ratio}");
    let index = build(&slope, &rows, 2);
    assert_eq!(index.n_rows(), STATES);
    let (exact, fast) =
        (Nearest::exact(&slope, &states), Nearest::with_index(&slope, &states, &index).unwrap());
    for direction in Direction::ALL {
        let mut hits = 0;
        for query in Slope::positions(100, 3).chunks_exact(WIDTH) {
            let expected = exact.search(query, direction, 10).unwrap();
            let found = fast.search(query, direction, 10).unwrap();
            assert!(found.is_sorted_by(|a, b| a.nats <= b.nats));
            hits += found.iter().filter(|found| expected.contains(found)).count();
        }
        assert!(hits >= 990, "{direction:?}: {hits} of 1000");
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let (slope, rows) = (Slope::new(1), Slope::positions(STATES, 2));
    let queries = slope.embed(&Slope::positions(20, 3));
    let [one, three] = [1, 3].map(|threads| {
        let index = build(&slope, &rows, threads);
        let width = slope.metric().width();
        let found = queries.chunks_exact(width).map(|query| index.nearest(query, Direction::To, 50));
        found.collect::<Vec<_>>()
    });
    assert_eq!(one, three);
}

#[test]
fn a_recorded_state_is_nearest_to_itself() {
    let (slope, rows) = (Slope::new(1), Slope::positions(STATES, 2));
    let states = SliceStates { values: &rows, width: WIDTH };
    let index = build(&slope, &rows, 2);
    let nearest = Nearest::with_index(&slope, &states, &index).unwrap();
    for row in [0, 2499, 2500, STATES - 1] {
        for direction in Direction::ALL {
            let found = nearest.search(&rows[row * WIDTH..][..WIDTH], direction, 1).unwrap();
            assert_eq!((found[0].row, found[0].nats), (row as u64, 0.0));
        }
    }
}

#[test]
fn without_latent_rows_the_search_is_exact() {
    let (slope, rows) = (Slope::new(1), Slope::positions(STATES, 2));
    let states = SliceStates { values: &rows, width: WIDTH };
    let index = build(&slope, &rows, 2);
    let opaque = Opaque(Slope::new(1));
    assert!(opaque.as_latent().is_none());
    let query = [0.3; WIDTH];
    let search = |nearest: &Nearest| nearest.search(&query, Direction::From, 10).unwrap();
    let with_index = search(&Nearest::with_index(&opaque, &states, &index).unwrap());
    assert_eq!(with_index, search(&Nearest::exact(&slope, &states)));
}

#[test]
fn non_finite_states_are_never_near_and_do_not_disturb_the_others() {
    let (slope, mut rows) = (Slope::new(1), Slope::positions(STATES, 2));
    for row in (0..STATES).step_by(50) {
        rows[row * WIDTH] = f32::NAN;
    }
    let states = SliceStates { values: &rows, width: WIDTH };
    let index = build(&slope, &rows, 2);
    let (exact, fast) =
        (Nearest::exact(&slope, &states), Nearest::with_index(&slope, &states, &index).unwrap());
    let mut hits = 0;
    for query in Slope::positions(20, 3).chunks_exact(WIDTH) {
        let expected = exact.search(query, Direction::To, 10).unwrap();
        hits +=
            fast.search(query, Direction::To, 10).unwrap().iter().filter(|x| expected.contains(x)).count();
    }
    assert!(hits >= 196, "{hits} of 200");
}

#[test]
fn other_states_and_settings_of_zero_are_errors() {
    let (slope, rows) = (Slope::new(1), Slope::positions(STATES, 2));
    let index = build(&slope, &rows, 2);
    let fewer = SliceStates { values: &rows[..100 * WIDTH], width: WIDTH };
    let error = Nearest::with_index(&slope, &fewer, &index).err().unwrap();
    assert!(matches!(error, NearestError::Rows { index: STATES, states: 100 }), "{error}");
    let config = IndexConfig { connectivity: 0, ..CONFIG };
    let error = NearestIndex::build(&slope, &fewer, config, &|_| ()).err().unwrap();
    assert!(matches!(error, NearestError::Setting { field: "connectivity" }), "{error}");
}

#[test]
fn an_empty_index_finds_nothing() {
    let slope = Slope::new(1);
    let index = build(&slope, &[], 1);
    assert_eq!(index.n_rows(), 0);
    assert_eq!(index.nearest(&slope.embed(&[0.5; WIDTH]), Direction::To, 10), []);
}
