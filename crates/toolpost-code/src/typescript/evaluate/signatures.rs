//! The ways to call something: overloads, parameters, which arguments each takes.

use super::{CALLED, Environment, Signature};
use crate::facts::{Kind, NONE, Name, mark, space};
use crate::resolve::{DefId, Entity, Query, Shape, Type};
use crate::typescript::library;
use crate::typescript::project::Modules;

impl Modules {
    /// The ways to call something.
    pub(super) fn signatures(&self, query: &Query<'_>, of: Type, name: Name) -> Vec<Signature> {
        let mut found = Vec::new();
        self.collect_signatures(query, of, name, &mut found, 0);
        found
    }

    pub(super) fn collect_signatures(
        &self,
        query: &Query<'_>,
        of: Type,
        name: Name,
        found: &mut Vec<Signature>,
        depth: u32,
    ) {
        if depth > 6 || found.len() > 24 {
            return;
        }
        let of = self.settle(query, of);
        match query.shape(of) {
            Shape::Function(def) => {
                let known = query.arguments(of);
                let environment: Environment = query
                    .parameters_in_scope(def)
                    .into_iter()
                    .zip(known.iter().copied())
                    .filter(|&(parameter, value)| query.shape(value) != Shape::Parameter(parameter))
                    .collect();
                for def in self.overloads(query, def) {
                    found.push(Signature { def, environment: environment.clone() });
                }
            }
            Shape::Instance(_) | Shape::Class(_) => {
                let members = query.members(self.any_file(), of, name, space::ANY);
                for member in members {
                    if let Entity::Def(def) = member.entity {
                        for def in self.overloads(query, def) {
                            found.push(Signature { def, environment: member.environment.clone() });
                        }
                    }
                }
            }
            Shape::Either => {
                for &one in &query.arguments(of) {
                    self.collect_signatures(query, one, name, found, depth + 1);
                }
            }
            Shape::Parameter(def) => {
                for bound in query.bounds(def) {
                    self.collect_signatures(query, bound, name, found, depth + 1);
                }
            }
            _ => {}
        }
    }

    /// All declarations of a function: those without a body, if there are any.
    pub(in crate::typescript) fn overloads(&self, query: &Query<'_>, def: DefId) -> Vec<DefId> {
        let Some((facts, known)) = query.def(def) else { return Vec::new() };
        let among: &[u32] = if known.owner != NONE && known.scope == NONE {
            facts.owned_by(known.owner)
        } else if known.scope != NONE {
            facts.bound_in(known.scope, facts.name(known.name))
        } else {
            &[]
        };
        let mut all: Vec<DefId> = among
            .iter()
            .filter(|&&index| {
                let other = &facts.defs[index as usize];
                other.same == known.same && other.kind.is_function()
            })
            .map(|&index| DefId { file: def.file, index })
            .collect();
        if all.len() > 1 {
            let has_body =
                |def: &DefId| facts.defs[def.index as usize].body != facts.defs[def.index as usize].end;
            if !all.iter().all(has_body) {
                all.retain(|def| !has_body(def));
            }
        }
        if all.is_empty() {
            all.push(def);
        }
        all
    }

    /// The type of a parameter as it is declared.
    pub(super) fn parameter_type(&self, query: &Query<'_>, function: DefId, index: u32) -> Option<Type> {
        let facts = query.facts(function.file);
        for (position, part) in facts.parts(function.index, Kind::Parameter).enumerate() {
            let def = DefId { file: function.file, index: part };
            let is_rest = facts.defs[part as usize].marks & mark::REST != 0;
            if is_rest {
                let list = query.def_type(def);
                return Some(self.rest_at(query, list, index - position as u32));
            }
            if position as u32 == index {
                return Some(query.def_type(def));
            }
        }
        None
    }

    pub(super) fn rest_at(&self, query: &Query<'_>, list: Type, index: u32) -> Type {
        query.deeper(|| self.rest_inside(query, list, index)).unwrap_or(Type::UNKNOWN)
    }

    pub(super) fn rest_inside(&self, query: &Query<'_>, list: Type, index: u32) -> Type {
        let list = self.settle(query, list);
        match query.shape(list) {
            Shape::Either => {
                let all: Vec<Type> =
                    query.arguments(list).iter().map(|&one| self.rest_at(query, one, index)).collect();
                query.either(&all)
            }
            Shape::External(_) => library::at(query, list, index).unwrap_or(Type::UNKNOWN),
            Shape::Parameter(def) => {
                let all: Vec<Type> = query
                    .bounds(def)
                    .into_iter()
                    .filter(|&bound| !matches!(query.shape(bound), Shape::Parameter(_)))
                    .map(|bound| self.rest_at(query, bound, index))
                    .collect();
                query.either(&all)
            }
            _ => Type::UNKNOWN,
        }
    }

    pub(super) fn accepts_count(query: &Query<'_>, function: DefId, count: usize) -> bool {
        let facts = query.facts(function.file);
        let (mut least, mut most) = (0, 0);
        for part in facts.parts(function.index, Kind::Parameter) {
            let marks = facts.defs[part as usize].marks;
            if marks & mark::REST != 0 {
                most = usize::MAX;
            } else {
                least += usize::from(marks & mark::OWN_A == 0);
                most = if most == usize::MAX { most } else { most + 1 };
            }
        }
        (least..=most).contains(&count)
    }

    /// Whether an argument can be what a parameter asks for, as far as that is plain.
    pub(super) fn may_be(&self, query: &Query<'_>, wanted: Type, given: Type) -> bool {
        query.deeper(|| self.may_be_inside(query, wanted, given)).unwrap_or(true)
    }

    pub(super) fn may_be_inside(&self, query: &Query<'_>, wanted: Type, given: Type) -> bool {
        let wanted = self.settle(query, wanted);
        let given = self.settle(query, given);
        match (query.shape(wanted), query.shape(given)) {
            (Shape::Unknown, _) | (_, Shape::Unknown) => true,
            (Shape::Either, _) => query.arguments(wanted).iter().any(|&one| self.may_be(query, one, given)),
            (_, Shape::Either) => query.arguments(given).iter().any(|&one| self.may_be(query, wanted, one)),
            (Shape::Parameter(def), _) => {
                let bounds = query.bounds(def);
                bounds.iter().all(|&bound| {
                    matches!(query.shape(bound), Shape::Parameter(_)) || self.may_be(query, bound, given)
                })
            }
            (Shape::External(wanted), Shape::External(given)) => {
                let plain = |name: Name| library::is_primitive(name) || library::is_list(name);
                !(plain(wanted) && plain(given))
                    || wanted == given
                    || library::is_list(wanted) && library::is_list(given)
            }
            (Shape::External(wanted), _) => !library::is_primitive(wanted) && !library::is_list(wanted),
            (Shape::Function(_), Shape::External(given)) => {
                !library::is_primitive(given) && !library::is_list(given)
            }
            (Shape::Instance(_), Shape::External(given)) => !library::is_primitive(given),
            (Shape::Function(_), Shape::Instance(def)) => {
                query.def(def).is_none_or(|(_, def)| def.kind != Kind::Anonymous)
                    || !self.signatures(query, given, CALLED).is_empty()
            }
            _ => true,
        }
    }
}
