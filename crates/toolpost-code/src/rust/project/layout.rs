//! Where crates begin, by their manifests and the places that cargo looks at.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::manifest;
use crate::facts::Name;
use crate::language::Layout;
use crate::world::FileId;

/// The crates of a tree, before any file is read.
pub(super) struct Crates {
    files: HashMap<String, FileId>,
    folders: HashMap<String, Vec<FileId>>,
    roots: HashSet<FileId>,
    /// Roots that cargo finds by their place alone: one may be a module of another.
    unsure: HashSet<FileId>,
    /// Libraries by the name that other crates use.
    libraries: HashMap<Name, FileId>,
    /// Folders with a manifest, the deepest first.
    packages: Vec<Package>,
}

struct Package {
    folder: String,
    /// Names under which dependencies are used, and the names of the packages they are.
    dependencies: HashMap<Name, Name>,
}

impl Crates {
    pub(super) fn new(layout: &Layout<'_>) -> Crates {
        let mut crates = Crates {
            files: HashMap::new(),
            folders: HashMap::new(),
            roots: HashSet::new(),
            unsure: HashSet::new(),
            libraries: HashMap::new(),
            packages: Vec::new(),
        };
        for &(file, path) in layout.files {
            crates.files.insert(path.to_owned(), file);
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            crates.folders.entry(folder.to_owned()).or_default().push(file);
            // The places where cargo looks for executables, tests, examples and benches.
            let parent = folder.rsplit('/').next().unwrap_or(folder);
            let is_target = matches!(parent, "tests" | "examples" | "benches" | "bin");
            let in_package = |folder: &str| {
                layout
                    .manifests
                    .iter()
                    .any(|(manifest, _)| manifest.rsplit_once('/').map_or("", |(folder, _)| folder) == folder)
            };
            let above = folder.rsplit_once('/').map_or("", |(above, _)| above);
            let is_bin = parent == "bin" && above.ends_with("src");
            if is_target && (is_bin || in_package(above)) || name == "build.rs" && in_package(folder) {
                crates.roots.insert(file);
                crates.unsure.insert(file);
            }
            if name == "main.rs" && (parent == "src" || is_target) {
                crates.roots.insert(file);
            }
        }
        for (path, content) in layout.manifests {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            crates.read(folder, &manifest::read(&String::from_utf8_lossy(content)));
        }
        crates.packages.sort_by_key(|package| std::cmp::Reverse(package.folder.len()));
        crates
    }

    fn read(&mut self, folder: &str, table: &Value) {
        let text = |table: &Value, key: &str| -> Option<String> {
            table.get(key).and_then(Value::as_str).map(str::to_owned)
        };
        let mut dependencies = HashMap::new();
        let mut add = |table: &Value| {
            for key in ["dependencies", "dev-dependencies", "build-dependencies"] {
                let Some(list) = table.get(key).and_then(Value::as_object) else { continue };
                for (name, value) in list {
                    let package = text(value, "package");
                    let package = package.unwrap_or_else(|| name.clone());
                    dependencies.insert(usable(name), usable(&package));
                }
            }
        };
        add(table);
        for target in table.get("target").and_then(Value::as_object).into_iter().flatten() {
            add(target.1);
        }
        self.packages.push(Package { folder: folder.to_owned(), dependencies });
        let Some(package) = table.get("package") else { return };
        let name = text(package, "name").unwrap_or_default();
        let library = table.get("lib");
        let path =
            library.and_then(|library| text(library, "path")).unwrap_or_else(|| "src/lib.rs".to_owned());
        if let Some(file) = join(folder, &path).and_then(|path| self.files.get(&path).copied()) {
            self.roots.insert(file);
            self.libraries.insert(usable(&name), file);
            if let Some(name) = library.and_then(|library| text(library, "name")) {
                self.libraries.insert(usable(&name), file);
            }
        }
        for key in ["bin", "test", "example", "bench"] {
            let Some(list) = table.get(key).and_then(Value::as_array) else { continue };
            for target in list {
                let path = text(target, "path").and_then(|path| join(folder, &path));
                let file = path.and_then(|path| self.files.get(&path).copied());
                self.roots.extend(file);
                file.map(|file| self.unsure.remove(&file));
            }
        }
    }

    /// Whether a file is the root of a crate.
    pub(super) fn is_root(&self, file: FileId) -> bool {
        self.roots.contains(&file)
    }

    /// Whether a file is the root of a crate and cannot be a module of another.
    pub(super) fn is_sure_root(&self, file: FileId) -> bool {
        self.roots.contains(&file) && !self.unsure.contains(&file)
    }

    /// The files that may be the module of a folder.
    pub(super) fn files_of_module(&self, folder: &str) -> Vec<FileId> {
        let own = if folder.is_empty() { None } else { self.files.get(&format!("{folder}.rs")) };
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let inside = ["mod.rs", "lib.rs", "main.rs"]
            .into_iter()
            .filter_map(|name| self.files.get(&format!("{prefix}{name}")));
        let roots = self.folders.get(folder).into_iter().flatten().filter(|file| self.roots.contains(file));
        let mut all: Vec<FileId> = Vec::new();
        for &file in own.into_iter().chain(inside).chain(roots) {
            if !all.contains(&file) {
                all.push(file);
            }
        }
        all
    }

    /// The files in a folder and in the one around it.
    pub(super) fn siblings(&self, folder: &str) -> impl Iterator<Item = FileId> {
        let above = folder.rsplit_once('/').map_or("", |(above, _)| above);
        let here = self.folders.get(folder).into_iter().flatten();
        here.chain(self.folders.get(above).into_iter().flatten()).copied().take(200)
    }

    /// The folder in which the modules that a file declares are looked for.
    pub(super) fn folder_of_module(&self, file: FileId, path: &str) -> String {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        if self.is_root(file) || matches!(name, "mod.rs" | "lib.rs" | "main.rs") {
            return folder.to_owned();
        }
        path.strip_suffix(".rs").unwrap_or(path).to_owned()
    }

    fn package_of(&self, path: &str) -> Option<&Package> {
        self.packages.iter().find(|package| {
            package.folder.is_empty()
                || path.strip_prefix(package.folder.as_str()).is_some_and(|rest| rest.starts_with('/'))
        })
    }

    /// The root of the crate that a file uses under a name.
    pub(super) fn crate_named(&self, path: &str, name: Name) -> Option<FileId> {
        let renamed = self.package_of(path).and_then(|package| package.dependencies.get(&name));
        let name = renamed.copied().unwrap_or(name);
        self.libraries.get(&name).copied()
    }

    /// Whether the package of a file depends on a crate under a name.
    pub(super) fn is_dependency(&self, path: &str, name: Name) -> bool {
        self.package_of(path).is_some_and(|package| package.dependencies.contains_key(&name))
    }
}

/// The name of a package as code writes it.
fn usable(name: &str) -> Name {
    Name::of(&name.replace('-', "_"))
}

/// A path below the root of the tree, from a folder and a relative path.
pub(super) fn join(folder: &str, relative: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}
