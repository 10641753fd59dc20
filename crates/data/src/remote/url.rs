//! The addresses of remote datasets.

use super::RemoteError;
use crate::formats::shards;
use std::{fmt, path::Path};

named_enum! {
    /// The part of an address before `://`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Scheme, pub fn name {
        /// Amazon S3, or any server with its interface.
        S3 = "s3",
        /// Google Cloud Storage.
        Gs = "gs",
        /// Azure Blob Storage.
        Az = "az",
        /// A web server.
        Https = "https",
        /// A web server without encryption.
        Http = "http",
        /// The Hugging Face hub.
        Hf = "hf",
    }
}

/// The address of a remote dataset: a file, or a prefix with the files of a dataset.
///
/// ```
/// use isochrone_data::remote::{DatasetUrl, Scheme};
///
/// let url: DatasetUrl = "s3://logs/walks/2026".parse()?;
/// assert_eq!((url.scheme(), url.authority(), url.path()), (Scheme::S3, "logs", "walks/2026"));
/// assert!(!url.is_file());
/// # Ok::<(), isochrone_data::remote::RemoteError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatasetUrl {
    scheme: Scheme,
    authority: String,
    revision: Option<String>,
    path: String,
    is_file: bool,
}

impl DatasetUrl {
    /// Returns whether a path is an address, that is, starts with a scheme and `://`. It may still be
    /// malformed.
    pub fn is_url(path: &Path) -> bool {
        path.to_str().is_some_and(is_url)
    }

    /// Returns the address that a path is, or `None` if it is a path on this machine.
    ///
    /// # Errors
    /// If the path is an address of an unknown scheme, or malformed.
    pub fn of_path(path: &Path) -> Result<Option<Self>, RemoteError> {
        match path.to_str() {
            Some(text) if is_url(text) => text.parse().map(Some),
            _ => Ok(None),
        }
    }

    /// Returns the scheme.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Returns the bucket, the container, the host with its port, or the owner and name of a
    /// dataset of the hub.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// Returns the revision of a dataset of the hub, if it is specified.
    pub fn revision(&self) -> Option<&str> {
        self.revision.as_deref()
    }

    /// Returns the path inside the bucket, host or dataset, without a slash at either end.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns whether the address is that of a single file: it has the extension of a dataset, and
    /// does not end in a slash. All other addresses are prefixes.
    pub fn is_file(&self) -> bool {
        self.is_file
    }

    /// Returns the last part of the path, or the last part of the authority if there is no path.
    pub fn name(&self) -> &str {
        let parts = [self.path.as_str(), self.authority.as_str()];
        let part = parts.into_iter().find(|part| !part.is_empty()).unwrap_or_default();
        part.rsplit('/').next().unwrap_or_default()
    }
}

/// Returns whether text starts with a scheme and `://`.
fn is_url(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.chars().all(|each| each.is_ascii_alphanumeric() || "+-.".contains(each))
    })
}

impl std::str::FromStr for DatasetUrl {
    type Err = RemoteError;

    fn from_str(text: &str) -> Result<Self, RemoteError> {
        let invalid = |problem: &'static str| RemoteError::InvalidUrl { url: text.into(), problem };
        let (scheme, rest) = text.split_once("://").ok_or_else(|| invalid("it has no scheme"))?;
        let scheme = Scheme::ALL
            .iter()
            .copied()
            .find(|known| known.name().eq_ignore_ascii_case(scheme))
            .ok_or_else(|| RemoteError::UnknownScheme { url: text.into(), scheme: scheme.into() })?;
        if rest.contains(['?', '#']) {
            return Err(invalid("queries and fragments are not supported"));
        }
        let (authority, revision, path) = match scheme {
            Scheme::Hf => {
                parse_hub(rest).ok_or_else(|| invalid("it is not hf://datasets/OWNER/NAME/PATH"))?
            }
            _ => {
                let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
                (authority.to_owned(), None, path)
            }
        };
        if authority.is_empty() {
            return Err(invalid("it has no bucket or host"));
        }
        // Runs record the addresses of their data, and logs print them.
        if authority.contains('@') {
            return Err(invalid("it contains a user name; credentials belong in the environment"));
        }
        let (ends_in_slash, path) = (path.ends_with('/'), path.trim_matches('/'));
        if path.split('/').any(|part| matches!(part, "." | ".."))
            || path.contains("//")
            || path.contains(char::is_control)
        {
            return Err(invalid("its path has an empty part, '.', '..' or a control character"));
        }
        let is_file = !ends_in_slash && path.rsplit('/').next().is_some_and(shards::is_shard);
        Ok(Self { scheme, authority, revision, path: path.to_owned(), is_file })
    }
}

