//! How TypeScript files hang together: modules and their exports, globals, merged declarations, families.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use super::extract::bit;
use super::library;
use super::modules::Resolver;
use super::own;
use crate::facts::{Facts, Kind, NONE, Name, Op, import, mark, space};
use crate::language::{Layout, Place, Project, Step};
use crate::resolve::{DefId, Entity, Module, Query, Shape, Type};
use crate::world::FileId;

/// The modules of a tree.
pub(super) struct Modules {
    resolver: Resolver,
    files: Vec<FileId>,
    ambient: OnceLock<Ambient>,
}

/// What is declared for everybody.
#[derive(Default)]
struct Ambient {
    /// `declare module 'name'` by the name.
    modules: HashMap<Name, Vec<DefId>>,
    /// Blocks of `declare global`: the file and the scope.
    globals: Vec<(FileId, u32)>,
}

const DEFAULT: Name = Name::of("default");
const WHOLE: Name = Name::of("export=");

impl Modules {
    pub(super) fn new(layout: &Layout<'_>) -> Modules {
        let files = layout.files.iter().map(|&(file, _)| file).collect();
        Modules { resolver: Resolver::new(layout), files, ambient: OnceLock::new() }
    }

    /// Any file of the project: some questions need one.
    pub(super) fn any_file(&self) -> FileId {
        self.files.first().copied().unwrap_or(FileId(0))
    }

    fn ambient(&self, query: &Query<'_>) -> &Ambient {
        self.ambient.get_or_init(|| {
            let mut ambient = Ambient::default();
            let noted: HashSet<FileId> =
                query.world.postings(Name::NOTED).iter().map(|posting| posting.file()).collect();
            for &file in self.files.iter().filter(|file| noted.contains(file)) {
                let facts = query.facts(file);
                if facts.bits & bit::GLOBALS == 0 {
                    continue;
                }
                for (index, def) in facts.defs.iter().enumerate() {
                    if def.kind != Kind::Module {
                        continue;
                    }
                    if def.marks & mark::OWN_A != 0 {
                        let id = DefId { file, index: index as u32 };
                        ambient.modules.entry(facts.name(def.name)).or_default().push(id);
                    } else if def.marks & mark::OWN_B != 0 {
                        ambient.globals.push((file, def.body));
                    }
                }
            }
            ambient
        })
    }

    fn module(file: FileId) -> Module {
        Module(u64::from(file.0))
    }

    fn namespace(def: DefId) -> Module {
        Module((u64::from(def.index) + 1) << 32 | u64::from(def.file.0))
    }

    /// What the name of a module means in a file.
    pub(super) fn module_named(&self, query: &Query<'_>, file: FileId, text: &str) -> Vec<Entity> {
        if let Some(found) = self.resolver.find(file, text) {
            return vec![Entity::Module(Self::module(found))];
        }
        let declared = self.ambient(query).modules.get(&Name::of(text));
        match declared.and_then(|all| all.first()) {
            Some(&def) => vec![Entity::Module(Self::namespace(def))],
            // A file of the tree that is not there: what it hands on is not known.
            None if is_own_code(text) => Vec::new(),
            None => vec![Entity::External],
        }
    }

    /// What `require` gives: what the module is as a whole.
    pub(super) fn required(&self, query: &Query<'_>, file: FileId, text: &str) -> Vec<Entity> {
        let modules = self.module_named(query, file, text);
        let [Entity::Module(module)] = modules[..] else { return modules };
        let whole = self.module_member(query, module, WHOLE, space::ANY);
        if whole.is_empty() { modules } else { whole }
    }

