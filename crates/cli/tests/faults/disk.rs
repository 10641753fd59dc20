//! A disk that loses what was not synced.
//!
//! A file's contents are durable after a sync of the file, and a name after a sync of its folder.
//! Everything else may be lost, kept, or kept in part when the power fails, in any order: this is
//! less than journaling file systems promise.

use isochrone::rng;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// A change of the disk, or a request to make earlier changes durable.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    CreateFile { path: PathBuf },
    CreateFolder { path: PathBuf },
    Write { path: PathBuf, offset: usize, bytes: Vec<u8> },
    Truncate { path: PathBuf, length: usize },
    Rename { from: PathBuf, to: PathBuf },
    Link { from: PathBuf, to: PathBuf },
    Remove { path: PathBuf },
    Sync { path: PathBuf },
}

/// What happens to changes that were not synced.
#[derive(Debug, Clone, Copy)]
pub enum Loss {
    /// All of them are kept: only the process ended.
    Nothing,
    /// All of them are lost.
    Everything,
    /// Each is lost or kept, and each write may be cut at any byte.
    Random { seed: u64 },
}

/// Files and folders. Names refer to nodes, so that a file that was renamed keeps its contents.
#[derive(Debug, Clone)]
pub struct Disk {
    nodes: Vec<Node>,
}

#[derive(Debug, Clone)]
enum Node {
    File(Vec<u8>),
    Folder(BTreeMap<String, usize>),
}

/// The contents of all files by path, and `None` for folders.
pub type Tree = BTreeMap<PathBuf, Option<Vec<u8>>>;

const ROOT: usize = 0;

/// A change in terms of nodes.
#[derive(Debug)]
enum Step {
    Data {
        node: usize,
        data: Data,
    },
    /// Sets names in a folder to nodes, or removes them.
    Names {
        changes: Vec<(usize, String, Option<usize>)>,
    },
    Sync {
        node: usize,
    },
}

#[derive(Debug)]
enum Data {
    Write { offset: usize, bytes: Vec<u8> },
    Truncate { length: usize },
}

impl Disk {
    /// Reads a folder and everything below it.
    pub fn read(folder: &Path) -> Self {
        let mut disk = Self { nodes: vec![Node::Folder(BTreeMap::new())] };
        disk.read_into(ROOT, folder);
        disk
    }

