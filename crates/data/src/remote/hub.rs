//! Datasets of the Hugging Face hub: its tree lists the files, `resolve` addresses have them.

use super::{
    DatasetUrl, RemoteError,
    object::{Listing, RemoteObject, Version},
    store,
};
use object_store::{
    ClientOptions,
    client::{HttpClient, HttpConnector as _, HttpRequest, HttpRequestBody, ReqwestConnector},
    path::Path,
};
use serde::Deserialize;
use std::{env, time::Duration};

const ENDPOINT: &str = "https://huggingface.co";
/// The maximum number of pages of a tree, each of up to 1000 files.
const MAX_PAGES: usize = 200;
/// The maximum size of an answer.
const MAX_ANSWER_BYTES: usize = 64 << 20;
/// Pauses before another request, in milliseconds.
const PAUSES_MS: [u64; 3] = [200, 1_000, 5_000];

/// A file or folder of a dataset, as the hub describes it.
#[derive(Deserialize)]
struct Entry {
    #[serde(rename = "type")]
    kind: String,
    path: String,
    #[serde(default)]
    size: u64,
    oid: String,
    lfs: Option<LargeFile>,
}

/// A file that the hub stores outside of Git.
#[derive(Deserialize)]
struct LargeFile {
    /// The SHA-256 of the contents.
    oid: String,
    size: u64,
}

#[derive(Deserialize)]
struct Revision {
    sha: String,
}

/// Lists the files under an address. The revision is resolved to a commit first, so that all files
/// are of one version even if the dataset changes meanwhile.
pub(super) async fn list(url: &DatasetUrl) -> Result<Listing, RemoteError> {
    // An empty variable counts as unset.
    let variable = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
    let endpoint = variable("HF_ENDPOINT").unwrap_or_else(|| ENDPOINT.into());
    let endpoint = endpoint.trim_end_matches('/').to_owned();
    let token = variable("HF_TOKEN");
    let client = store::with_token(ClientOptions::new(), token.as_deref().map(str::trim))
        .with_allow_http(endpoint.starts_with("http://"));
    let hub = Hub {
        client: ReqwestConnector::default().connect(&client).map_err(|error| failure(url, error))?,
        url,
    };
    let dataset = format!("{endpoint}/api/datasets/{}", url.authority());
    let revision = url.revision().unwrap_or("main");
    let (answer, _) = hub.get(&format!("{dataset}/revision/{revision}")).await?;
    let commit = hub.parse::<Revision>(&answer)?.sha;
    if commit.is_empty() || !commit.chars().all(|each| each.is_ascii_alphanumeric()) {
        return Err(hub.problem(format!("the hub names the commit '{commit}'")));
    }
    let folder = match url.is_file() {
        true => url.path().rsplit_once('/').map_or("", |(folder, _)| folder),
        false => url.path(),
    };
    let slash = if folder.is_empty() { "" } else { "/" };
    let mut page = Some(format!("{dataset}/tree/{commit}{slash}{}?recursive=true", encoded(folder)));
    let (mut objects, mut pages) = (Vec::new(), 0);
    while let Some(address) = page {
        let (answer, next) = hub.get(&address).await?;
        let entries: Vec<Entry> = hub.parse(&answer)?;
        for entry in entries.into_iter().filter(|entry| entry.kind == "file") {
            objects.extend(hub.object(entry, &commit)?);
        }
        pages += 1;
        // A hub could answer with the same page forever.
        page = next.filter(|_| pages < MAX_PAGES);
    }
    let base = format!("{endpoint}/datasets/{}/resolve/{commit}", url.authority());
    Ok(Listing { store: store::web(&base, client, &url.to_string())?, objects })
}

struct Hub<'a> {
    client: HttpClient,
    url: &'a DatasetUrl,
}

