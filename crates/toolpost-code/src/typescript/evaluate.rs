//! The values of the language's own expressions: calls with overloads, what an argument should be, what types say of
//! types. What depends on a type parameter stays written down as a type of its own and is worked out once it is known.

mod calls;
mod infer;
mod narrow;
mod settle;
mod signatures;

use super::own;
use super::project::Modules;
use crate::facts::{NONE, Name, Op, Role};
use crate::resolve::{DefId, Query, Shape, Type, builtin};
use crate::world::FileId;

/// What type parameters stand for.
type Environment = Vec<(DefId, Type)>;

/// `T extends U ? A : B`, written down.
const CONDITIONAL: Name = Name::of("extends ? :");
/// `T[K]`, written down.
const INDEXED: Name = Name::of("T[K]");
/// `keyof T`.
const KEYOF: Name = Name::of("keyof");

const CALLED: Name = Name::of("()");
const MADE: Name = Name::of("new");
const INDEX: Name = Name::of("[]");

/// A way to call something.
struct Signature {
    def: DefId,
    environment: Environment,
}

impl Modules {
    /// The value of an expression of the language's own.
    pub(super) fn evaluate(&self, query: &Query<'_>, file: FileId, index: u32) -> Type {
        let facts = query.facts(file);
        let Some(expr) = facts.exprs.get(index as usize) else { return Type::UNKNOWN };
        let operands = facts.list(expr.b);
        let operand = |index: usize| operands.get(index).copied().unwrap_or(NONE);
        match expr.a {
            own::CALL | own::NEW => self.call_value(query, file, operands, expr.a == own::NEW),
            own::ARGUMENT => self.expected(query, file, operand(0), operand(1)),
            own::PARAMETER => self.parameter(query, query.value_type(file, operand(0)), operand(1)),
            own::RETURN => self.returned(query, query.value_type(file, operand(0))),
            own::PROPERTY => {
                let name = facts.name(operand(1));
                self.property(query, file, query.value_type(file, operand(0)), name)
            }
            own::INDEXED => {
                let of = query.named_type(file, operand(0));
                let by = match operand(1) {
                    NONE => query.named_type(file, operand(2)),
                    text => {
                        let literal = query.external(facts.name(text), &[]);
                        query.external(Name::of("string"), &[literal])
                    }
                };
                let deferred = query.external(INDEXED, &[of, by]);
                self.settle(query, deferred)
            }
            own::FUNCTION => query.def_type(DefId { file, index: operand(0) }),
            own::LITERAL => {
                let literal = query.instance_of(DefId { file, index: operand(0) });
                let wanted = query.value_type(file, operand(1));
                if wanted == Type::UNKNOWN { literal } else { query.make(Shape::Either, &[wanted, literal]) }
            }
            own::MODULE => self.module_value(query, file, facts.text(operand(0)), operand(1)),
            own::INTRINSICS => self.intrinsics(query, file),
            own::ATTRIBUTES => self.attributes(query, file, operand(0)),
            own::MAPPED => self.mapped(query, file, operand(0), operand(1)),
            own::NARROWED => self.narrowed(query, file, index),
            own::CONDITIONAL => {
                let all: Vec<Type> = operands.iter().map(|&one| query.named_type(file, one)).collect();
                query.external(CONDITIONAL, &all)
            }
            _ => Type::UNKNOWN,
        }
    }

    /// Whether a type is written down only, because what it depends on could not be found out.
    pub(super) fn is_deferred(name: Name) -> bool {
        name == CONDITIONAL || name == INDEXED
    }

    /// An instance of a class that is a value, with its parameters as they are.
    fn made(&self, query: &Query<'_>, class: Type) -> Type {
        match query.shape(class) {
            Shape::Class(def) => {
                let arguments = query.arguments(class);
                if arguments.is_empty() {
                    query.instance_of(def)
                } else {
                    query.make(Shape::Instance(def), &arguments)
                }
            }
            _ => class,
        }
    }

    fn module_value(&self, query: &Query<'_>, file: FileId, text: &str, how: u32) -> Type {
        let entities = match how {
            2 => self.required(query, file, text),
            _ => self.module_named(query, file, text),
        };
        let all: Vec<Type> =
            entities.into_iter().map(|entity| query.entity_type(entity, Name::of(text))).collect();
        let of = query.either(&all);
        if how == 1 { query.external(builtin::LATER, &[of]) } else { of }
    }

    fn mapped(&self, query: &Query<'_>, file: FileId, keys: u32, of: u32) -> Type {
        let mut keys = query.named_type(file, keys);
        if let Shape::Parameter(def) = query.shape(keys) {
            keys = query.bounds(def).first().copied().unwrap_or(keys);
        }
        match query.shape(keys) {
            Shape::External(KEYOF) => query.arguments(keys).first().copied().unwrap_or(Type::UNKNOWN),
            _ => {
                let value = query.named_type(file, of);
                query.external(builtin::MAP, &[keys, value])
            }
        }
    }

    /// The attributes that a JSX tag takes.
    fn attributes(&self, query: &Query<'_>, file: FileId, tag: u32) -> Type {
        let facts = query.facts(file);
        let of = query.value_type(file, tag);
        let is_intrinsic = facts
            .exprs
            .get(tag as usize)
            .filter(|expr| expr.op == Op::Token)
            .and_then(|expr| facts.token(expr.a))
            .filter(|token| token.role == Role::Member)
            .and_then(|token| facts.exprs.get(token.target as usize))
            .is_some_and(|target| target.op == Op::Own && target.a == own::INTRINSICS);
        if is_intrinsic {
            return of;
        }
        match query.shape(of) {
            Shape::Class(_) => self.property(query, file, self.made(query, of), Name::of("props")),
            _ => self.parameter(query, of, 0),
        }
    }
}

fn query_deeper<T>(query: &Query<'_>, ask: impl FnOnce() -> Option<T>) -> Option<T> {
    query.deeper(ask).flatten()
}
