//! Datasets on web servers and in buckets.

use crate::{
    child::{command, fetch_with},
    server::Server,
    support::{cached_files, fetch, load, table, walks, write_shards},
};
use isochrone_data::{Dataset, formats::ReadOptions, remote::CacheOptions};
use std::{path::Path, process::Stdio, thread, time::Duration};

fn s3(server: &Server) -> Vec<(&'static str, String)> {
    vec![
        ("AWS_ENDPOINT", format!("http://{}", server.address)),
        ("AWS_ALLOW_HTTP", "true".into()),
        ("AWS_SKIP_SIGNATURE", "true".into()),
        ("AWS_REGION", "default".into()),
    ]
}

fn fetch_s3(server: &Server, url: &str, cache: &Path) -> serde_json::Value {
    let variables = s3(server);
    let variables: Vec<(&str, &str)> =
        variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    fetch_with(url, cache, &variables)
}

#[test]
fn a_file_on_a_web_server_is_downloaded_once() {
    let (server, folder) = (Server::start(), tempfile::tempdir().unwrap());
    server.put("a b/walks.csv", table(100));
    let options = CacheOptions::new(folder.path());
    let url = format!("http://{}/a%20b/walks.csv", server.address);
    let first = fetch(&url, &options).unwrap();
    assert_eq!((first.downloaded_bytes, first.files), (table(100).len() as u64, 1));
    let data = Dataset::load(&first.path, ReadOptions::default().observations(["x"])).unwrap();
    assert_eq!((data.n_episodes(), data.n_transitions()), (10, 90));
    server.requests();
    let again = fetch(&url, &options).unwrap();
    assert_eq!((again.downloaded_bytes, again.cached_bytes), (0, table(100).len() as u64));
    assert_eq!((again.path, server.bytes_sent()), (first.path, 0));
}

#[test]
fn a_folder_on_a_web_server_is_listed_by_its_manifest() {
    let (server, folder, data) = (Server::start(), tempfile::tempdir().unwrap(), walks(60));
    let shards = folder.path().join("shards");
    write_shards(&data, &shards, 500);
    server.put_folder("walks", &shards);
    let options = CacheOptions::new(folder.path().join("cache"));
    let url = format!("http://{}/walks", server.address);
    let fetched = fetch(&url, &options).unwrap();
    assert!(fetched.files > 4, "{fetched:?}");
    assert_eq!(load(&fetched.path).content_hash(), data.content_hash());
    server.remove("walks/shards.json");
    let message = fetch(&url, &options).unwrap_err().to_string();
    assert!(message.contains("needs a shards.json"), "{message}");
}

#[test]
fn a_prefix_of_a_bucket_is_one_dataset() {
    let (server, folder, data) = (Server::start(), tempfile::tempdir().unwrap(), walks(60));
    let (shards, cache) = (folder.path().join("shards"), folder.path().join("cache"));
    write_shards(&data, &shards, 500);
    server.put_folder("logs/runs/walks", &shards);
    // Neither belongs to the dataset.
    server.put("logs/runs/walks/notes.txt", "not data");
    server.put("logs/runs/walks-2/part-00000.arrow", "another dataset");
    let outcome = fetch_s3(&server, "s3://logs/runs/walks", &cache);
    let path = outcome["path"].as_str().unwrap_or_else(|| panic!("{outcome}"));
    let loaded = load(Path::new(path));
    assert!(loaded.is_mapped());
    assert_eq!(loaded.content_hash(), data.content_hash());
    let single = fetch_s3(&server, "s3://logs/runs/walks/part-00001.arrow", &cache);
    assert_eq!((&single["files"], &single["downloaded"]), (&1.into(), &0.into()), "{single}");
    let missing = fetch_s3(&server, "s3://logs/nothing", &cache);
    assert!(missing["error"].as_str().unwrap().contains("no dataset here"), "{missing}");
    let missing = fetch_s3(&server, "s3://logs/nothing.arrow", &cache);
    assert!(missing["error"].as_str().unwrap().contains("no dataset here"), "{missing}");
}

#[test]
fn a_shard_that_does_not_match_the_manifest_is_refused() {
    let (server, folder, data) = (Server::start(), tempfile::tempdir().unwrap(), walks(60));
    let (shards, cache) = (folder.path().join("shards"), folder.path().join("cache"));
    write_shards(&data, &shards, 500);
    server.put_folder("logs/walks", &shards);
    let path = "logs/walks/part-00001.arrow";
    let intact = server.get(path);
    let mut flipped = intact.clone();
    flipped[intact.len() / 2] ^= 1;
    server.put(path, flipped);
    let error = |outcome: serde_json::Value| outcome["error"].as_str().unwrap_or_default().to_owned();
    let message = error(fetch_s3(&server, "s3://logs/walks", &cache));
    assert!(message.contains("part-00001.arrow: corrupt or modified: SHA-256"), "{message}");
    server.put(path, &intact[..intact.len() - 1]);
    let message = error(fetch_s3(&server, "s3://logs/walks", &cache));
    assert!(message.contains("part-00001.arrow has"), "{message}");
    server.remove(path);
    let message = error(fetch_s3(&server, "s3://logs/walks", &cache));
    assert!(message.contains("shard part-00001.arrow is missing"), "{message}");
    server.put(path, intact);
    let outcome = fetch_s3(&server, "s3://logs/walks", &cache);
    assert_eq!(load(Path::new(outcome["path"].as_str().unwrap())).content_hash(), data.content_hash());
}

