//! What a file brings in and hands out, and where that leads.

use crate::facts::{Expr, Facts, Kind, NONE, Op, import, mark};
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

impl Query<'_> {
    /// What a file imports.
    #[must_use]
    pub fn imports(&self, file: FileId) -> Vec<Imported> {
        let facts = self.facts(file);
        let mut all = Vec::with_capacity(facts.imports.len());
        for (index, import) in facts.imports.iter().enumerate() {
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
            let (module, written) = match import.module {
                NONE => path_text(facts, import.path),
                module => (facts.text(module).to_owned(), None),
            };
            let name = if import.name == NONE { written } else { Some(facts.text(import.name).to_owned()) };
            all.push(Imported {
                module,
                alias: alias.filter(|alias| Some(alias) != name.as_ref()),
                name,
                is_glob: import.marks & import::GLOB != 0,
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

    /// The file that an entity is in; `from` is a file of its language.
    #[must_use]
    pub fn file_of(&self, from: FileId, entity: Entity) -> Option<FileId> {
        match entity {
            Entity::Def(def) => Some(self.project(def.file).file_of(self, def).unwrap_or(def.file)),
            Entity::Module(module) => self.project(from).module_file(module),
            Entity::External => None,
        }
    }

    /// What a file hands out: definitions that are public where they stand, and what exports apart say.
    #[must_use]
    pub fn exports(&self, file: FileId) -> Vec<(String, Option<DefId>)> {
        let facts = self.facts(file);
        let mut all: Vec<(String, Option<DefId>)> = Vec::new();
        for (index, def) in facts.defs.iter().enumerate() {
            let is_top = def.scope == 0 && def.owner == NONE && def.same == index as u32;
            if is_top && def.marks & mark::PUBLIC != 0 && def.kind != Kind::Impl {
                all.push((facts.text(def.name).to_owned(), Some(DefId { file, index: index as u32 })));
            }
        }
        for export in &facts.exports {
            self.refuel();
            let target = match facts.exprs.get(export.value as usize) {
                Some(&Expr { op: Op::Token, a, .. }) => self.resolve(file, a).defs().next(),
                _ => None,
            };
            let target = target.or_else(|| {
                let entities =
                    if export.import == NONE { Vec::new() } else { self.import(file, export.import) };
                entities.into_iter().find_map(|entity| match entity {
                    Entity::Def(def) => Some(def),
                    _ => None,
                })
            });
            let name = facts.text(export.name).to_owned();
            if !all.iter().any(|(known, _)| *known == name) {
                all.push((name, target));
            }
        }
        all
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
