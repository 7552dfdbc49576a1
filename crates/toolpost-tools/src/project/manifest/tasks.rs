//! Tasks that a project names itself: targets of make, just and task; and checks by the files that configure them.

use super::Manifest;
use crate::project::facts::{Facts, Purpose};
use crate::project::tree::Tree;
use crate::project::values::of_yaml;

fn purpose_of(name: &str) -> Option<Purpose> {
    match name {
        "build" | "all" | "compile" => Some(Purpose::Build),
        "test" | "tests" | "check" => Some(Purpose::Test),
        "lint" | "clippy" | "vet" => Some(Purpose::Lint),
        "fmt" | "format" => Some(Purpose::Format),
        "run" | "serve" | "start" | "dev" => Some(Purpose::Run),
        "install" | "setup" | "bootstrap" | "deps" => Some(Purpose::Install),
        _ => None,
    }
}

/// The names at the beginnings of lines that a colon follows.
fn targets(text: &str) -> Vec<&str> {
    let lines = text.lines().filter(|line| !line.starts_with(['\t', ' ', '#', '.']));
    let before = lines.filter_map(|line| {
        let (names, rest) = line.split_once(':')?;
        (!rest.starts_with('=') && !names.contains('=')).then_some(names)
    });
    before.flat_map(|names| names.split_whitespace().take(1)).collect()
}

fn add(manifest: &Manifest<'_>, facts: &mut Facts, tool: &str, program: &str, names: &[&str]) {
    facts.build_tool(tool, manifest.path);
    for name in names {
        if let Some(purpose) = purpose_of(name) {
            facts.command(purpose, format!("{program} {name}"), manifest.folder, manifest.says(name));
        }
    }
}

pub(super) fn makefile(manifest: &Manifest<'_>, facts: &mut Facts) {
    add(manifest, facts, "make", "make", &targets(manifest.text));
}

pub(super) fn justfile(manifest: &Manifest<'_>, facts: &mut Facts) {
    add(manifest, facts, "just", "just", &targets(manifest.text));
}

pub(super) fn taskfile(manifest: &Manifest<'_>, facts: &mut Facts) {
    let names = of_yaml(manifest.text, "tasks");
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    add(manifest, facts, "task", "task", &names);
}

/// Files at the root that say what checks a project.
pub(super) fn checks(tree: &Tree, facts: &mut Facts) {
    for (file, tool) in [
        ("nx.json", "Nx"),
        ("turbo.json", "Turborepo"),
        ("rush.json", "Rush"),
        ("pants.toml", "Pants"),
        ("BUCK", "Buck"),
        (".buckconfig", "Buck"),
    ] {
        if tree.has("", file) {
            facts.build_tool(tool, tree.inside("", file));
        }
    }
    for (file, command) in [
        (".pre-commit-config.yaml", "pre-commit run --all-files"),
        ("lefthook.yml", "lefthook run pre-commit"),
    ] {
        if tree.has("", file) {
            facts.command(
                Purpose::Lint,
                command,
                if tree.root == "." { "" } else { &tree.root },
                tree.inside("", file),
            );
        }
    }
}
