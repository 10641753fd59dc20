//! Wrong, corrupt and malicious input: one error line with a hint, exit code 2, never a panic.

use crate::run::{isochrone_in, workspace};
use isochrone::{
    data::tabular::{LogColumns, read_event_log, read_map, read_mdp_json, read_mdp_npz},
    rng,
};
use std::{io::Write as _, path::Path};

/// Files by name; the arguments that follow each are added to `isochrone exact NAME`.
const TEXT_CASES: &[(&str, &str, &[u8])] = &[
    ("truncated.json", "--goal 0", br#"{"states": 2, "transitions": [[0, 0, 1, 1.0], [1,"#),
    ("empty.json", "--goal 0", b""),
    ("nan.json", "--goal 0", br#"{"states": 1, "transitions": [[0, 0, 0, NaN]]}"#),
    ("null.json", "--goal 0", br#"{"states": 1, "transitions": [[0, 0, 0, null]]}"#),
    ("sum.json", "--goal 0", br#"{"states": 2, "transitions": [[0, 3, 1, 0.4], [1, 0, 1, 1]]}"#),
    ("negative.json", "--goal 0", br#"{"states": 1, "transitions": [[0, 0, 0, -1.0]]}"#),
    ("overflow.json", "--goal 0", br#"{"states": 1, "transitions": [[0, 0, 0, 1e999]]}"#),
    ("range.json", "--goal 0", br#"{"states": 2, "transitions": [[0, 0, 7, 1.0], [1, 0, 1, 1]]}"#),
    ("huge.json", "--goal 0", br#"{"states": 4000000000000, "transitions": [[0, 0, 0, 1.0]]}"#),
    ("huge-state.json", "--goal 0", br#"{"states": 4000000000, "transitions": [[3999999999, 0, 0, 1.0]]}"#),
    (
        "huge-csr.json",
        "--goal 0",
        br#"{"states": 4000000000, "csr": [{"indptr": [0], "indices": [], "data": []}]}"#,
    ),
    ("noaction.json", "--goal 0", br#"{"states": 2, "transitions": [[0, 0, 1, 1.0]]}"#),
    ("name.json", "--goal a", br#"{"states": ["a", "b"], "transitions": [["a", 0, "c", 1.0]]}"#),
    ("twice.json", "--goal a", br#"{"states": ["a", "a"], "transitions": [["a", 0, "a", 1.0]]}"#),
    ("field.json", "--goal 0", br#"{"states": 1, "transition": []}"#),
    ("both.json", "--goal 0", br#"{"states": 1}"#),
    ("float-key.json", "--goal 0", br#"{"states": 1, "transitions": [[0.5, 0, 0, 1.0]]}"#),
    (
        "indptr.json",
        "--goal 0",
        br#"{"states": 2, "csr": [{"indptr": [0, 2, 1], "indices": [0], "data": [1]}]}"#,
    ),
    ("goal.json", "--goal 9", br#"{"states": 1, "transitions": [[0, 0, 0, 1.0]]}"#),
    ("nogoal.json", "", br#"{"states": 1, "transitions": [[0, 0, 0, 1.0]]}"#),
    ("lu.json", "--goal 0 --method lu", br#"{"states": 1, "transitions": [[0, 0, 0, 1.0], [0, 1, 0, 1.0]]}"#),
    ("columns.csv", "--goal x", b"a,b,c\n1,2,3\n"),
    ("wanted.csv", "--goal x --case order", b"case,activity,timestamp\n1,x,3\n"),
    ("empty.csv", "--goal x", b""),
    ("header.csv", "--goal x", b"case,activity,timestamp\n"),
    ("time.csv", "--goal x", b"case,activity,timestamp\n1,x,yesterday\n"),
    ("nan-time.csv", "--goal x", b"case,activity,timestamp\n1,x,NaN\n"),
    ("blank.csv", "--goal x", b"case,activity,timestamp\n1,,3\n"),
    ("ragged.csv", "--goal x", b"case,activity,timestamp\n1,x\n"),
    ("binary.csv", "--goal x", b"case,activity,timestamp\n\xff\xfe,x,3\n"),
    ("noactivity.csv", "--goal y", b"case,activity,timestamp\n1,x,3\n"),
    ("unknown.txt", "", b"S.?\n..G\n"),
    ("ragged.txt", "", b"S..\n..\n"),
    ("walls.txt", "", b"##\n##\n"),
    ("empty.txt", "", b""),
    ("binary.txt", "", b"\x00\xff\xfe"),
    ("lonely.txt", "", b"S1G\n"),
    ("nogoal.txt", "", b"S..\n"),
    ("goalwall.txt", "--goal 0,1", b"S#.\n"),
    ("outside.txt", "--goal 5,1", b"S#.\n"),
    ("notacell.txt", "--goal here", b"S#.\n"),
    ("startwall.txt", "--start 0,1", b"G#.\n"),
    ("slip.txt", "--slip 1.5", b"S.G\n"),
    ("slip-nan.txt", "--slip nan", b"S.G\n"),
    ("gamma.txt", "--gamma 1", b"S.G\n"),
    ("tolerance.txt", "--tolerance 0", b"S.G\n"),
    ("plot.txt", "--plot figure.jpg", b"S.G\n"),
    ("noplace.txt", "--plot no/such/folder/figure.svg", b"S.G\n"),
    ("case.txt", "--case order", b"S.G\n"),
    ("unclear.dat", "", b"S.G\n"),
    ("letters.txt", "--gamma abc", b"S.G\n"),
    ("negative.txt", "--tolerance -1", b"S.G\n"),
    ("method.txt", "--method foo", b"S.G\n"),
    ("flag.txt", "--gaol 0,2", b"S.G\n"),
    ("styles.txt", "--json --csv", b"S.G\n"),
    ("pairs.txt", "--all-pairs --goal 0,2", b"S.G\n"),
    ("pairs.csv", "--all-pairs", b"case,activity,timestamp\n1,x,3\n"),
    ("end.csv", "--goal x", b"case,activity,timestamp\n1,x,3\n1,(end),4\n"),
    ("millis.csv", "--goal x", b"case,activity,timestamp\n1,x,1704200000000\n"),
    ("list.json", "--goal 0", b"[]"),
    ("bfs.txt", "--slip 0.1 --method bfs", b"S.G\n"),
];

/// Writes fixtures made by SciPy, and corrupt versions of them.
fn write_archives(folder: &Path) -> Vec<&'static str> {
    let data = workspace().join("crates/cli/tests/data");
    let fixtures = ["csc.npz", "sums.npz", "nan.npz", "shape.npz", "noarrays.npz"];
    for name in fixtures {
        std::fs::copy(data.join(name), folder.join(name)).unwrap();
    }
    let good = std::fs::read(data.join("chain.npz")).unwrap();
    std::fs::write(folder.join("truncated.npz"), &good[..good.len() / 2]).unwrap();
    std::fs::write(folder.join("empty.npz"), b"").unwrap();
    let declared = |shape: &str| npy("<f8", shape, &1.0f64.to_le_bytes());
    write_npz(&folder.join("huge.npz"), declared("(1000000000000000,)"));
    write_npz(&folder.join("overflow.npz"), declared("(9999999999, 9999999999, 9999999999)"));
    write_npz(&folder.join("nested.npz"), declared(&"(".repeat(9000)));
    write_npz(&folder.join("object.npz"), npy("|O", "(1,)", b"pickle"));
    write_npz(&folder.join("header.npz"), b"\x93NUMPY\x02\x00\xff\xff\xff\xff{".to_vec());
    let made =
        ["truncated.npz", "empty.npz", "huge.npz", "overflow.npz", "nested.npz", "object.npz", "header.npz"];
    fixtures.into_iter().chain(made).collect()
}

fn npy(dtype: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

/// Writes an archive of a one-state chain with the given bytes for `data.npy`.
fn write_npz(path: &Path, data: Vec<u8>) {
    let long = |values: &[i64]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let arrays = [
        ("format", npy("|S3", "()", b"csr")),
        ("shape", npy("<i8", "(2,)", &long(&[1, 1]))),
        ("indptr", npy("<i8", "(2,)", &long(&[0, 1]))),
        ("indices", npy("<i8", "(1,)", &long(&[0]))),
        ("data", data),
    ];
    let mut writer = zip::ZipWriter::new(std::fs::File::create(path).unwrap());
    for (name, bytes) in arrays {
        writer.start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(&bytes).unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn every_wrong_input_gets_one_line_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let mut cases: Vec<(String, String)> = Vec::new();
    for &(name, arguments, bytes) in TEXT_CASES {
        std::fs::write(folder.path().join(name), bytes).unwrap();
        cases.push((name.to_owned(), arguments.to_owned()));
    }
    cases.extend(
        write_archives(folder.path()).into_iter().map(|name| (name.to_owned(), "--goal 0".to_owned())),
    );
    std::fs::create_dir(folder.path().join("folder.json")).unwrap();
    cases.push(("folder.json".into(), "--goal 0".into()));
    cases.push(("missing.txt".into(), String::new()));

    let mut transcript = String::new();
    for (name, arguments) in cases {
        let outcome = isochrone_in(folder.path(), &format!("exact {name} {arguments}"));
        transcript += &format!("$ isochrone exact {name} {arguments}\n{}", outcome.stderr);
        assert_eq!(outcome.code, Some(2), "{name}: {}", outcome.stderr);
        assert_eq!(outcome.stdout, "", "{name} printed data");
        let errors: Vec<&str> = outcome.stderr.lines().collect();
        assert!(errors.len() == 1 && errors[0].starts_with("error: "), "{name}: {}", outcome.stderr);
        assert!(errors[0].contains("hint: "), "{name}: no hint in {}", outcome.stderr);
    }
    insta::assert_snapshot!(transcript);
}

/// Flips, truncates and inserts bytes of valid files; the result must be read or rejected without a
/// panic.
#[test]
fn corrupt_files_are_read_or_rejected() {
    let root = workspace();
    let folder = tempfile::tempdir().unwrap();
    let data = root.join("crates/cli/tests/data");
    type Reader = fn(&Path) -> bool;
    let seeds: [(&str, Vec<u8>, Reader); 5] = [
        ("a.npz", std::fs::read(data.join("walk.npz")).unwrap(), |p| read_mdp_npz(p).is_ok()),
        ("a.json", std::fs::read(root.join("examples/commute.json")).unwrap(), |p| read_mdp_json(p).is_ok()),
        ("b.json", std::fs::read(data.join("csr.json")).unwrap(), |p| read_mdp_json(p).is_ok()),
        ("a.txt", std::fs::read(root.join("examples/teleport-maze.txt")).unwrap(), |p| read_map(p).is_ok()),
        ("a.csv", std::fs::read(root.join("examples/orders.csv")).unwrap()[..2000].to_vec(), |p| {
            read_event_log(p, &LogColumns::default()).is_ok()
        }),
    ];
    for (stream, (name, good, read)) in seeds.into_iter().enumerate() {
        let mut rng = rng::stream(1, stream as u64);
        let path = folder.path().join(name);
        let mut n_rejected = 0;
        for _ in 0..1_000 {
            let mut bytes = good.clone();
            for _ in 0..=rng::below(&mut rng, 4) {
                let at = rng::below(&mut rng, bytes.len());
                match rng::below(&mut rng, 4) {
                    0 => bytes[at] = rng::below(&mut rng, 256) as u8,
                    1 => bytes[at] ^= 1 << rng::below(&mut rng, 8),
                    2 => bytes.truncate(at.max(1)),
                    _ => bytes.insert(at, b"0919[(\xff"[rng::below(&mut rng, 7)]),
                }
            }
            std::fs::write(&path, &bytes).unwrap();
            n_rejected += usize::from(!read(&path));
        }
        assert!(n_rejected > 100, "{name}: only {n_rejected} of 1000 corrupt files were rejected");
    }
}
