//! Checks that apply other schemas to a value or to its parts.

use crate::check::{Frame, Step, Walk};
use crate::evaluated::Evaluated;
use crate::failure::Kind;
use crate::program::{ByName, Check, Contains, Items, NodeId, Object};
use crate::{compile, forms};
use serde_json::{Map, Value};

type Properties = Map<String, Value>;

/// Whether the value passes a check that applies other schemas.
pub(crate) fn apply<'p, 'v>(
    walk: &mut Walk<'p, 'v>,
    check: &'p Check,
    value: &'v Value,
    frame: &Frame<'_>,
    mut evaluated: Option<&mut Evaluated>,
) -> bool {
    match check {
        Check::Ref(id) => walk.same(*id, value, frame, evaluated),
        Check::DynamicRef(name, otherwise) => {
            let id = walk.outermost(*name, *otherwise, frame);
            walk.same(id, value, frame, evaluated)
        }
        Check::All(ids) => {
            every(walk, ids, |walk, id| walk.same(*id, value, frame, evaluated.as_deref_mut()))
        }
        Check::Any(ids) => forms::any(walk, check, ids, value, frame, evaluated),
        Check::One(ids) => forms::one(walk, check, ids, value, frame, evaluated),
        Check::Not(id) => {
            let fits = walk.quietly(|walk| walk.same(*id, value, frame, None));
            !fits || walk.fail(Kind::Check(check), value, frame)
        }
        Check::If { condition, then, otherwise } => {
            let holds = walk.quietly(|walk| walk.same(*condition, value, frame, evaluated.as_deref_mut()));
            let branch = if holds { then } else { otherwise };
            branch.is_none_or(|id| walk.same(id, value, frame, evaluated))
        }
        Check::IsSchema(draft) => match compile::is_schema(value, *draft) {
            Ok(()) => true,
            Err(message) => walk.fail(Kind::NoSchema(message), value, frame),
        },
        _ => match value {
            Value::Object(map) => to_object(walk, check, (map, value), frame, evaluated),
            Value::Array(array) => to_array(walk, check, (array, value), frame, evaluated),
            _ => true,
        },
    }
}

/// Whether all pass; where failures are collected, all are tried.
fn every<'p, 'v, T>(
    walk: &mut Walk<'p, 'v>,
    all: impl IntoIterator<Item = T>,
    mut passes: impl FnMut(&mut Walk<'p, 'v>, T) -> bool,
) -> bool {
    let mut fits = true;
    for one in all {
        if !passes(walk, one) {
            fits = false;
            if !walk.goes_on() {
                return false;
            }
        }
    }
    fits
}

fn to_object<'p, 'v>(
    walk: &mut Walk<'p, 'v>,
    check: &'p Check,
    (map, value): (&'v Properties, &'v Value),
    frame: &Frame<'_>,
    mut evaluated: Option<&mut Evaluated>,
) -> bool {
    match check {
        Check::Object(object) => properties(walk, object, (map, value), frame, evaluated),
        Check::Required(names) => {
            walk.spend(names.len() as u64 / 8)
                && every(walk, names, |walk, name| {
                    map.contains_key(&**name) || walk.fail(Kind::Missing(name), value, frame)
                })
        }
        Check::DependentNames(all) => {
            walk.spend(all.len() as u64 / 8)
                && every(walk, all, |walk, (name, needed)| {
                    !map.contains_key(&**name) || depends(walk, name, needed, (map, value), frame)
                })
        }
        Check::DependentSchemas(all) => every(walk, all, |walk, (name, id)| {
            !map.contains_key(&**name) || walk.same(*id, value, frame, evaluated.as_deref_mut())
        }),
        Check::Names(id) => every(walk, map.keys(), |walk, name| names(walk, *id, name, value, frame)),
        Check::UnevaluatedProperties(id) => {
            let Some(evaluated) = evaluated else { return true };
            every(walk, map.iter().enumerate(), |walk, (place, (name, item))| {
                if evaluated.has(place) {
                    return true;
                }
                evaluated.add(place);
                other_property(walk, *id, (name, None), (item, value), frame)
            })
        }
        _ => true,
    }
}

fn depends<'p, 'v>(
    walk: &mut Walk<'p, 'v>,
    name: &'p str,
    needed: &'p [Box<str>],
    (map, value): (&'v Properties, &'v Value),
    frame: &Frame<'_>,
) -> bool {
    walk.spend(needed.len() as u64 / 8)
        && every(walk, needed, |walk, needed| {
            map.contains_key(&**needed) || walk.fail(Kind::MissingBeside(needed, name), value, frame)
        })
}

