//! What tests of classes, operators and assignments make of a type.

use super::method_result;
use crate::facts::{NONE, Name};
use crate::language::Step;
use crate::python::own;
use crate::resolve::{Query, Shape, Type, builtin};
use crate::world::FileId;

/// The value of an expression of Python's own.
pub(in crate::python) fn own_expression(query: &Query<'_>, file: FileId, expr: u32) -> Option<Type> {
    let facts = query.facts(file);
    let list = facts.list(facts.exprs.get(expr as usize)?.a);
    let (&code, operands) = list.split_first()?;
    let value = |index: usize| query.value_type(file, operands.get(index).copied().unwrap_or(NONE));
    let answer = match code {
        own::ASSIGNED => {
            let given = value(0);
            let mut is_ours = false;
            query.each_alternative(given, |one| {
                is_ours |= !matches!(query.shape(one), Shape::External(_) | Shape::Unknown);
            });
            let declared = if is_ours { Type::UNKNOWN } else { value(1) };
            if declared == Type::UNKNOWN { given } else { declared }
        }
        own::INSTANCE => instances(query, value(0), value(1)),
        own::NOT_INSTANCE => others(query, value(0), value(1)),
        own::SUBCLASS => value(1),
        own::CLASS_OF => {
            let mut all = Vec::new();
            query.each_alternative(value(0), |one| {
                all.push(match query.shape(one) {
                    Shape::External(_) => Type::EXTERNAL,
                    _ => query.class_of(one),
                });
            });
            query.either(&all)
        }
        own::OPERATOR => operator(query, value(0), value(1), facts.text(*operands.get(2)?)),
        own::CAUGHT => {
            let all: Vec<Type> =
                classes(query, value(0)).into_iter().map(|one| instance(query, one)).collect();
            query.either(&all)
        }
        own::ELEMENT => {
            let of = value(0);
            let mut all = Vec::new();
            query.each_alternative(of, |one| {
                let is_tuple = matches!(query.shape(one), Shape::External(name) if name == builtin::TUPLE);
                all.push(if is_tuple || is_record(query, one) {
                    query.at(file, one, operands.get(1).copied().unwrap_or(0))
                } else {
                    query.step(file, Step::Index, one)
                });
            });
            query.either(&all)
        }
        _ => return None,
    };
    Some(answer)
}

fn is_record(query: &Query<'_>, of: Type) -> bool {
    matches!(query.shape(of), Shape::Instance(def)
        if query.def(def).is_some_and(|(_, def)| def.marks & own::mark::RECORD != 0))
}

/// The classes that a test names: one, or a tuple or union of them.
fn classes(query: &Query<'_>, of: Type) -> Vec<Type> {
    let mut found = Vec::new();
    let mut open = vec![of];
    while let Some(one) = open.pop() {
        match query.shape(one) {
            Shape::Either => open.extend(query.arguments(one).iter().rev()),
            Shape::External(name) if name == builtin::TUPLE => open.extend(query.arguments(one).iter().rev()),
            _ => found.push(one),
        }
        if found.len() > 16 {
            break;
        }
    }
    found
}

fn instance(query: &Query<'_>, class: Type) -> Type {
    match query.shape(class) {
        Shape::Class(def) => query.make(Shape::Instance(def), &query.arguments(class)),
        Shape::Unknown => Type::UNKNOWN,
        _ => class,
    }
}

/// Whether a value of one type is an instance of a class.
fn is_instance(query: &Query<'_>, one: Type, class: Type) -> bool {
    match (query.shape(one), query.shape(class)) {
        (Shape::Instance(of), Shape::Class(class)) => query.ancestry(of).contains(&class),
        (Shape::External(of), Shape::External(class)) => of == class,
        _ => false,
    }
}

/// What of a type can be an instance of one of some classes.
fn instances(query: &Query<'_>, of: Type, class: Type) -> Type {
    let mut all = Vec::new();
    for class in classes(query, class) {
        let mut kept = Vec::new();
        query.each_alternative(of, |one| {
            if is_instance(query, one, class) {
                kept.push(one);
            }
        });
        if kept.is_empty() {
            kept.push(instance(query, class));
        }
        all.extend(kept);
    }
    let known = query.either(&all);
    if known == Type::UNKNOWN { of } else { known }
}

/// What of a type can be no instance of any of some classes.
fn others(query: &Query<'_>, of: Type, class: Type) -> Type {
    let classes = classes(query, class);
    let mut kept = Vec::new();
    query.each_alternative(of, |one| {
        if !classes.iter().any(|&class| is_instance(query, one, class)) {
            kept.push(one);
        }
    });
    if kept.is_empty() { of } else { query.either(&kept) }
}

fn operator(query: &Query<'_>, left: Type, right: Type, method: &str) -> Type {
    let is_class = |of: Type| matches!(query.shape(of), Shape::Class(_));
    if method == "__or__" && (is_class(left) || is_class(right)) {
        return query.either(&[left, right]);
    }
    let mut all = Vec::new();
    query.each_alternative(left, |one| all.extend(method_result(query, one, Name::of(method))));
    if all.is_empty() {
        let reflected = format!("__r{}", method.trim_start_matches('_'));
        query.each_alternative(right, |one| all.extend(method_result(query, one, Name::of(&reflected))));
    }
    if all.is_empty() {
        // The types of the language give what they take; of a class without the method nothing is known.
        query.each_alternative(left, |one| {
            all.push(if matches!(query.shape(one), Shape::External(_)) { one } else { Type::UNKNOWN });
        });
    }
    query.either(&all)
}
