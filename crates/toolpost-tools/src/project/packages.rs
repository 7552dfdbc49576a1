//! Which package a file belongs to: the nearest folder above it with a manifest.

use super::facts::{folder_of, shown};
use super::manifest::is_package;
use super::tree::Tree;
use super::values::{keys_at, of_json, of_toml, text_at};
use std::collections::{HashMap, HashSet};
use toolpost_core::{Context, ToolError, WorkspacePath};

/// The folders of all packages.
pub(crate) struct Packages {
    /// Folder, and whether every folder below it is a package of its own, as in Go. The deepest first.
    folders: Vec<(String, bool)>,
    /// Folder of a package and that of one which it needs for its tests only.
    for_tests: HashSet<(String, String)>,
}

impl Packages {
    /// Looks for manifests in the whole workspace. Blocks like the workspace.
    pub(crate) fn find(ctx: &Context) -> Result<Packages, ToolError> {
        let tree = Tree::survey(ctx, &WorkspacePath::root())?;
        let mut folders: Vec<(String, bool)> = tree
            .files
            .iter()
            .filter(|file| is_package(file))
            .map(|file| (super::facts::folder_of(file).to_owned(), file.ends_with("go.mod")))
            .collect();
        folders.sort_by(|a, b| b.0.len().cmp(&a.0.len()).then_with(|| a.cmp(b)));
        let for_tests = needed_for_tests(&tree);
        Ok(Packages { folders, for_tests })
    }

    /// Whether a package needs another for its tests, examples and the like only, by its manifest.
    pub(crate) fn is_for_tests(&self, from: &str, to: &str) -> bool {
        self.for_tests.contains(&(from.to_owned(), to.to_owned()))
    }

    /// The package of a file.
    pub(crate) fn of(&self, file: &str) -> String {
        let folder = super::facts::folder_of(file);
        let is_above = |above: &str| {
            above.is_empty()
                || folder == above
                || folder.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'))
        };
        match self.folders.iter().find(|(above, _)| is_above(above)) {
            Some((_, true)) | None => super::facts::shown(folder),
            Some((above, false)) => super::facts::shown(above),
        }
    }
}

/// Where dependencies stand in a manifest: those that always hold, and those for tests.
type Tables = (&'static [&'static str], &'static [&'static str]);

const CARGO: Tables = (&["/dependencies", "/build-dependencies"], &["/dev-dependencies"]);
const NPM: Tables = (&["/dependencies", "/peerDependencies", "/optionalDependencies"], &["/devDependencies"]);

/// Pairs of packages of which the first needs the second for tests only.
fn needed_for_tests(tree: &Tree) -> HashSet<(String, String)> {
    let mut folders: HashMap<String, String> = HashMap::new();
    let mut wanted: Vec<(String, String)> = Vec::new();
    for file in &tree.files {
        let (value, tables, name) = match file.rsplit('/').next() {
            Some("Cargo.toml") => (tree.text(file).map(|text| of_toml(&text)), CARGO, "/package/name"),
            Some("package.json") => (tree.text(file).map(|text| of_json(&text)), NPM, "/name"),
            _ => continue,
        };
        let Some(value) = value else { continue };
        let folder = shown(folder_of(file));
        if let Some(name) = text_at(&value, name) {
            folders.insert(name.to_owned(), folder.clone());
        }
        let all = |tables: &[&str]| -> HashSet<String> {
            tables.iter().flat_map(|table| keys_at(&value, table)).map(str::to_owned).collect()
        };
        let always = all(tables.0);
        wanted.extend(all(tables.1).difference(&always).map(|name| (folder.clone(), name.clone())));
    }
    let to = |(from, name): (String, String)| Some((from, folders.get(&name)?.clone()));
    wanted.into_iter().filter_map(to).collect()
}
