//! The cache: what is kept, verified and deleted.

use crate::{
    server::Server,
    support::{cached_files, fetch, load, table, walks, write_shards},
};
use isochrone_data::remote::{CacheOptions, RemoteError};
use std::{fs, time::Duration};

#[test]
fn a_corrupt_file_of_the_cache_is_downloaded_again() {
    let (server, folder, data) = (Server::start(), tempfile::tempdir().unwrap(), walks(60));
    let shards = folder.path().join("shards");
    write_shards(&data, &shards, 500);
    server.put_folder("walks", &shards);
    let options = CacheOptions::new(folder.path().join("cache"));
    let url = format!("http://{}/walks", server.address);
    let first = fetch(&url, &options).unwrap();
    let victim = fs::canonicalize(first.path.join("part-00002.arrow")).unwrap();
    let mut bytes = fs::read(&victim).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&victim, &bytes).unwrap();
    let again = fetch(&url, &options).unwrap();
    assert_eq!(again.replaced, ["part-00002.arrow"]);
    assert_eq!(again.downloaded_bytes, bytes.len() as u64);
    assert_eq!(load(&again.path).content_hash(), data.content_hash());
}

#[test]
fn the_least_recently_used_file_is_deleted_first() {
    let (server, folder) = (Server::start(), tempfile::tempdir().unwrap());
    let text = table(1000);
    let size = text.len() as u64;
    let options = CacheOptions { limit_bytes: 3 * size, ..CacheOptions::new(folder.path()) };
    let get = |name: &str| {
        server.put(&format!("{name}.csv"), text.as_str());
        // Times of use differ even if the file system counts in milliseconds.
        std::thread::sleep(Duration::from_millis(20));
        fetch(&format!("http://{}/{name}.csv", server.address), &options).unwrap()
    };
    let (a, b, c) = (get("a"), get("b"), get("c"));
    assert_eq!(get("a").downloaded_bytes, 0);
    let d = get("d");
    assert!(!b.path.exists(), "b was used least recently");
    assert!(a.path.exists() && c.path.exists() && d.path.exists());
    assert_eq!(get("b").downloaded_bytes, size);
    assert!(!c.path.exists() && a.path.exists());
    assert_eq!(fs::read_dir(folder.path().join("views")).unwrap().count(), 3);
    assert_eq!(cached_files(folder.path(), "").len(), 3);
}

#[test]
#[cfg(unix)]
fn files_of_others_in_the_folder_of_the_cache_are_kept() {
    let (server, folder) = (Server::start(), tempfile::tempdir().unwrap());
    let text = table(1000);
    let options = CacheOptions { limit_bytes: text.len() as u64, ..CacheOptions::new(folder.path()) };
    let (object, view) = (folder.path().join("objects/mine.csv"), folder.path().join("views/mine"));
    fs::create_dir_all(folder.path().join("objects")).unwrap();
    fs::create_dir_all(&view).unwrap();
    fs::write(&object, &text).unwrap();
    fs::write(view.join("kept"), "").unwrap();
    // The view of a deleted file looks like this.
    std::os::unix::fs::symlink("nothing", view.join("link")).unwrap();
    for name in ["a", "b"] {
        server.put(&format!("{name}.csv"), text.as_str());
        fetch(&format!("http://{}/{name}.csv", server.address), &options).unwrap();
    }
    assert!(object.exists() && view.join("kept").exists());
}

#[test]
fn the_files_of_the_present_dataset_are_never_deleted() {
    let (server, folder, data) = (Server::start(), tempfile::tempdir().unwrap(), walks(60));
    let shards = folder.path().join("shards");
    write_shards(&data, &shards, 500);
    let total: u64 =
        fs::read_dir(&shards).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum();
    server.put_folder("walks", &shards);
    let url = format!("http://{}/walks", server.address);
    let cache = folder.path().join("cache");
    let options = |limit_bytes| CacheOptions { limit_bytes, ..CacheOptions::new(&cache) };
    match fetch(&url, &options(total - 1)) {
        Err(RemoteError::CacheTooSmall { bytes, limit_bytes, .. }) => {
            assert_eq!((bytes, limit_bytes), (total, total - 1));
        }
        other => panic!("{other:?}"),
    }
    assert!(cached_files(&cache, "").is_empty(), "nothing is downloaded in vain");
    // Everything else has to go.
    server.put("other.csv", table(10));
    let other = fetch(&format!("http://{}/other.csv", server.address), &options(total)).unwrap();
    let fetched = fetch(&url, &options(total)).unwrap();
    assert!(!other.path.exists());
    assert_eq!(load(&fetched.path).content_hash(), data.content_hash());
}

#[test]
fn processes_that_fetch_at_once_download_once() {
    let (server, folder, data) = (Server::start(), tempfile::tempdir().unwrap(), walks(60));
    let shards = folder.path().join("shards");
    write_shards(&data, &shards, 500);
    server.put_folder("walks", &shards);
    let url = format!("http://{}/walks", server.address);
    let cache = folder.path().join("cache");
    let outcomes: Vec<u64> = std::thread::scope(|scope| {
        let start = || {
            let outcome = crate::child::fetch_with(&url, &cache, &[]);
            outcome["downloaded"].as_u64().unwrap_or_else(|| panic!("{outcome}"))
        };
        let running: Vec<_> = (0..4).map(|_| scope.spawn(start)).collect();
        running.into_iter().map(|process| process.join().unwrap()).collect()
    });
    let total: u64 =
        fs::read_dir(&shards).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum();
    assert_eq!(outcomes.iter().sum::<u64>(), total, "{outcomes:?}");
}
