//! Learned distances and policies reject arguments of wrong shapes.

use crate::support::walks;
use isochrone_core::{GoalPolicy as _, ShapeError, TemporalDistance as _};
use isochrone_learn::{Algorithm, Preset, Training};
use std::panic::{AssertUnwindSafe, catch_unwind};

fn panic_message<T>(call: impl FnOnce() -> T) -> String {
    let panic = catch_unwind(AssertUnwindSafe(call)).err().expect("it panics");
    *panic.downcast::<String>().expect("a message")
}

#[test]
fn wrong_widths_and_unequal_rows_are_rejected() {
    let data = walks(4, 30);
    let model = Training::new(Algorithm::Cmd1).preset(Preset::Small).steps(1).fit(&data).unwrap();
    let (distance, policy) = (model.distance().unwrap(), model.policy().unwrap());
    let (row, rows, partial) = ([0.5; 4], [0.5; 8], [0.5; 3]);

    assert_eq!(
        distance.steps(&partial, &row),
        Err(ShapeError::NotOneRow { argument: "from", numbers: 3, width: 4 })
    );
    assert!(distance.steps(&row, &row).unwrap().is_finite());
    assert_eq!(distance.all_pairs_steps(&rows, &row).unwrap().len(), 2);
    assert!(
        distance.paired_steps(&rows, &row).is_err() && distance.all_pairs_steps(&rows, &partial).is_err()
    );
    assert_eq!(policy.action(&row, &row).unwrap().len(), 2);
    assert!(policy.action(&row, &partial).is_err());

    let message = "`from` has 3 numbers, which is not a multiple of the width 4";
    assert!(panic_message(|| distance.paired_nats(&partial, &partial)).contains(message));
    assert!(panic_message(|| distance.all_pairs_nats(&partial, &row)).contains(message));
    let unequal = panic_message(|| distance.paired_nats(&rows, &row));
    assert!(unequal.contains("`from` has 2 rows of width 4 and `to` has 1"), "{unequal}");
    let unequal = panic_message(|| policy.actions(&row, &rows));
    assert!(unequal.contains("`observations` has 1 rows"), "{unequal}");
}
