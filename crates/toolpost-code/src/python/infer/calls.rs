//! What calls give: of functions of the tree, and of those that the language brings.

use super::{CONTEXT, NOTHING, awaited, is_mapping, is_sequence, method_result, name};
use crate::facts::{Kind, Name, mark};
use crate::language::Step;
use crate::python::own;
use crate::resolve::{DefId, Query, Shape, Type, builtin};
use crate::world::FileId;

/// What a call gives.
pub(in crate::python) fn call(query: &Query<'_>, callee: Type, arguments: &[Type]) -> Option<Type> {
    match query.shape(callee) {
        Shape::Function(def) => call_function(query, def, callee, arguments),
        Shape::Instance(_) => method_result(query, callee, name("__call__")),
        Shape::External(of) => call_external(query, of, callee, arguments),
        _ => None,
    }
}

fn call_function(query: &Query<'_>, def: DefId, callee: Type, arguments: &[Type]) -> Option<Type> {
    let (facts, known) = query.def(def)?;
    let mut result = query.return_type(def);
    if known.marks & own::mark::CONTEXT != 0 {
        let plain = awaited(query, result);
        let entered = query.step(def.file, Step::Element, plain);
        result = query.external(CONTEXT, &[entered]);
    }
    let parameters = query.parameters_in_scope(def);
    if parameters.is_empty() {
        return Some(result);
    }
    let mut environment: Vec<(DefId, Type)> = Vec::new();
    for (&parameter, &value) in parameters.iter().zip(query.arguments(callee).iter()) {
        if query.shape(value) != Shape::Parameter(parameter) {
            environment.push((parameter, value));
        }
    }
    let is_bound = known.kind == Kind::Method
        && (known.marks & mark::STATIC == 0 || known.marks & own::mark::CLASS_METHOD != 0);
    let parts = facts.parts(def.index, Kind::Parameter).skip(usize::from(is_bound));
    for (index, &argument) in parts.zip(arguments) {
        let wanted = query.def_type(DefId { file: def.file, index });
        unify(query, wanted, argument, &mut environment);
    }
    Some(query.substitute(result, &environment))
}

/// Finds type variables also behind unions and containers of other names.
fn unify(query: &Query<'_>, wanted: Type, given: Type, environment: &mut Vec<(DefId, Type)>) {
    match (query.shape(wanted), query.shape(given)) {
        (Shape::Either, _) => {
            for &one in &query.arguments(wanted) {
                if query.shape(one) != Shape::External(NOTHING) {
                    unify(query, one, given, environment);
                }
            }
        }
        (Shape::External(one), Shape::External(other))
            if one != other && is_sequence(one) && (is_sequence(other) || other == builtin::TUPLE) =>
        {
            let (Some(&wanted), given) = (query.arguments(wanted).first(), query.arguments(given)) else {
                return;
            };
            let given = query.either(&given);
            unify(query, wanted, given, environment);
        }
        (Shape::External(one), Shape::External(other))
            if one != other && is_mapping(one) && is_mapping(other) =>
        {
            let (wanted, given) = (query.arguments(wanted), query.arguments(given));
            for (&wanted, &given) in wanted.iter().zip(given.iter()) {
                unify(query, wanted, given, environment);
            }
        }
        (Shape::External(one), Shape::Function(def)) if one == builtin::FUNCTION => {
            if let Some(&wanted) = query.arguments(wanted).first() {
                unify(query, wanted, query.return_type(def), environment);
            }
        }
        (Shape::External(one), Shape::Class(def)) if one == builtin::FUNCTION => {
            if let Some(&wanted) = query.arguments(wanted).first() {
                unify(query, wanted, query.instance_of(def), environment);
            }
        }
        _ => query.unify(wanted, given, environment),
    }
}

fn call_external(query: &Query<'_>, of: Name, callee: Type, arguments: &[Type]) -> Option<Type> {
    let first = arguments.first().copied().unwrap_or(Type::UNKNOWN);
    let element = |of: Type| query.step(FileId(0), Step::Element, of);
    let is = |text: &str| Name::of(text) == of;
    let own = query.arguments(callee);
    if (is_sequence(of) || is_mapping(of)) && !own.is_empty() {
        return Some(callee);
    }
    let known = |of: Type| if of == Type::UNKNOWN { Type::EXTERNAL } else { of };
    let iterator = |of: Type| query.external(name("Iterator"), &[known(of)]);
    if is("list") || is("set") || is("frozenset") || is("tuple") || is("deque") {
        return Some(query.external(of, &[known(element(first))]));
    }
    if is("sorted") {
        return Some(query.external(name("list"), &[known(element(first))]));
    }
    if is("reversed") || is("iter") || is("aiter") || is("filter") {
        let over = if is("filter") { arguments.get(1).copied().unwrap_or(Type::UNKNOWN) } else { first };
        return Some(iterator(element(over)));
    }
    if is("chain") || is("from_iterable") {
        let all: Vec<Type> = arguments.iter().map(|&one| element(one)).collect();
        let all = query.either(&all);
        return Some(iterator(if is("chain") { all } else { element(all) }));
    }
    if is("next") || is("anext") {
        return Some(awaited(query, element(first)));
    }
    if is("enumerate") {
        let number = query.external(name("int"), &[]);
        return Some(iterator(query.external(builtin::TUPLE, &[number, element(first)])));
    }
    if is("zip") {
        let all: Vec<Type> = arguments.iter().map(|&one| element(one)).collect();
        return Some(iterator(query.external(builtin::TUPLE, &all)));
    }
    if is("map") {
        return Some(iterator(query.call(FileId(0), first, &[])));
    }
    if is("min") || is("max") {
        return Some(if arguments.len() == 1 { element(first) } else { query.either(arguments) });
    }
    if is("copy") || is("deepcopy") || is("replace") && matches!(query.shape(first), Shape::Instance(_)) {
        return Some(known(first));
    }
    if is("dict") || is("OrderedDict") {
        return match query.shape(first) {
            Shape::External(given) if is_mapping(given) => Some(query.external(of, &query.arguments(first))),
            _ => Some(query.external(of, &[])),
        };
    }
    if is("defaultdict") {
        let value = query.call(FileId(0), first, &[]);
        return Some(query.external(of, &[Type::EXTERNAL, known(value)]));
    }
    if is("wait_for") || is("shield") || is("create_task") || is("ensure_future") {
        return Some(first);
    }
    if is("run") && matches!(query.shape(first), Shape::External(later) if later == builtin::LATER) {
        return Some(awaited(query, first));
    }
    if of == builtin::FUNCTION {
        return None;
    }
    // A type of the language itself gives a value of that type.
    if is("str") || is("int") || is("float") || is("bytes") || is("bool") {
        return Some(callee);
    }
    None
}