impl Hub<'_> {
    /// Returns the body of an answer, and the address of the next page.
    async fn get(&self, address: &str) -> Result<(Vec<u8>, Option<String>), RemoteError> {
        let mut pauses = PAUSES_MS.iter();
        loop {
            let failed = match self.request(address).await {
                Ok(answer) => return Ok(answer),
                // A client error does not go away.
                Err((error, false)) => return Err(error),
                Err((error, true)) => error,
            };
            let Some(&pause) = pauses.next() else { return Err(failed) };
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
    }

    /// Makes one request. An error has `true` if another request can help.
    async fn request(&self, address: &str) -> Result<(Vec<u8>, Option<String>), (RemoteError, bool)> {
        let mut request = HttpRequest::new(HttpRequestBody::empty());
        *request.uri_mut() =
            address.parse().map_err(|_| (self.problem(format!("'{address}' is not an address")), false))?;
        let response =
            self.client.execute(request).await.map_err(|error| (failure(self.url, error), true))?;
        let status = response.status();
        if !status.is_success() {
            let again = status.is_server_error() || status.as_u16() == 429;
            return Err((self.refused(address, status.as_u16()), again));
        }
        let link = response.headers().get("link").and_then(|link| link.to_str().ok()).and_then(next_page);
        let body = response.into_body().bytes().await.map_err(|error| (failure(self.url, error), true))?;
        if body.len() > MAX_ANSWER_BYTES {
            return Err((self.problem(format!("the hub answered with {} bytes", body.len())), false));
        }
        Ok((body.to_vec(), link))
    }

    fn refused(&self, address: &str, status: u16) -> RemoteError {
        let url = self.url.to_string();
        match status {
            404 => RemoteError::NotFound { url, hint: "check owner, name, revision and path of the dataset" },
            401 | 403 => RemoteError::NotFound { url, hint: "the dataset is private or gated; set HF_TOKEN" },
            _ => self.problem(format!("{address} answered with status {status}")),
        }
    }

    fn parse<'a, T: Deserialize<'a>>(&self, answer: &'a [u8]) -> Result<T, RemoteError> {
        serde_json::from_slice(answer).map_err(|error| self.problem(format!("the hub's answer: {error}")))
    }

    fn problem(&self, problem: String) -> RemoteError {
        RemoteError::Listing { url: self.url.to_string(), problem }
    }

    /// Describes a file, if it belongs to the address.
    fn object(&self, entry: Entry, commit: &str) -> Result<Option<RemoteObject>, RemoteError> {
        let path = self.url.path();
        let name = match self.url.is_file() {
            true if entry.path == path => self.url.name(),
            true => return Ok(None),
            false if path.is_empty() => entry.path.as_str(),
            false => match entry.path.strip_prefix(path).and_then(|rest| rest.strip_prefix('/')) {
                Some(name) => name,
                None => return Ok(None),
            },
        };
        let location =
            Path::parse(&entry.path).map_err(|error| self.problem(format!("'{}': {error}", entry.path)))?;
        let (version, bytes, sha256) = match entry.lfs {
            Some(file) => (file.oid.clone(), file.size, Some(file.oid)),
            None => (entry.oid, entry.size, None),
        };
        Ok(Some(RemoteObject {
            name: name.to_owned(),
            // Files that did not change between commits are cached once.
            url: format!("hf://datasets/{}/{}", self.url.authority(), entry.path),
            location,
            bytes,
            version: Version::Fixed(if version.is_empty() { commit.to_owned() } else { version }),
            sha256,
        }))
    }
}

/// Returns the address of the next page in a `Link` header.
fn next_page(link: &str) -> Option<String> {
    let part = link.split(',').find(|part| part.contains("rel=\"next\""))?;
    Some(part.split_once('<')?.1.split_once('>')?.0.to_owned())
}

/// Encodes what is not allowed in the path of an address.
fn encoded(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    path.bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

fn failure(url: &DatasetUrl, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> RemoteError {
    RemoteError::Store { url: url.to_string(), source: source.into() }
}
