//! How Rust files hang together: crates by manifests, the tree of modules, imports as paths, methods in blocks.

mod layout;
mod manifest;

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use super::{DERIVED, SHARES_MACROS, library};
use crate::facts::{Expr, Kind, NONE, Name, Op, ScopeKind, import, mark, space};
use crate::language::{Layout, Place, Project, Step};
use crate::resolve::{DefId, Entity, Module, Query, Shape, Type};
use crate::world::FileId;

/// The crates of a tree.
pub(super) struct Crates {
    layout: layout::Crates,
    /// The module that a file is part of, as far as asked for.
    parents: Mutex<HashMap<FileId, Option<(FileId, u32)>>>,
}

/// A module is a file and the scope of a module in it.
fn module(file: FileId, scope: u32) -> Module {
    Module(u64::from(file.0) << 32 | u64::from(scope))
}

fn place_of(module: Module) -> (FileId, u32) {
    (FileId((module.0 >> 32) as u32), module.0 as u32)
}

impl Crates {
    pub(super) fn new(layout: &Layout<'_>) -> Crates {
        Crates { layout: layout::Crates::new(layout), parents: Mutex::new(HashMap::new()) }
    }

    /// The module that declares a file, by a `mod` in another file.
    fn parent_of(&self, query: &Query<'_>, file: FileId) -> Option<(FileId, u32)> {
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

    fn find_parent(&self, query: &Query<'_>, file: FileId) -> Option<(FileId, u32)> {
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
                let target = layout::join(folder_of(query.world.path(other)), facts.text(a))?;
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
    fn declares(&self, query: &Query<'_>, file: FileId, inner: &[&str], name: &str) -> Option<u32> {
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
    fn inline_modules(&self, query: &Query<'_>, file: FileId, scope: u32, name: Name) -> Vec<u32> {
        let facts = query.facts(file);
        let defs = facts.bound_in(scope, name);
        let is_inside =
            |inner: &crate::facts::Scope| inner.kind == ScopeKind::Module && defs.contains(&inner.owner);
        (0..facts.scopes.len() as u32).filter(|&index| is_inside(&facts.scopes[index as usize])).collect()
    }

    /// The module that a `mod` is.
    fn module_of_def(&self, query: &Query<'_>, id: DefId) -> Option<Module> {
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
            let target = layout::join(folder_of(path), facts.text(a))?;
            return query.world.file(&target).map(|file| module(file, 0));
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
    fn root_of(&self, query: &Query<'_>, file: FileId) -> FileId {
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
    fn module_around(&self, query: &Query<'_>, file: FileId, scope: u32) -> Module {
        module(file, query.facts(file).module_around(scope))
    }

    /// The module around a module.
    fn outer_module(&self, query: &Query<'_>, of: Module) -> Option<Module> {
        let (file, scope) = place_of(of);
        if scope == 0 {
            let (file, scope) = self.parent_of(query, file)?;
            return Some(module(file, query.facts(file).module_around(scope)));
        }
        let parent = query.facts(file).scope(scope)?.parent;
        Some(self.module_around(query, file, parent))
    }

    /// What a name means in a module, without going around in circles of globs.
    fn named_in(
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
    fn globs(
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
        for import in facts.imports.iter().rev() {
            if import.marks & import::GLOB == 0 || !in_scope(import.scope) {
                continue;
            }
            let of = query.value_type(file, import.path);
            let found = match query.shape(of) {
                Shape::Module(inner) => self.named_in(query, inner, name, space, visited),
                Shape::Class(_) => {
                    let members = query.members(file, of, name, space);
                    members.into_iter().map(|member| member.entity).collect()
                }
                Shape::External(_) => {
                    is_external = true;
                    continue;
                }
                _ => continue,
            };
            if found.iter().any(|entity| *entity != Entity::External) {
                return found;
            }
            is_external |= !found.is_empty();
        }
        if is_external { vec![Entity::External] } else { Vec::new() }
    }

    /// The type that a block adds members to.
    fn holder(query: &Query<'_>, member: DefId) -> Option<Type> {
        let (facts, def) = query.def(member)?;
        let owner = facts.def(def.owner)?;
        (owner.kind == Kind::Impl).then(|| query.named_type(member.file, owner.declared))
    }

    /// The name that a type expression ends with.
    fn written_name(facts: &crate::facts::Facts, expr: u32) -> Option<Name> {
        let mut current = expr;
        for _ in 0..8 {
            let &Expr { op, a, .. } = facts.exprs.get(current as usize)?;
            match op {
                Op::Token => return facts.token(a).map(|token| facts.name(token.name)),
                Op::Apply => current = a,
                Op::Builtin => return Some(facts.name(a)),
                _ => return None,
            }
        }
        None
    }

    /// The name by which blocks speak of a type.
    fn type_name(query: &Query<'_>, of: Type) -> Option<Name> {
        match query.shape(of) {
            Shape::Instance(def) | Shape::Class(def) => Some(query.name_of(def)),
            Shape::External(name) => Some(name),
            _ => None,
        }
    }

    /// Whether the macros of a file are seen in another without being exported: in the files below it, and beside it
    /// if its module says so.
    fn shares_macros(&self, query: &Query<'_>, from: FileId, with: FileId) -> bool {
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
    fn macro_named(&self, query: &Query<'_>, file: FileId, name: Name) -> Vec<Entity> {
        let root = self.root_of(query, file);
        let mut others = Vec::new();
        for posting in query.world.postings(name).iter().filter(|posting| posting.defines()) {
            let other = posting.file();
            if !self.layout.sees(file, other) {
                continue;
            }
            let facts = query.facts(other);
            for (index, def) in facts.defs.iter().enumerate() {
                if def.kind == Kind::Macro && facts.name(def.name) == name {
                    let is_exported = def.marks & SHARES_MACROS != 0;
                    if !is_exported && other != file && !self.shares_macros(query, other, file) {
                        continue;
                    }
                    let def = DefId { file: other, index: index as u32 };
                    if self.root_of(query, other) == root {
                        return vec![Entity::Def(def)];
                    }
                    others.push(Entity::Def(def));
                }
            }
        }
        others.truncate(1);
        others
    }

    /// The trait that the block of a member implements, and the member of that name in it.
    fn declared_in_trait(&self, query: &Query<'_>, member: DefId) -> Option<DefId> {
        let (facts, def) = query.def(member)?;
        let name = facts.name(def.name);
        let base = facts.bases_of(def.owner).first()?;
        if facts.def(def.owner)?.kind != Kind::Impl {
            return None;
        }
        let Shape::Instance(of) = query.shape(query.named_type(member.file, base.base)) else { return None };
        let facts = query.facts(of.file);
        let owned = facts.owned_by(of.index).iter().copied();
        let same = |&index: &u32| facts.name(facts.defs[index as usize].name) == name;
        owned.filter(same).map(|index| DefId { file: of.file, index }).next()
    }
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

impl Project for Crates {
    fn import(&self, query: &Query<'_>, file: FileId, index: u32) -> Vec<Entity> {
        let facts = query.facts(file);
        let Some(import) = facts.imports.get(index as usize) else { return Vec::new() };
        match facts.exprs.get(import.path as usize) {
            Some(&Expr { op: Op::Token, a, .. }) => query.resolve(file, a).entities.clone(),
            Some(_) => match query.shape(query.value_type(file, import.path)) {
                Shape::Module(module) => vec![Entity::Module(module)],
                _ => Vec::new(),
            },
            None => Vec::new(),
        }
    }

    fn outer(&self, query: &Query<'_>, place: Place, name: Name, space: u8) -> Vec<Entity> {
        let facts = query.facts(place.file);
        if name == Name::of("Self") {
            let Some(around) = facts.type_around(place.scope) else { return Vec::new() };
            let this = query.instance_of(DefId { file: place.file, index: around });
            return match query.shape(this) {
                Shape::Instance(def) => vec![Entity::Def(def)],
                _ => vec![Entity::External],
            };
        }
        if space & space::LABEL != 0 {
            return Vec::new();
        }
        let mut around = Vec::new();
        let mut current = place.scope;
        while let Some(here) = facts.scope(current) {
            around.push(current);
            if here.kind == ScopeKind::Module {
                break;
            }
            current = here.parent;
        }
        let mut visited = Vec::new();
        let found = self.globs(query, place.file, |scope| around.contains(&scope), name, space, &mut visited);
        if found.iter().any(|entity| *entity != Entity::External) {
            return found;
        }
        if space & space::MACRO != 0 {
            let found = self.macro_named(query, place.file, name);
            if !found.is_empty() {
                return found;
            }
            if space == space::MACRO {
                return vec![Entity::External];
            }
        }
        if space & space::TYPE != 0
            && let Some(root) = self.layout.crate_named(place.file, name)
        {
            return vec![Entity::Module(module(root, 0))];
        }
        if !found.is_empty() {
            return found;
        }
        let is_known = library::PRELUDE.iter().any(|word| Name::of(word) == name);
        let is_known = is_known || self.layout.is_dependency(place.file, name);
        if is_known { vec![Entity::External] } else { Vec::new() }
    }

    fn module_member(&self, query: &Query<'_>, module: Module, name: Name, space: u8) -> Vec<Entity> {
        let found = self.named_in(query, module, name, space, &mut Vec::new());
        if !found.is_empty() {
            return found;
        }
        // Exported macros belong to the root of their crate.
        if space & space::MACRO != 0 {
            return self.macro_named(query, place_of(module).0, name);
        }
        Vec::new()
    }

    fn detached_members(&self, query: &Query<'_>, of: Type, name: Name) -> Vec<DefId> {
        let Some(wanted) = Crates::type_name(query, of) else { return Vec::new() };
        let mut found: Vec<(bool, DefId)> = Vec::new();
        // A block names the type that it adds to, unless that is a form of the language such as a slice.
        let naming: HashSet<FileId> =
            query.world.postings(wanted).iter().map(|posting| posting.file()).collect();
        for posting in query.world.postings(name).iter().filter(|posting| posting.has_member()) {
            let file = posting.file();
            let is_apart = match query.shape(of) {
                Shape::Instance(def) => !self.layout.sees(file, def.file),
                _ => false,
            };
            if is_apart || !naming.is_empty() && !naming.contains(&file) {
                continue;
            }
            let facts = query.facts(file);
            for (index, def) in facts.defs.iter().enumerate() {
                if facts.name(def.name) != name {
                    continue;
                }
                let Some(owner) = facts.def(def.owner).filter(|owner| owner.kind == Kind::Impl) else {
                    continue;
                };
                let written = Crates::written_name(facts, owner.declared);
                if written != Some(wanted) {
                    continue;
                }
                let member = DefId { file, index: index as u32 };
                let holder = Crates::holder(query, member);
                let fits = match (holder.map(|holder| query.shape(holder)), query.shape(of)) {
                    (Some(Shape::Instance(one)), Shape::Instance(other)) => one == other,
                    (Some(Shape::External(one)), Shape::External(other)) => one == other,
                    _ => false,
                };
                if fits {
                    found.push((facts.bases_of(def.owner).is_empty(), member));
                }
            }
        }
        // Methods of the type itself come before those of traits.
        if found.iter().any(|(is_inherent, _)| *is_inherent) {
            found.retain(|(is_inherent, _)| *is_inherent);
        }
        found.into_iter().map(|(_, member)| member).collect()
    }

    fn detached_bases(&self, query: &Query<'_>, owner: DefId) -> Vec<Type> {
        let Some((_, known)) = query.def(owner) else { return Vec::new() };
        if !known.kind.is_type() || known.kind == Kind::Alias {
            return Vec::new();
        }
        let name = query.name_of(owner);
        let mut bases = Vec::new();
        for posting in query.world.postings(name) {
            let file = posting.file();
            if !self.layout.sees(file, owner.file) {
                continue;
            }
            let facts = query.facts(file);
            for base in &facts.bases {
                let Some(block) = facts.def(base.def).filter(|def| def.kind == Kind::Impl) else { continue };
                if Crates::written_name(facts, block.declared) != Some(name)
                    || query.shape(query.named_type(file, block.declared)) != Shape::Instance(owner)
                {
                    continue;
                }
                let written = Crates::written_name(facts, base.base);
                if written == Some(Name::of("Deref")) {
                    // What it dereferences to lends it its members.
                    let target = facts
                        .owned_by(base.def)
                        .iter()
                        .copied()
                        .find(|&index| facts.name(facts.defs[index as usize].name) == Name::of("Target"));
                    if let Some(target) = target {
                        bases.push(query.named_type(file, facts.defs[target as usize].declared));
                    }
                } else {
                    let of = query.named_type(file, base.base);
                    if matches!(query.shape(of), Shape::Instance(_)) {
                        bases.push(of);
                    }
                }
            }
        }
        bases
    }

    fn stands_for(&self, query: &Query<'_>, of: Type) -> Option<Type> {
        library::stands_for(query, of)
    }

    fn family(&self, query: &Query<'_>, def: DefId) -> Vec<DefId> {
        let Some((facts, known)) = query.def(def) else { return Vec::new() };
        let of_trait = facts.def(known.owner).is_some_and(|owner| owner.kind == Kind::Trait);
        if !of_trait {
            return Vec::new();
        }
        let name = facts.name(known.name);
        let of = query.name_of(DefId { index: known.owner, ..def });
        let naming: HashSet<FileId> = query.world.postings(of).iter().map(|posting| posting.file()).collect();
        let all = query.members_named_in(|file| naming.contains(&file), name, 5_000);
        let implements = |other: &DefId| {
            query.refuel();
            *other != def && self.declared_in_trait(query, *other) == Some(def)
        };
        all.into_iter().filter(implements).collect()
    }

    fn may_see(&self, query: &Query<'_>, file: FileId, def: DefId) -> bool {
        if self.layout.same_package(file, def.file) {
            return true;
        }
        let Some((facts, known)) = query.def(def) else { return false };
        let owner = facts.def(known.owner);
        let by_trait = owner.is_some_and(|owner| {
            owner.kind == Kind::Trait
                || owner.kind == Kind::Variant
                || !facts.bases_of(known.owner).is_empty()
        });
        let is_open = known.marks & (mark::PUBLIC | SHARES_MACROS) != 0 || by_trait;
        is_open && self.layout.sees(file, def.file)
    }

    fn other_name(&self, query: &Query<'_>, def: DefId) -> Option<Name> {
        let (_, known) = query.def(def)?;
        matches!(known.kind, Kind::Struct | Kind::Enum | Kind::Union).then(|| Name::of("Self"))
    }

    fn counts_family_declarations(&self) -> bool {
        true
    }

    fn external_member(&self, query: &Query<'_>, receiver: Type, name: Name) -> Option<Type> {
        library::member(query, receiver, name)
    }

    fn call(&self, query: &Query<'_>, callee: Type, arguments: &[Type]) -> Option<Type> {
        match query.shape(callee) {
            // A variant with fields is called to be made.
            Shape::Instance(def) => {
                let (_, known) = query.def(def)?;
                matches!(known.kind, Kind::Enum | Kind::Struct).then_some(callee)
            }
            _ => library::call(query, callee, arguments),
        }
    }

    fn step(&self, query: &Query<'_>, step: Step, of: Type) -> Option<Type> {
        match (step, query.shape(of)) {
            (Step::Try, _) => library::tried(query, of),
            (Step::Element, Shape::External(_)) => library::element(query, of),
            (Step::Index, Shape::External(_)) => library::index(query, of),
            (Step::Deref, Shape::External(_)) => library::stands_for(query, of),
            (Step::Await, Shape::External(_)) => library::awaited(query, of),
            (Step::Element | Step::Index | Step::Await, Shape::Instance(def)) => {
                let word = if step == Step::Element { "Item" } else { "Output" };
                let members = query.members(def.file, of, Name::of(word), space::TYPE);
                let member = members.into_iter().find_map(|member| match member.entity {
                    Entity::Def(def) => Some((def, member.environment)),
                    _ => None,
                })?;
                let (_, known) = query.def(member.0)?;
                let item = query.named_type(member.0.file, known.declared);
                Some(query.substitute(item, &member.1))
            }
            _ => None,
        }
    }

    fn at(&self, query: &Query<'_>, of: Type, index: u32) -> Option<Type> {
        match query.shape(of) {
            Shape::Instance(def) | Shape::Class(def) => {
                let name = Name::of(&index.to_string());
                let members = query.members(def.file, of, name, space::VALUE);
                let member = members.into_iter().next()?;
                let field = query.entity_type(member.entity, name);
                Some(query.substitute(field, &member.environment))
            }
            Shape::External(_) => query.arguments(of).get(index as usize).copied(),
            _ => None,
        }
    }

    fn implied_type(&self, query: &Query<'_>, def: DefId) -> Option<Type> {
        let module = self.module_of_def(query, def)?;
        Some(query.make(Shape::Module(module), &[]))
    }

    fn own_expression(&self, query: &Query<'_>, file: FileId, expr: u32) -> Option<Type> {
        let facts = query.facts(file);
        let &Expr { op, a, b } = facts.exprs.get(expr as usize)?;
        if op == Op::OwnOther {
            // The fields of a literal or pattern: of a variant its own.
            if let Some(&Expr { op: Op::Token, a: token, .. }) = facts.exprs.get(a as usize) {
                let resolution = query.resolve(file, token);
                if let Some(variant) = resolution
                    .defs()
                    .find(|&def| query.def(def).is_some_and(|(_, def)| def.kind == Kind::Variant))
                {
                    return Some(query.make(Shape::Instance(variant), &[]));
                }
            }
            let plain = query.named_type(file, a);
            // The arguments of a generic type are those of what is matched.
            let source = if b == NONE { Type::UNKNOWN } else { query.value_type(file, b) };
            let same = query.shape(plain) == query.shape(source) && query.arguments(plain).is_empty();
            return Some(if same { source } else { plain });
        }
        if a >= DERIVED {
            let at = facts.scope(b).map_or(0, |scope| scope.end);
            let entities = query.look_up(Place { file, scope: b, at }, facts.name(a - DERIVED), space::TYPE);
            let is_trait = |def: &DefId| query.def(*def).is_some_and(|(_, def)| def.kind == Kind::Trait);
            let found = entities.into_iter().find_map(|entity| match entity {
                Entity::Def(def) if is_trait(&def) => Some(query.instance_of(def)),
                _ => None,
            });
            return Some(found.unwrap_or(Type::EXTERNAL));
        }
        let here = self.module_around(query, file, b);
        let target = match a {
            0 => module(self.root_of(query, file), 0),
            1 => here,
            levels => {
                let mut current = here;
                for _ in 1..levels {
                    current = self.outer_module(query, current)?;
                }
                current
            }
        };
        Some(query.make(Shape::Module(target), &[]))
    }

    fn file_of(&self, query: &Query<'_>, def: DefId) -> Option<FileId> {
        let (file, scope) = place_of(self.module_of_def(query, def)?);
        (scope == 0).then_some(file)
    }

    fn is_common_member(&self, name: &str) -> bool {
        library::COMMON.contains(&name)
    }

    fn module_of(&self, _query: &Query<'_>, file: FileId) -> Option<Module> {
        Some(module(file, 0))
    }

    fn module_file(&self, module: Module) -> Option<FileId> {
        Some(place_of(module).0)
    }
}