#[test]
fn a_download_that_breaks_off_continues_where_it_stopped() {
    let (server, folder) = (Server::start(), tempfile::tempdir().unwrap());
    let (text, cut) = (table(200_000), 1_000_000);
    let url = format!("http://{}/walks.csv", server.address);
    let options = CacheOptions::new(folder.path());
    server.put("walks.csv", text.as_str());
    server.cut_after(Some(cut));
    assert!(fetch(&url, &options).is_err());
    server.cut_after(None);
    server.put("walks.csv", text.as_str());
    server.requests();
    let resumed = fetch(&url, &options).unwrap();
    assert_eq!((resumed.resumed_bytes, resumed.downloaded_bytes), (cut as u64, (text.len() - cut) as u64));
    let requests = server.requests();
    let download = requests.iter().find(|request| request.method == "GET").unwrap();
    assert_eq!(download.headers["range"], format!("bytes={cut}-"));
    assert!(download.headers.contains_key("if-match"), "{download:?}");
    assert_eq!(download.sent, text.len() - cut);
    assert_eq!(std::fs::read_to_string(&resumed.path).unwrap(), text);
}

#[test]
fn parts_of_two_versions_are_never_mixed() {
    let (server, folder) = (Server::start(), tempfile::tempdir().unwrap());
    let (old, new) = (table(200_000), table(200_000).replace(".5", ".7"));
    let url = format!("http://{}/walks.csv", server.address);
    let options = CacheOptions::new(folder.path());
    server.put("walks.csv", old.as_str());
    server.cut_after(Some(1_000_000));
    assert!(fetch(&url, &options).is_err());
    server.cut_after(None);
    server.put("walks.csv", new.as_str());
    let fetched = fetch(&url, &options).unwrap();
    assert_eq!((fetched.resumed_bytes, fetched.downloaded_bytes), (0, new.len() as u64));
    assert_eq!(std::fs::read_to_string(&fetched.path).unwrap(), new);
}

#[test]
fn a_server_without_ranges_or_etags_starts_again() {
    let (server, folder) = (Server::start(), tempfile::tempdir().unwrap());
    let text = table(200_000);
    let url = format!("http://{}/walks.csv", server.address);
    let options = CacheOptions::new(folder.path());
    server.disable_ranges();
    server.disable_etags();
    server.put("walks.csv", text.as_str());
    server.cut_after(Some(1_000_000));
    assert!(fetch(&url, &options).is_err());
    server.cut_after(None);
    server.put("walks.csv", text.as_str());
    let fetched = fetch(&url, &options).unwrap();
    assert_eq!(std::fs::read_to_string(&fetched.path).unwrap(), text);
}

#[test]
fn a_killed_process_leaves_a_download_that_continues() {
    let (server, folder) = (Server::start(), tempfile::tempdir().unwrap());
    let text = table(2_000_000);
    server.put("walks.csv", text.as_str());
    let url = format!("http://{}/walks.csv", server.address);
    let left_by_a_kill = |cache: &Path| {
        let part = || cached_files(cache, "part").first().and_then(|path| Some(path.metadata().ok()?.len()));
        let mut process = command(&url, cache, &[]).stdout(Stdio::null()).spawn().unwrap();
        while part().unwrap_or(0) == 0 && process.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_millis(1));
        }
        process.kill().unwrap();
        process.wait().unwrap();
        part()
    };
    // A process may be done before it is killed.
    let killed = (0..20).find_map(|index| {
        let cache = folder.path().join(index.to_string());
        left_by_a_kill(&cache).filter(|&bytes| bytes > 0).map(|bytes| (cache, bytes))
    });
    let (cache, left) = killed.expect("one of the processes is killed halfway");
    server.requests();
    let fetched = fetch(&url, &CacheOptions::new(&cache)).unwrap();
    assert_eq!((fetched.resumed_bytes, fetched.downloaded_bytes), (left, text.len() as u64 - left));
    assert_eq!(server.bytes_sent() as u64, text.len() as u64 - left, "nothing is sent again");
    assert_eq!(std::fs::read_to_string(&fetched.path).unwrap(), text);
}
