//! How Python files hang together: imports, re-exports, and the rules that only Python has.

use super::infer;
use super::modules::Modules;
use super::names;
use super::own;
use crate::facts::{Kind, NONE, Name, NameMap, import, mark, space};
use crate::language::{Layout, Place, Project, Step};
use crate::resolve::{DefId, Entity, Module, Query, Shape, Type};
use crate::world::FileId;

/// The packages and modules of a tree.
pub(super) struct Packages {
    modules: Modules,
    builtins: NameMap<()>,
}

/// How many files are asked for a name, one importing everything from the next.
const HANDED_ON: usize = 24;

impl Packages {
    pub(super) fn new(layout: &Layout<'_>) -> Packages {
        Packages {
            modules: Modules::new(layout),
            builtins: names::builtins().map(|name| (name, ())).collect(),
        }
    }

    /// What a module has under a name, apart from one definition: the import that asks.
    fn member(
        &self,
        query: &Query<'_>,
        module: Module,
        name: Name,
        apart: Option<DefId>,
        visited: &mut Vec<FileId>,
    ) -> Vec<Entity> {
        if let Some(file) = self.modules.file(module) {
            let facts = query.facts(file);
            let defs = facts.bound_in(0, name).iter().map(|&index| DefId { file, index });
            let found: Vec<Entity> = defs.filter(|&def| Some(def) != apart).map(Entity::Def).collect();
            if !found.is_empty() {
                return found;
            }
            let found = self.through_globs(query, file, name, visited);
            if !found.is_empty() {
                return found;
            }
        }
        self.modules.submodule(module, name).map(Entity::Module).into_iter().collect()
    }