    /// What a file exports under a name.
    fn exported(
        &self,
        query: &Query<'_>,
        file: FileId,
        name: Name,
        space: u8,
        visited: &mut Vec<FileId>,
    ) -> Vec<Entity> {
        if visited.contains(&file) || visited.len() > 200 {
            return Vec::new();
        }
        visited.push(file);
        let facts = query.facts(file);
        let mut found = Vec::new();
        let start = facts.exports.partition_point(|export| facts.name(export.name) < name);
        for export in facts.exports[start..].iter().take_while(|export| facts.name(export.name) == name) {
            if export.import == NONE {
                let of = facts.exprs.get(export.value as usize).map_or(NONE, |expr| expr.b);
                found.extend(facts.list(of).first().map(|&index| Entity::Def(DefId { file, index })));
            } else {
                found.extend(query.import(file, export.import));
            }
        }
        let is_open = facts.bits & bit::DECLARATIONS != 0 && facts.exports.is_empty();
        for &index in facts.bound_in(0, name) {
            let def = &facts.defs[index as usize];
            if (def.marks & mark::PUBLIC != 0 || is_open)
                && def.space & space != 0
                && def.kind != Kind::Import
            {
                found.push(Entity::Def(DefId { file, index }));
            }
        }
        if !found.is_empty() || name == WHOLE {
            return found;
        }
        if name != DEFAULT {
            for import in facts.imports.iter().filter(|import| import.marks & import::GLOB != 0) {
                let Some(target) = self.resolver.find(file, facts.text(import.module)) else { continue };
                let more = self.exported(query, target, name, space, visited);
                if !more.is_empty() {
                    return more;
                }
            }
        }
        // CommonJS: a property of what the module is as a whole.
        let whole = self.exported(query, file, WHOLE, space, &mut Vec::new());
        if name == DEFAULT {
            return whole;
        }
        for entity in whole {
            let of = query.entity_type(entity, name);
            let members = query.members(file, of, name, space);
            found.extend(members.into_iter().map(|member| member.entity));
        }
        found
    }

    /// What tags of the page JSX has in a file.
    pub(super) fn intrinsics(&self, query: &Query<'_>, file: FileId) -> Type {
        let facts = query.facts(file);
        let source = match facts.text(facts.remark) {
            "" => self.resolver.jsx_source(file).unwrap_or(""),
            pragma => pragma,
        };
        let (jsx, elements) = (Name::of("JSX"), Name::of("IntrinsicElements"));
        let mut namespaces: Vec<Entity> = Vec::new();
        if !source.is_empty() {
            for end in ["/jsx-runtime", "/jsx-dev-runtime", ""] {
                if let Some(found) = self.resolver.find(file, &format!("{source}{end}")) {
                    namespaces = query.through(self.exported(query, found, jsx, space::ANY, &mut Vec::new()));
                    if !namespaces.is_empty() {
                        break;
                    }
                }
            }
        }
        if namespaces.is_empty() {
            let place = Place { file, scope: 0, at: 0 };
            namespaces = query.look_up(place, jsx, space::ANY);
        }
        if namespaces.is_empty() || namespaces.iter().all(|entity| *entity == Entity::External) {
            for factory in ["React", "h", "jsx"] {
                let place = Place { file, scope: 0, at: 0 };
                let found = query.look_up(place, Name::of(factory), space::VALUE);
                for entity in found {
                    let of = query.entity_type(entity, Name::of(factory));
                    let members = query.members(file, of, jsx, space::ANY);
                    namespaces.extend(members.into_iter().map(|member| member.entity));
                }
            }
        }
        let mut all = Vec::new();
        for entity in query.through(namespaces) {
            let of = query.entity_type(entity, jsx);
            for member in query.members(file, of, elements, space::TYPE) {
                for entity in query.through(vec![member.entity]) {
                    all.push(query.entity_named(entity, elements, &[]));
                }
            }
        }
        query.either(&all)
    }

    /// The members that a member overrides or implements, itself first.
    fn overridden(query: &Query<'_>, member: DefId) -> Vec<DefId> {
        let member = query.canonical(member);
        let mut all = vec![member];
        let Some((facts, def)) = query.def(member) else { return all };
        let owner = owner_of(query, member);
        let name = facts.name(def.name);
        let Some(owner) = owner else { return all };
        for ancestor in query.ancestry(owner).into_iter().skip(1) {
            let facts = query.facts(ancestor.file);
            for &part in facts.owned_by(ancestor.index) {
                let other = &facts.defs[part as usize];
                if facts.name(other.name) == name && is_property(other.kind) {
                    let other = query.canonical(DefId { file: ancestor.file, index: part });
                    if !all.contains(&other) {
                        all.push(other);
                    }
                }
            }
        }
        all
    }

