//! Event logs.

#![no_main]

use isochrone_data::tabular::{LogColumns, read_event_log};
use isochrone_fuzz::{Scratch, Seed};

fn seeds() -> Vec<Seed> {
    vec![
        (
            "times",
            b"case,activity,timestamp\n1,a,2024-05-17T09:30:00Z\n1,b,2024-05-17 09:31\n2,a,2024-05-18\n2,b,2024-05-18T09:30:00+02:00\n".to_vec(),
        ),
        ("seconds", b"case_id;event;time\nx;\"a;b\";0\nx;c;1.5\ny;c;1e9\n".to_vec()),
        ("tabs", b"caseid\tconcept:name\tdate\n1\ta\t17.05.2024 09:30\n".to_vec()),
    ]
}

isochrone_fuzz::target!(seeds, |bytes| {
    thread_local!(static SCRATCH: Scratch = Scratch::default());
    SCRATCH.with(|scratch| {
        let _ = read_event_log(&scratch.write("x.csv", bytes), &LogColumns::default());
    });
});
