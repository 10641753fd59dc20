//! Datasets of the Hugging Face hub.

use crate::{
    child::fetch_with,
    server::Server,
    support::{load, walks, write_shards},
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::path::Path;

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

fn entry(path: &str, bytes: &[u8], is_large: bool) -> Value {
    let hash: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    let mut entry = json!({ "type": "file", "path": path, "size": bytes.len(), "oid": &hash[..40] });
    if is_large {
        entry["lfs"] = json!({ "oid": hash, "size": bytes.len(), "pointerSize": 130 });
    }
    entry
}

/// A hub with a dataset of shards in two pages, whose files are on another server.
fn hub(folder: &Path, is_intact: bool) -> (Server, Server, isochrone_data::Dataset) {
    let (hub, store, data) = (Server::start(), Server::start(), walks(60));
    let shards = folder.join("shards");
    write_shards(&data, &shards, 500);
    std::fs::write(shards.join("README.md"), "not data").unwrap();
    let mut entries = vec![json!({ "type": "directory", "path": "data", "oid": "0", "size": 0 })];
    for file in std::fs::read_dir(&shards).unwrap() {
        let file = file.unwrap();
        let (name, bytes) = (file.file_name().into_string().unwrap(), std::fs::read(file.path()).unwrap());
        entries.push(entry(&format!("data/{name}"), &bytes, name.ends_with(".arrow")));
        let mut served = bytes;
        if !is_intact && name == "part-00001.arrow" {
            served[100] ^= 1;
        }
        store.put(&format!("cdn/{name}"), served);
    }
    let rest = entries.split_off(3);
    let tree = format!("/api/datasets/org/walks/tree/{COMMIT}/data?recursive=true");
    let next = format!("http://{}{tree}&cursor=2", hub.address);
    hub.answer("/api/datasets/org/walks/revision/main", None, json!({ "sha": COMMIT }).to_string());
    hub.answer(&tree, Some(next), Value::from(entries).to_string());
    hub.answer(&format!("{tree}&cursor=2"), None, Value::from(rest).to_string());
    hub.redirect_to(&store);
    (hub, store, data)
}

fn fetch_hub(hub: &Server, url: &str, cache: &Path) -> Value {
    let endpoint = format!("http://{}", hub.address);
    fetch_with(url, cache, &[("HF_ENDPOINT", &endpoint), ("HF_TOKEN", "hf_secret")])
}

#[test]
fn a_dataset_of_the_hub_is_listed_and_downloaded_at_one_commit() {
    let folder = tempfile::tempdir().unwrap();
    let (hub, store, data) = hub(folder.path(), true);
    let cache = folder.path().join("cache");
    let outcome = fetch_hub(&hub, "hf://datasets/org/walks/data", &cache);
    let path = outcome["path"].as_str().unwrap_or_else(|| panic!("{outcome}"));
    assert_eq!(load(Path::new(path)).content_hash(), data.content_hash());
    for request in hub.requests() {
        assert_eq!(request.headers.get("authorization").map(String::as_str), Some("Bearer hf_secret"));
        assert!(request.path.contains(COMMIT) || request.path.ends_with("/revision/main"), "{request:?}");
    }
    // The token is only for the hub.
    let elsewhere = store.requests();
    assert!(!elsewhere.is_empty());
    assert!(elsewhere.iter().all(|request| !request.headers.contains_key("authorization")), "{elsewhere:?}");
    let again = fetch_hub(&hub, "hf://datasets/org/walks/data", &cache);
    assert_eq!((&again["downloaded"], &again["path"]), (&0.into(), &outcome["path"]));
    let single = fetch_hub(&hub, "hf://datasets/org/walks/data/part-00000.arrow", &cache);
    assert_eq!((&single["files"], &single["downloaded"]), (&1.into(), &0.into()), "{single}");
}

#[test]
fn a_file_that_is_not_the_one_of_the_hub_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (hub, ..) = hub(folder.path(), false);
    let outcome = fetch_hub(&hub, "hf://datasets/org/walks/data", &folder.path().join("cache"));
    let message = outcome["error"].as_str().unwrap();
    assert!(message.contains("part-00001.arrow: corrupt or modified: SHA-256"), "{message}");
}

#[test]
fn a_missing_dataset_and_a_bad_answer_are_errors() {
    let (hub, folder) = (Server::start(), tempfile::tempdir().unwrap());
    let error = |url: &str| fetch_hub(&hub, url, folder.path())["error"].as_str().unwrap().to_owned();
    let message = error("hf://datasets/org/nothing");
    assert!(message.contains("check owner, name, revision"), "{message}");
    hub.answer("/api/datasets/org/odd/revision/v1", None, "<html>".into());
    let message = error("hf://datasets/org/odd@v1");
    assert!(message.contains("the hub's answer"), "{message}");
    hub.answer("/api/datasets/org/evil/revision/main", None, json!({ "sha": COMMIT }).to_string());
    let entries = json!([entry("meta/info.json", b"{}", false), entry("data/../../x.parquet", b"x", false)]);
    let tree = format!("/api/datasets/org/evil/tree/{COMMIT}?recursive=true");
    hub.answer(&tree, None, entries.to_string());
    let message = error("hf://datasets/org/evil");
    assert!(message.contains("data/../../x.parquet"), "{message}");
}
