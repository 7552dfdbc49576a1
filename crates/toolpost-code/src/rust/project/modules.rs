//! The tree of modules: which file declares which, what a name means in one, what globs and macros bring in.

use super::{Crates, module, place_of};
use crate::facts::{Expr, Kind, NONE, Name, Op, ScopeKind, import, mark, space};
use crate::paths::{folder_of, join};
use crate::postings::Posting;
use crate::resolve::{DefId, Entity, Module, Query, Shape};
use crate::rust::SHARES_MACROS;
use crate::world::FileId;

impl Crates {
    /// The module that declares a file, by a `mod` in another file.
    pub(super) fn parent_of(&self, query: &Query<'_>, file: FileId) -> Option<(FileId, u32)> {
        if let Ok(known) = self.parents.lock()
            && let Some(&known) = known.get(&file)
        {
            return known;
        }
        let found = self.find_parent(query, file);
        if let Ok(mut known) = self.parents.lock() {
            known.insert(file, found);
        }
        found
    }

    pub(super) fn find_parent(&self, query: &Query<'_>, file: FileId) -> Option<(FileId, u32)> {
        if self.layout.is_sure_root(file) {
            return None;
        }
        let path = query.world.path(file);
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let stem = name.strip_suffix(".rs").unwrap_or(name);
        let (folder, stem) =
            if stem == "mod" { folder.rsplit_once('/').unwrap_or(("", folder)) } else { (folder, stem) };
        // The file may be declared in a module inside of a file further up.
        let mut inner: Vec<&str> = Vec::new();
        let mut current = folder;
        for _ in 0..4 {
            for candidate in self.layout.files_of_module(current) {
                if candidate == file {
                    continue;
                }
                if let Some(scope) = self.declares(query, candidate, &inner, stem) {
                    return Some((candidate, scope));
                }
            }
            let (up, last) = current.rsplit_once('/').unwrap_or(("", current));
            if last.is_empty() {
                break;
            }
            inner.insert(0, last);
            current = up;
        }
        let by_path = self.layout.siblings(folder).find_map(|other| {
            let facts = query.facts(other);
            facts.defs.iter().find_map(|def| {
                let &Expr { op: Op::Builtin, a, .. } = facts.exprs.get(def.declared as usize)? else {
                    return None;
                };
                let target = join(folder_of(query.world.path(other)), facts.text(a))?;
                (def.kind == Kind::Module && target == path).then_some((other, def.scope))
            })
        });
        // A macro may declare it in the root beside it.
        by_path.or_else(|| {
            let roots = self.layout.files_of_module(folder);
            roots
                .into_iter()
                .find(|&root| root != file && self.layout.is_sure_root(root))
                .map(|root| (root, 0))
        })
    }

    /// The scope in a file in which a module is declared, below modules inside of the file.
    pub(super) fn declares(
        &self,
        query: &Query<'_>,
        file: FileId,
        inner: &[&str],
        name: &str,
    ) -> Option<u32> {
        let facts = query.facts(file);
        let mut scope = 0;
        for part in inner {
            scope = *self.inline_modules(query, file, scope, Name::of(part)).first()?;
        }
        let declared = facts.bound_in(scope, Name::of(name)).iter().any(|&index| {
            let def = &facts.defs[index as usize];
            def.kind == Kind::Module && def.body == def.end
        });
        declared.then_some(scope)
    }

    /// The scopes of modules of this name that are written out in a module.
    pub(super) fn inline_modules(&self, query: &Query<'_>, file: FileId, scope: u32, name: Name) -> Vec<u32> {
        let facts = query.facts(file);
        let defs = facts.bound_in(scope, name);
        let is_inside =
            |inner: &crate::facts::Scope| inner.kind == ScopeKind::Module && defs.contains(&inner.owner);
        (0..facts.scopes.len() as u32).filter(|&index| is_inside(&facts.scopes[index as usize])).collect()
    }

