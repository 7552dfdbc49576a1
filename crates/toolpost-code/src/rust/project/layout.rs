//! Where crates begin, by their manifests and the places that cargo looks at.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use serde_json::Value;

use super::manifest;
use crate::facts::{Name, QuickMap};
use crate::language::Layout;
use crate::paths::join;
use crate::world::FileId;

/// The crates of a tree, before any file is read.
pub(super) struct Crates {
    files: HashMap<String, FileId>,
    folders: HashMap<String, Vec<FileId>>,
    /// Files by the folder and the name of the module that they would be.
    modules: HashMap<(String, Name), FileId>,
    roots: HashSet<FileId>,
    /// Roots that cargo finds by their place alone: one may be a module of another.
    unsure: HashSet<FileId>,
    /// Libraries by the name that other crates use.
    libraries: HashMap<Name, FileId>,
    packages: Vec<Package>,
    /// The package that each file belongs to.
    package_of: QuickMap<FileId, usize>,
    /// Pairs of packages, and whether the first uses the second, as far as asked for.
    uses: Mutex<QuickMap<(usize, usize), bool>>,
}

struct Package {
    folder: String,
    name: Name,
    /// Names under which dependencies are used, and the names of the packages they are.
    dependencies: HashMap<Name, Name>,
    /// The packages among them that whoever depends on this one gets as well: not those for its tests and its build.
    handed_on: HashSet<Name>,
}

