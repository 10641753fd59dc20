//! The files of a remote dataset.

use super::{
    DatasetUrl, RemoteError, Scheme, hub,
    object::{Listing, RemoteObject, Version},
    store,
};
use crate::formats::{shard_manifest::ShardManifest, shards};
use futures_util::TryStreamExt as _;
use object_store::{GetOptions, ObjectMeta, ObjectStore, ObjectStoreExt as _, path::Path};
use std::path::Path as LocalPath;

/// A prefix with more objects than this is not a dataset.
const MAX_OBJECTS: usize = 200_000;
/// The maximum size of a manifest.
const MAX_MANIFEST_BYTES: u64 = 64 << 20;

/// Lists the files of a dataset, with the hashes of its manifest if there is one.
pub(super) async fn list(url: &DatasetUrl) -> Result<Listing, RemoteError> {
    let Listing { store, objects } = match url.scheme() {
        Scheme::Hf => hub::list(url).await?,
        Scheme::Http | Scheme::Https => list_web(url).await?,
        Scheme::S3 | Scheme::Gs | Scheme::Az => list_bucket(url).await?,
    };
    let mut objects = if url.is_file() { objects } else { of_dataset(objects) };
    if objects.is_empty() {
        let hint = "give the address of a file that ends in .arrow, .npz, .hdf5, .parquet or .csv, or of a \
                    prefix with such files or a LeRobot or Minari dataset";
        return Err(RemoteError::NotFound { url: url.to_string(), hint });
    }
    // Names become paths in the cache.
    if let Some(object) = objects.iter().find(|object| !is_relative(&object.name)) {
        let problem = format!("'{}' is not the name of a file", object.name);
        return Err(RemoteError::Listing { url: url.to_string(), problem });
    }
    objects.sort_by(|a, b| a.name.cmp(&b.name));
    if let Some(at) = objects.iter().position(|object| object.name == ShardManifest::NAME) {
        let manifest = read_manifest(store.as_ref(), &objects[at]).await?;
        require_listed(&mut objects, &manifest, url)?;
    }
    Ok(Listing { store, objects })
}

/// Selects the files that belong to a dataset: all of a LeRobot or Minari dataset except videos, or
/// else the files directly under the prefix.
fn of_dataset(mut objects: Vec<RemoteObject>) -> Vec<RemoteObject> {
    let has = |name: &str| objects.iter().any(|object| object.name == name);
    let (is_lerobot, is_minari) =
        (has("meta/info.json"), has("data/main_data.hdf5") || has("main_data.hdf5"));
    objects.retain(|object| {
        let in_folder = |folder: &str| object.name.starts_with(folder);
        let is_metadata = [".json", ".jsonl"].iter().any(|end| object.name.ends_with(end));
        let is_data = object.name.rsplit('/').next().is_some_and(shards::is_shard);
        match (is_lerobot, is_minari) {
            (true, _) => (in_folder("meta/") || in_folder("data/")) && (is_metadata || is_data),
            (_, true) => is_metadata || is_data,
            _ => !object.name.contains('/') && (is_data || object.name == ShardManifest::NAME),
        }
    });
    objects
}

fn is_relative(name: &str) -> bool {
    let parts = || LocalPath::new(name).components();
    let is_normal = |part: std::path::Component<'_>| matches!(part, std::path::Component::Normal(_));
    parts().next().is_some() && parts().all(is_normal) && !name.contains(['\\', '\0'])
}

/// Lists a bucket.
async fn list_bucket(url: &DatasetUrl) -> Result<Listing, RemoteError> {
    let fail = failure(url);
    let store = store::connect(url)?;
    let root = Path::parse(url.path()).map_err(|error| fail(error.into()))?;
    if url.is_file() {
        let meta = store.head(&root).await.map_err(|error| not_found(url, error))?;
        let object = object_of(url, url.name().to_owned(), &meta)?;
        return Ok(Listing { store, objects: vec![object] });
    }
    let mut found = store.list((!url.path().is_empty()).then_some(&root));
    let mut objects = Vec::new();
    while let Some(meta) = found.try_next().await.map_err(&fail)? {
        let Some(parts) = meta.location.prefix_match(&root) else { continue };
        let name = parts.map(|part| part.as_ref().to_owned()).collect::<Vec<_>>().join("/");
        objects.push(object_of(url, name, &meta)?);
        if objects.len() > MAX_OBJECTS {
            let hint = "give a longer prefix: this one has more than 200,000 objects";
            return Err(RemoteError::NotFound { url: url.to_string(), hint });
        }
    }
    drop(found);
    Ok(Listing { store, objects })
}

