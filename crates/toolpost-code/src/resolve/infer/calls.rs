//! What calls, indexing and iterating give, and what functions take.

use super::builtin;
use crate::facts::{Expr, Kind, NONE, Op, mark};
use crate::language::Step;
use crate::resolve::{DefId, Query, Shape, Type};
use crate::world::FileId;

impl Query<'_> {
    /// What calling a value of a type gives.
    #[must_use]
    pub fn call(&self, file: FileId, callee: Type, arguments: &[Type]) -> Type {
        if let Some(answer) = self.project(file).call(self, callee, arguments) {
            return answer;
        }
        match self.shape(callee) {
            Shape::Function(def) => {
                let mut environment: Vec<(DefId, Type)> = Vec::new();
                let known = self.arguments(callee);
                let parameters = self.parameters_in_scope(def);
                for (&parameter, &value) in parameters.iter().zip(known.iter()) {
                    if self.shape(value) != Shape::Parameter(parameter) {
                        environment.push((parameter, value));
                    }
                }
                if environment.len() < parameters.len() && !arguments.is_empty() {
                    let facts = self.facts(def.file);
                    let parts: Vec<u32> = facts.parts(def.index, Kind::Parameter).collect();
                    let skipped = usize::from(arguments.len() < parts.len() && self.takes_receiver(def));
                    for (&index, &argument) in parts.iter().skip(skipped).zip(arguments) {
                        let wanted = self.def_type(DefId { file: def.file, index });
                        self.unify(wanted, argument, &mut environment);
                    }
                }
                self.substitute(self.return_type(def), &environment)
            }
            Shape::Class(def) => {
                if self.arguments(callee).is_empty() {
                    return self.instance_of(def);
                }
                self.make(Shape::Instance(def), &self.arguments(callee))
            }
            Shape::External(name) if name == builtin::FUNCTION => {
                self.arguments(callee).first().copied().unwrap_or(Type::UNKNOWN)
            }
            Shape::External(_) => Type::EXTERNAL,
            Shape::Either => self.map_alternatives(callee, |one| self.call(file, one, arguments)),
            Shape::Instance(def) => match self.underlying(def) {
                Some(under) => {
                    let under = self.substitute(under, &self.environment_of(callee));
                    self.deeper(|| self.call(file, under, arguments)).unwrap_or(Type::UNKNOWN)
                }
                None => Type::UNKNOWN,
            },
            Shape::Parameter(def) => {
                let all: Vec<Type> = self.bounds(def);
                let call = || all.iter().map(|&bound| self.call(file, bound, arguments)).collect::<Vec<_>>();
                self.deeper(call).map_or(Type::UNKNOWN, |all| self.either(&all))
            }
            _ => Type::UNKNOWN,
        }
    }

    /// What a named type is made of, if it is declared as another.
    pub(super) fn underlying(&self, def: DefId) -> Option<Type> {
        let (_, known) = self.def(def)?;
        (known.kind == Kind::Alias && known.declared != NONE)
            .then(|| self.named_type(def.file, known.declared))
    }

    /// What indexing, iterating and so on give.
    #[must_use]
    pub fn step(&self, file: FileId, step: Step, of: Type) -> Type {
        if self.shape(of) == Shape::Either {
            return self.map_alternatives(of, |one| self.step(file, step, one));
        }
        if let Some(answer) = self.project(file).step(self, step, of) {
            return answer;
        }
        let arguments = self.arguments(of);
        let argument = |index: usize| arguments.get(index).copied().unwrap_or(Type::EXTERNAL);
        match (self.shape(of), step) {
            (Shape::External(name), Step::Await) if name == builtin::LATER => argument(0),
            (_, Step::Await | Step::Try | Step::Enter | Step::Deref) => of,
            (Shape::External(name), Step::Index | Step::Element) if name == builtin::LIST => argument(0),
            (Shape::External(name), Step::Index | Step::Element) if name == builtin::MAP => argument(1),
            (Shape::External(name), Step::Key) if name == builtin::MAP => argument(0),
            (Shape::External(name), Step::Index | Step::Element) if name == builtin::TUPLE => {
                self.either(&arguments)
            }
            (Shape::External(_), _) => Type::EXTERNAL,
            (Shape::Instance(def), step) => match self.underlying(def) {
                Some(under) => {
                    let under = self.substitute(under, &self.environment_of(of));
                    self.deeper(|| self.step(file, step, under)).unwrap_or(Type::UNKNOWN)
                }
                None => Type::UNKNOWN,
            },
            _ => Type::UNKNOWN,
        }
    }

    /// Element number `index` of a tuple.
    #[must_use]
    pub fn at(&self, file: FileId, of: Type, index: u32) -> Type {
        self.map_alternatives(of, |one| match self.shape(one) {
            Shape::External(name) if name == builtin::TUPLE => {
                self.arguments(one).get(index as usize).copied().unwrap_or(Type::UNKNOWN)
            }
            _ => self.project(file).at(self, one, index).unwrap_or(Type::UNKNOWN),
        })
    }

    /// Parameter number `index` of a function type.
    #[expect(clippy::only_used_in_recursion, reason = "whoever asks says for which file, as everywhere")]
    #[must_use]
    pub fn parameter_of(&self, file: FileId, function: Type, index: u32) -> Type {
        self.map_alternatives(function, |one| match self.shape(one) {
            Shape::Parameter(def) => {
                let all: Vec<Type> = self.bounds(def);
                let ask =
                    || all.iter().map(|&bound| self.parameter_of(file, bound, index)).collect::<Vec<_>>();
                self.deeper(ask).map_or(Type::UNKNOWN, |all| self.either(&all))
            }
            Shape::External(name) if name == builtin::FUNCTION => {
                self.arguments(one).get(index as usize + 1).copied().unwrap_or(Type::UNKNOWN)
            }
            Shape::Function(def) => {
                let facts = self.facts(def.file);
                let skipped = u32::from(self.takes_receiver(def));
                let part = facts.parts(def.index, Kind::Parameter).nth((index + skipped) as usize);
                let of = part.map_or(Type::UNKNOWN, |index| self.def_type(DefId { file: def.file, index }));
                let known = self.arguments(one);
                let environment: Vec<_> =
                    self.parameters_in_scope(def).into_iter().zip(known.iter().copied()).collect();
                self.substitute(of, &environment)
            }
            Shape::Instance(def) => match self.underlying(def) {
                Some(under) => {
                    let under = self.substitute(under, &self.environment_of(one));
                    self.deeper(|| self.parameter_of(def.file, under, index)).unwrap_or(Type::UNKNOWN)
                }
                None => Type::UNKNOWN,
            },
            _ => Type::UNKNOWN,
        })
    }

    /// Whether the first parameter of a function takes the object that it is called on.
    pub(super) fn takes_receiver(&self, def: DefId) -> bool {
        let facts = self.facts(def.file);
        let first = facts.parts(def.index, Kind::Parameter).next();
        first.is_some_and(|index| facts.defs[index as usize].marks & mark::RECEIVER != 0)
    }

    /// What argument number `index` of a call should be.
    pub(super) fn expected_argument(&self, file: FileId, call: u32, index: u32) -> Type {
        let facts = self.facts(file);
        let Some(&Expr { op, a, .. }) = facts.exprs.get(call as usize) else { return Type::UNKNOWN };
        let callee =
            if op == Op::New { self.class_of(self.named_type(file, a)) } else { self.value_type(file, a) };
        self.map_alternatives(callee, |one| match self.shape(one) {
            Shape::Class(class) => match self.project(class.file).constructor(self, class) {
                Some(constructor) => self.parameter_of(file, self.def_type(constructor), index),
                None => Type::UNKNOWN,
            },
            _ => self.parameter_of(file, one, index),
        })
    }
}