    /// The interface that a declaration inside `declare module` or `declare global` adds to, and all that add to one.
    fn merged(&self, query: &Query<'_>, def: DefId) -> Vec<DefId> {
        let others = self.declared_alike(query, def);
        let Some(&base) = others.iter().find(|&&other| self.adds_to(query, def, other)) else {
            return others.into_iter().filter(|&other| self.adds_to(query, other, def)).collect();
        };
        let adds = |&other: &DefId| other == base || self.adds_to(query, other, base);
        others.into_iter().filter(adds).collect()
    }

    /// The other declarations of the same name and kind in files that may add to what others declare, and all in the file
    /// that one of them adds to.
    fn declared_alike(&self, query: &Query<'_>, def: DefId) -> Vec<DefId> {
        let Some((facts, known)) = query.def(def) else { return Vec::new() };
        let name = facts.name(known.name);
        let base = facts
            .def(known.owner)
            .filter(|owner| owner.kind == Kind::Module && owner.marks & mark::OWN_A != 0);
        let base = base.and_then(|module| self.resolver.find(def.file, facts.text(module.name)));
        let base = base.map(|file| self.exported(query, file, name, space::ANY, &mut Vec::new()));
        let mut all: Vec<DefId> = Vec::new();
        for entity in query.through(base.unwrap_or_default()) {
            if let Entity::Def(found) = entity
                && found != def
            {
                all.push(found);
            }
        }
        for posting in query.world.postings(name) {
            let file = posting.file();
            let other = query.facts(file);
            if other.bits & bit::GLOBALS == 0 && other.bits & bit::MODULE != 0 {
                continue;
            }
            for (index, candidate) in other.defs.iter().enumerate() {
                if candidate.kind != known.kind || other.name(candidate.name) != name {
                    continue;
                }
                let id = DefId { file, index: index as u32 };
                if id != def && !all.contains(&id) {
                    all.push(id);
                }
            }
        }
        all
    }

    /// Whether a declaration is another one of the same interface, declared from elsewhere.
    fn adds_to(&self, query: &Query<'_>, addition: DefId, to: DefId) -> bool {
        let Some((facts, known)) = query.def(addition) else { return false };
        let name = facts.name(known.name);
        match facts.def(known.owner) {
            Some(module) if module.kind == Kind::Module && module.marks & mark::OWN_A != 0 => {
                let Some(target) = self.resolver.find(addition.file, facts.text(module.name)) else {
                    return false;
                };
                let found = query.through(self.exported(query, target, name, space::ANY, &mut Vec::new()));
                found.contains(&Entity::Def(query.canonical(to)))
            }
            Some(module) if module.kind == Kind::Module && module.marks & mark::OWN_B != 0 => {
                self.is_global(query, to)
            }
            None => self.is_global(query, addition) && self.is_global(query, to),
            _ => false,
        }
    }

    /// The members that interfaces of the tree add to a type of the language itself.
    fn added_outside(&self, query: &Query<'_>, outer: Name, name: Name) -> Vec<DefId> {
        let is_window = ["window", "self", "globalThis"].iter().any(|word| Name::of(word) == outer);
        let outer = if is_window { Name::of("Window") } else { outer };
        let mut found = Vec::new();
        for posting in query.world.postings(outer).iter().filter(|posting| posting.defines()) {
            let file = posting.file();
            let facts = query.facts(file);
            let Some(local) = facts.index_of(name) else { continue };
            for (index, def) in facts.defs.iter().enumerate().filter(|(_, def)| def.name == local) {
                let adds = facts.def(def.owner).is_some_and(|holder| {
                    holder.kind == Kind::Interface
                        && facts.name(holder.name) == outer
                        && self.is_global(query, DefId { file, index: def.owner })
                });
                if adds {
                    found.push(DefId { file, index: index as u32 });
                }
            }
        }
        found
    }