/// Whether the name of a property fits. It is a value that does not outlive this call, so its failure is put into words.
fn names<'v>(
    walk: &mut Walk<'_, 'v>,
    id: NodeId,
    name: &'v str,
    value: &'v Value,
    frame: &Frame<'_>,
) -> bool {
    let text = Value::String(name.to_owned());
    match walk.apart(id, &text) {
        None => true,
        Some(expected) => walk.fail(Kind::Name { name: name.to_owned(), expected }, value, frame),
    }
}

fn properties<'p, 'v>(
    walk: &mut Walk<'p, 'v>,
    object: &'p Object,
    (map, value): (&'v Properties, &'v Value),
    frame: &Frame<'_>,
    mut evaluated: Option<&mut Evaluated>,
) -> bool {
    every(walk, map.iter().enumerate(), |walk, (place, (name, item))| {
        let (mut fits, mut is_known) = (true, false);
        if let Some(id) = object.properties.get(name) {
            is_known = true;
            fits &= walk.node(id, item, Some(frame), Step::Key(name), None);
        }
        for (pattern, id) in &object.patterns {
            if walk.spend(1 + name.len() as u64 / 64) && pattern.matches(name) {
                is_known = true;
                fits &= walk.node(*id, item, Some(frame), Step::Key(name), None);
            }
        }
        if !is_known && let Some(id) = object.additional {
            is_known = true;
            fits &= other_property(walk, id, (name, Some(&object.properties)), (item, value), frame);
        }
        if is_known && let Some(evaluated) = evaluated.as_deref_mut() {
            evaluated.add(place);
        }
        fits
    })
}

/// A property that is not listed: unknown where no other is allowed.
fn other_property<'p, 'v>(
    walk: &mut Walk<'p, 'v>,
    id: NodeId,
    (name, listed): (&'v str, Option<&'p ByName>),
    (item, value): (&'v Value, &'v Value),
    frame: &Frame<'_>,
) -> bool {
    if walk.program.nodes[id as usize].is_never() {
        return walk.is_collecting && walk.fail(Kind::Unknown(name.to_owned(), listed), value, frame);
    }
    walk.node(id, item, Some(frame), Step::Key(name), None)
}

fn to_array<'p, 'v>(
    walk: &mut Walk<'p, 'v>,
    check: &'p Check,
    (array, value): (&'v [Value], &'v Value),
    frame: &Frame<'_>,
    evaluated: Option<&mut Evaluated>,
) -> bool {
    match check {
        Check::Items(items) => all_items(walk, items, array, frame, evaluated),
        Check::Contains(contains) => {
            contained(walk, contains, array, frame, evaluated) || walk.fail(Kind::Check(check), value, frame)
        }
        Check::UnevaluatedItems(id) => {
            let Some(evaluated) = evaluated else { return true };
            let fits = every(walk, array.iter().enumerate(), |walk, (place, item)| {
                evaluated.has(place) || walk.node(*id, item, Some(frame), Step::Item(place), None)
            });
            evaluated.add_all();
            fits
        }
        _ => true,
    }
}

fn all_items<'v>(
    walk: &mut Walk<'_, 'v>,
    items: &Items,
    array: &'v [Value],
    frame: &Frame<'_>,
    evaluated: Option<&mut Evaluated>,
) -> bool {
    let nodes = items.prefix.iter().copied().map(Some).chain(std::iter::repeat(items.rest));
    let pairs = array.iter().zip(nodes).enumerate();
    let fits = every(walk, pairs, |walk, (place, (item, id))| {
        id.is_none_or(|id| walk.node(id, item, Some(frame), Step::Item(place), None))
    });
    if let Some(evaluated) = evaluated {
        match items.rest {
            Some(_) => evaluated.add_all(),
            None => (0..items.prefix.len().min(array.len())).for_each(|place| evaluated.add(place)),
        }
    }
    fits
}

fn contained<'v>(
    walk: &mut Walk<'_, 'v>,
    contains: &Contains,
    array: &'v [Value],
    frame: &Frame<'_>,
    mut evaluated: Option<&mut Evaluated>,
) -> bool {
    let mut count = 0;
    for (place, item) in array.iter().enumerate() {
        // Without a maximum, and if nobody asks which items fit, enough is enough.
        if count >= contains.least && contains.most.is_none() && evaluated.is_none() {
            return true;
        }
        if walk.quietly(|walk| walk.node(contains.node, item, Some(frame), Step::Item(place), None)) {
            count += 1;
            if contains.evaluates
                && let Some(evaluated) = evaluated.as_deref_mut()
            {
                evaluated.add(place);
            }
        }
    }
    count >= contains.least && contains.most.is_none_or(|most| count <= most)
}
