//! What a file brings in and hands out, and where that leads.

use crate::facts::{Export, Expr, Facts, Import, Kind, NONE, Name, Op, import, mark, space};
use crate::language::Place;
use crate::resolve::{DefId, Entity, Query};
use crate::world::FileId;

/// One import of a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Imported {
    /// The module or path as it is written.
    pub module: String,
    /// The name it has there, if one name is imported.
    pub name: Option<String>,
    /// The name it has here, if it has one.
    pub alias: Option<String>,
    /// Whether every name is imported.
    pub is_glob: bool,
    /// Whether it is handed on.
    pub is_exported: bool,
    /// Its line, from 1.
    pub line: u32,
    /// The files of the tree that it leads to; none if it leads out of the tree or nowhere.
    pub files: Vec<FileId>,
    /// Whether it leads out of the tree.
    pub is_external: bool,
}

/// Something that a file hands out.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Exported {
    /// The name it has outside; `*` for every name of another file.
    pub name: String,
    /// What it is, if that is a definition of the tree.
    pub def: Option<DefId>,
    /// The line in which it is exported, from 1.
    pub line: u32,
    /// The file that it is or comes from, if it is no definition.
    pub from: Option<FileId>,
}

impl Query<'_> {
    /// What a file imports.
    #[must_use]
    pub fn imports(&self, file: FileId) -> Vec<Imported> {
        let facts = self.facts(file);
        let mut all = Vec::with_capacity(facts.imports.len());
        for (index, import) in facts.imports.iter().enumerate() {
            // What a file hands out of its own is written down like an import, and is none.
            let is_own = import.module == NONE
                && import.marks & import::EXPORTED != 0
                && self.project(file).whole_export().is_some();
            if is_own || import.marks & import::PART != 0 {
                continue;
            }
            self.refuel();
            let mut entities = self.import(file, index as u32);
            if entities.is_empty() && import.path != NONE {
                entities = self.entities_of_path(file, import.path);
            }
            let mut files = Vec::new();
            for &entity in &entities {
                if let Some(target) = self.file_of(file, entity)
                    && !files.contains(&target)
                {
                    files.push(target);
                }
            }
            let alias = facts.def(import.def).map(|def| facts.text(def.name).to_owned());
            let is_glob = import.marks & import::GLOB != 0;
            let (module, written) = match import.module {
                NONE => match path_text(facts, import.path) {
                    // Every name of what the whole path leads to.
                    (module, Some(last)) if is_glob && module.is_empty() => (last, None),
                    (module, Some(last)) if is_glob => (format!("{module}::{last}"), None),
                    written => written,
                },
                module => (facts.text(module).to_owned(), None),
            };
            let name = if import.name == NONE { written } else { Some(facts.text(import.name).to_owned()) };
            // A module as a whole has no name of its own.
            let is_whole =
                import.name != NONE && Some(facts.name(import.name)) == self.project(file).whole_export();
            let name = name.filter(|_| !is_whole);
            all.push(Imported {
                module,
                alias: alias.filter(|alias| Some(alias) != name.as_ref()),
                name,
                is_glob,
                is_exported: import.marks & import::EXPORTED != 0,
                line: facts.position(import.start).0,
                is_external: files.is_empty() && entities.contains(&Entity::External),
                files,
            });
        }
        all
    }

    fn entities_of_path(&self, file: FileId, path: u32) -> Vec<Entity> {
        match self.shape(self.value_type(file, path)) {
            crate::resolve::Shape::Module(module) => vec![Entity::Module(module)],
            crate::resolve::Shape::Class(def) => vec![Entity::Def(def)],
            crate::resolve::Shape::External(_) => vec![Entity::External],
            _ => Vec::new(),
        }
    }

    /// The name of the module that a file is part of, where it is not that of the file or its folder.
    #[must_use]
    pub fn module_name(&self, file: FileId) -> Option<&str> {
        self.project(file).module_name(self, file)
    }

    /// The file that an entity is in; `from` is a file of its language.
    #[must_use]
    pub fn file_of(&self, from: FileId, entity: Entity) -> Option<FileId> {
        match entity {
            Entity::Def(def) => Some(self.project(def.file).file_of(self, def).unwrap_or(def.file)),
            Entity::Module(module) => self.project(from).module_file(module),
            Entity::External => None,
        }
    }

    /// What a file hands out: definitions that are public where they stand, and what exports apart say. What is handed
    /// on from other files is listed where it is said.
    #[must_use]
    pub fn exports(&self, file: FileId) -> Vec<Exported> {
        let facts = self.facts(file);
        let mut all: Vec<Exported> = Vec::new();
        for (index, def) in facts.defs.iter().enumerate() {
            let is_top = def.scope == 0 && def.owner == NONE && def.same == index as u32;
            if is_top && def.marks & mark::PUBLIC != 0 && def.kind != Kind::Impl {
                let id = DefId { file, index: index as u32 };
                let target = self.exported_def(id);
                let line = facts.position(def.name_start).0;
                all.push(Exported { name: facts.text(def.name).to_owned(), def: target, line, from: None });
            }
        }
        for export in &facts.exports {
            self.refuel();
            let name = facts.text(export.name).to_owned();
            if Some(facts.name(export.name)) == self.project(file).whole_export() {
                self.exports_of_whole(file, export, &mut all);
                continue;
            }
            if all.iter().any(|known| known.name == name) {
                continue;
            }
            let found = self.export_target(file, export);
            let def = found.iter().find_map(|entity| match entity {
                Entity::Def(def) => Some(*def),
                _ => None,
            });
            let from = if def.is_none() {
                found.first().and_then(|entity| self.file_of(file, *entity))
            } else {
                None
            };
            all.push(Exported { name, def, line: self.export_line(file, export), from });
        }
        for (index, import) in facts.imports.iter().enumerate() {
            let handed_on = import::GLOB | import::EXPORTED;
            if import.marks & handed_on != handed_on {
                continue;
            }
            self.refuel();
            let mut entities = self.import(file, index as u32);
            if entities.is_empty() {
                entities = self.entities_of_path(file, import.path);
            }
            let from = entities.into_iter().find_map(|entity| self.file_of(file, entity));
            let line = facts.position(import.start).0;
            all.push(Exported { name: "*".to_owned(), def: None, line, from });
        }
        all.sort_by_key(|export| export.line);
        all
    }

    /// What a definition stands for outside: an import for what it imports.
    fn exported_def(&self, def: DefId) -> Option<DefId> {
        let is_import = self.def(def).is_some_and(|(_, def)| def.kind == Kind::Import);
        let imported = if is_import { self.imported(def) } else { Vec::new() };
        let target = imported.into_iter().find_map(|entity| match entity {
            Entity::Def(def) => Some(def),
            _ => None,
        });
        Some(target.unwrap_or(def))
    }

    fn export_target(&self, file: FileId, export: &Export) -> Vec<Entity> {
        let facts = self.facts(file);
        let by_value = match facts.exprs.get(export.value as usize) {
            Some(&Expr { op: Op::Token, a, .. }) => self.resolve(file, a).entities.clone(),
            Some(&Expr { op: Op::Own | Op::OwnOther, b, .. }) => {
                let defs = facts.list(b).iter().filter(|&&index| facts.def(index).is_some());
                defs.take(1).map(|&index| Entity::Def(DefId { file, index })).collect()
            }
            _ => Vec::new(),
        };
        if !by_value.is_empty() {
            return by_value;
        }
        if export.import != NONE {
            return self.import(file, export.import);
        }
        // A name alone is one of the file's own.
        let end = facts.scope(0).map_or(0, |scope| scope.end);
        self.look_up(Place { file, scope: 0, at: end }, facts.name(export.name), space::ANY)
    }

    /// The line in which something is exported.
    fn export_line(&self, file: FileId, export: &Export) -> u32 {
        let facts = self.facts(file);
        let import = facts.imports.get(export.import as usize).map(|import| import.start);
        let start = import.or_else(|| match facts.exprs.get(export.value as usize) {
            Some(&Expr { op: Op::Token, a, .. }) => facts.token(a).map(|token| token.start),
            Some(&Expr { b, .. }) => {
                let def = facts.list(b).first().and_then(|&index| facts.def(index));
                def.map(|def| def.name_start)
            }
            None => None,
        });
        start.map_or(1, |start| facts.position(start).0)
    }

    /// The parts of a value that a file exports as a whole; the value itself if it has none.
    fn exports_of_whole(&self, file: FileId, export: &Export, all: &mut Vec<Exported>) {
        let line = self.export_line(file, export);
        for entity in self.export_target(file, export) {
            let Entity::Def(def) = entity else { continue };
            let facts = self.facts(def.file);
            let is_object = facts.def(def.index).is_some_and(|def| def.kind == Kind::Anonymous);
            if !is_object {
                let name = facts.def(def.index).map_or("", |def| facts.text(def.name)).to_owned();
                all.push(Exported { name, def: Some(def), line, from: None });
                continue;
            }
            for &part in facts.owned_by(def.index) {
                let known = &facts.defs[part as usize];
                let name = facts.text(known.name).to_owned();
                let line = facts.position(known.name_start).0;
                // What stands there may only name what is defined above.
                let value = match facts.exprs.get(known.value as usize) {
                    Some(&Expr { op: Op::Token, a, .. }) => self.resolve(def.file, a).defs().next(),
                    _ => None,
                };
                let own = DefId { file: def.file, index: part };
                if !name.is_empty() && !all.iter().any(|known| known.name == name) {
                    all.push(Exported { name, def: Some(value.unwrap_or(own)), line, from: None });
                }
            }
        }
    }

    /// What files bind to a name by importing it under that name, although it is defined under another: each with the
    /// file that does. What is handed on to others comes first.
    #[must_use]
    pub fn aliased(&self, name: Name) -> Vec<(FileId, DefId)> {
        let (mut handed_on, mut private) = (Vec::new(), Vec::new());
        for posting in self.world.postings(name) {
            let file = posting.file();
            let facts = self.facts(file);
            for (index, import) in facts.imports.iter().enumerate() {
                let Some(def) = facts.def(import.def).filter(|def| facts.name(def.name) == name) else {
                    continue;
                };
                self.refuel();
                let is_public = import.marks & import::EXPORTED != 0 || def.marks & mark::PUBLIC != 0;
                let mut targets = self.import(file, index as u32);
                if targets.is_empty() && import.path != NONE {
                    targets = self.entities_of_path(file, import.path);
                }
                for entity in targets {
                    if let Entity::Def(def) = entity {
                        let list = if is_public { &mut handed_on } else { &mut private };
                        list.push((file, self.canonical(def)));
                    }
                }
            }
        }
        if handed_on.is_empty() { private } else { handed_on }
    }
}

