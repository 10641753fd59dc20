//! Where remote datasets are cached, and how much space they may take.

use super::RemoteError;
use std::{env, path::PathBuf};

/// The limit on the cache if none is set.
const DEFAULT_LIMIT_BYTES: u64 = 50_000_000_000;
/// The number of files that are downloaded at the same time.
const DEFAULT_DOWNLOADS: usize = 8;

/// The settings of the cache of remote datasets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheOptions {
    /// The folder of the cache.
    pub folder: PathBuf,
    /// The size that the cache may have. The least recently used files are deleted first, and never
    /// those of the dataset that is being fetched.
    pub limit_bytes: u64,
    /// The number of files that are downloaded at the same time.
    pub downloads: usize,
}

impl CacheOptions {
    /// Creates settings for a folder, with the default limit of 50 GB and eight downloads at the
    /// same time.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), limit_bytes: DEFAULT_LIMIT_BYTES, downloads: DEFAULT_DOWNLOADS }
    }

    /// Returns the settings of the environment: the folder `ISOCHRONE_CACHE`, or else `isochrone`
    /// in the user's cache folder (`XDG_CACHE_HOME`, or `~/.cache`); the limit
    /// `ISOCHRONE_CACHE_LIMIT`, such as `200GB`.
    ///
    /// # Errors
    /// If there is no such folder, or the limit is not a size.
    pub fn from_env() -> Result<Self, RemoteError> {
        Self::from_variables(|name| env::var(name).ok().filter(|value| !value.is_empty()))
    }

    fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, RemoteError> {
        let in_cache = |folder: PathBuf| folder.join("isochrone");
        // The specification ignores relative paths.
        let xdg = || variable("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || variable("HOME").map(|home| PathBuf::from(home).join(".cache"));
        let local = || variable("LOCALAPPDATA").map(PathBuf::from);
        let folder = variable("ISOCHRONE_CACHE")
            .map(PathBuf::from)
            .or_else(|| xdg().or_else(home).or_else(local).map(in_cache))
            .ok_or_else(|| RemoteError::Variable {
                variable: "ISOCHRONE_CACHE",
                value: String::new(),
                hint: "set it to a folder for downloaded datasets, since there is no home folder",
            })?;
        let mut options = Self::new(folder);
        if let Some(value) = variable("ISOCHRONE_CACHE_LIMIT") {
            options.limit_bytes = parse_size(&value).ok_or(RemoteError::Variable {
                variable: "ISOCHRONE_CACHE_LIMIT",
                value,
                hint: "give a size such as 200GB, 500MB or 1TB",
            })?;
        }
        Ok(options)
    }
}

/// Parses a whole number of bytes with an optional decimal unit: kB, MB, GB or TB.
fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|each: char| !each.is_ascii_digit()).unwrap_or(text.len());
    let unit: u64 = match text[digits..].trim().to_ascii_uppercase().as_str() {
        "" | "B" => 1,
        "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        _ => return None,
    };
    text[..digits].parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_selects_folder_and_limit() {
        let options = |variables: &[(&str, &str)]| {
            CacheOptions::from_variables(|name| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            })
        };
        let folder = |variables: &[(&str, &str)]| options(variables).unwrap().folder;
        assert_eq!(folder(&[("HOME", "/home/ada")]), PathBuf::from("/home/ada/.cache/isochrone"));
        let both = [("HOME", "/home/ada"), ("XDG_CACHE_HOME", "/cache")];
        assert_eq!(folder(&both), PathBuf::from("/cache/isochrone"));
        assert_eq!(folder(&[("XDG_CACHE_HOME", "x"), ("HOME", "/h")]), PathBuf::from("/h/.cache/isochrone"));
        assert_eq!(folder(&[("ISOCHRONE_CACHE", "mine"), ("HOME", "/h")]), PathBuf::from("mine"));
        assert!(options(&[]).is_err());
        let limit = |value: &str| options(&[("HOME", "/h"), ("ISOCHRONE_CACHE_LIMIT", value)]);
        assert_eq!(limit("200GB").unwrap().limit_bytes, 200_000_000_000);
        assert_eq!(limit(" 5 mb ").unwrap().limit_bytes, 5_000_000);
        for wrong in ["much", "-1", "1.5GB", "99999999999TB", "GB"] {
            let message = limit(wrong).unwrap_err().to_string();
            assert!(message.contains(&format!("ISOCHRONE_CACHE_LIMIT is '{wrong}'")), "{message}");
        }
    }
}
