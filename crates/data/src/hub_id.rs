//! Datasets of the Hugging Face hub that are on this machine, by their ids: `org/name`.

use crate::{DataError, regular_file};
use std::{
    borrow::Cow,
    env,
    path::{Component, Path, PathBuf},
};

/// The extensions of files that are never ids.
const FILES: [&str; 8] = ["arrow", "feather", "ipc", "npz", "hdf5", "h5", "parquet", "csv"];
/// The maximum size of a file that names a revision by its hash.
const MAX_REVISION_BYTES: u64 = 4096;

/// The folders in which datasets of the hub are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HubFolders {
    /// LeRobot's folder, with datasets under `org/name`, and snapshots under `hub`.
    pub lerobot: PathBuf,
    /// The cache of the hub's own tools, with snapshots.
    pub cache: PathBuf,
}

impl HubFolders {
    /// Returns the folders that LeRobot and the tools of the hub use in this environment:
    /// `HF_LEROBOT_HOME` and `HF_HUB_CACHE` or, without them, `lerobot` and `hub` in `HF_HOME`,
    /// which is `~/.cache/huggingface` by default.
    pub fn from_env() -> Self {
        let folder = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let user = || {
            let cache = folder("XDG_CACHE_HOME");
            cache.unwrap_or_else(|| folder("HOME").unwrap_or_default().join(".cache")).join("huggingface")
        };
        let home = folder("HF_HOME").unwrap_or_else(user);
        Self {
            lerobot: folder("HF_LEROBOT_HOME").unwrap_or_else(|| home.join("lerobot")),
            cache: folder("HF_HUB_CACHE").unwrap_or_else(|| home.join("hub")),
        }
    }

    /// Returns the path of a dataset: an existing path and whatever is no id are returned as they
    /// are, and an id is looked up in the folders.
    ///
    /// # Errors
    /// If an id is in none of the folders; the error names all of them.
    pub fn resolve<'a>(&self, path: &'a Path) -> Result<Cow<'a, Path>, DataError> {
        let Some((owner, name)) = id(path).filter(|_| !path.exists()) else { return Ok(path.into()) };
        let repository = format!("datasets--{owner}--{name}");
        let plain = self.lerobot.join(owner).join(name);
        let caches = [self.lerobot.join("hub").join(&repository), self.cache.join(&repository)];
        let is_dataset = |folder: &PathBuf| folder.join("meta/info.json").is_file();
        let snapshots = caches.iter().filter_map(|cache| snapshot(cache));
        if let Some(found) = std::iter::once(plain.clone()).chain(snapshots).find(is_dataset) {
            return Ok(found.into());
        }
        let [first, second] = caches.map(|cache| cache.display().to_string());
        let problem = format!("no such file, and no dataset in {}, {first} or {second}", plain.display());
        let hint = format!(
            "download it with the tools of the hub, to {}, or give hf://datasets/{owner}/{name}",
            plain.display()
        );
        Err(DataError::malformed(path, problem, hint))
    }
}

/// Returns the owner and the name of a dataset, if a path can be the id of one.
fn id(path: &Path) -> Option<(&str, &str)> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let is_name = |name: &&str| {
        name.chars().all(|each| each.is_ascii_alphanumeric() || matches!(each, '.' | '_' | '-'))
    };
    let mut parts = path.components().map(|part| match part {
        Component::Normal(part) => part.to_str().filter(is_name),
        _ => None,
    });
    match (parts.next(), parts.next(), parts.next()) {
        (Some(Some(owner)), Some(Some(name)), None)
            if !extension.is_some_and(|extension| FILES.contains(&extension)) =>
        {
            Some((owner, name))
        }
        _ => None,
    }
}

/// Returns the snapshot of the revision `main` or, without one, the snapshot that was written last.
fn snapshot(repository: &Path) -> Option<PathBuf> {
    let snapshots = repository.join("snapshots");
    let main = regular_file::read_at_most(&repository.join("refs/main"), MAX_REVISION_BYTES).ok();
    let main = main.and_then(|revision| String::from_utf8(revision).ok());
    let main = main.map(|commit| snapshots.join(commit.trim())).filter(|folder| folder.is_dir());
    main.or_else(|| {
        let folders = std::fs::read_dir(&snapshots).ok()?.flatten().map(|entry| entry.path());
        let written = |folder: &PathBuf| std::fs::metadata(folder).and_then(|data| data.modified()).ok();
        // Folders of the same time are ordered by name, so that the choice is always the same.
        folders.filter(|folder| folder.is_dir()).max_by_key(|folder| (written(folder), folder.clone()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn dataset(folder: &Path) {
        fs::create_dir_all(folder.join("meta")).unwrap();
        fs::write(folder.join("meta/info.json"), "{}").unwrap();
    }

    #[test]
    fn ids_are_found_in_all_folders() {
        let root = tempfile::tempdir().unwrap();
        let folders = HubFolders { lerobot: root.path().join("lerobot"), cache: root.path().join("hub") };
        let resolve = |id: &str| folders.resolve(Path::new(id)).map(Cow::into_owned);
        let error = resolve("org/arm").unwrap_err().to_string();
        let plain = root.path().join("lerobot/org/arm");
        assert!(error.starts_with("org/arm: no such file, and no dataset in "), "{error}");
        assert!(error.contains(&format!("{}, ", plain.display())), "{error}");
        assert!(error.contains("; hint: download it with the tools of the hub, to "), "{error}");

        let repository = root.path().join("hub/datasets--org--arm");
        dataset(&repository.join("snapshots/older"));
        assert_eq!(resolve("org/arm").unwrap(), repository.join("snapshots/older"));
        dataset(&repository.join("snapshots/main-commit"));
        fs::create_dir_all(repository.join("refs")).unwrap();
        fs::write(repository.join("refs/main"), "main-commit\n").unwrap();
        assert_eq!(resolve("org/arm").unwrap(), repository.join("snapshots/main-commit"));
        let own = root.path().join("lerobot/hub/datasets--org--arm/snapshots/abc");
        dataset(&own);
        assert_eq!(resolve("org/arm").unwrap(), own);
        dataset(&plain);
        assert_eq!(resolve("org/arm").unwrap(), plain);
    }

    #[test]
    fn paths_are_not_ids() {
        for path in
            ["walks.csv", "data/walks.csv", "/data/walks", "a/b/c", "../walks", "org/na me", "./org/arm"]
        {
            assert_eq!(id(Path::new(path)), None, "{path}");
        }
        assert_eq!(id(Path::new("org/arm_v1.0")), Some(("org", "arm_v1.0")));
        let folders = HubFolders { lerobot: "none".into(), cache: "none".into() };
        assert_eq!(folders.resolve(Path::new("src/formats")).unwrap(), Path::new("src/formats"));
    }
}
