//! The members of a type: its own, those declared apart, those of its bases.

use std::sync::Arc;

use super::{DefId, Entity, Query, Shape, Type, push};
use crate::facts::{Kind, Name, mark};
use crate::world::FileId;

/// A member that was found, and what the type parameters around it stand for.
#[derive(Clone, Debug)]
pub struct Member {
    /// What it is.
    pub entity: Entity,
    /// Type parameters and their values.
    pub environment: Vec<(DefId, Type)>,
}

/// How many bases are followed in a row.
const BASES: u32 = 24;

impl Query<'_> {
    /// The members of a name that values of a type have; of a module or a type itself, what stands below it.
    #[must_use]
    pub fn members(&self, file: FileId, of: Type, name: Name, space: u8) -> Vec<Member> {
        let mut found = Vec::new();
        let mut visited = Vec::new();
        self.collect(file, of, name, space, BASES, &mut visited, &mut found);
        found
    }

    #[expect(clippy::too_many_arguments, reason = "the state of one walk over bases")]
    fn collect(
        &self,
        file: FileId,
        of: Type,
        name: Name,
        space: u8,
        depth: u32,
        visited: &mut Vec<Type>,
        found: &mut Vec<Member>,
    ) {
        if depth == 0 || visited.contains(&of) {
            return;
        }
        visited.push(of);
        match self.shape(of) {
            Shape::Instance(def) | Shape::Class(def) => {
                self.collect_of(def, of, name, space, depth, visited, found);
            }
            Shape::Module(module) => {
                let entities = self.project(file).module_member(self, module, name, space);
                for entity in entities {
                    found.push(Member { entity, environment: Vec::new() });
                }
            }
            Shape::Parameter(def) => {
                for bound in self.bounds(def) {
                    self.collect(file, bound, name, space, depth - 1, visited, found);
                }
            }
            Shape::Either => {
                for &one in &self.arguments(of) {
                    self.collect(file, one, name, space, depth - 1, visited, found);
                }
            }
            Shape::External(_) => {
                let before = found.len();
                self.collect_detached(file, of, name, space, found);
                if found.len() == before
                    && let Some(other) = self.project(file).stands_for(self, of)
                {
                    self.collect(file, other, name, space, depth - 1, visited, found);
                }
            }
            Shape::Unknown | Shape::Function(_) => {}
        }
    }

    /// What a type parameter must be.
    #[must_use]
    pub fn bounds(&self, parameter: DefId) -> Vec<Type> {
        let Some((facts, def)) = self.def(parameter) else { return Vec::new() };
        let mut bounds: Vec<Type> = facts
            .bases_of(parameter.index)
            .iter()
            .map(|base| self.named_type(parameter.file, base.base))
            .collect();
        if def.declared != crate::facts::NONE {
            bounds.push(self.named_type(parameter.file, def.declared));
        }
        bounds
    }

    #[expect(clippy::too_many_arguments, reason = "the state of one walk over bases")]
    fn collect_of(
        &self,
        def: DefId,
        of: Type,
        name: Name,
        space: u8,
        depth: u32,
        visited: &mut Vec<Type>,
        found: &mut Vec<Member>,
    ) {
        let before = found.len();
        let environment = self.environment_of(of);
        let facts = self.facts(def.file);
        for &index in facts.owned_by(def.index) {
            let part = &facts.defs[index as usize];
            let is_member = !matches!(part.kind, Kind::Parameter | Kind::TypeParameter | Kind::Impl);
            if is_member && part.space & space != 0 && facts.name(part.name) == name {
                let entity = Entity::Def(DefId { file: def.file, index: part.same });
                if !found[before..].iter().any(|member| member.entity == entity) {
                    found.push(Member { entity, environment: environment.clone() });
                }
            }
        }
        if found.len() > before {
            return;
        }
        self.collect_detached(def.file, of, name, space, found);
        if found.len() > before {
            return;
        }
        for &base in self.bases(def).iter() {
            let base = self.substitute(base, &environment);
            self.collect(def.file, base, name, space, depth - 1, visited, found);
            if found.len() > before {
                return;
            }
        }
    }

    /// The members that are declared apart from a type.
    fn collect_detached(&self, file: FileId, of: Type, name: Name, space: u8, found: &mut Vec<Member>) {
        let plain = match self.shape(of) {
            Shape::Class(def) | Shape::Instance(def) => self.make(Shape::Instance(def), &[]),
            shape => self.make(shape, &[]),
        };
        let known = self.memo.borrow().detached.get(&(plain, name)).cloned();
        let detached = known.unwrap_or_else(|| {
            let detached = Arc::new(self.project(file).detached_members(self, plain, name));
            if self.fuel.get() > 0 {
                self.memo.borrow_mut().detached.insert((plain, name), Arc::clone(&detached));
            }
            detached
        });
        for &member in detached.iter() {
            if self.def(member).is_some_and(|(_, part)| part.space & space != 0) {
                let environment = self.environment_of_impl(member, of);
                found.push(Member { entity: Entity::Def(member), environment });
            }
        }
    }

    /// The bases of a type, and what it stands for if it is another name.
    #[must_use]
    pub fn bases(&self, def: DefId) -> Arc<Vec<Type>> {
        if let Some(known) = self.memo.borrow().bases.get(&def) {
            return Arc::clone(known);
        }
        // While they are being found out there are none, so that a circle of bases ends.
        self.memo.borrow_mut().bases.insert(def, Arc::new(Vec::new()));
        let bases = Arc::new(self.bases_anew(def));
        let mut memo = self.memo.borrow_mut();
        if self.fuel.get() > 0 {
            memo.bases.insert(def, Arc::clone(&bases));
        } else {
            memo.bases.remove(&def);
        }
        bases
    }

    fn bases_anew(&self, def: DefId) -> Vec<Type> {
        let Some((facts, known)) = self.def(def) else { return Vec::new() };
        let mut bases = Vec::new();
        for base in facts.bases_of(def.index) {
            push(&mut bases, self.named_type(def.file, base.base));
        }
        // The other declarations of the same type have bases of their own.
        for &index in facts.bound_in(known.scope, facts.name(known.name)) {
            let other = &facts.defs[index as usize];
            if other.same == def.index && index != def.index && other.kind.is_type() {
                for base in facts.bases_of(index) {
                    push(&mut bases, self.named_type(def.file, base.base));
                }
            }
        }
        if known.kind == Kind::Alias {
            push(&mut bases, self.named_type(def.file, known.declared));
        }
        for base in self.project(def.file).detached_bases(self, def) {
            push(&mut bases, base);
        }
        bases
    }

    /// All types that a type is or inherits from, itself first.
    #[must_use]
    pub fn ancestry(&self, def: DefId) -> Vec<DefId> {
        let mut all = vec![def];
        let mut next = 0;
        while next < all.len() && all.len() < 64 {
            for &base in self.bases(all[next]).iter() {
                if let Shape::Instance(base) | Shape::Class(base) = self.shape(base) {
                    push(&mut all, base);
                }
            }
            next += 1;
        }
        all
    }

    /// Whether everything is known of a type: neither it nor one of its bases is outside of the tree.
    #[must_use]
    pub fn is_known(&self, of: Type) -> bool {
        match self.shape(of) {
            Shape::Unknown | Shape::External(_) => false,
            Shape::Instance(def) | Shape::Class(def) => {
                let mut all = vec![def];
                let mut next = 0;
                while next < all.len() && all.len() < 64 {
                    for &base in self.bases(all[next]).iter() {
                        match self.shape(base) {
                            Shape::Instance(base) | Shape::Class(base) => push(&mut all, base),
                            _ => return false,
                        }
                    }
                    next += 1;
                }
                true
            }
            Shape::Parameter(_) | Shape::Function(_) => false,
            Shape::Module(_) => true,
            Shape::Either => self.arguments(of).iter().all(|&one| self.is_known(one)),
        }
    }

    /// What the type parameters of a type stand for in this instance of it.
    #[must_use]
    pub fn environment_of(&self, of: Type) -> Vec<(DefId, Type)> {
        let (Shape::Instance(def) | Shape::Class(def)) = self.shape(of) else { return Vec::new() };
        let arguments = self.arguments(of);
        if arguments.is_empty() {
            return Vec::new();
        }
        self.arguments_of(def).into_iter().zip(arguments.iter().copied()).collect()
    }

    /// The type parameters that an instance of a type has arguments for: of one without a name all around it.
    #[must_use]
    pub fn arguments_of(&self, def: DefId) -> Vec<DefId> {
        match self.def(def) {
            Some((_, known)) if known.kind == Kind::Anonymous => self.parameters_in_scope(def),
            _ => self.type_parameters(def),
        }
    }

    /// What the type parameters of the block that holds a member stand for, if the member is one of this type.
    fn environment_of_impl(&self, member: DefId, of: Type) -> Vec<(DefId, Type)> {
        let Some((facts, def)) = self.def(member) else { return Vec::new() };
        let Some(owner) = facts.def(def.owner) else { return Vec::new() };
        if facts.parts(def.owner, Kind::TypeParameter).next().is_none() {
            return Vec::new();
        }
        let pattern = self.named_type(member.file, owner.declared);
        let mut environment = Vec::new();
        self.unify(pattern, of, &mut environment);
        environment
    }

    /// The type parameters of a definition itself.
    #[must_use]
    pub fn type_parameters(&self, def: DefId) -> Vec<DefId> {
        if let Some(known) = self.memo.borrow().parameters.get(&def) {
            return known.clone();
        }
        self.memo.borrow_mut().parameters.insert(def, Vec::new());
        let own = self.deeper(|| self.project(def.file).type_parameters(self, def));
        if let Some(Some(own)) = own {
            let mut memo = self.memo.borrow_mut();
            if self.fuel.get() == 0 {
                memo.parameters.remove(&def);
            } else {
                memo.parameters.insert(def, own.clone());
            }
            return own;
        }
        self.memo.borrow_mut().parameters.remove(&def);
        let facts = self.facts(def.file);
        facts.parts(def.index, Kind::TypeParameter).map(|index| DefId { file: def.file, index }).collect()
    }

    /// The type parameters that may occur in a definition: those of its owners, then its own.
    #[must_use]
    pub fn parameters_in_scope(&self, def: DefId) -> Vec<DefId> {
        let facts = self.facts(def.file);
        let mut chain = vec![def.index];
        while let Some(owner) = chain.last().and_then(|&index| facts.def(index)).map(|def| def.owner)
            && facts.def(owner).is_some()
            && chain.len() < 16
        {
            chain.push(owner);
        }
        chain.iter().rev().flat_map(|&index| self.type_parameters(DefId { file: def.file, index })).collect()
    }

    /// Finds what type parameters in a pattern must stand for to make it another type.
    pub fn unify(&self, pattern: Type, actual: Type, environment: &mut Vec<(DefId, Type)>) {
        if pattern == actual || actual == Type::UNKNOWN {
            return;
        }
        if let Shape::Parameter(def) = self.shape(pattern) {
            if !environment.iter().any(|(known, _)| *known == def) {
                environment.push((def, actual));
            }
            return;
        }
        let (wanted, given) = (self.shape(pattern), self.shape(actual));
        let fits = match (wanted, given) {
            (Shape::Instance(wanted), Shape::Instance(given) | Shape::Class(given)) => wanted == given,
            (wanted, given) => wanted == given,
        };
        if fits {
            let (wanted, given) = (self.arguments(pattern), self.arguments(actual));
            for (&wanted, &given) in wanted.iter().zip(given.iter()) {
                self.unify(wanted, given, environment);
            }
        }
    }

    /// Whether a definition belongs to its type and not to its instances.
    #[must_use]
    pub fn is_static(&self, def: DefId) -> bool {
        self.def(def).is_some_and(|(_, def)| def.marks & mark::STATIC != 0)
    }
}
