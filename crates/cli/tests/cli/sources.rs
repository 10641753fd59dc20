//! The sources of the libraries contain no import cycles and no command-line flags.

use crate::run::workspace;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};
use syn::{Item, UseTree};

/// The libraries; flags belong to the command.
const LIBRARIES: [&str; 9] = [
    "crates/core",
    "crates/data",
    "crates/envs",
    "crates/eval",
    "crates/isochrone",
    "crates/learn",
    "crates/nn",
    "crates/plot",
    "studies",
];

/// Returns all source files below a directory.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(sources(&path)),
            false if path.extension().is_some_and(|extension| extension == "rs") => files.push(path),
            false => {}
        }
    }
    files.sort();
    files
}

/// A module of a crate, by its path from the root.
struct Module {
    file: PathBuf,
    items: Vec<Item>,
}

type Modules = BTreeMap<Vec<String>, Module>;

fn modules(src: &Path) -> Modules {
    let module = |file: PathBuf| {
        let relative = file.strip_prefix(src).unwrap().with_extension("");
        let mut path: Vec<String> = relative.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if path.last().is_some_and(|last| ["lib", "main", "mod"].contains(&last.as_str())) {
            path.pop();
        }
        let items = syn::parse_file(&fs::read_to_string(&file).unwrap()).unwrap().items;
        (path, Module { file, items })
    };
    sources(src).into_iter().map(module).collect()
}

/// Collects the paths of a `use` tree.
fn flatten(tree: &UseTree, before: &[String], paths: &mut Vec<Vec<String>>) {
    let joined = |name: &syn::Ident| [before, &[name.to_string()]].concat();
    match tree {
        UseTree::Path(path) => flatten(&path.tree, &joined(&path.ident), paths),
        UseTree::Name(name) => paths.push(joined(&name.ident)),
        UseTree::Rename(rename) => paths.push(joined(&rename.ident)),
        UseTree::Glob(_) => paths.push(before.to_vec()),
        UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, before, paths)),
    }
}

/// Resolves a path in a module to a path from the crate root; `None` if it is outside the crate.
fn absolute(path: &[String], at: &[String], modules: &Modules) -> Option<Vec<String>> {
    let (mut base, mut rest) = (at.to_vec(), path);
    match path.first()?.as_str() {
        "crate" => (base, rest) = (Vec::new(), &path[1..]),
        "self" => rest = &path[1..],
        "super" => {
            while rest.first().is_some_and(|part| part == "super") {
                base.pop();
                rest = &rest[1..];
            }
        }
        child if modules.contains_key(&[at, &[child.to_owned()]].concat()) => {}
        _ => return None,
    }
    Some([&base[..], rest].concat())
}

/// Returns the module in which an item is defined, following re-exports.
fn home(path: &[String], modules: &Modules, depth: usize) -> Option<Vec<String>> {
    let at = (0..=path.len()).rev().map(|n| &path[..n]).find(|prefix| modules.contains_key(*prefix))?;
    let Some(name) = path.get(at.len()).filter(|_| depth < 8) else { return Some(at.to_vec()) };
    for item in &modules[at].items {
        let Item::Use(item) = item else { continue };
        let mut paths = Vec::new();
        flatten(&item.tree, &[], &mut paths);
        for used in paths.iter().filter(|used| used.last() == Some(name)) {
            if let Some(target) = absolute(used, at, modules) {
                return home(&target, modules, depth + 1);
            }
        }
    }
    Some(at.to_vec())
}

fn is_public(visibility: &syn::Visibility) -> bool {
    !matches!(visibility, syn::Visibility::Inherited)
}

/// Returns the files of the same crate that each file imports, without re-exports.
fn imports(modules: &Modules) -> BTreeMap<PathBuf, BTreeSet<PathBuf>> {
    let mut graph = BTreeMap::new();
    for (at, module) in modules {
        let mut paths = Vec::new();
        for item in &module.items {
            if let Item::Use(item) = item
                && !is_public(&item.vis)
            {
                flatten(&item.tree, &[], &mut paths);
            }
        }
        let homes = paths.iter().filter_map(|path| home(&absolute(path, at, modules)?, modules, 0));
        let files = homes.map(|home| modules[&home].file.clone()).filter(|file| *file != module.file);
        graph.insert(module.file.clone(), files.collect());
    }
    graph
}

