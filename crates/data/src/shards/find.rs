//! The files of a dataset.

use crate::DataError;
use std::path::{Component, Path, PathBuf};

const HINT: &str = "give a Parquet file, a folder with .parquet files, or a pattern such as 'data/*.parquet'";

/// Returns the Parquet files of a dataset in order, each with its name: the path relative to the
/// folder, or to the part of a pattern without wildcards.
pub(super) fn files(dataset: &Path) -> Result<Vec<(PathBuf, PathBuf)>, DataError> {
    let mut found = Vec::new();
    if dataset.is_dir() {
        let root = data_folder(dataset);
        walk(&root, &mut found)?;
        found.retain(|path| path.extension().is_some_and(|extension| extension == "parquet"));
        return named(dataset, &root, found);
    }
    if dataset.exists() {
        return named(dataset, dataset.parent().unwrap_or(Path::new("")), vec![dataset.into()]);
    }
    let is_pattern = |part: &Component<'_>| part.as_os_str().to_string_lossy().contains(['*', '?']);
    let parts: Vec<Component<'_>> = dataset.components().collect();
    let Some(first) = parts.iter().position(is_pattern) else {
        let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
        return Err(DataError::read(dataset)(missing));
    };
    let root: PathBuf = parts[..first].iter().collect();
    let pattern: Vec<String> =
        parts[first..].iter().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    let mut folders = vec![root.clone()];
    for (depth, part) in pattern.iter().enumerate() {
        let is_last = depth + 1 == pattern.len();
        let mut next = Vec::new();
        for folder in &folders {
            for (name, path) in entries(folder)? {
                if matches(part.as_bytes(), name.as_bytes()) && path.is_dir() != is_last {
                    next.push(path);
                }
            }
        }
        folders = next;
    }
    named(dataset, &root, folders)
}

/// Returns the folder with the data: a LeRobot dataset has other Parquet files beside it.
fn data_folder(dataset: &Path) -> PathBuf {
    let is_lerobot = dataset.join("meta/info.json").exists() && dataset.join("data").is_dir();
    if is_lerobot { dataset.join("data") } else { dataset.into() }
}

fn named(dataset: &Path, root: &Path, mut paths: Vec<PathBuf>) -> Result<Vec<(PathBuf, PathBuf)>, DataError> {
    if paths.is_empty() {
        return Err(DataError::malformed(dataset, "no Parquet files", HINT));
    }
    paths.sort();
    let name = |path: &PathBuf| path.strip_prefix(root).unwrap_or(path).to_owned();
    Ok(paths.into_iter().map(|path| (name(&path), path)).collect())
}

/// Returns the entries of a folder that are not hidden; `_` starts the names of other programs'
/// bookkeeping, such as `_metadata`.
fn entries(folder: &Path) -> Result<Vec<(String, PathBuf)>, DataError> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(DataError::read(folder))? {
        let entry = entry.map_err(DataError::read(folder))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with(['.', '_']) {
            found.push((name, entry.path()));
        }
    }
    Ok(found)
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), DataError> {
    for (_, path) in entries(folder)? {
        // A linked folder could contain itself.
        match path.is_dir() {
            true if !path.is_symlink() => walk(&path, found)?,
            true => {}
            false => found.push(path),
        }
    }
    Ok(())
}

/// Returns whether a name matches a pattern, in which `*` stands for any characters and `?` for
/// one.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut place, mut star) = (0, 0, None);
    while place < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, place));
                at += 1;
            }
            Some(&wanted) if wanted == b'?' || wanted == name[place] => {
                at += 1;
                place += 1;
            }
            _ => match star {
                // The last star takes one more character.
                Some((of_star, taken)) => {
                    star = Some((of_star, taken + 1));
                    (at, place) = (of_star + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|rest| *rest == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_names() {
        for (pattern, name, expected) in [
            ("*.parquet", "a.parquet", true),
            ("*.parquet", ".parquet", true),
            ("*.parquet", "a.parquet.tmp", false),
            ("a-?.p*t", "a-1.parquet", true),
            ("a-?", "a-12", false),
            ("*a*b*", "xxaxxbxab", true),
            ("*a*b", "xxaxxbxa", false),
            ("", "", true),
        ] {
            assert_eq!(matches(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn files_folders_and_patterns_are_datasets() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(path("set/chunk-0")).unwrap();
        for name in
            ["b.parquet", "a.parquet", "chunk-0/c.parquet", "note.txt", "_metadata", ".hidden.parquet"]
        {
            std::fs::write(path("set").join(name), "").unwrap();
        }
        let names = |dataset: &str| -> Vec<String> {
            let found = files(&path(dataset)).unwrap();
            found.into_iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect()
        };
        assert_eq!(names("set"), ["a.parquet", "b.parquet", "chunk-0/c.parquet"]);
        assert_eq!(names("set/b.parquet"), ["b.parquet"]);
        assert_eq!(names("set/*.parquet"), ["a.parquet", "b.parquet"]);
        assert_eq!(names("s*/chunk-?/*.parquet"), ["set/chunk-0/c.parquet"]);
        for wrong in ["missing", "set/*.csv", "set/chunk-1/*"] {
            let error = files(&path(wrong)).unwrap_err().to_string();
            assert!(error.contains("hint:"), "{error}");
        }
        // The tables of a LeRobot dataset that are not data.
        std::fs::create_dir_all(path("set/meta")).unwrap();
        std::fs::create_dir_all(path("set/data")).unwrap();
        for name in ["meta/info.json", "meta/episodes.parquet", "data/file-000.parquet"] {
            std::fs::write(path("set").join(name), "").unwrap();
        }
        assert_eq!(names("set"), ["file-000.parquet"]);
    }
}