    /// The module that a `mod` is.
    pub(super) fn module_of_def(&self, query: &Query<'_>, id: DefId) -> Option<Module> {
        let (facts, def) = query.def(id)?;
        if def.kind != Kind::Module {
            return None;
        }
        let inside =
            facts.scopes.iter().position(|scope| scope.kind == ScopeKind::Module && scope.owner == id.index);
        if let Some(scope) = inside {
            return Some(module(id.file, scope as u32));
        }
        let path = query.world.path(id.file);
        if let Some(&Expr { op: Op::Builtin, a, .. }) = facts.exprs.get(def.declared as usize) {
            let target = join(folder_of(path), facts.text(a)).and_then(|target| query.world.file(&target));
            if let Some(target) = target {
                return Some(module(target, 0));
            }
        }
        let mut parts = vec![facts.text(def.name).to_owned()];
        let mut scope = def.scope;
        while let Some(here) = facts.scope(scope) {
            if here.kind == ScopeKind::Module && here.owner != NONE {
                parts.insert(0, facts.text(facts.def(here.owner)?.name).to_owned());
            }
            scope = here.parent;
        }
        let base = self.layout.folder_of_module(id.file, path);
        let below = parts.join("/");
        let below = if base.is_empty() { below } else { format!("{base}/{below}") };
        let file = query
            .world
            .file(&format!("{below}.rs"))
            .or_else(|| query.world.file(&format!("{below}/mod.rs")))?;
        Some(module(file, 0))
    }

    /// The root of the crate that a file is part of.
    pub(super) fn root_of(&self, query: &Query<'_>, file: FileId) -> FileId {
        let mut current = file;
        for _ in 0..64 {
            match self.parent_of(query, current) {
                Some((parent, _)) if parent != current => current = parent,
                _ => break,
            }
        }
        current
    }

    /// The module around a scope.
    pub(super) fn module_around(&self, query: &Query<'_>, file: FileId, scope: u32) -> Module {
        module(file, query.facts(file).module_around(scope))
    }

    /// The module around a module.
    pub(super) fn outer_module(&self, query: &Query<'_>, of: Module) -> Option<Module> {
        let (file, scope) = place_of(of);
        if scope == 0 {
            let (file, scope) = self.parent_of(query, file)?;
            return Some(module(file, query.facts(file).module_around(scope)));
        }
        let parent = query.facts(file).scope(scope)?.parent;
        Some(self.module_around(query, file, parent))
    }

    /// What a name means in a module, without going around in circles of globs.
    pub(super) fn named_in(
        &self,
        query: &Query<'_>,
        of: Module,
        name: Name,
        space: u8,
        visited: &mut Vec<Module>,
    ) -> Vec<Entity> {
        if visited.contains(&of) || visited.len() > 64 {
            return Vec::new();
        }
        visited.push(of);
        let (file, scope) = place_of(of);
        let facts = query.facts(file);
        let bound = facts.bound_in(scope, name).iter().copied();
        let found: Vec<Entity> = bound
            .filter(|&index| facts.defs[index as usize].space & space != 0)
            .map(|index| Entity::Def(DefId { file, index }))
            .collect();
        // An import brings in what there is of its name; for other meanings the globs are left.
        let mut meant = query.through(found);
        meant.retain(|entity| match entity {
            Entity::Def(def) => query.def(*def).is_some_and(|(_, def)| def.space & space != 0),
            _ => true,
        });
        if !meant.is_empty() {
            return meant;
        }
        let found = self.globs(query, file, |of| of == scope, name, space, visited);
        if !found.is_empty() || space & space::TYPE == 0 || scope != 0 {
            return found;
        }
        // A module that a macro declares is known by its file alone.
        let below = self.layout.folder_of_module(file, query.world.path(file));
        let target = self.layout.module_in(&below, name);
        let target =
            target.filter(|&target| target != file && self.parent_of(query, target) == Some((file, 0)));
        target.map(|target| Entity::Module(module(target, 0))).into_iter().collect()
    }

