//! From the address of a dataset to a local file or folder.

use super::{
    CacheOptions, DatasetUrl, Fetched, Progress, RemoteError,
    cache::{Cache, Cached},
    download::{download, resumable_bytes},
    listing,
    object::{Listing, RemoteObject},
    view,
};
use futures_util::{TryStreamExt as _, stream};
use std::{
    cell::RefCell,
    collections::HashSet,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
};

/// Downloads a dataset into the cache, unless it is there already, and returns the local file or
/// folder to open.
///
/// Every file is verified: against its size, against the SHA-256 of a manifest or of the hub if
/// there is one, and, if it was in the cache, against the SHA-256 of what was downloaded then.
/// `progress` is called as bytes arrive.
///
/// # Errors
/// If the server cannot be reached, a file changes meanwhile or has a wrong hash, or the dataset
/// does not fit in the cache.
pub fn fetch(
    url: &DatasetUrl,
    options: &CacheOptions,
    progress: &mut (dyn FnMut(&Progress) + Send),
) -> Result<Fetched, RemoteError> {
    // A thread of its own: the caller may itself run inside a runtime, which cannot be nested.
    let work = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(RemoteError::cache(&options.folder))?;
        runtime.block_on(run(url, options, progress))
    };
    thread::scope(|scope| scope.spawn(work).join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

async fn run(
    url: &DatasetUrl,
    options: &CacheOptions,
    progress: &mut (dyn FnMut(&Progress) + Send),
) -> Result<Fetched, RemoteError> {
    let listing = listing::list(url).await?;
    let cache = Cache::open(options)?;
    // A complete dataset does not wait for the downloads of other processes.
    let mut states = look_up(&cache, &listing.objects);
    let mut lock = None;
    if states.iter().any(|state| *state != Cached::Complete) {
        lock = Some(cache.lock()?);
        // Another process may have downloaded some of them meanwhile.
        states = look_up(&cache, &listing.objects);
    }
    let mut fetched = add_missing(url, options, &cache, &listing, &states, progress).await?;
    let folder = view::of(&cache, &listing.objects)?;
    drop(lock);
    fetched.path = match url.is_file() {
        true => folder.join(&listing.objects[0].name),
        false => folder,
    };
    Ok(fetched)
}

/// Looks up all files, on all cores since their contents are hashed.
fn look_up(cache: &Cache, objects: &[RemoteObject]) -> Vec<Cached> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut found = Vec::new();
        loop {
            let at = next.fetch_add(1, Relaxed);
            let Some(object) = objects.get(at) else { return found };
            found.push((at, cache.look_up(object)));
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(objects.len());
    let mut found = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut found = work();
        found.extend(others.into_iter().flat_map(|other| other.join().unwrap_or_default()));
        found
    });
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, state)| state).collect()
}

/// Downloads the files that are not complete.
async fn add_missing(
    url: &DatasetUrl,
    options: &CacheOptions,
    cache: &Cache,
    listing: &Listing,
    states: &[Cached],
    progress: &mut (dyn FnMut(&Progress) + Send),
) -> Result<Fetched, RemoteError> {
    let objects = &listing.objects;
    let total = objects.iter().map(|object| object.bytes).fold(0, u64::saturating_add);
    let mut fetched = Fetched {
        path: Default::default(),
        downloaded_bytes: 0,
        resumed_bytes: 0,
        cached_bytes: 0,
        files: objects.len(),
        replaced: Vec::new(),
    };
    let mut missing = Vec::new();
    for (object, state) in objects.iter().zip(states) {
        let key = object.key();
        match state {
            Cached::Complete => fetched.cached_bytes += object.bytes,
            Cached::Corrupt => {
                fetched.replaced.push(object.name.clone());
                cache.remove(&key)?;
                missing.push(object);
            }
            Cached::Missing => {
                fetched.resumed_bytes += resumable_bytes(object, &cache.part(&key));
                missing.push(object);
            }
        }
    }
    if !missing.is_empty() {
        let in_use: HashSet<String> = objects.iter().map(RemoteObject::key).collect();
        cache.make_room(url, &in_use, total)?;
        view::remove_broken(cache);
    }
    let state = RefCell::new((fetched, progress));
    let advance = |bytes: i64| {
        let (fetched, report) = &mut *state.borrow_mut();
        match u64::try_from(bytes) {
            Ok(arrived) => fetched.downloaded_bytes += arrived,
            Err(_) => {
                let discarded = bytes.unsigned_abs();
                let resumed = discarded.min(fetched.resumed_bytes);
                fetched.resumed_bytes -= resumed;
                fetched.downloaded_bytes = fetched.downloaded_bytes.saturating_sub(discarded - resumed);
            }
        }
        let bytes_done = fetched.cached_bytes + fetched.resumed_bytes + fetched.downloaded_bytes;
        report(&Progress { bytes_done, bytes_total: total, files: fetched.files });
    };
    advance(0);
    let store = listing.store.as_ref();
    let advance: &dyn Fn(i64) = &advance;
    stream::iter(missing.into_iter().map(Ok))
        .try_for_each_concurrent(options.downloads.max(1), |object| async move {
            let sha256 = download(store, object, &cache.part(&object.key()), advance).await?;
            cache.commit(object, sha256)
        })
        .await?;
    Ok(state.into_inner().0)
}
