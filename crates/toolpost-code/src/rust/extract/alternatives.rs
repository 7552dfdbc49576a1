//! Items of one name in one place: a build has the one or the other, by `cfg`. The first stands for all of them, so that they
//! share their uses.

use std::collections::HashMap;

use crate::facts::{Def, Facts, Kind, NONE};

/// What may stand in place of each other.
#[derive(Clone, Copy, Eq, Hash, PartialEq)]
enum NameClass {
    Type,
    Value,
    Macro,
    Field,
    Variant,
}

fn class_of(def: &Def) -> Option<NameClass> {
    match def.kind {
        Kind::Function | Kind::Method | Kind::Constant => Some(NameClass::Value),
        Kind::Macro => Some(NameClass::Macro),
        Kind::Field => Some(NameClass::Field),
        Kind::Variant => Some(NameClass::Variant),
        Kind::Anonymous => None,
        kind if kind.is_type() => Some(NameClass::Type),
        _ => None,
    }
}

/// Makes the first of several items of one name stand for all, and its members those of all.
pub(super) fn join(facts: &mut Facts) {
    let others = same_as(facts, |def| def.owner == NONE && def.scope != NONE);
    if !others.is_empty() {
        let moved = |owner: u32| others.get(&owner).copied().filter(|&first| is_type(facts, first));
        let owners: Vec<Option<u32>> = facts
            .defs
            .iter()
            .map(|def| {
                let is_part = class_of(def).is_some();
                if is_part { moved(def.owner) } else { None }
            })
            .collect();
        let scopes: Vec<Option<u32>> = facts.scopes.iter().map(|scope| moved(scope.owner)).collect();
        let bases: Vec<Option<u32>> = facts.bases.iter().map(|base| moved(base.def)).collect();
        facts.defs.iter_mut().zip(owners).for_each(|(def, owner)| def.owner = owner.unwrap_or(def.owner));
        facts.scopes.iter_mut().zip(scopes).for_each(|(one, owner)| one.owner = owner.unwrap_or(one.owner));
        facts.bases.iter_mut().zip(bases).for_each(|(base, def)| base.def = def.unwrap_or(base.def));
    }
    let parts = same_as(facts, |def| def.owner != NONE);
    for (other, first) in others.into_iter().chain(parts) {
        facts.defs[other as usize].same = first;
    }
}

fn is_type(facts: &Facts, def: u32) -> bool {
    facts.def(def).is_some_and(|def| def.kind.is_type())
}

/// Each definition that has one of its name, class and place before it, with the first of them.
fn same_as(facts: &Facts, suits: impl Fn(&Def) -> bool) -> HashMap<u32, u32> {
    let mut first: HashMap<(u32, u32, u32, NameClass), u32> = HashMap::new();
    let mut others = HashMap::new();
    for (index, def) in facts.defs.iter().enumerate() {
        let index = index as u32;
        // What a macro makes of a name has no text of its own.
        let is_made = def.start == def.name_start && def.owner == NONE;
        let Some(class) = class_of(def).filter(|_| suits(def) && def.visible == 0 && !is_made) else {
            continue;
        };
        if facts.text(def.name).is_empty() || def.same != index {
            continue;
        }
        match first.entry((def.scope, def.owner, def.name, class)) {
            std::collections::hash_map::Entry::Occupied(known) => drop(others.insert(index, *known.get())),
            std::collections::hash_map::Entry::Vacant(none) => drop(none.insert(index)),
        }
    }
    others
}
