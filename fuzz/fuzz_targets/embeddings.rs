//! Embeddings of frames in safetensors, NumPy and Parquet files, joined with a small dataset. The
//! first byte selects the format.

#![no_main]

use isochrone_data::formats::{EmbeddingOptions, Format, ReadOptions};
use isochrone_fuzz::{Drain, Scratch, Seed, fixture};

const NAMES: [&str; 3] = ["x.safetensors", "x.npy", "x.parquet"];
const TABLE: &[u8] = b"episode,x\n0,1\n0,2\n0,4\n1,3\n1,5\n";

fn safetensors(header: &str, values: &[f32]) -> Vec<u8> {
    let values: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    [&[0], &(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &values].concat()
}

fn seeds() -> Vec<Seed> {
    let values = [1.0, 2.0, -1.0, 0.5, 3.0, 1.0, 0.0, 0.25, 7.0, 2.0];
    let mut array =
        b"\x01\x93NUMPY\x01\x00\x36\x00{'descr': '<f4', 'fortran_order': False, 'shape': (5, 2)}".to_vec();
    array.resize(65, b' ');
    array.extend(values.iter().flat_map(|number: &f32| number.to_le_bytes()));
    vec![
        (
            "matrix",
            safetensors(
                r#"{"__metadata__":{"a":"b"},"x":{"dtype":"F32","shape":[5,2],"data_offsets":[0,40]}}"#,
                &values,
            ),
        ),
        (
            "vectors",
            safetensors(
                r#"{"0":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"1":{"dtype":"F32","shape":[2],"data_offsets":[8,16]},"2":{"dtype":"F16","shape":[2],"data_offsets":[16,20]},"3":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"4":{"dtype":"F64","shape":[2],"data_offsets":[24,40]}}"#,
                &values,
            ),
        ),
        ("array", array),
        ("table", [&[2], &fixture("lerobot/data/chunk-000/file-000.parquet")[..]].concat()),
    ]
}

isochrone_fuzz::target!(seeds, |bytes| {
    thread_local!(static SCRATCH: Scratch = {
        let scratch = Scratch::default();
        scratch.write("data.csv", TABLE);
        scratch
    });
    let Some((tag, bytes)) = bytes.split_first() else { return };
    SCRATCH.with(|scratch| {
        let path = scratch.replace(NAMES[usize::from(*tag) % NAMES.len()], bytes);
        // Few components, and all dimensions.
        let components = usize::from(*tag) / NAMES.len() % 3;
        let embedding = EmbeddingOptions { components, ..EmbeddingOptions::new(path) };
        let options = ReadOptions::default().observations(["x"]).embeddings([embedding]);
        let _ = Format::Csv.read(&scratch.folder().join("data.csv"), &options, &mut Drain::default());
    });
});