    /// What `from … import *` brings into a file.
    fn through_globs(
        &self,
        query: &Query<'_>,
        file: FileId,
        name: Name,
        visited: &mut Vec<FileId>,
    ) -> Vec<Entity> {
        if visited.contains(&file) || visited.len() >= HANDED_ON {
            return Vec::new();
        }
        visited.push(file);
        let facts = query.facts(file);
        for import in facts.imports.iter().filter(|import| import.marks & import::GLOB != 0) {
            let Some(module) = self.modules.find(file, facts.text(import.module)) else { continue };
            if let Some(target) = self.modules.file(module)
                && !is_handed_on(query, target, name)
            {
                continue;
            }
            let found = self.member(query, module, name, None, visited);
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    /// Whether a file brings in everything from a module that is not in the tree.
    fn has_outer_globs(&self, query: &Query<'_>, file: FileId) -> bool {
        let facts = query.facts(file);
        let mut globs = facts.imports.iter().filter(|import| import.marks & import::GLOB != 0);
        globs.any(|import| self.modules.find(file, facts.text(import.module)).is_none())
    }
}

/// Whether `import *` takes a name from a file: the names of `__all__`, or those without an underscore.
fn is_handed_on(query: &Query<'_>, file: FileId, name: Name) -> bool {
    let facts = query.facts(file);
    if facts.bits & 1 != 0 {
        return facts.exports.iter().any(|export| facts.name(export.name) == name);
    }
    let bound = facts.bound_in(0, name).first();
    let text = bound.map_or("", |&index| facts.text(facts.defs[index as usize].name));
    !text.starts_with('_')
}

impl Project for Packages {
    fn import(&self, query: &Query<'_>, file: FileId, index: u32) -> Vec<Entity> {
        let facts = query.facts(file);
        let Some(import) = facts.imports.get(index as usize) else { return Vec::new() };
        let text = facts.text(import.module);
        let Some(module) = self.modules.find(file, text) else {
            return if self.modules.is_own(file, text) { Vec::new() } else { vec![Entity::External] };
        };
        if import.name == NONE {
            return vec![Entity::Module(module)];
        }
        let apart = DefId { file, index: import.def };
        let found = self.member(query, module, facts.name(import.name), Some(apart), &mut Vec::new());
        if found.is_empty() && self.modules.file(module).is_some_and(|file| self.has_outer_globs(query, file))
        {
            return vec![Entity::External];
        }
        found
    }

    fn outer(&self, query: &Query<'_>, place: Place, name: Name, _space: u8) -> Vec<Entity> {
        let found = self.through_globs(query, place.file, name, &mut Vec::new());
        if !found.is_empty() {
            return found;
        }
        if self.builtins.contains_key(&name) || self.has_outer_globs(query, place.file) {
            return vec![Entity::External];
        }
        Vec::new()
    }

    fn module_member(&self, query: &Query<'_>, module: Module, name: Name, _space: u8) -> Vec<Entity> {
        self.member(query, module, name, None, &mut Vec::new())
    }

    fn external_member(&self, query: &Query<'_>, receiver: Type, name: Name) -> Option<Type> {
        infer::external_member(query, receiver, name)
    }

    fn call(&self, query: &Query<'_>, callee: Type, arguments: &[Type]) -> Option<Type> {
        infer::call(query, callee, arguments)
    }

    fn rebound(&self, query: &Query<'_>, file: FileId, callee: u32, plain: Type) -> Type {
        infer::rebound(query, file, callee, plain)
    }

    fn step(&self, query: &Query<'_>, step: Step, of: Type) -> Option<Type> {
        infer::step(query, step, of)
    }

    fn at(&self, query: &Query<'_>, of: Type, index: u32) -> Option<Type> {
        infer::at(query, of, index)
    }

    fn constructor(&self, query: &Query<'_>, class: DefId) -> Option<DefId> {
        let of = query.make(Shape::Class(class), &[]);
        [Name::of("__init__"), Name::of("__new__")].into_iter().find_map(|name| {
            query.members(class.file, of, name, space::ANY).into_iter().find_map(|member| {
                match member.entity {
                    Entity::Def(def) => Some(def),
                    _ => None,
                }
            })
        })
    }

    fn keyword(&self, query: &Query<'_>, callee: Type, name: Name) -> Vec<Entity> {
        match query.shape(callee) {
            Shape::Class(class) if self.constructor(query, class).is_none() => {
                for one in query.ancestry(class) {
                    let facts = query.facts(one.file);
                    let is_it = |&index: &u32| {
                        let def = &facts.defs[index as usize];
                        facts.name(def.name) == name && def.marks & own::mark::ANNOTATED != 0
                    };
                    if let Some(index) = facts.parts(one.index, Kind::Field).find(is_it) {
                        return vec![Entity::Def(DefId { file: one.file, index })];
                    }
                }
                Vec::new()
            }
            Shape::Function(def) => infer::unpacked_keywords(query, def, name),
            Shape::Instance(def) => {
                let mut found = Vec::new();
                for function in infer::methods(query, def.file, callee, Name::of("__call__")) {
                    let facts = query.facts(function.file);
                    let parts = facts.parts(function.index, Kind::Parameter);
                    let parts = parts.filter(|&part| facts.name(facts.defs[part as usize].name) == name);
                    found.extend(parts.map(|index| Entity::Def(DefId { file: function.file, index })));
                }
                found
            }
            _ => Vec::new(),
        }
    }

    fn implied_type(&self, query: &Query<'_>, def: DefId) -> Option<Type> {
        infer::implied(query, def)
    }

    fn decorated(&self, query: &Query<'_>, def: DefId, plain: Type) -> Option<Type> {
        infer::decorated(query, def, plain)
    }

    fn type_parameters(&self, query: &Query<'_>, def: DefId) -> Option<Vec<DefId>> {
        Some(infer::type_parameters(query, def))
    }

    fn own_expression(&self, query: &Query<'_>, file: FileId, expr: u32) -> Option<Type> {
        infer::own_expression(query, file, expr)
    }

    /// Without a type nothing follows from a member's name: much of what Python calls is declared nowhere.
    fn is_common_member(&self, _name: &str) -> bool {
        true
    }

    fn is_library_member(&self, name: &str) -> bool {
        names::is_member(name)
    }

    fn may_be_anything(&self, query: &Query<'_>, of: Type) -> bool {
        match query.shape(of) {
            Shape::External(name) => {
                of == Type::EXTERNAL || name == Name::of("Any") || name == Name::of("object")
            }
            // A class that answers for whatever is asked of it.
            Shape::Instance(def) => ["__getattr__", "__getattribute__"]
                .iter()
                .any(|method| !infer::methods(query, def.file, of, Name::of(method)).is_empty()),
            _ => false,
        }
    }

    /// What a method overrides: a call through a base may run it.
    fn family(&self, query: &Query<'_>, def: DefId) -> Vec<DefId> {
        let Some((facts, known)) = query.def(def) else { return Vec::new() };
        let is_class = facts.def(known.owner).is_some_and(|owner| owner.kind.is_type());
        if !is_class {
            return Vec::new();
        }
        let name = facts.name(known.name);
        let class = DefId { index: known.owner, ..def };
        if known.kind == Kind::Field {
            return infer::declared_attributes(query, def);
        }
        if known.kind != Kind::Method {
            return Vec::new();
        }
        let mut overridden = Vec::new();
        for base in query.ancestry(class).into_iter().skip(1) {
            let facts = query.facts(base.file);
            let methods = facts.parts(base.index, Kind::Method);
            let same = methods.filter(|&index| facts.name(facts.defs[index as usize].name) == name);
            overridden.extend(same.map(|index| DefId { file: base.file, index }));
        }
        overridden
    }

    fn may_share(&self, query: &Query<'_>, def: DefId) -> Vec<DefId> {
        infer::same_attributes(query, def)
    }

    fn hands_on_keywords(&self, callee: &str) -> bool {
        matches!(callee, "partial" | "partialmethod" | "replace" | "_replace" | "evolve")
    }

    fn rank(&self, query: &Query<'_>, def: DefId) -> u32 {
        u32::from(query.def(def).is_some_and(|(_, def)| def.marks & mark::ABSTRACT != 0))
    }

    fn module_of(&self, _query: &Query<'_>, file: FileId) -> Option<Module> {
        Some(Module(u64::from(file.0)))
    }

    fn module_file(&self, module: Module) -> Option<FileId> {
        self.modules.file(module)
    }
}