    fn is_global(&self, query: &Query<'_>, def: DefId) -> bool {
        let Some((facts, known)) = query.def(def) else { return false };
        let is_script = known.scope == 0 && facts.bits & bit::MODULE == 0;
        let in_block = facts
            .def(known.owner)
            .is_some_and(|owner| owner.marks & mark::OWN_B != 0 && owner.kind == Kind::Module);
        is_script || in_block
    }
}

/// The type that has a member.
fn owner_of(query: &Query<'_>, member: DefId) -> Option<DefId> {
    let (facts, def) = query.def(member)?;
    if def.kind == Kind::Parameter {
        // A parameter that declares a field.
        let field = facts.defs.iter().position(|other| {
            other.same == member.index && other.kind == Kind::Field && other.name_start == def.name_start
        })?;
        let owner = facts.defs[field].owner;
        return (owner != NONE).then_some(DefId { file: member.file, index: owner });
    }
    let owner = facts.def(def.owner)?;
    (owner.kind.is_type() && is_property(def.kind)).then_some(DefId { file: member.file, index: def.owner })
}

fn is_property(kind: Kind) -> bool {
    matches!(kind, Kind::Field | Kind::Method)
}

/// Whether the name of a module is that of a file of the tree in a language that is read, by its form.
fn is_own_code(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or(name);
    let ending = last.trim_start_matches('.').rsplit_once('.').map(|(_, ending)| ending);
    let is_read = |ending| crate::typescript::ENDINGS.contains(&ending);
    (name.starts_with("./") || name.starts_with("../")) && ending.is_none_or(is_read)
}

impl Project for Modules {
    fn changed(&mut self, _: FileId, _: &Facts) {
        self.ambient = OnceLock::new();
    }

    fn import(&self, query: &Query<'_>, file: FileId, index: u32) -> Vec<Entity> {
        let facts = query.facts(file);
        let Some(import) = facts.imports.get(index as usize) else { return Vec::new() };
        if import.path != NONE {
            let Some(expr) = facts.exprs.get(import.path as usize) else { return Vec::new() };
            return match (expr.op, expr.a) {
                (Op::Token, token) => query.resolve(file, token).entities.clone(),
                (Op::Anonymous, index) => vec![Entity::Def(DefId { file, index })],
                (Op::Own, own::FUNCTION) => {
                    let def = facts.list(expr.b).first();
                    def.map(|&index| Entity::Def(DefId { file, index })).into_iter().collect()
                }
                (Op::Own, own::MODULE) => {
                    let text = facts.list(expr.b).first().copied().unwrap_or(NONE);
                    self.required(query, file, facts.text(text))
                }
                _ => Vec::new(),
            };
        }
        let text = facts.text(import.module);
        let name = facts.name(import.name);
        if import.name != NONE && name == WHOLE {
            return self.required(query, file, text);
        }
        let modules = self.module_named(query, file, text);
        if import.name == NONE {
            return modules;
        }
        match modules[..] {
            [Entity::Module(module)] => self.module_member(query, module, name, space::ANY),
            _ => modules,
        }
    }

    fn may_import_itself(&self) -> bool {
        false
    }

    fn outer(&self, query: &Query<'_>, place: Place, name: Name, space: u8) -> Vec<Entity> {
        let mut found = Vec::new();
        for &(file, scope) in &self.ambient(query).globals {
            for &index in query.facts(file).bound_in(scope, name) {
                if query.facts(file).defs[index as usize].space & space != 0 {
                    found.push(Entity::Def(DefId { file, index }));
                }
            }
        }
        for posting in query.world.postings(name) {
            let file = posting.file();
            let facts = query.facts(file);
            if facts.bits & bit::MODULE != 0 || file == place.file {
                continue;
            }
            for &index in facts.bound_in(0, name) {
                let def = &facts.defs[index as usize];
                if def.space & space != 0 && def.kind != Kind::Import {
                    found.push(Entity::Def(DefId { file, index }));
                }
            }
        }
        if found.is_empty() {
            found.push(Entity::External);
        }
        found
    }

