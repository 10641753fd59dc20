//! Addresses of remote datasets, and ids of the hub.

#![no_main]

use isochrone_data::remote::DatasetUrl;
use isochrone_fuzz::Seed;
use std::path::Path;

fn seeds() -> Vec<Seed> {
    vec![
        ("s3", b"s3://logs/walks/2026/x.arrow".to_vec()),
        ("hub", b"hf://datasets/owner/name@main/data".to_vec()),
        ("web", b"https://example.org:8080/a/b.parquet?x=1#y".to_vec()),
    ]
}

isochrone_fuzz::target!(seeds, |bytes| {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let _ = DatasetUrl::of_path(Path::new(text));
    if let Ok(url) = text.parse::<DatasetUrl>() {
        // What is printed is the same address.
        let again: DatasetUrl = url.to_string().parse().unwrap();
        assert_eq!(again, url);
    }
});
