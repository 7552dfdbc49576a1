//! What definitions are that say no type themselves: parameters, decorated functions, type variables.

use super::methods;
use crate::facts::{Kind, NONE, Name, Op, mark, space};
use crate::python::own;
use crate::resolve::{DefId, Entity, Query, Shape, Type};

/// The type of a definition that says none itself.
pub(in crate::python) fn implied(query: &Query<'_>, def: DefId) -> Option<Type> {
    let (facts, known) = query.def(def)?;
    match known.kind {
        Kind::Parameter => {
            let owner = facts.def(known.owner)?;
            if owner.kind != Kind::Method {
                return None;
            }
            let class = DefId { file: def.file, index: owner.owner };
            let position = facts.parts(known.owner, Kind::Parameter).position(|part| part == def.index)?;
            let is_class = owner.marks & own::mark::CLASS_METHOD != 0;
            if position == 0 && known.marks & mark::REST == 0 && (is_class || owner.marks & mark::STATIC == 0)
            {
                let instance = query.instance_of(class);
                return Some(if is_class { query.class_of(instance) } else { instance });
            }
            inherited_parameter(query, class, facts.name(owner.name), facts.name(known.name))
        }
        Kind::Field => {
            let class = DefId { file: def.file, index: known.owner };
            let name = facts.name(known.name);
            query.bases(class).iter().copied().find_map(|base| {
                let member = query.members(def.file, base, name, space::ANY).into_iter().next()?;
                let Entity::Def(found) = member.entity else { return None };
                Some(query.substitute(query.def_type(found), &member.environment))
            })
        }
        _ => None,
    }
}

/// The type of a parameter in the method that a method overrides.
fn inherited_parameter(query: &Query<'_>, class: DefId, method: Name, parameter: Name) -> Option<Type> {
    query.bases(class).iter().copied().find_map(|base| {
        let function = methods(query, class.file, base, method).into_iter().next()?;
        let facts = query.facts(function.file);
        let is_it = |&part: &u32| facts.name(facts.defs[part as usize].name) == parameter;
        let part = facts.parts(function.index, Kind::Parameter).find(is_it)?;
        let of = query.def_type(DefId { file: function.file, index: part });
        (of != Type::UNKNOWN).then_some(of)
    })
}

/// What decorators make of a function.
pub(in crate::python) fn decorated(query: &Query<'_>, def: DefId, plain: Type) -> Option<Type> {
    let facts = query.facts(def.file);
    let decorators: Vec<u32> = facts.parts(def.index, Kind::Constant).collect();
    let mut current = plain;
    for part in decorators.into_iter().rev() {
        let decorator = query.value_type(def.file, facts.defs[part as usize].value);
        let result = query.call(def.file, decorator, &[current]);
        // A decorator that gives a function again is taken to leave its parameters as they are.
        let replaces = match query.shape(result) {
            Shape::Instance(_) | Shape::Class(_) => true,
            Shape::Either => {
                query.arguments(result).iter().any(|&one| matches!(query.shape(one), Shape::Instance(_)))
            }
            _ => false,
        };
        if replaces {
            current = result;
        }
    }
    (current != plain).then_some(current)
}

/// The type variables of a class or function: those between brackets, or those that its bases or parameters name.
pub(in crate::python) fn type_parameters(query: &Query<'_>, def: DefId) -> Vec<DefId> {
    let Some((facts, known)) = query.def(def) else { return Vec::new() };
    let mut found: Vec<DefId> =
        facts.parts(def.index, Kind::TypeParameter).map(|index| DefId { file: def.file, index }).collect();
    if !found.is_empty() {
        return found;
    }
    if known.kind.is_type() {
        for base in facts.bases_of(def.index) {
            let Some(expr) = facts.exprs.get(base.base as usize) else { continue };
            if expr.op == Op::Apply {
                for &argument in facts.list(expr.b) {
                    variables(query, query.named_type(def.file, argument), &mut found, 0);
                }
            }
        }
    } else if known.kind.is_function() {
        for part in facts.parts(def.index, Kind::Parameter) {
            let declared = facts.defs[part as usize].declared;
            if declared != NONE {
                variables(query, query.named_type(def.file, declared), &mut found, 0);
            }
        }
        if let Some(owner) = facts.def(known.owner)
            && owner.kind.is_type()
        {
            let outer = query.type_parameters(DefId { file: def.file, index: known.owner });
            found.retain(|one| !outer.contains(one));
        }
    }
    found
}

fn variables(query: &Query<'_>, of: Type, found: &mut Vec<DefId>, depth: u32) {
    if depth > 8 {
        return;
    }
    if let Shape::Parameter(def) = query.shape(of) {
        if !found.contains(&def) {
            found.push(def);
        }
        return;
    }
    for &argument in &query.arguments(of) {
        variables(query, argument, found, depth + 1);
    }
}
