//! Archives of tensors. What was read is written and read again.

#![no_main]

use isochrone_fuzz::Seed;
use isochrone_nn::store::Archive;

fn seeds() -> Vec<Seed> {
    let mut archive = Archive::default();
    archive.insert("critic.weight", &[2, 3], vec![0.5; 6]);
    archive.insert("critic.bias", &[3], vec![1.0, f32::NAN, -1.0]);
    archive.insert("step", &[], vec![7.0]);
    vec![("plain", archive.to_bytes()), ("described", archive.to_described_bytes("{\"format\":1}"))]
}

isochrone_fuzz::target!(seeds, |bytes| {
    let _ = Archive::description(bytes);
    if let Ok(archive) = Archive::from_bytes(bytes) {
        let _ = (archive.first_non_finite(), archive.remaining());
        let again = Archive::from_bytes(&archive.to_bytes()).unwrap();
        assert_eq!(again.to_bytes(), archive.to_bytes());
    }
});