    fn module_member(&self, query: &Query<'_>, module: Module, name: Name, space: u8) -> Vec<Entity> {
        let file = FileId(module.0 as u32);
        let index = (module.0 >> 32) as u32;
        if index == 0 {
            return self.exported(query, file, name, space, &mut Vec::new());
        }
        let facts = query.facts(file);
        let index = index - 1;
        let mut found = Vec::new();
        for (other, def) in facts.defs.iter().enumerate() {
            if def.kind != Kind::Module || (def.same != index && other as u32 != index) {
                continue;
            }
            for &member in facts.bound_in(def.body, name) {
                let known = &facts.defs[member as usize];
                if known.space & space != 0 && known.marks & mark::PUBLIC != 0 {
                    found.push(Entity::Def(DefId { file, index: member }));
                }
            }
        }
        found
    }

    fn detached_members(&self, query: &Query<'_>, of: Type, name: Name) -> Vec<DefId> {
        let owner = match query.shape(of) {
            Shape::Instance(owner) | Shape::Class(owner) => owner,
            Shape::External(outer) if of != Type::EXTERNAL => return self.added_outside(query, outer, name),
            _ => return Vec::new(),
        };
        let Some((facts, known)) = query.def(owner) else { return Vec::new() };
        if !matches!(known.kind, Kind::Interface | Kind::Class) {
            return Vec::new();
        }
        let type_name = facts.name(known.name);
        let mut found = Vec::new();
        for posting in query.world.postings(name).iter().filter(|posting| posting.has_member()) {
            let file = posting.file();
            let other = query.facts(file);
            if other.bits & bit::GLOBALS == 0 && other.bits & bit::MODULE != 0 {
                continue;
            }
            for (index, def) in other.defs.iter().enumerate() {
                let Some(holder) = other.def(def.owner) else { continue };
                if other.name(def.name) == name
                    && holder.kind == Kind::Interface
                    && other.name(holder.name) == type_name
                    && self.adds_to(query, DefId { file, index: def.owner }, owner)
                {
                    found.push(DefId { file, index: index as u32 });
                }
            }
        }
        found
    }

    fn family(&self, query: &Query<'_>, def: DefId) -> Vec<DefId> {
        let Some((facts, known)) = query.def(def) else { return Vec::new() };
        let name = facts.name(known.name);
        if matches!(known.kind, Kind::Interface | Kind::Module) {
            return self.merged(query, def);
        }
        if known.kind == Kind::Variable && known.marks & mark::OWN_B != 0 {
            // `{ name }` in a pattern: the property as well.
            let token = facts.exprs.get(known.value as usize).filter(|expr| expr.op == Op::Token);
            return token.map_or_else(Vec::new, |expr| query.resolve(def.file, expr.a).defs().collect());
        }
        let Some(owner) = owner_of(query, def) else { return Vec::new() };
        let mut seeds = Modules::overridden(query, def);
        if query.def(owner).is_some_and(|(_, owner)| owner.kind == Kind::Anonymous)
            && let Some(token) = facts.token_starting(known.name_start)
        {
            for other in query.resolve(def.file, token).defs().collect::<Vec<_>>() {
                for other in Modules::overridden(query, other) {
                    if !seeds.contains(&other) {
                        seeds.push(other);
                    }
                }
            }
        }
        let mut family = seeds.clone();
        for other in query.members_named(query.world.language_of(def.file), name, 2_000) {
            let Some(holder) = owner_of(query, other) else { continue };
            let has_bases = !query.facts(holder.file).bases_of(holder.index).is_empty();
            if !has_bases || family.contains(&other) {
                continue;
            }
            query.refuel();
            if Modules::overridden(query, other).iter().any(|base| seeds.contains(base)) {
                family.push(other);
            }
        }
        family
    }