/// Returns the files of an import cycle, if there is one.
fn cycle(graph: &BTreeMap<PathBuf, BTreeSet<PathBuf>>) -> Option<Vec<PathBuf>> {
    fn visit(
        file: &PathBuf,
        graph: &BTreeMap<PathBuf, BTreeSet<PathBuf>>,
        open: &mut Vec<PathBuf>,
        done: &mut BTreeSet<PathBuf>,
    ) -> Option<Vec<PathBuf>> {
        if let Some(at) = open.iter().position(|other| other == file) {
            return Some(open[at..].to_vec());
        }
        if !done.insert(file.clone()) {
            return None;
        }
        open.push(file.clone());
        let found = graph[file].iter().find_map(|next| visit(next, graph, open, done));
        open.pop();
        found
    }
    let mut done = BTreeSet::new();
    graph.keys().find_map(|file| visit(file, graph, &mut Vec::new(), &mut done))
}

#[test]
fn there_are_no_import_cycles() {
    let mut wrong = Vec::new();
    for package in LIBRARIES.into_iter().chain(["crates/cli"]) {
        let modules = modules(&workspace().join(package).join("src"));
        let mut graph = imports(&modules);
        assert!(
            graph.len() < 3 || graph.values().any(|files| !files.is_empty()),
            "{package}: no imports found"
        );
        while let Some(files) = cycle(&graph) {
            let last = &files[files.len() - 1];
            graph.get_mut(last).expect("a file").remove(&files[0]);
            wrong.push(files);
        }
    }
    assert!(wrong.is_empty(), "import cycles: {wrong:#?}");
}

/// Collects the string literals of the code, without comments and tests.
fn texts(stream: TokenStream, found: &mut Vec<String>) {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                if let Some(TokenTree::Group(group)) = tokens.get(at + 1)
                    && group.delimiter() == Delimiter::Bracket
                {
                    let text = group.stream().to_string();
                    if text.starts_with("doc") {
                        at += 2;
                        continue;
                    }
                    if text.replace(' ', "").starts_with("cfg(test)") {
                        // The annotated item ends with the next braces.
                        while !matches!(&tokens[at], TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
                        {
                            at += 1;
                        }
                    }
                }
            }
            TokenTree::Group(group) => texts(group.stream(), found),
            TokenTree::Literal(literal) => {
                if let syn::Lit::Str(text) = syn::Lit::new(literal.clone()) {
                    found.push(text.value());
                }
            }
            _ => {}
        }
        at += 1;
    }
}

/// Returns whether a text mentions a flag, or the command with one of its subcommands.
fn names_the_command(text: &str) -> bool {
    let is_flag = |at: usize| {
        let (before, after) = (text[..at].chars().next_back(), text[at + 2..].chars().next());
        before.is_none_or(|c| !c.is_alphanumeric() && c != '-')
            && after.is_some_and(|c| c.is_ascii_lowercase())
    };
    let commands = [
        "audit",
        "data",
        "distance",
        "distill",
        "envs",
        "eval",
        "exact",
        "export",
        "plan",
        "plot",
        "reproduce",
        "runs",
        "train",
    ];
    text.match_indices("--").any(|(at, _)| is_flag(at))
        || commands.iter().any(|command| text.contains(&format!("isochrone {command} ")))
        || text.contains("cargo install")
}

#[test]
fn messages_of_libraries_do_not_name_flags_or_commands() {
    assert!(names_the_command("give --format") && names_the_command("isochrone data inspect shows"));
    assert!(!names_the_command("a -- b") && !names_the_command("|---|---|"));
    let mut wrong = Vec::new();
    for package in LIBRARIES {
        for file in sources(&workspace().join(package).join("src")) {
            let stream: TokenStream = fs::read_to_string(&file).unwrap().parse().unwrap();
            let mut found = Vec::new();
            texts(stream, &mut found);
            let found = found.into_iter().filter(|text| names_the_command(text));
            wrong.extend(found.map(|text| format!("{}: {text}", file.display())));
        }
    }
    // Reports of studies state the command that created them.
    wrong.retain(|line| !line.contains("isochrone reproduce"));
    assert!(wrong.is_empty(), "{wrong:#?}");
}
