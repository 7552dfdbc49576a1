//! The types that type expressions name, and types with their parameters replaced.

use crate::facts::{Expr, Kind, NONE, Name, Op, mark};
use crate::resolve::{Confidence, DefId, Entity, Query, Shape, Type};
use crate::world::FileId;

impl Query<'_> {
    /// The type that a type expression names.
    pub fn named_type(&self, file: FileId, expr: u32) -> Type {
        if expr == NONE {
            return Type::UNKNOWN;
        }
        let key = (file, expr);
        if let Some(known) = self.memo.borrow().named.get(&key) {
            return known.unwrap_or(Type::UNKNOWN);
        }
        self.memo.borrow_mut().named.insert(key, None);
        let answer = self.deeper(|| self.named_anew(file, expr)).unwrap_or(Type::UNKNOWN);
        let mut memo = self.memo.borrow_mut();
        if self.fuel.get() == 0 {
            memo.named.remove(&key);
        } else {
            memo.named.insert(key, Some(answer));
        }
        answer
    }

    pub(super) fn named_anew(&self, file: FileId, index: u32) -> Type {
        let facts = self.facts(file);
        let Some(&Expr { op, a, b }) = facts.exprs.get(index as usize) else { return Type::UNKNOWN };
        let list = |list: u32| -> Vec<Type> {
            facts.list(list).iter().map(|&one| self.named_type(file, one)).collect()
        };
        match op {
            Op::Token => {
                let resolution = self.resolve(file, a);
                if resolution.confidence > Confidence::UniqueMember {
                    return Type::UNKNOWN;
                }
                let name = facts.token(a).map_or(Name(0), |token| facts.name(token.name));
                let all: Vec<Type> =
                    resolution.entities.iter().map(|&entity| self.entity_named(entity, name, &[])).collect();
                self.either(&all)
            }
            Op::Apply => {
                let arguments = list(b);
                let Some(&Expr { op: Op::Token, a: token, .. }) = facts.exprs.get(a as usize) else {
                    return self.apply(self.named_type(file, a), &arguments);
                };
                let resolution = self.resolve(file, token);
                let name = facts.token(token).map_or(Name(0), |token| facts.name(token.name));
                let named = |&entity: &Entity| self.entity_named(entity, name, &arguments);
                let all: Vec<Type> = resolution.entities.iter().map(named).collect();
                self.either(&all)
            }
            Op::Builtin => {
                let arguments = list(b);
                self.external(facts.name(a), &arguments)
            }
            Op::Anonymous => self.instance_of(DefId { file, index: a }),
            Op::Either => {
                let all = list(a);
                self.either(&all)
            }
            Op::Value => self.named_type(file, a),
            Op::TypeOf => self.value_type(file, a),
            Op::ThisType => self.this(file, a),
            _ => self.instantiate(self.value_type(file, index)),
        }
    }

    /// The type that an entity names, with arguments for its parameters.
    #[must_use]
    pub fn entity_named(&self, entity: Entity, name: Name, arguments: &[Type]) -> Type {
        let Entity::Def(id) = entity else {
            return match entity {
                Entity::External => self.external(name, arguments),
                entity => self.entity_type(entity, name),
            };
        };
        let Some((_, def)) = self.def(id) else { return Type::UNKNOWN };
        match def.kind {
            Kind::Alias if def.marks & mark::TRANSPARENT != 0 => {
                let environment: Vec<_> =
                    self.type_parameters(id).into_iter().zip(arguments.iter().copied()).collect();
                self.substitute(self.named_type(id.file, def.declared), &environment)
            }
            Kind::TypeParameter => self.make(Shape::Parameter(id), &[]),
            kind if kind.is_type() => self.make(Shape::Instance(id), arguments),
            Kind::Variant => self.instance_of(DefId { index: def.owner, ..id }),
            _ if arguments.is_empty() => self.instantiate(self.def_type(id)),
            _ => self.apply(self.instantiate(self.def_type(id)), arguments),
        }
    }

    /// A type with type parameters replaced.
    #[must_use]
    pub fn substitute(&self, of: Type, environment: &[(DefId, Type)]) -> Type {
        if environment.is_empty() || of == Type::UNKNOWN || of == Type::EXTERNAL {
            return of;
        }
        if let Shape::Parameter(def) = self.shape(of) {
            return environment.iter().find(|(known, _)| *known == def).map_or(of, |&(_, value)| value);
        }
        let arguments = self.arguments(of);
        if arguments.is_empty() {
            return of;
        }
        let replaced: Option<Vec<Type>> = self
            .deeper(|| arguments.iter().map(|&argument| self.substitute(argument, environment)).collect());
        match (self.shape(of), replaced) {
            (_, None) => of,
            (Shape::Either, Some(all)) => self.either(&all),
            (_, Some(all)) if all[..] == arguments[..] => of,
            (shape, Some(all)) => self.make(shape, &all),
        }
    }
}
