//! What type parameters stand for in a call, from its arguments.

use super::{CALLED, Environment, Signature};
use crate::facts::{Kind, NONE, Op};
use crate::resolve::{DefId, Query, Shape, Type, builtin};
use crate::typescript::library;
use crate::typescript::own;
use crate::typescript::project::Modules;
use crate::world::FileId;

impl Modules {
    pub(super) fn lambda(query: &Query<'_>, file: FileId, expr: u32) -> Option<DefId> {
        let facts = query.facts(file);
        let expr = facts.exprs.get(expr as usize)?;
        let is_lambda = expr.op == Op::Own && expr.a == own::FUNCTION;
        is_lambda.then(|| DefId { file, index: facts.list(expr.b).first().copied().unwrap_or(NONE) })
    }

    /// Finds what type parameters stand for in a call, from its arguments; functions among them only if `deep`.
    #[expect(clippy::too_many_arguments, reason = "everything that a call consists of")]
    pub(super) fn infer_call(
        &self,
        query: &Query<'_>,
        file: FileId,
        signature: &Signature,
        own_parameters: &[DefId],
        types: &[u32],
        arguments: &[u32],
        skip: Option<usize>,
        deep: bool,
    ) -> Environment {
        let mut environment = signature.environment.clone();
        if own_parameters.is_empty() {
            return environment;
        }
        if types.is_empty() {
            for pass in 0..=usize::from(deep) {
                for (index, &argument) in arguments.iter().enumerate() {
                    let lambda = Self::lambda(query, file, argument);
                    if Some(index) == skip || argument == NONE || (pass == 1) != lambda.is_some() {
                        continue;
                    }
                    let Some(wanted) = self.parameter_type(query, signature.def, index as u32) else { break };
                    if let Some(lambda) = lambda {
                        let wanted_return = self.returned(query, wanted);
                        let given = query.return_type(lambda);
                        self.infer(query, wanted_return, given, &mut environment, 0);
                    } else {
                        let given = query.value_type(file, argument);
                        self.infer(query, wanted, given, &mut environment, 0);
                    }
                }
            }
        } else {
            for (&parameter, &value) in own_parameters.iter().zip(types) {
                environment.push((parameter, query.named_type(file, value)));
            }
        }
        for &parameter in own_parameters {
            if !environment.iter().any(|(known, _)| *known == parameter)
                && let Some((_, def)) = query.def(parameter)
                && def.value != NONE
            {
                let default = query.named_type(parameter.file, def.value);
                let default = query.substitute(default, &environment);
                environment.push((parameter, default));
            }
        }
        environment
    }

