//! Members that stand in blocks apart from their types, and the traits that declare them.

use super::Crates;
use crate::facts::{Expr, Kind, Name, Op, space};
use crate::resolve::{DefId, Entity, Query, Shape, Type};
use crate::rust::library;
use crate::world::FileId;

impl Crates {
    /// What an operator gives: what the method says that does it for the type of the first operand. The operators of
    /// the language's own types give what they take.
    pub(super) fn operated(query: &Query<'_>, file: FileId, operands: &[Type], method: Name) -> Type {
        let is_ours = |of: Type| {
            let mut is_ours = false;
            query.each_alternative(of, |one| {
                is_ours |=
                    matches!(query.shape(one), Shape::Instance(_) | Shape::Class(_) | Shape::Parameter(_));
            });
            is_ours
        };
        let first = operands.first().copied().unwrap_or(Type::UNKNOWN);
        if !operands.iter().any(|&operand| is_ours(operand)) {
            return first;
        }
        let results: Vec<Type> = query
            .members(file, first, method, space::ANY)
            .into_iter()
            .filter_map(|member| match member.entity {
                Entity::Def(def) => Some(query.substitute(query.return_type(def), &member.environment)),
                _ => None,
            })
            .collect();
        query.either(&results)
    }

    /// The type that a block adds members to.
    pub(super) fn holder(query: &Query<'_>, member: DefId) -> Option<Type> {
        let (facts, def) = query.def(member)?;
        let owner = facts.def(def.owner)?;
        (owner.kind == Kind::Impl).then(|| query.named_type(member.file, owner.declared))
    }

    /// The name that a type expression ends with.
    pub(super) fn written_name(facts: &crate::facts::Facts, expr: u32) -> Option<Name> {
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
    pub(super) fn type_name(query: &Query<'_>, of: Type) -> Option<Name> {
        match query.shape(of) {
            Shape::Instance(def) | Shape::Class(def) => Some(query.name_of(def)),
            Shape::External(name) => Some(name),
            _ => None,
        }
    }

    /// Whether types of the library commonly have a member of this name.
    pub(super) fn is_common_name(&self, query: &Query<'_>, name: Name) -> bool {
        let members = query.world.postings(name);
        let file = members.iter().find(|posting| posting.has_member()).map(|posting| posting.file());
        let text = file.and_then(|file| {
            let facts = query.facts(file);
            facts.index_of(name).map(|index| facts.text(index))
        });
        text.is_none_or(|text| library::COMMON.contains(&text))
    }

    /// Members of a name in blocks that add a trait of the tree to every type that something outside of the tree asks
    /// for: `impl<I: Iterator> Extension for I`.
    pub(super) fn blanket_members(&self, query: &Query<'_>, name: Name) -> Vec<DefId> {
        let mut found = Vec::new();
        for posting in query.world.postings(name).iter().filter(|posting| posting.has_member()) {
            let file = posting.file();
            let facts = query.facts(file);
            let Some(local) = facts.index_of(name) else { continue };
            for (index, def) in facts.defs.iter().enumerate() {
                let Some(owner) = facts.def(def.owner).filter(|owner| owner.kind == Kind::Impl) else {
                    continue;
                };
                if def.name != local || facts.bases_of(def.owner).is_empty() {
                    continue;
                }
                let Shape::Parameter(of) = query.shape(query.named_type(file, owner.declared)) else {
                    continue;
                };
                // What a trait of the tree asks for is found through that trait.
                let is_ours = |bound: &Type| matches!(query.shape(*bound), Shape::Instance(_));
                if !query.bounds(of).iter().any(is_ours) {
                    found.push(DefId { file, index: index as u32 });
                }
            }
        }
        found
    }

    /// Members of a name that traits of the tree bring to a type from outside of the tree without its blocks saying them.
    pub(super) fn provided_members(query: &Query<'_>, of: Name, name: Name) -> Vec<DefId> {
        let mut found = Vec::new();
        for posting in query.world.postings(name).iter().filter(|posting| posting.has_member()) {
            let file = posting.file();
            let facts = query.facts(file);
            let Some(local) = facts.index_of(name) else { continue };
            for (index, def) in facts.defs.iter().enumerate() {
                let owner = facts.def(def.owner).filter(|owner| owner.kind == Kind::Trait);
                let Some(owner) = owner.filter(|_| def.name == local) else { continue };
                let of_trait = DefId { file, index: def.owner };
                let is_of = |file: FileId, block: u32| {
                    let written = Crates::written_name(query.facts(file), block);
                    written.is_some_and(|written| library::may_be(of, written))
                };
                if Crates::implements(query, of_trait, facts.name(owner.name), is_of) {
                    found.push(DefId { file, index: index as u32 });
                }
            }
        }
        found
    }

    /// Whether a block implements a trait for a type that suits; it is given as a type expression of a file.
    pub(super) fn implements(
        query: &Query<'_>,
        of_trait: DefId,
        trait_name: Name,
        suits: impl Fn(FileId, u32) -> bool,
    ) -> bool {
        query.world.postings(trait_name).iter().map(|posting| posting.file()).any(|file| {
            let facts = query.facts(file);
            facts.bases.iter().any(|base| {
                let block = facts.def(base.def).filter(|def| def.kind == Kind::Impl);
                block.is_some_and(|block| {
                    Crates::written_name(facts, base.base) == Some(trait_name)
                        && suits(file, block.declared)
                        && query.shape(query.named_type(file, base.base)) == Shape::Instance(of_trait)
                })
            })
        })
    }

    /// The trait that the block of a member implements, and the member of that name in it.
    pub(super) fn declared_in_trait(&self, query: &Query<'_>, member: DefId) -> Option<DefId> {
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
