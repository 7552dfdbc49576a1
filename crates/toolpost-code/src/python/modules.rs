//! Where imports lead: folders as packages, with or without `__init__.py`, from the roots that an interpreter or a
//! type checker would search.

use std::collections::HashMap;

use super::names;
use crate::facts::{Name, NameMap};
use crate::language::Layout;
use crate::resolve::Module;
use crate::world::FileId;

/// Numbers of modules from here on are folders without `__init__.py`.
const FOLDERS: u64 = 1 << 40;

/// The folders of a tree that hold Python files.
pub(super) struct Modules {
    folders: Vec<Folder>,
    by_path: HashMap<String, usize>,
    /// The folder of each file.
    of_file: HashMap<FileId, usize>,
    /// Folders that hold a package of a name and are no package themselves, the shortest path first.
    roots: NameMap<Vec<usize>>,
}

#[derive(Default)]
struct Folder {
    path: String,
    init: Option<FileId>,
    parent: Option<usize>,
    children: NameMap<Module>,
}

impl Modules {
    pub(super) fn new(layout: &Layout<'_>) -> Modules {
        let mut modules = Modules {
            folders: Vec::new(),
            by_path: HashMap::new(),
            of_file: HashMap::new(),
            roots: NameMap::default(),
        };
        modules.folder("");
        let mut plain = Vec::new();
        for &(file, path) in layout.files {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            let folder = modules.folder(folder);
            modules.of_file.insert(file, folder);
            let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
            let is_stub = extension == "pyi";
            if stem == "__init__" {
                let init = &mut modules.folders[folder].init;
                if init.is_none() || !is_stub {
                    *init = Some(file);
                }
            } else {
                plain.push((is_stub, folder, Name::of(stem), file));
            }
        }
        // What is written last wins: a package over a module, a source over a stub.
        plain.sort_by_key(|&(is_stub, ..)| std::cmp::Reverse(is_stub));
        for (_, folder, name, file) in plain {
            modules.folders[folder].children.insert(name, Module(u64::from(file.0)));
        }
        for index in 1..modules.folders.len() {
            let Some(parent) = modules.folders[index].parent else { continue };
            let name = Name::of(last(&modules.folders[index].path));
            let module = modules.module_of_folder(index);
            let is_package = modules.folders[index].init.is_some();
            let children = &mut modules.folders[parent].children;
            if is_package || !children.contains_key(&name) {
                children.insert(name, module);
            }
            if is_package && modules.folders[parent].init.is_none() {
                modules.roots.entry(name).or_default().push(parent);
            }
        }
        for roots in modules.roots.values_mut() {
            roots.sort_by_key(|&root| (modules.folders[root].path.len(), root));
        }
        modules
    }

    fn folder(&mut self, path: &str) -> usize {
        if let Some(&known) = self.by_path.get(path) {
            return known;
        }
        let parent = if path.is_empty() {
            None
        } else {
            // Long paths have few parts: each step is shorter than the one before.
            Some(self.folder(path.rsplit_once('/').map_or("", |(parent, _)| parent)))
        };
        let index = self.folders.len();
        self.folders.push(Folder { path: path.to_owned(), parent, ..Folder::default() });
        self.by_path.insert(path.to_owned(), index);
        index
    }

    fn module_of_folder(&self, folder: usize) -> Module {
        match self.folders[folder].init {
            Some(file) => Module(u64::from(file.0)),
            None => Module(FOLDERS + folder as u64),
        }
    }

    /// The file that a module is.
    pub(super) fn file(&self, module: Module) -> Option<FileId> {
        (module.0 < FOLDERS).then_some(FileId(module.0 as u32))
    }

    /// The folder that a package is.
    fn package(&self, module: Module) -> Option<usize> {
        match self.file(module) {
            Some(file) => {
                let folder = *self.of_file.get(&file)?;
                (self.folders[folder].init == Some(file)).then_some(folder)
            }
            None => Some((module.0 - FOLDERS) as usize).filter(|&folder| folder < self.folders.len()),
        }
    }

    /// A module inside of a package.
    pub(super) fn submodule(&self, module: Module, name: Name) -> Option<Module> {
        self.folders[self.package(module)?].children.get(&name).copied()
    }

    /// What a dotted path below a folder leads to.
    fn below(&self, folder: usize, path: &str) -> Option<Module> {
        let mut current = self.module_of_folder(folder);
        let mut here = Some(folder);
        for part in path.split('.').filter(|part| !part.is_empty()) {
            current = *self.folders[here?].children.get(&Name::of(part))?;
            here = self.package(current);
        }
        Some(current)
    }

    /// Where an import of a module leads; the text is as it stands in the file, with its leading dots.
    pub(super) fn find(&self, from: FileId, module: &str) -> Option<Module> {
        let here = *self.of_file.get(&from)?;
        let dots = module.bytes().take_while(|&byte| byte == b'.').count();
        if dots > 0 {
            let mut folder = here;
            for _ in 1..dots {
                folder = self.folders[folder].parent?;
            }
            return self.below(folder, &module[dots..]);
        }
        let roots = self.search_path(here, module);
        let first = module.split('.').next().unwrap_or(module);
        let is_regular = |&root: &usize| {
            let found = self.folders[root].children.get(&Name::of(first));
            found.is_some_and(|&module| module.0 < FOLDERS)
        };
        let regular = roots.iter().filter(|root| is_regular(root));
        regular.chain(&roots).find_map(|&root| self.below(root, module))
    }

    /// Whether an import of a module that is not there would be of the tree: its path is relative, or begins with a package
    /// of the tree.
    pub(super) fn is_own(&self, from: FileId, module: &str) -> bool {
        let Some(&here) = self.of_file.get(&from) else { return false };
        let first = module.split('.').next().unwrap_or(module);
        let is_package = |root: &usize| {
            let found = self.folders[*root].children.get(&Name::of(first));
            found.is_some_and(|&module| module.0 < FOLDERS && self.package(module).is_some())
        };
        module.starts_with('.') || self.search_path(here, module).iter().any(is_package)
    }

    /// The folders in which a module is looked for.
    fn search_path(&self, here: usize, module: &str) -> Vec<usize> {
        let mut roots = vec![0];
        roots.extend(self.by_path.get("src"));
        let first = module.split('.').next().unwrap_or(module);
        if names::is_library(first) {
            return roots;
        }
        let mut current = Some(here);
        while let Some(folder) = current {
            if self.folders[folder].init.is_none() {
                roots.push(folder);
                let path = &self.folders[folder].path;
                let sources = if path.is_empty() { "src".to_owned() } else { format!("{path}/src") };
                roots.extend(self.by_path.get(&sources));
            }
            current = self.folders[folder].parent;
        }
        roots.push(here);
        roots.extend(self.roots.get(&Name::of(first)).into_iter().flatten());
        roots
    }
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