    /// Finds what type parameters in a pattern stand for, through the forms that the language's types have.
    pub(super) fn infer(
        &self,
        query: &Query<'_>,
        pattern: Type,
        given: Type,
        environment: &mut Environment,
        depth: u32,
    ) {
        if depth > 6 || given == Type::UNKNOWN || pattern == given {
            return;
        }
        match query.shape(pattern) {
            Shape::Parameter(def) => {
                if !environment.iter().any(|(known, _)| *known == def) {
                    environment.push((def, given));
                }
                return;
            }
            Shape::Either => {
                let alternatives = query.arguments(pattern);
                // What is written out comes first, a bare parameter takes what is left.
                for &one in
                    alternatives.iter().filter(|&&one| !matches!(query.shape(one), Shape::Parameter(_)))
                {
                    self.infer(query, one, given, environment, depth + 1);
                }
                let plain = library::awaited(query, given);
                let has_later = alternatives
                    .iter()
                    .any(|&one| matches!(query.shape(one), Shape::External(name) if library::is_later(name)));
                for &one in
                    alternatives.iter().filter(|&&one| matches!(query.shape(one), Shape::Parameter(_)))
                {
                    self.infer(query, one, if has_later { plain } else { given }, environment, depth + 1);
                }
                return;
            }
            Shape::Unknown => return,
            _ => {}
        }
        let given = self.settle(query, given);
        if query.shape(given) == Shape::Either {
            for &one in &query.arguments(given) {
                self.infer(query, pattern, one, environment, depth + 1);
            }
            return;
        }
        match (query.shape(pattern), query.shape(given)) {
            (Shape::External(wanted), Shape::External(known)) => {
                let (patterns, values) = (query.arguments(pattern), query.arguments(given));
                if library::is_list(wanted) && library::is_list(known) && wanted != builtin::TUPLE {
                    if let Some(&one) = patterns.first() {
                        self.infer(query, one, library::element(query, given), environment, depth + 1);
                    }
                } else if wanted == known
                    || library::is_later(wanted) && library::is_later(known)
                    || library::is_map(wanted) && library::is_map(known)
                    || wanted == builtin::TUPLE && library::is_list(known)
                {
                    for (&one, &value) in patterns.iter().zip(values.iter()) {
                        self.infer(query, one, value, environment, depth + 1);
                    }
                } else if let Some(settled) = self.settled_once(query, pattern) {
                    self.infer(query, settled, given, environment, depth + 1);
                }
            }
            (Shape::External(_), _) => {
                if let Some(settled) = self.settled_once(query, pattern) {
                    self.infer(query, settled, given, environment, depth + 1);
                }
            }
            (Shape::Instance(wanted), Shape::Instance(known) | Shape::Class(known)) => {
                self.infer_instance(query, (pattern, wanted), (given, known), environment, depth);
            }
            (Shape::Function(_) | Shape::Instance(_), _) => {
                let (Some(one), Some(other)) = (
                    self.signatures(query, pattern, CALLED).into_iter().next(),
                    self.signatures(query, given, CALLED).into_iter().next(),
                ) else {
                    return;
                };
                self.infer_function(query, &one, &other, environment, depth);
            }
            _ => {}
        }
    }

    pub(super) fn infer_instance(
        &self,
        query: &Query<'_>,
        (pattern, wanted): (Type, DefId),
        (given, known): (Type, DefId),
        environment: &mut Environment,
        depth: u32,
    ) {
        if wanted == known {
            for (&one, &value) in query.arguments(pattern).iter().zip(query.arguments(given).iter()) {
                self.infer(query, one, value, environment, depth + 1);
            }
            return;
        }
        // A base of what is given.
        for &base in query.bases(known).iter() {
            let base = query.substitute(base, &query.environment_of(given));
            if let Shape::Instance(_) = query.shape(base)
                && query.ancestry(known).contains(&wanted)
            {
                self.infer(query, pattern, base, environment, depth + 1);
                return;
            }
        }
        // By structure: the properties that both have.
        let facts = query.facts(wanted.file);
        for &part in facts.owned_by(wanted.index).iter().take(24) {
            let member = &facts.defs[part as usize];
            if !matches!(member.kind, Kind::Field | Kind::Method) {
                continue;
            }
            let name = facts.name(member.name);
            let value = self.member_types(query, given, name);
            if value != Type::UNKNOWN {
                let one = self.member_types(query, pattern, name);
                self.infer(query, one, value, environment, depth + 1);
            }
        }
    }

    pub(super) fn infer_function(
        &self,
        query: &Query<'_>,
        one: &Signature,
        other: &Signature,
        environment: &mut Environment,
        depth: u32,
    ) {
        for index in 0..4 {
            let (Some(wanted), Some(given)) =
                (self.parameter_type(query, one.def, index), self.parameter_type(query, other.def, index))
            else {
                break;
            };
            let wanted = query.substitute(wanted, &one.environment);
            let given = query.substitute(given, &other.environment);
            self.infer(query, wanted, given, environment, depth + 1);
        }
        let wanted = query.substitute(query.return_type(one.def), &one.environment);
        let given = query.substitute(query.return_type(other.def), &other.environment);
        self.infer(query, wanted, given, environment, depth + 1);
    }
}
