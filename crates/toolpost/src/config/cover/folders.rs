//! What a program runs that is given a folder: the files by which a package says where it begins.

#![expect(clippy::disallowed_methods, reason = "what is started is looked at before any workspace is open")]

use crate::config::node::Node;
use crate::config::private;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use toolpost_core::text::{LARGEST, Source, parse_toml};

/// Maximum number of files of a folder among which project files are looked for.
const MOST_NAMES: usize = 20_000;

/// Files that begin a package by their name.
const BEGINNINGS: &[&str] = &[
    "package.json",
    "index.js",
    "index.mjs",
    "index.cjs",
    "index.ts",
    "index.json",
    "index.node",
    "__main__.py",
    "__init__.py",
    "pyproject.toml",
    "setup.py",
    "deno.json",
    "deno.jsonc",
];

/// The files that are run where this folder is: those above, and what its `package.json` names.
pub(super) fn entry_files(folder: &Path) -> Vec<String> {
    let mut files: Vec<String> = BEGINNINGS.iter().map(|name| (*name).to_owned()).collect();
    let package = package(folder);
    for key in ["main", "module", "bin", "exports"] {
        if let Some(value) = package.as_ref().and_then(|package| package.get(key)) {
            texts(value, &mut files);
        }
    }
    // `main` may leave out the extension, or name a folder.
    let named: Vec<String> = files.split_off(BEGINNINGS.len());
    for name in named.iter().take(50) {
        let usual = ["", ".js", ".json", ".node", ".mjs", ".cjs", "/index.js", "/index.json", "/index.node"];
        files.extend(usual.map(|end| format!("{name}{end}")));
    }
    files
}

/// The scripts of the folder's `package.json`.
pub(super) fn scripts(folder: &Path) -> BTreeMap<String, String> {
    let package = package(folder);
    let scripts = package.as_ref().and_then(|package| package.get("scripts")?.as_object());
    let text = |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
    scripts.into_iter().flatten().filter_map(text).collect()
}

/// The programs that the folder's `pyproject.toml` defines, each with its object.
pub(super) fn python_programs(folder: &Path) -> BTreeMap<String, String> {
    let mut programs = BTreeMap::new();
    let Some(file) = private::read(&folder.join("pyproject.toml"), LARGEST).ok().flatten() else {
        return programs;
    };
    let Ok(source) = Source::new("pyproject.toml", &file.bytes) else { return programs };
    let Ok(project) = parse_toml(&source).map(|table| Node::of_table(&table)) else { return programs };
    for keys in
        [["project", "scripts"].as_slice(), &["project", "gui-scripts"], &["tool", "poetry", "scripts"]]
    {
        let table = keys.iter().try_fold(&project, |node, key| node.get(key));
        for member in table.into_iter().flat_map(Node::members) {
            let object = member.node.as_text().or_else(|| member.node.get("reference")?.as_text());
            programs.extend(object.map(|object| (member.key.clone(), object.to_owned())));
        }
    }
    programs
}

/// The names of all files in a folder. The error says why they cannot be covered.
pub(super) fn names(folder: &Path) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        names.extend(entry.file_name().into_string().ok());
        if names.len() > MOST_NAMES {
            return Err(format!(
                "`{}` has more than {MOST_NAMES} files, among which its project files cannot be looked for; start it in \
                 another folder",
                folder.display()
            ));
        }
    }
    Ok(names)
}

fn package(folder: &Path) -> Option<Value> {
    let file = private::read(&folder.join("package.json"), LARGEST).ok().flatten()?;
    serde_json::from_slice(&file.bytes).ok()
}

fn texts(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::String(text) => into.push(text.clone()),
        Value::Object(members) => members.values().for_each(|value| texts(value, into)),
        Value::Array(items) => items.iter().for_each(|value| texts(value, into)),
        _ => {}
    }
}