impl Crates {
    pub(super) fn new(layout: &Layout<'_>) -> Crates {
        let mut crates = Crates {
            files: HashMap::new(),
            folders: HashMap::new(),
            modules: HashMap::new(),
            roots: HashSet::new(),
            unsure: HashSet::new(),
            libraries: HashMap::new(),
            packages: Vec::new(),
            package_of: QuickMap::default(),
            uses: Mutex::new(QuickMap::default()),
        };
        let folder_of =
            |path: &str| path.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned());
        let manifests: HashSet<String> = layout.manifests.iter().map(|(path, _)| folder_of(path)).collect();
        for &(file, path) in layout.files {
            crates.files.insert(path.to_owned(), file);
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            crates.folders.entry(folder.to_owned()).or_default().push(file);
            let (around, stem) = match name {
                "mod.rs" => folder.rsplit_once('/').unwrap_or(("", folder)),
                name => (folder, name.strip_suffix(".rs").unwrap_or(name)),
            };
            crates.modules.insert((around.to_owned(), Name::of(stem)), file);
            // The places where cargo looks for executables, tests, examples and benches.
            let parent = folder.rsplit('/').next().unwrap_or(folder);
            let is_target = matches!(parent, "tests" | "examples" | "benches" | "bin");
            let in_package = |folder: &str| manifests.contains(folder);
            let above = folder.rsplit_once('/').map_or("", |(above, _)| above);
            let is_bin = parent == "bin" && above.ends_with("src");
            if is_target && (is_bin || in_package(above)) || name == "build.rs" && in_package(folder) {
                crates.roots.insert(file);
                crates.unsure.insert(file);
            }
            let around = above.rsplit('/').next().unwrap_or(above);
            let in_targets = matches!(around, "tests" | "examples" | "benches" | "bin");
            if name == "main.rs" && (parent == "src" || is_target || in_targets) {
                crates.roots.insert(file);
            }
        }
        for (path, content) in layout.manifests {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            crates.read(folder, &manifest::read(&String::from_utf8_lossy(content)));
        }
        crates.assign(layout);
        crates
    }

    /// Finds the package of each file: the one with the nearest manifest above it.
    fn assign(&mut self, layout: &Layout<'_>) {
        let by_folder: HashMap<&str, usize> = self
            .packages
            .iter()
            .enumerate()
            .map(|(index, package)| (package.folder.as_str(), index))
            .collect();
        for &(file, path) in layout.files {
            let mut folder = path;
            while !folder.is_empty() {
                folder = folder.rsplit_once('/').map_or("", |(folder, _)| folder);
                if let Some(&package) = by_folder.get(folder) {
                    self.package_of.insert(file, package);
                    break;
                }
            }
        }
    }

    /// Whether two files belong to one package.
    pub(super) fn same_package(&self, one: FileId, other: FileId) -> bool {
        self.package_of.get(&one) == self.package_of.get(&other)
    }

    /// Whether a file can see what another defines: its package is the same or depends on the other's, through
    /// others or not.
    pub(super) fn sees(&self, file: FileId, other: FileId) -> bool {
        let (Some(&from), Some(&to)) = (self.package_of.get(&file), self.package_of.get(&other)) else {
            return self.same_package(file, other);
        };
        if from == to {
            return true;
        }
        if let Ok(uses) = self.uses.lock()
            && let Some(&known) = uses.get(&(from, to))
        {
            return known;
        }
        let mut by_name: HashMap<Name, Vec<usize>> = HashMap::new();
        for (index, package) in self.packages.iter().enumerate() {
            by_name.entry(package.name).or_default().push(index);
        }
        let mut reached = HashSet::from([from]);
        let mut next = vec![from];
        while let Some(package) = next.pop() {
            let used = &self.packages[package];
            let is_meant = |name: &&Name| package == from || used.handed_on.contains(name);
            for name in used.dependencies.values().filter(is_meant) {
                for &found in by_name.get(name).into_iter().flatten() {
                    if reached.insert(found) {
                        next.push(found);
                    }
                }
            }
        }
        if let Ok(mut uses) = self.uses.lock() {
            uses.extend((0..self.packages.len()).map(|target| ((from, target), reached.contains(&target))));
        }
        reached.contains(&to)
    }

    fn read(&mut self, folder: &str, table: &Value) {
        let text = |table: &Value, key: &str| -> Option<String> {
            table.get(key).and_then(Value::as_str).map(str::to_owned)
        };
        let (mut dependencies, mut handed_on) = (HashMap::new(), HashSet::new());
        let mut add = |table: &Value| {
            for key in ["dependencies", "dev-dependencies", "build-dependencies"] {
                let Some(list) = table.get(key).and_then(Value::as_object) else { continue };
                for (name, value) in list {
                    let package = text(value, "package");
                    let package = package.unwrap_or_else(|| name.clone());
                    dependencies.insert(usable(name), usable(&package));
                    if key == "dependencies" {
                        handed_on.insert(usable(&package));
                    }
                }
            }
        };
        add(table);
        for target in table.get("target").and_then(Value::as_object).into_iter().flatten() {
            add(target.1);
        }
        let name = table.get("package").and_then(|package| text(package, "name")).unwrap_or_default();
        self.packages.push(Package {
            folder: folder.to_owned(),
            name: usable(&name),
            dependencies,
            handed_on,
        });
        if name.is_empty() {
            return;
        }
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

    /// The file that would be the module of a name in a folder.
    pub(super) fn module_in(&self, folder: &str, name: Name) -> Option<FileId> {
        self.modules.get(&(folder.to_owned(), name)).copied()
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

    fn package(&self, file: FileId) -> Option<&Package> {
        self.package_of.get(&file).and_then(|&package| self.packages.get(package))
    }

    /// The root of the crate that a file uses under a name.
    pub(super) fn crate_named(&self, file: FileId, name: Name) -> Option<FileId> {
        let renamed = self.package(file).and_then(|package| package.dependencies.get(&name));
        let name = renamed.copied().unwrap_or(name);
        self.libraries.get(&name).copied()
    }

    /// Whether the package of a file depends on a crate under a name.
    pub(super) fn is_dependency(&self, file: FileId, name: Name) -> bool {
        self.package(file).is_some_and(|package| package.dependencies.contains_key(&name))
    }
}

/// The name of a package as code writes it.
fn usable(name: &str) -> Name {
    Name::of(&name.replace('-', "_"))
}