/// Lists a dataset on a web server, which cannot list a folder: a folder needs a manifest.
async fn list_web(url: &DatasetUrl) -> Result<Listing, RemoteError> {
    let fail = failure(url);
    let store = store::connect(url)?;
    let root = Path::from_url_path(url.path()).map_err(|error| fail(error.into()))?;
    if url.is_file() {
        let meta = store.head(&root).await.map_err(|error| not_found(url, error))?;
        let name = root.filename().unwrap_or_default().to_owned();
        return Ok(Listing { objects: vec![object_of(url, name, &meta)?], store });
    }
    let manifest = manifest_of_web(store.as_ref(), url, root.clone().join(ShardManifest::NAME)).await?;
    let listed = read_manifest(store.as_ref(), &manifest).await?;
    let mut objects = vec![manifest];
    for shard in listed.shards {
        let location = root.clone().join(shard.name.as_str());
        let meta = store.head(&location).await.map_err(|error| not_found(url, error))?;
        // The hash of the manifest identifies the contents if the server does not.
        let version = Version::of(&meta).unwrap_or_else(|| Version::Fixed(shard.sha256.clone()));
        objects.push(RemoteObject {
            url: format!("{url}/{}", shard.name),
            name: shard.name,
            location,
            bytes: meta.size,
            version,
            sha256: Some(shard.sha256),
        });
    }
    Ok(Listing { store, objects })
}

/// Describes the manifest of a folder on a web server.
async fn manifest_of_web(
    store: &dyn ObjectStore,
    url: &DatasetUrl,
    location: Path,
) -> Result<RemoteObject, RemoteError> {
    let meta = store.head(&location).await.map_err(|error| match error {
        object_store::Error::NotFound { .. } => {
            let hint = "a folder on a web server needs a shards.json, since web servers do not list files";
            RemoteError::NotFound { url: url.to_string(), hint }
        }
        error => failure(url)(error),
    })?;
    object_of(url, ShardManifest::NAME.into(), &meta)
}

/// Describes an object of a store.
fn object_of(url: &DatasetUrl, name: String, meta: &ObjectMeta) -> Result<RemoteObject, RemoteError> {
    let address = if url.is_file() { url.to_string() } else { format!("{url}/{name}") };
    let version = Version::of(meta).ok_or_else(|| RemoteError::NoIdentity { url: address.clone() })?;
    let location = meta.location.clone();
    Ok(RemoteObject { name, url: address, location, bytes: meta.size, version, sha256: None })
}

/// Downloads and parses a manifest.
async fn read_manifest(store: &dyn ObjectStore, object: &RemoteObject) -> Result<ShardManifest, RemoteError> {
    let problem = |problem: String| RemoteError::Listing { url: object.url.clone(), problem };
    if object.bytes > MAX_MANIFEST_BYTES {
        return Err(problem(format!("it has {} bytes", object.bytes)));
    }
    let fail =
        |source: object_store::Error| RemoteError::Store { url: object.url.clone(), source: source.into() };
    let found = store.get_opts(&object.location, GetOptions::default()).await.map_err(fail)?;
    let text = found.bytes().await.map_err(fail)?;
    ShardManifest::parse(LocalPath::new(ShardManifest::NAME), &text)
        .map_err(|error| problem(error.to_string()))
}

/// Checks that the objects are those of the manifest, and adds its hashes to them.
fn require_listed(
    objects: &mut [RemoteObject],
    manifest: &ShardManifest,
    url: &DatasetUrl,
) -> Result<(), RemoteError> {
    let fail =
        |problem: String| RemoteError::Listing { url: format!("{url}/{}", ShardManifest::NAME), problem };
    for shard in &manifest.shards {
        let at = objects.binary_search_by(|object| object.name.as_str().cmp(&shard.name));
        let object = &mut objects[at.map_err(|_| fail(format!("shard {} is missing", shard.name)))?];
        if object.bytes != shard.bytes {
            return Err(fail(format!(
                "{} has {} bytes instead of {}",
                shard.name, object.bytes, shard.bytes
            )));
        }
        object.sha256 = Some(shard.sha256.clone());
    }
    let unlisted = objects.iter().find(|object| object.sha256.is_none() && shards::is_shard(&object.name));
    match unlisted {
        Some(object) => Err(fail(format!("it does not list {}", object.name))),
        None => Ok(()),
    }
}

fn failure(url: &DatasetUrl) -> impl Fn(object_store::Error) -> RemoteError {
    let url = url.to_string();
    move |source| RemoteError::Store { url: url.clone(), source: source.into() }
}

fn not_found(url: &DatasetUrl, error: object_store::Error) -> RemoteError {
    match error {
        object_store::Error::NotFound { .. } => {
            let hint = "check the path; an address with the extension of a dataset is that of a single file";
            RemoteError::NotFound { url: url.to_string(), hint }
        }
        error => failure(url)(error),
    }
}
