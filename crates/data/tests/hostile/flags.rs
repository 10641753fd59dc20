//! Flags that are no numbers: none of them ends an episode silently.

use crate::{
    archives::write,
    support::{alone, read, refused},
};
use hdf5_pure::FileBuilder;
use isochrone_data::{DataError, Dataset, formats::ReadOptions};
use zip::CompressionMethod;

const NAN: f32 = f32::NAN;

fn npz(flags: &[f32], columns: usize) -> Result<Dataset, DataError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npz");
    let bytes = flags.iter().flat_map(|flag| flag.to_le_bytes()).collect();
    let array = |name, columns: u64| (name, "<f4", format!("(3, {columns})"), Vec::new(), 12 * columns);
    let shape = if columns == 1 { "(3,)".to_owned() } else { format!("(3, {columns})") };
    let arrays = [array("observations", 2), array("actions", 1), ("terminals", "<f4", shape, bytes, 0)];
    write(&path, CompressionMethod::Stored, &arrays);
    read(&path, &ReadOptions::default())
}

fn d4rl(terminals: [f32; 3], timeouts: [f32; 3]) -> Result<Dataset, DataError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.hdf5");
    let mut file = FileBuilder::new();
    file.create_dataset("observations").with_f32_data(&[0.0; 6]).with_shape(&[3, 2]);
    file.create_dataset("actions").with_f32_data(&[0.0; 3]).with_shape(&[3, 1]);
    file.create_dataset("terminals").with_f32_data(&terminals);
    file.create_dataset("timeouts").with_f32_data(&timeouts);
    file.write(&path).unwrap();
    read(&path, &ReadOptions::default())
}

fn minari(terminations: [f32; 3], truncations: [f32; 3]) -> Result<Dataset, DataError> {
    let folder = tempfile::tempdir().unwrap();
    let mut file = FileBuilder::new();
    let mut group = file.create_group("episode_0");
    group.create_dataset("observations").with_f32_data(&[0.0; 8]).with_shape(&[4, 2]);
    group.create_dataset("actions").with_f32_data(&[0.0; 3]).with_shape(&[3, 1]);
    group.create_dataset("terminations").with_f32_data(&terminations);
    group.create_dataset("truncations").with_f32_data(&truncations);
    file.add_group(group.finish());
    file.write(folder.path().join("main_data.hdf5")).unwrap();
    read(folder.path(), &ReadOptions::default())
}

#[test]
fn nan_is_not_a_flag() {
    let _alone = alone();
    let (no, last) = ([0.0; 3], [0.0, 0.0, 1.0]);
    for loaded in [npz(&last, 1), d4rl(no, last), minari(no, last), minari(last, no)] {
        assert_eq!(loaded.unwrap().n_episodes(), 1);
    }
    for (loaded, array, row) in [
        (npz(&[0.0, NAN, 1.0], 1), "terminals", 1),
        (npz(&[0.0, 0.0, NAN], 1), "terminals", 2),
        (d4rl([0.0, NAN, 0.0], last), "terminals", 1),
        (d4rl(no, [NAN, 0.0, 1.0]), "timeouts", 0),
        (minari([0.0, 0.0, NAN], no), "terminations", 2),
        (minari(no, [0.0, 0.0, NAN]), "truncations", 2),
    ] {
        let error = refused(loaded);
        assert!(error.contains(&format!("array '{array}', row {row}: NaN is not a flag")), "{error}");
    }
}

#[test]
fn a_row_has_one_flag() {
    let _alone = alone();
    for columns in [0, 2] {
        let error = refused(npz(&vec![0.0; 3 * columns], columns));
        let problem = format!("array 'terminals' has shape (3, {columns}), not a number for each of 3 rows");
        assert!(error.contains(&problem), "{error}");
    }
}