    fn counts_family_declarations(&self) -> bool {
        true
    }

    fn external_member(&self, query: &Query<'_>, receiver: Type, name: Name) -> Option<Type> {
        let settled = self.settle(query, receiver);
        library::member(query, settled, name)
    }

    fn stands_for(&self, query: &Query<'_>, of: Type) -> Option<Type> {
        let settled = self.settle(query, of);
        (settled != of).then_some(settled)
    }

    fn step(&self, query: &Query<'_>, step: Step, of: Type) -> Option<Type> {
        self.step_of(query, step, of)
    }

    fn at(&self, query: &Query<'_>, of: Type, index: u32) -> Option<Type> {
        let of = self.settle(query, of);
        match query.shape(of) {
            Shape::External(_) => library::at(query, of, index),
            Shape::Instance(_) => self.step_of(query, Step::Element, of),
            Shape::Either => {
                let all: Vec<Type> =
                    query.arguments(of).iter().filter_map(|&one| library::at(query, one, index)).collect();
                Some(query.either(&all))
            }
            _ => None,
        }
    }

    fn implied_type(&self, query: &Query<'_>, def: DefId) -> Option<Type> {
        let (_, known) = query.def(def)?;
        (known.kind == Kind::Module)
            .then(|| query.make(Shape::Module(Modules::namespace(query.canonical(def))), &[]))
    }

    fn own_expression(&self, query: &Query<'_>, file: FileId, expr: u32) -> Option<Type> {
        Some(self.evaluate(query, file, expr))
    }

    fn is_common_member(&self, name: &str) -> bool {
        library::COMMON.contains(&name)
    }

    fn may_be_anything(&self, query: &Query<'_>, of: Type) -> bool {
        // A proxy answers for whatever its target has.
        let any = ["any", "unknown", "object", "Object", "Proxy"].map(Name::of);
        match query.shape(of) {
            Shape::External(name) => of == Type::EXTERNAL || any.contains(&name) || Self::is_deferred(name),
            _ => false,
        }
    }

    fn is_root_member(&self, query: &Query<'_>, of: Type, name: &str) -> bool {
        if !library::OF_EVERY_OBJECT.contains(&name) {
            return false;
        }
        match query.shape(self.settle(query, of)) {
            Shape::Instance(_) | Shape::Parameter(_) | Shape::Either => true,
            Shape::External(of) => !library::is_told(of),
            _ => false,
        }
    }

    fn is_of_unknown_type(&self, query: &Query<'_>, file: FileId, literal: u32) -> bool {
        let facts = query.facts(file);
        let literal = facts.exprs.get(literal as usize);
        let Some(literal) = literal.filter(|expr| expr.op == Op::Own && expr.a == own::LITERAL) else {
            return false;
        };
        let Some(&wanted) = facts.list(literal.b).get(1).filter(|&&wanted| wanted != NONE) else {
            return false;
        };
        let mut is_unknown = false;
        let wanted = self.settle(query, query.value_type(file, wanted));
        query.each_alternative(wanted, |one| {
            is_unknown |= match query.shape(self.settle(query, one)) {
                Shape::Unknown | Shape::Parameter(_) => true,
                Shape::External(name) => one == Type::EXTERNAL || Self::is_deferred(name),
                _ => false,
            }
        });
        is_unknown
    }

    fn outer_type(&self, query: &Query<'_>, literal: Type) -> Option<Name> {
        let mut found = None;
        query.each_alternative(literal, |one| {
            if let Shape::External(name) = query.shape(one)
                && one != Type::EXTERNAL
                && !library::is_shapeless(name)
            {
                found = found.or(Some(name));
            }
        });
        found
    }

    fn whole_export(&self) -> Option<Name> {
        Some(WHOLE)
    }

    fn module_of(&self, _query: &Query<'_>, file: FileId) -> Option<Module> {
        Some(Modules::module(file))
    }

    fn module_file(&self, module: Module) -> Option<FileId> {
        Some(FileId(module.0 as u32))
    }
}
