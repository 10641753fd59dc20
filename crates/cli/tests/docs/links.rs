//! Every relative link of every Markdown file leads to a file, and every anchor to a heading.

use crate::{
    pages::{files, text},
    run::workspace,
};
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd};
use std::{collections::BTreeSet, path::Path};

/// Returns the targets of the links and images of a Markdown text, HTML `src` and `href` included.
pub fn targets(markdown: &str) -> Vec<String> {
    let mut targets = Vec::new();
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                targets.push(dest_url.to_string());
            }
            Event::Html(html) | Event::InlineHtml(html) => targets.extend(html_targets(&html)),
            _ => {}
        }
    }
    targets
}

fn html_targets(html: &CowStr) -> Vec<String> {
    let attributes = ["src=\"", "href=\""];
    let starts =
        attributes.iter().flat_map(|name| html.match_indices(name).map(|(at, name)| at + name.len()));
    starts.filter_map(|start| html[start..].split('"').next().map(str::to_owned)).collect()
}

/// Returns the anchors of the headings, as GitHub and mdBook make them.
fn anchors(markdown: &str) -> BTreeSet<String> {
    let (mut anchors, mut heading) = (BTreeSet::new(), None::<String>);
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                let heading = heading.take().unwrap_or_default().to_lowercase();
                let is_kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
                anchors.insert(heading.chars().filter(is_kept).collect::<String>().replace(' ', "-"));
            }
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&text);
                }
            }
            _ => {}
        }
    }
    anchors
}

#[test]
fn links_resolve() {
    let mut broken = Vec::new();
    for page in files(&["md"]) {
        let folder = workspace().join(&page).parent().unwrap().to_owned();
        for target in targets(&text(&page)) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let path = if file.is_empty() { workspace().join(&page) } else { folder.join(file) };
            if !path.exists() {
                broken.push(format!("{page}: no file {target}"));
            } else if is_book_page(&page) && !is_inside_docs(&path) {
                broken.push(format!("{page}: {target} is outside docs/, so the link is dead in the book"));
            } else if !anchor.is_empty() && path.extension().is_some_and(|extension| extension == "md") {
                let markdown = std::fs::read_to_string(&path).unwrap();
                if !anchors(&markdown).contains(anchor) {
                    broken.push(format!("{page}: no heading for {target}"));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{} broken links:\n{}", broken.len(), broken.join("\n"));
}

fn is_book_page(page: &str) -> bool {
    page.starts_with("docs/")
}

fn is_inside_docs(path: &Path) -> bool {
    path.canonicalize().unwrap().starts_with(workspace().join("docs").canonicalize().unwrap())
}

#[test]
fn anchors_are_those_of_github() {
    let anchors = anchors("# What it costs, and who\n## `exact` solver\n");
    assert!(anchors.contains("what-it-costs-and-who") && anchors.contains("exact-solver"), "{anchors:?}");
}
