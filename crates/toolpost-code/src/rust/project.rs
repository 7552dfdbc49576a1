//! How Rust files hang together: crates by manifests, the tree of modules, imports as paths, methods in blocks.

mod layout;
mod manifest;
mod members;
mod modules;

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use super::{DERIVED, OPERATOR, SHARES_MACROS, library};
use crate::facts::{Expr, Facts, Kind, NONE, Name, Op, ScopeKind, mark, space};
use crate::language::{Layout, Place, Project, Step};
use crate::postings::Posting;
use crate::resolve::{Confidence, DefId, Entity, Module, Query, Shape, Type, builtin};
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
}

impl Project for Crates {
    fn changed(&mut self, _: FileId, _: &Facts) {
        // Any file may declare any other a module.
        self.parents = Mutex::default();
    }

    fn import(&self, query: &Query<'_>, file: FileId, index: u32) -> Vec<Entity> {
        let facts = query.facts(file);
        let Some(import) = facts.imports.get(index as usize) else { return Vec::new() };
        match facts.exprs.get(import.path as usize) {
            // A path that leads nowhere imports nothing that is known: no member becomes its end for its name alone.
            Some(&Expr { op: Op::Token, a, .. }) => {
                let found = query.resolve(file, a);
                if found.confidence < Confidence::UniqueMember { found.entities.clone() } else { Vec::new() }
            }
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
        let naming = query.world.postings(wanted);
        let names_it =
            |file: FileId| naming.binary_search_by_key(&file, |posting: &Posting| posting.file()).is_ok();
        for posting in query.world.postings(name).iter().filter(|posting| posting.has_member()) {
            let file = posting.file();
            if !naming.is_empty() && !names_it(file) {
                continue;
            }
            if let Shape::Instance(def) = query.shape(of)
                && !self.layout.sees(file, def.file)
            {
                continue;
            }
            let facts = query.facts(file);
            let Some(local) = facts.index_of(name) else { continue };
            for (index, def) in facts.defs.iter().enumerate() {
                if def.name != local {
                    continue;
                }
                let Some(owner) = facts.def(def.owner).filter(|owner| owner.kind == Kind::Impl) else {
                    continue;
                };
                let written = Crates::written_name(facts, owner.declared);
                if !written.is_some_and(|written| library::may_be(wanted, written)) {
                    continue;
                }
                let member = DefId { file, index: index as u32 };
                let holder = Crates::holder(query, member);
                let fits = match (holder.map(|holder| query.shape(holder)), query.shape(of)) {
                    (Some(Shape::Instance(one)), Shape::Instance(other)) => one == other,
                    (Some(Shape::External(one)), Shape::External(other)) => library::may_be(other, one),
                    _ => false,
                };
                if fits {
                    found.push((facts.bases_of(def.owner).is_empty(), member));
                }
            }
        }
        if found.is_empty() && matches!(query.shape(of), Shape::External(_)) {
            let provided = Crates::provided_members(query, wanted, name);
            if !provided.is_empty() {
                return provided;
            }
        }
        if found.is_empty() && !self.is_common_name(query, name) {
            return self.blanket_members(query, name);
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
                // The block has type parameters of its own: they stand for those of the type.
                let mut environment = Vec::new();
                query.unify(
                    query.named_type(file, block.declared),
                    query.instance_of(owner),
                    &mut environment,
                );
                if written == Some(Name::of("Deref")) {
                    // What it dereferences to lends it its members.
                    let target = facts
                        .owned_by(base.def)
                        .iter()
                        .copied()
                        .find(|&index| facts.name(facts.defs[index as usize].name) == Name::of("Target"));
                    if let Some(target) = target {
                        let of = query.named_type(file, facts.defs[target as usize].declared);
                        bases.push(query.substitute(of, &environment));
                    }
                } else {
                    let of = query.named_type(file, base.base);
                    if matches!(query.shape(of), Shape::Instance(_)) {
                        bases.push(query.substitute(of, &environment));
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
            // A call through the trait may run it.
            return self.declared_in_trait(query, def).into_iter().collect();
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

    fn is_lent(&self, query: &Query<'_>, def: DefId) -> bool {
        let declared = self.declared_in_trait(query, def).unwrap_or(def);
        let Some((facts, known)) = query.def(declared) else { return false };
        let Some(owner) = facts.def(known.owner).filter(|owner| owner.kind == Kind::Trait) else {
            return false;
        };
        let of_trait = DefId { index: known.owner, ..declared };
        let is_ours = |of: Type| matches!(query.shape(of), Shape::Instance(_));
        Crates::implements(query, of_trait, facts.name(owner.name), |file, block| {
            !is_ours(query.named_type(file, block))
        })
    }

    fn may_be_another(&self, query: &Query<'_>, of: DefId) -> bool {
        // What a trait says to return `Self` is of the type that it is asked of.
        query.def(of).is_some_and(|(_, def)| def.kind == Kind::Trait)
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

    fn has_alternatives(&self) -> bool {
        true
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
            Shape::External(_) => match library::stands_for(query, of) {
                Some(inner) if query.shape(inner) == Shape::External(builtin::TUPLE) => {
                    query.arguments(inner).get(index as usize).copied()
                }
                Some(inner) => query.deeper(|| self.at(query, inner, index)).flatten(),
                None => query.arguments(of).get(index as usize).copied(),
            },
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
        if a >= OPERATOR {
            let operands: Vec<Type> =
                facts.list(b).iter().map(|&operand| query.value_type(file, operand)).collect();
            return Some(Crates::operated(query, file, &operands, facts.name(a - OPERATOR)));
        }
        if a >= DERIVED {
            let at = facts.scope(b).map_or(0, |scope| scope.end);
            let entities = query.look_up(Place { file, scope: b, at }, facts.name(a - DERIVED), space::TYPE);
            let is_trait = |def: &DefId| query.def(*def).is_some_and(|(_, def)| def.kind == Kind::Trait);
            let found = entities.into_iter().find_map(|entity| match entity {
                Entity::Def(def) if is_trait(&def) => Some(query.instance_of(def)),
                _ => None,
            });
            return Some(found.unwrap_or_else(|| query.external(facts.name(a - DERIVED), &[])));
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
