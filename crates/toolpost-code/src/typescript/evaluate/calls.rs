//! What calls give, and what their arguments should be.

use super::{CALLED, Environment, MADE, Signature};
use crate::facts::{NONE, Name, Op, mark};
use crate::resolve::{DefId, Query, Shape, Type, builtin};
use crate::typescript::library;
use crate::typescript::own;
use crate::typescript::project::Modules;
use crate::world::FileId;

impl Modules {
    /// What a call or `new` gives.
    pub(super) fn call_value(&self, query: &Query<'_>, file: FileId, operands: &[u32], is_new: bool) -> Type {
        let (Some(&callee), Some(&types)) = (operands.first(), operands.get(1)) else { return Type::UNKNOWN };
        let arguments = &operands[2..];
        let types = query.facts(file).list(types);
        let callee = self.settle(query, query.value_type(file, callee));
        let mut all = Vec::new();
        query.each_alternative(callee, |one| {
            all.push(self.call_one(query, file, one, types, arguments, is_new));
        });
        query.either(&all)
    }

    pub(super) fn call_one(
        &self,
        query: &Query<'_>,
        file: FileId,
        callee: Type,
        types: &[u32],
        arguments: &[u32],
        is_new: bool,
    ) -> Type {
        let given = |index: u32| {
            arguments.get(index as usize).map_or(Type::UNKNOWN, |&one| query.value_type(file, one))
        };
        match query.shape(callee) {
            Shape::External(name) => {
                if is_new {
                    let mut all: Vec<Type> = types.iter().map(|&one| query.named_type(file, one)).collect();
                    if all.is_empty() && (library::is_list(name) || library::is_map(name)) {
                        let inner = library::element(query, given(0));
                        all =
                            if library::is_map(name) { query.arguments(inner).to_vec() } else { vec![inner] };
                    }
                    return query.external(name, &all);
                }
                if name == builtin::FUNCTION {
                    return query.arguments(callee).first().copied().unwrap_or(Type::UNKNOWN);
                }
                let returned = |index: u32| match arguments.get(index as usize) {
                    Some(&one) => self.returned(query, query.value_type(file, one)),
                    None => Type::UNKNOWN,
                };
                library::call(query, callee, &given, &returned).unwrap_or(Type::EXTERNAL)
            }
            Shape::Class(class) if is_new => self.construct(query, file, class, types, arguments),
            Shape::Unknown | Shape::Module(_) => Type::UNKNOWN,
            Shape::Function(def)
                if is_new && query.def(def).is_some_and(|(_, def)| def.marks & mark::OWN_B == 0) =>
            {
                Type::UNKNOWN
            }
            _ => {
                let signatures = self.signatures(query, callee, if is_new { MADE } else { CALLED });
                let Some(chosen) = self.choose(query, file, &signatures, arguments) else {
                    return Type::UNKNOWN;
                };
                let own_parameters = query.type_parameters(chosen.def);
                let environment =
                    self.infer_call(query, file, chosen, &own_parameters, types, arguments, None, true);
                query.substitute(query.return_type(chosen.def), &environment)
            }
        }
    }

