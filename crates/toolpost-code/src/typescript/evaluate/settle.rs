//! What types say of types: conditions, indexing, the types of members.

use super::{CONDITIONAL, Environment, INDEX, INDEXED, query_deeper};
use crate::facts::{Name, space};
use crate::language::Step;
use crate::resolve::{Query, Shape, Type};
use crate::typescript::library;
use crate::typescript::project::Modules;
use crate::world::FileId;

impl Modules {
    /// Works out types that were written down.
    pub(in crate::typescript) fn settle(&self, query: &Query<'_>, of: Type) -> Type {
        let mut of = of;
        for _ in 0..8 {
            match query_deeper(query, || self.settled_once(query, of)) {
                Some(next) if next != of => of = next,
                _ => break,
            }
        }
        of
    }

    pub(in crate::typescript) fn settled_once(&self, query: &Query<'_>, of: Type) -> Option<Type> {
        let Shape::External(name) = query.shape(of) else { return None };
        let arguments = query.arguments(of);
        let first = arguments.first().copied()?;
        let is = |text: &str| Name::of(text) == name;
        if name == CONDITIONAL {
            return Some(self.conditional(query, &arguments));
        }
        if name == INDEXED {
            return self.indexed(query, first, arguments.get(1).copied()?);
        }
        let keeps = [
            "Partial",
            "Required",
            "Readonly",
            "NonNullable",
            "Pick",
            "Omit",
            "Extract",
            "Exclude",
            "NoInfer",
            "ThisType",
            "InstanceType",
        ];
        if keeps.iter().any(|text| is(text)) {
            return Some(match query.shape(first) {
                Shape::Class(_) => self.made(query, first),
                _ => first,
            });
        }
        if is("Awaited") {
            return Some(library::awaited(query, first));
        }
        if is("ReturnType") {
            return Some(self.returned(query, first));
        }
        None
    }

    pub(super) fn conditional(&self, query: &Query<'_>, parts: &[Type]) -> Type {
        let [left, right, yes, no] = *parts else { return Type::UNKNOWN };
        let left = self.settle(query, left);
        let mut environment = Vec::new();
        match self.extends(query, left, right, &mut environment) {
            Some(true) => query.substitute(yes, &environment),
            Some(false) => no,
            None => {
                let yes = query.substitute(yes, &environment);
                query.either(&[yes, no])
            }
        }
    }

    /// Whether a type is another; none if that cannot be said.
    pub(super) fn extends(
        &self,
        query: &Query<'_>,
        left: Type,
        right: Type,
        environment: &mut Environment,
    ) -> Option<bool> {
        let right = self.settle(query, right);
        match (query.shape(left), query.shape(right)) {
            (Shape::Unknown | Shape::Parameter(_), _) | (_, Shape::Unknown | Shape::Either) => None,
            (_, Shape::Parameter(_)) => {
                query.unify(right, left, environment);
                Some(true)
            }
            (Shape::External(one), Shape::External(other)) => {
                let fits = one == other
                    || library::is_list(one) && library::is_list(other)
                    || library::is_later(one) && library::is_later(other);
                if fits {
                    self.infer(query, right, left, environment, 0);
                    return Some(true);
                }
                (library::is_primitive(one) || library::is_primitive(other)).then_some(false)
            }
            (Shape::External(one), Shape::Instance(_) | Shape::Function(_)) => {
                library::is_primitive(one).then_some(false)
            }
            (Shape::Instance(one), Shape::Instance(other)) => {
                self.infer(query, right, left, environment, 0);
                query.ancestry(one).contains(&other).then_some(true)
            }
            (Shape::Function(_), Shape::Function(_)) => {
                self.infer(query, right, left, environment, 0);
                Some(true)
            }
            (Shape::Instance(_) | Shape::Class(_), Shape::External(other)) => {
                library::is_primitive(other).then_some(false)
            }
            _ => None,
        }
    }

    pub(super) fn indexed(&self, query: &Query<'_>, of: Type, by: Type) -> Option<Type> {
        let of = self.settle(query, of);
        if let Shape::Parameter(_) = query.shape(of) {
            return None;
        }
        let Shape::External(name) = query.shape(by) else {
            return None;
        };
        if name == Name::of("string")
            && let Some(&literal) = query.arguments(by).first()
            && let Shape::External(key) = query.shape(literal)
        {
            return Some(self.property(query, FileId(u32::MAX), of, key));
        }
        if name == Name::of("number") || name == Name::of("string") {
            return Some(self.step_of(query, Step::Index, of).unwrap_or(Type::UNKNOWN));
        }
        None
    }

    /// What indexing, iterating and so on give.
    pub(in crate::typescript) fn step_of(&self, query: &Query<'_>, step: Step, of: Type) -> Option<Type> {
        let settled = self.settle(query, of);
        match query.shape(settled) {
            Shape::External(_) => library::step(query, step, settled),
            Shape::Either => {
                let all: Vec<Type> = query
                    .arguments(settled)
                    .iter()
                    .map(|&one| self.step_of(query, step, one).unwrap_or(one))
                    .collect();
                Some(query.either(&all))
            }
            Shape::Instance(_) if matches!(step, Step::Index) => {
                Some(self.member_types(query, settled, INDEX))
            }
            Shape::Instance(def) if matches!(step, Step::Element) => {
                // A class of the tree that extends a list of the library.
                query.bases(def).iter().find_map(|&base| {
                    let base = query.substitute(base, &query.environment_of(settled));
                    match query.shape(base) {
                        Shape::External(name) if library::is_list(name) || library::is_map(name) => {
                            Some(library::element(query, base))
                        }
                        _ => None,
                    }
                })
            }
            Shape::Parameter(def) => {
                let bounds = query.bounds(def);
                bounds.into_iter().find_map(|bound| query_deeper(query, || self.step_of(query, step, bound)))
            }
            _ => None,
        }
    }

    /// The types of the members of a name.
    pub(super) fn member_types(&self, query: &Query<'_>, of: Type, name: Name) -> Type {
        let file = self.any_file();
        let all: Vec<Type> = query
            .members(file, of, name, space::VALUE)
            .into_iter()
            .map(|member| query.substitute(query.entity_type(member.entity, name), &member.environment))
            .collect();
        query.either(&all)
    }

    /// The type of a property.
    pub(in crate::typescript) fn property(
        &self,
        query: &Query<'_>,
        _file: FileId,
        of: Type,
        name: Name,
    ) -> Type {
        let of = self.settle(query, of);
        match self.member_types(query, of, name) {
            Type::UNKNOWN => {}
            found => return found,
        }
        let mut all = Vec::new();
        query.each_alternative(of, |one| {
            let one = self.settle(query, one);
            all.push(match query.shape(one) {
                Shape::External(known) if library::is_map(known) => {
                    query.arguments(one).get(1).copied().unwrap_or(Type::UNKNOWN)
                }
                Shape::Instance(_) => self.member_types(query, one, INDEX),
                _ => Type::UNKNOWN,
            });
        });
        query.either(&all)
    }
}
