//! What a project is, in its own words and in numbers.

use super::readme;
use crate::project::facts::{Facts, Package, Workspace};
use crate::project::languages::languages;
use crate::project::tree::Tree;
use toolpost_core::text::tokens;

/// The name of the project.
pub(super) fn title(tree: &Tree, facts: &Facts) -> String {
    let readme = readme::name_in(tree, "").and_then(|name| tree.text(&tree.inside("", name)));
    let heading = readme.as_deref().and_then(readme::title);
    let own = root_package(tree, facts).map(|package| package.name.clone()).filter(|name| name != ".");
    heading.or(own).unwrap_or_else(|| match tree.root.as_str() {
        "." => "This project".to_owned(),
        root => root.rsplit('/').next().unwrap_or(root).to_owned(),
    })
}

fn root_package<'a>(tree: &Tree, facts: &'a Facts) -> Option<&'a Package> {
    facts.packages.iter().find(|package| package.folder == tree.root)
}

/// What the README says, and what kind of project it is.
pub(super) fn what_it_is(tree: &Tree, facts: &Facts, room: usize) -> String {
    let kind = kind(tree, facts);
    let rest = room.saturating_sub(tokens(&kind) + 4).max(room * 2 / 3);
    let readme = readme::name_in(tree, "").and_then(|name| tree.text(&tree.inside("", name)));
    let said = readme.map(|text| readme::introduction(&text, rest)).filter(|text| !text.is_empty());
    let described = || root_package(tree, facts).and_then(|package| package.description.clone());
    match said.or_else(described) {
        Some(said) => format!("{said}\n\n{kind}"),
        None => kind,
    }
}

/// One or two sentences: languages, packages, frameworks.
fn kind(tree: &Tree, facts: &Facts) -> String {
    let languages = languages(tree);
    let files: usize = languages.iter().map(|language| language.files).sum();
    let mut shown: Vec<String> = languages
        .iter()
        .filter(|language| language.percent > 0)
        .take(4)
        .map(|language| format!("{} {} %", language.name, language.percent))
        .collect();
    if shown.is_empty() {
        shown.push("no source files".to_owned());
    }
    let mut sentences = vec![match files {
        0 => "No source files.".to_owned(),
        files => format!("Languages ({files} source files): {}.", shown.join(", ")),
    }];
    // A workspace somewhere inside says little of the whole.
    let at_root = |workspace: &&Workspace| workspace.folder == tree.root;
    let largest = |one: &&Workspace| one.members.len();
    let workspace = facts.workspaces.iter().filter(at_root).max_by_key(largest);
    if let Some(workspace) = workspace {
        sentences.push(format!("A {} workspace of {} packages.", workspace.kind, workspace.members.len()));
    }
    let names = |list: &[crate::project::facts::Evident]| -> String {
        list.iter().take(8).map(|one| one.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    if !facts.frameworks.is_empty() {
        sentences.push(format!("Uses {}.", names(&facts.frameworks)));
    }
    if !facts.build_tools.is_empty() {
        sentences.push(format!("Built with {}.", names(&facts.build_tools)));
    }
    sentences.join(" ")
}