    fn read_into(&mut self, parent: usize, folder: &Path) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let node = match path.is_dir() {
                true => Node::Folder(BTreeMap::new()),
                false => Node::File(fs::read(&path).unwrap()),
            };
            let is_folder = matches!(node, Node::Folder(_));
            let id = self.add(node);
            self.names_mut(parent).insert(path.file_name().unwrap().to_str().unwrap().to_owned(), id);
            if is_folder {
                self.read_into(id, &path);
            }
        }
    }

    /// Writes all files and folders to an empty folder.
    pub fn write(&self, folder: &Path) {
        for (path, contents) in self.tree() {
            match contents {
                Some(bytes) => fs::write(folder.join(path), bytes).unwrap(),
                None => fs::create_dir(folder.join(path)).unwrap(),
            }
        }
    }

    /// Returns all files and folders, folders before what they contain.
    pub fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        self.list(ROOT, Path::new(""), &mut tree);
        tree
    }

    fn list(&self, folder: usize, path: &Path, tree: &mut Tree) {
        let Node::Folder(names) = &self.nodes[folder] else { return };
        for (name, &id) in names {
            let contents = match &self.nodes[id] {
                Node::File(bytes) => Some(bytes.clone()),
                Node::Folder(_) => None,
            };
            tree.insert(path.join(name), contents);
            self.list(id, &path.join(name), tree);
        }
    }

    /// Returns the length of a file, or `None` if there is no such file.
    pub fn length(&self, path: &Path) -> Option<usize> {
        match &self.nodes[self.find(path)?] {
            Node::File(bytes) => Some(bytes.len()),
            Node::Folder(_) => None,
        }
    }

    /// Makes a change as the process sees it.
    pub fn apply(&mut self, change: &Change) {
        let step = self.step(change);
        self.take(&step, 1.0);
    }

    /// Returns the disk after the first `cut` of the changes to it and a power failure.
    pub fn after_crash(&self, changes: &[Change], cut: usize, loss: Loss) -> Self {
        let mut seen = self.clone();
        let steps: Vec<Step> = changes[..cut]
            .iter()
            .map(|change| {
                let step = seen.step(change);
                seen.take(&step, 1.0);
                step
            })
            .collect();
        let mut random = match loss {
            Loss::Random { seed } => rng::stream(seed, cut as u64),
            Loss::Nothing | Loss::Everything => rng::stream(0, 0),
        };
        // Nodes keep their numbers, and new ones start empty.
        let mut disk = self.clone();
        disk.nodes.extend(seen.nodes[self.nodes.len()..].iter().map(|node| match node {
            Node::File(_) => Node::File(Vec::new()),
            Node::Folder(_) => Node::Folder(BTreeMap::new()),
        }));
        for (number, step) in steps.iter().enumerate() {
            let is_synced = |node: usize| {
                steps[number..]
                    .iter()
                    .any(|later| matches!(later, Step::Sync { node: synced } if *synced == node))
            };
            let is_durable = match step {
                Step::Data { node, .. } => is_synced(*node),
                Step::Names { changes } => changes.iter().all(|(folder, ..)| is_synced(*folder)),
                Step::Sync { .. } => continue,
            };
            match loss {
                _ if is_durable => disk.take(step, 1.0),
                Loss::Nothing => disk.take(step, 1.0),
                Loss::Everything => {}
                Loss::Random { .. } => match rng::below(&mut random, 3) {
                    0 => {}
                    1 => disk.take(step, 1.0),
                    _ => disk.take(step, rng::unit_f64(&mut random)),
                },
            }
        }
        disk
    }

    /// Expresses a change in nodes of the disk before it, and adds the node that it creates.
    fn step(&mut self, change: &Change) -> Step {
        let file = |path: &Path| self.find(path).unwrap_or_else(|| panic!("{} is unknown", path.display()));
        match change {
            Change::Write { path, offset, bytes } => {
                let data = Data::Write { offset: *offset, bytes: bytes.clone() };
                Step::Data { node: file(path), data }
            }
            Change::Truncate { path, length } => {
                Step::Data { node: file(path), data: Data::Truncate { length: *length } }
            }
            Change::Sync { path } => Step::Sync { node: file(path) },
            Change::CreateFile { path } => {
                let id = self.add(Node::File(Vec::new()));
                self.names(&[(path, Some(id))])
            }
            Change::CreateFolder { path } => {
                let id = self.add(Node::Folder(BTreeMap::new()));
                self.names(&[(path, Some(id))])
            }
            Change::Remove { path } => self.names(&[(path, None)]),
            Change::Rename { from, to } => {
                let id = file(from);
                self.names(&[(from, None), (to, Some(id))])
            }
            Change::Link { from, to } => {
                let id = file(from);
                self.names(&[(to, Some(id))])
            }
        }
    }

    fn names(&self, changes: &[(&PathBuf, Option<usize>)]) -> Step {
        let change = |(path, id): &(&PathBuf, Option<usize>)| {
            let folder = self.find(path.parent().unwrap()).expect("the folder of a name exists");
            (folder, path.file_name().unwrap().to_str().unwrap().to_owned(), *id)
        };
        Step::Names { changes: changes.iter().map(change).collect() }
    }

    /// Takes a step; of a write, only the first bytes, given by their share.
    fn take(&mut self, step: &Step, share: f64) {
        match step {
            Step::Sync { .. } => {}
            Step::Names { changes } => {
                for (folder, name, id) in changes {
                    match id {
                        Some(id) => self.names_mut(*folder).insert(name.clone(), *id),
                        None => self.names_mut(*folder).remove(name),
                    };
                }
            }
            Step::Data { node, data } => {
                let Node::File(contents) = &mut self.nodes[*node] else { panic!("data of a folder") };
                match data {
                    Data::Truncate { length } => contents.resize(*length, 0),
                    Data::Write { offset, bytes } => {
                        let n = (bytes.len() as f64 * share).round() as usize;
                        let end = offset + n;
                        contents.resize(contents.len().max(end), 0);
                        contents[*offset..end].copy_from_slice(&bytes[..n]);
                    }
                }
            }
        }
    }

    fn add(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn names_mut(&mut self, folder: usize) -> &mut BTreeMap<String, usize> {
        match &mut self.nodes[folder] {
            Node::Folder(names) => names,
            Node::File(_) => panic!("a file has no names in it"),
        }
    }

    fn find(&self, path: &Path) -> Option<usize> {
        path.iter().try_fold(ROOT, |node, name| match &self.nodes[node] {
            Node::Folder(names) => names.get(name.to_str().unwrap()).copied(),
            Node::File(_) => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(name: &str, text: &str) -> Vec<Change> {
        let path = PathBuf::from(name);
        let bytes = text.as_bytes().to_vec();
        vec![Change::CreateFile { path: path.clone() }, Change::Write { path, offset: 0, bytes }]
    }

    fn crashed(changes: &[Change], cut: usize, loss: Loss) -> Vec<(String, String)> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("x"), "old").unwrap();
        let tree = Disk::read(folder.path()).after_crash(changes, cut, loss).tree();
        let text = |(path, bytes): (PathBuf, Option<Vec<u8>>)| {
            (path.display().to_string(), String::from_utf8(bytes.unwrap()).unwrap())
        };
        tree.into_iter().map(text).collect()
    }

    /// A file that replaces another is torn if it was renamed before it was synced; the simulation
    /// finds this, and does not report the right order.
    #[test]
    fn a_rename_without_a_sync_loses_data() {
        let rename = Change::Rename { from: "y".into(), to: "x".into() };
        let [sync, sync_folder] = ["y", ""].map(|path| Change::Sync { path: path.into() });
        let wrong = [write("y", "new"), vec![rename.clone(), sync_folder.clone()]].concat();
        let right = [write("y", "new"), vec![sync, rename, sync_folder]].concat();
        let seen = |changes: &[Change]| {
            let mut seen: Vec<String> = Vec::new();
            for cut in 0..=changes.len() {
                let random = (0..50).map(|seed| Loss::Random { seed });
                for loss in random.chain([Loss::Nothing, Loss::Everything]) {
                    let found = crashed(changes, cut, loss).into_iter();
                    seen.extend(found.filter(|(name, _)| name == "x").map(|(_, text)| text));
                }
            }
            seen.sort();
            seen.dedup();
            seen
        };
        assert_eq!(seen(&wrong), ["", "n", "ne", "new", "old"]);
        assert_eq!(seen(&right), ["new", "old"]);
        let end = right.len();
        assert_eq!(crashed(&right, end, Loss::Everything), [("x".to_owned(), "new".to_owned())]);
    }
}