/// What an import brings in, as it is written: the module and the name.
pub(crate) fn imported_text(facts: &Facts, import: &Import) -> String {
    let (module, name) = match import.module {
        NONE => path_text(facts, import.path),
        module => (facts.text(module).to_owned(), None),
    };
    let name = if import.name == NONE { name } else { Some(facts.text(import.name).to_owned()) };
    match name {
        Some(name) => format!("{module}:{name}"),
        None => module,
    }
}

/// A path as it is written: what stands before its last name, and that name.
fn path_text(facts: &Facts, path: u32) -> (String, Option<String>) {
    let mut parts = Vec::new();
    let mut current = path;
    while let Some(&Expr { op, a, .. }) = facts.exprs.get(current as usize) {
        match (op, facts.token(a)) {
            (Op::Token, Some(token)) if parts.len() < 32 => {
                parts.push(facts.text(token.name).to_owned());
                current = if token.role == crate::facts::Role::Member { token.target } else { NONE };
            }
            (Op::Own, _) => {
                let word = match a {
                    0 => "crate".to_owned(),
                    1 => "self".to_owned(),
                    levels => vec!["super"; levels as usize - 1].join("::"),
                };
                parts.push(word);
                break;
            }
            _ => break,
        }
    }
    let name = if parts.is_empty() { None } else { Some(parts.remove(0)) };
    parts.reverse();
    (parts.join("::"), name)
}