/// Splits `datasets/OWNER/NAME[@REVISION]/PATH`.
fn parse_hub(rest: &str) -> Option<(String, Option<String>, &str)> {
    let (owner, rest) = rest.strip_prefix("datasets/")?.split_once('/')?;
    let (name, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (name, revision) = match name.split_once('@') {
        Some((name, revision)) => (name, Some(revision)),
        None => (name, None),
    };
    let is_plain = |part: &str| {
        let legal = |each: char| each.is_ascii_alphanumeric() || "-_.%".contains(each);
        !part.is_empty() && !part.starts_with('.') && part.chars().all(legal)
    };
    let parts = [Some(owner), Some(name), revision];
    parts
        .into_iter()
        .flatten()
        .all(is_plain)
        .then(|| (format!("{owner}/{name}"), revision.map(str::to_owned), path))
}

impl fmt::Display for DatasetUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, folder) = (self.scheme.name(), if self.scheme == Scheme::Hf { "datasets/" } else { "" });
        write!(f, "{scheme}://{folder}{}", self.authority)?;
        if let Some(revision) = &self.revision {
            write!(f, "@{revision}")?;
        }
        if !self.path.is_empty() {
            write!(f, "/{}", self.path)?;
        }
        // Without the slash, the address would be that of a file.
        if shards::is_shard(self.name()) && !self.is_file { f.write_str("/") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<DatasetUrl, String> {
        text.parse().map_err(|error: RemoteError| error.to_string())
    }

    #[test]
    fn addresses_have_parts() {
        for (text, authority, path, is_file) in [
            ("s3://logs/walks", "logs", "walks", false),
            ("s3://logs/walks/", "logs", "walks", false),
            ("s3://logs/a/walks.arrow", "logs", "a/walks.arrow", true),
            ("s3://logs/walks.arrow/", "logs", "walks.arrow", false),
            ("gs://logs", "logs", "", false),
            ("az://logs/x.PARQUET", "logs", "x.PARQUET", true),
            ("https://host:8080/a/x.csv", "host:8080", "a/x.csv", true),
            ("hf://datasets/org/walks", "org/walks", "", false),
            ("hf://datasets/org/walks/data/x.npz", "org/walks", "data/x.npz", true),
        ] {
            let url = parse(text).unwrap();
            assert_eq!((url.authority(), url.path(), url.is_file()), (authority, path, is_file), "{text}");
            assert_eq!(url.to_string().parse::<DatasetUrl>().unwrap(), url);
            assert_eq!(DatasetUrl::of_path(Path::new(text)).unwrap(), Some(url));
        }
        let pinned = parse("hf://datasets/org/walks@v1.0/data").unwrap();
        assert_eq!(
            (pinned.authority(), pinned.revision(), pinned.path()),
            ("org/walks", Some("v1.0"), "data")
        );
        assert_eq!(pinned.to_string(), "hf://datasets/org/walks@v1.0/data");
        assert_eq!(parse("S3://logs/x").unwrap().scheme(), Scheme::S3);
    }

    #[test]
    fn local_paths_are_not_addresses() {
        for path in ["walks.csv", "/data/walks", "s3:/logs/x", "C:\\data", "a/b://c", "://x", "1x://y"] {
            assert_eq!(DatasetUrl::of_path(Path::new(path)).unwrap(), None, "{path}");
        }
    }

    #[test]
    fn malformed_addresses_are_errors() {
        for (text, part) in [
            ("ftp://host/x", "scheme 'ftp'"),
            ("s3:///x", "no bucket or host"),
            ("s3://logs/../x", "'..'"),
            ("s3://logs/a//x", "empty part"),
            ("s3://logs/a\nb", "control character"),
            ("https://user:secret@host/x", "user name"),
            ("https://host/x.csv?signature=1", "queries"),
            ("hf://org/walks", "hf://datasets/OWNER/NAME"),
            ("hf://datasets/org", "hf://datasets/OWNER/NAME"),
            ("hf://datasets/org/../x", "hf://datasets/OWNER/NAME"),
            ("hf://datasets/org/walks@/x", "hf://datasets/OWNER/NAME"),
        ] {
            let message = parse(text).unwrap_err();
            assert!(message.contains(part) && message.contains("; hint: "), "{text}: {message}");
        }
    }
}