    /// The first of several signatures that takes the arguments.
    pub(super) fn choose<'s>(
        &self,
        query: &Query<'_>,
        file: FileId,
        signatures: &'s [Signature],
        arguments: &[u32],
    ) -> Option<&'s Signature> {
        if signatures.len() == 1 {
            return signatures.first();
        }
        let counted: Vec<&Signature> = signatures
            .iter()
            .filter(|signature| Self::accepts_count(query, signature.def, arguments.len()))
            .collect();
        if counted.len() > 1 {
            let types: Vec<Type> = arguments
                .iter()
                .map(|&one| if one == NONE { Type::UNKNOWN } else { query.value_type(file, one) })
                .collect();
            let fits = |signature: &&&Signature| {
                types.iter().enumerate().all(|(index, &given)| {
                    let wanted = self.parameter_type(query, signature.def, index as u32);
                    wanted.is_none_or(|wanted| {
                        self.may_be(query, query.substitute(wanted, &signature.environment), given)
                    })
                })
            };
            if let Some(found) = counted.iter().find(fits) {
                return Some(found);
            }
        }
        counted.first().copied().or(signatures.first())
    }

    /// The constructors of a class, or of a base without one.
    pub(super) fn constructors(&self, query: &Query<'_>, class: DefId) -> Vec<Signature> {
        let of = query.make(Shape::Class(class), &[]);
        self.signatures(query, of, Name::of("constructor"))
    }

    pub(super) fn construct(
        &self,
        query: &Query<'_>,
        file: FileId,
        class: DefId,
        types: &[u32],
        arguments: &[u32],
    ) -> Type {
        let parameters = query.type_parameters(class);
        if parameters.is_empty() {
            return query.instance_of(class);
        }
        if types.is_empty() {
            let signatures = self.constructors(query, class);
            if let Some(chosen) = self.choose(query, file, &signatures, arguments) {
                let environment =
                    self.infer_call(query, file, chosen, &parameters, types, arguments, None, true);
                return query.substitute(query.instance_of(class), &environment);
            }
        }
        let mut environment: Environment = Vec::new();
        for (index, &parameter) in parameters.iter().enumerate() {
            let value = match types.get(index) {
                Some(&value) => query.named_type(file, value),
                None => match query.def(parameter) {
                    Some((_, def)) if def.value != NONE => {
                        query.substitute(query.named_type(parameter.file, def.value), &environment)
                    }
                    _ => continue,
                },
            };
            environment.push((parameter, value));
        }
        query.substitute(query.instance_of(class), &environment)
    }

    /// What argument number `index` of a call should be.
    pub(super) fn expected(&self, query: &Query<'_>, file: FileId, call: u32, index: u32) -> Type {
        let facts = query.facts(file);
        let Some(expr) = facts.exprs.get(call as usize) else { return Type::UNKNOWN };
        let operands = facts.list(expr.b);
        let (Some(&callee), Some(&types)) = (operands.first(), operands.get(1)) else { return Type::UNKNOWN };
        let (arguments, types) = (&operands[2..], facts.list(types));
        let is_new = expr.a == own::NEW;
        let is_super = facts.exprs.get(callee as usize).is_some_and(|callee| callee.op == Op::Super);
        let callee = self.settle(query, query.value_type(file, callee));
        let mut all = Vec::new();
        query.each_alternative(callee, |one| {
            if let Shape::External(name) = query.shape(one) {
                let other = |index: u32| {
                    arguments
                        .get(index as usize)
                        .map_or(Type::UNKNOWN, |&other| query.value_type(file, other))
                };
                if name == builtin::FUNCTION {
                    all.extend(query.arguments(one).get(index as usize + 1));
                } else {
                    all.extend(library::argument(query, one, index, &other));
                }
                return;
            }
            let signatures = match query.shape(one) {
                Shape::Class(class) if is_new => self.constructors(query, class),
                Shape::Instance(class) if is_super => self.constructors(query, class),
                _ => self.signatures(query, one, if is_new { MADE } else { CALLED }),
            };
            let class = match query.shape(one) {
                Shape::Class(class) => Some(class),
                _ => None,
            };
            let several = signatures.len() > 1;
            for signature in &signatures {
                if several && !self.suits(query, file, signature, arguments, index as usize) {
                    continue;
                }
                let own_parameters = query.type_parameters(class.unwrap_or(signature.def));
                let skip = Some(index as usize);
                let environment =
                    self.infer_call(query, file, signature, &own_parameters, types, arguments, skip, false);
                if let Some(wanted) = self.parameter_type(query, signature.def, index) {
                    all.push(query.substitute(wanted, &environment));
                }
            }
        });
        query.either(&all)
    }

    /// Whether the arguments other than functions fit a signature, one of them left out.
    pub(super) fn suits(
        &self,
        query: &Query<'_>,
        file: FileId,
        signature: &Signature,
        arguments: &[u32],
        skip: usize,
    ) -> bool {
        if !Self::accepts_count(query, signature.def, arguments.len()) {
            return false;
        }
        let facts = query.facts(file);
        arguments.iter().enumerate().all(|(index, &argument)| {
            let is_object =
                facts.exprs.get(argument as usize).is_some_and(|argument| argument.op == Op::Anonymous);
            let Some(wanted) = self.parameter_type(query, signature.def, index as u32) else { return false };
            if Self::lambda(query, file, argument).is_some() {
                let wanted = self.settle(query, wanted);
                return !matches!(query.shape(wanted), Shape::External(name) if library::is_primitive(name));
            }
            if index == skip || argument == NONE || is_object {
                return true;
            }
            self.may_be(
                query,
                query.substitute(wanted, &signature.environment),
                query.value_type(file, argument),
            )
        })
    }

    /// Parameter number `index` of something that can be called.
    pub(super) fn parameter(&self, query: &Query<'_>, function: Type, index: u32) -> Type {
        let function = self.settle(query, function);
        let mut all = Vec::new();
        query.each_alternative(function, |one| {
            let one = self.settle(query, one);
            if let Shape::External(name) = query.shape(one) {
                if name == builtin::FUNCTION {
                    all.extend(query.arguments(one).get(index as usize + 1));
                }
                return;
            }
            for signature in self.signatures(query, one, CALLED) {
                if let Some(wanted) = self.parameter_type(query, signature.def, index) {
                    all.push(query.substitute(wanted, &signature.environment));
                }
            }
        });
        query.either(&all)
    }

    /// What something that can be called returns.
    pub(in crate::typescript) fn returned(&self, query: &Query<'_>, function: Type) -> Type {
        let function = self.settle(query, function);
        let mut all = Vec::new();
        query.each_alternative(function, |one| {
            if let Shape::External(name) = query.shape(one) {
                if name == builtin::FUNCTION {
                    all.extend(query.arguments(one).first());
                }
                return;
            }
            for signature in self.signatures(query, one, CALLED).iter().take(4) {
                all.push(query.substitute(query.return_type(signature.def), &signature.environment));
            }
        });
        query.either(&all)
    }
}