    /// What a name means in what the globs of some scopes bring in.
    pub(super) fn globs(
        &self,
        query: &Query<'_>,
        file: FileId,
        in_scope: impl Fn(u32) -> bool,
        name: Name,
        space: u8,
        visited: &mut Vec<Module>,
    ) -> Vec<Entity> {
        let facts = query.facts(file);
        let mut is_external = false;
        let mut all: Vec<Entity> = Vec::new();
        let mut scope = NONE;
        for import in facts.imports.iter().rev() {
            if import.marks & import::GLOB == 0 || !in_scope(import.scope) {
                continue;
            }
            // Further globs of the scope can bring in an alternative, of which a build has the one or the other.
            if !all.is_empty() && import.scope != scope {
                continue;
            }
            let of = query.value_type(file, import.path);
            let found = match query.shape(of) {
                Shape::Module(inner) => self.named_in(query, inner, name, space, visited),
                Shape::Class(_) => {
                    let members = query.members(file, of, name, space);
                    members.into_iter().map(|member| member.entity).collect()
                }
                Shape::Either => {
                    let mut found = Vec::new();
                    query.each_alternative(of, |one| {
                        if let Shape::Module(inner) = query.shape(one) {
                            found.extend(self.named_in(query, inner, name, space, visited));
                        }
                    });
                    found
                }
                Shape::External(_) => {
                    is_external = true;
                    continue;
                }
                _ => continue,
            };
            if found.iter().any(|entity| *entity != Entity::External) {
                scope = import.scope;
                all.extend(found.into_iter().filter(|entity| *entity != Entity::External));
            } else {
                is_external |= !found.is_empty();
            }
        }
        if all.len() > 1 {
            let first = all[0];
            // A glob does not bring in what is private there.
            all.retain(|entity| match entity {
                Entity::Def(def) => query.def(*def).is_some_and(|(_, def)| def.marks & mark::PUBLIC != 0),
                _ => true,
            });
            all.sort_unstable();
            all.dedup();
            if all.is_empty() {
                all.push(first);
            }
        }
        match all.is_empty() && is_external {
            true => vec![Entity::External],
            false => all,
        }
    }

    /// Whether the macros of a file are seen in another without being exported: in the files below it, and beside it
    /// if its module says so.
    pub(super) fn shares_macros(&self, query: &Query<'_>, from: FileId, with: FileId) -> bool {
        let mut above = vec![with];
        while let Some((parent, _)) = above.last().and_then(|&file| self.parent_of(query, file)) {
            if above.contains(&parent) {
                break;
            }
            above.push(parent);
        }
        let mut current = from;
        for _ in 0..16 {
            if above.contains(&current) {
                return true;
            }
            let Some((parent, _)) = self.parent_of(query, current) else { return false };
            let facts = query.facts(parent);
            let shares = facts.defs.iter().enumerate().any(|(index, def)| {
                let def_id = DefId { file: parent, index: index as u32 };
                def.kind == Kind::Module
                    && def.marks & SHARES_MACROS != 0
                    && self.module_of_def(query, def_id) == Some(module(current, 0))
            });
            if !shares {
                return false;
            }
            current = parent;
        }
        false
    }

    /// A macro that is seen in a file, wherever it is defined: in its crate first.
    pub(super) fn macro_named(&self, query: &Query<'_>, file: FileId, name: Name) -> Vec<Entity> {
        let root = self.root_of(query, file);
        let (mut here, mut ours, mut others) = (Vec::new(), Vec::new(), Vec::new());
        let defines = |posting: &&Posting| posting.defines() && posting.has_macro();
        for posting in query.world.postings(name).iter().filter(defines) {
            let other = posting.file();
            if !self.layout.sees(file, other) {
                continue;
            }
            let facts = query.facts(other);
            for (index, def) in facts.defs.iter().enumerate() {
                if def.kind == Kind::Macro && facts.name(def.name) == name && def.same == index as u32 {
                    let is_exported = def.marks & SHARES_MACROS != 0;
                    if !is_exported && other != file && !self.shares_macros(query, other, file) {
                        continue;
                    }
                    let def = Entity::Def(DefId { file: other, index: index as u32 });
                    match self.root_of(query, other) == root {
                        true if other == file => here.push(def),
                        true => ours.push(def),
                        false => others.push(def),
                    }
                }
            }
        }
        // Several in one crate are alternatives, of which a build has the one or the other.
        for found in [here, ours] {
            if !found.is_empty() {
                return found;
            }
        }
        others.truncate(1);
        others
    }
}
