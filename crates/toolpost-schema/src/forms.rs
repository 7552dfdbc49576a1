//! `anyOf` and `oneOf`, and which of their forms a value that fits none was meant to have.

use crate::check::{Frame, Walk};
use crate::evaluated::Evaluated;
use crate::failure::{Failure, Kind};
use crate::program::{Check, NodeId, Types};
use serde_json::Value;

/// `anyOf`.
pub(crate) fn any<'p, 'v>(
    walk: &mut Walk<'p, 'v>,
    check: &'p Check,
    ids: &'p [NodeId],
    value: &'v Value,
    frame: &Frame<'_>,
    mut evaluated: Option<&mut Evaluated>,
) -> bool {
    let mut fits = false;
    for id in ids {
        fits |= walk.quietly(|walk| walk.same(*id, value, frame, evaluated.as_deref_mut()));
        // Each form that fits tells what it has looked at.
        if fits && evaluated.is_none() {
            return true;
        }
    }
    fits || none_fits(walk, check, ids, value, frame, evaluated)
}

/// `oneOf`.
pub(crate) fn one<'p, 'v>(
    walk: &mut Walk<'p, 'v>,
    check: &'p Check,
    ids: &'p [NodeId],
    value: &'v Value,
    frame: &Frame<'_>,
    mut evaluated: Option<&mut Evaluated>,
) -> bool {
    let mut count = 0;
    for id in ids {
        if walk.quietly(|walk| walk.same(*id, value, frame, evaluated.as_deref_mut())) {
            count += 1;
        }
        if count > 1 {
            return walk.fail(Kind::SeveralForms, value, frame);
        }
    }
    count == 1 || none_fits(walk, check, ids, value, frame, evaluated)
}

/// Reports the failures of the form that was meant, or that there is none. Always false.
fn none_fits<'p, 'v>(
    walk: &mut Walk<'p, 'v>,
    check: &'p Check,
    ids: &'p [NodeId],
    value: &'v Value,
    frame: &Frame<'_>,
    evaluated: Option<&mut Evaluated>,
) -> bool {
    if !walk.is_collecting {
        return false;
    }
    // What none of the forms looked at is no further mistake.
    if let Some(evaluated) = evaluated {
        evaluated.add_all();
    }
    let before = std::mem::take(&mut walk.failures);
    let place = frame.place();
    let mut meant = Vec::new();
    let mut types = Some(Types::default());
    for id in ids {
        walk.same(*id, value, frame, None);
        let failures = std::mem::take(&mut walk.failures);
        types = types.zip(wrong_type(&failures, &place)).map(|(mut types, more)| {
            types.join(more);
            types
        });
        if !failures.iter().any(|failure| rules_out(failure, &place)) {
            meant.push(failures);
        }
    }
    walk.failures = before;
    let mut names: Vec<&'p str> = Vec::new();
    if meant.len() > 1 {
        let missing: Vec<_> = meant.iter().map(|failures| missing_name(failures, &place)).collect();
        let whole: Vec<usize> = (0..meant.len()).filter(|at| missing[*at].is_none()).collect();
        match whole[..] {
            // The only form whose names are all there.
            [only] => meant = vec![meant.swap_remove(only)],
            [] => names.extend(missing.into_iter().flatten()),
            _ => {}
        }
    }
    match (meant.pop(), meant.is_empty(), types) {
        (Some(failures), true, _) if ids.len() > 1 => {
            failures.into_iter().for_each(|failure| walk.push(failure));
            false
        }
        (Some(_), false, _) if !names.is_empty() => {
            names.dedup();
            walk.fail(Kind::NoNames(names), value, frame)
        }
        (None, _, Some(types)) => walk.fail(Kind::NoType(types), value, frame),
        _ => walk.fail(Kind::Check(check), value, frame),
    }
}

/// The types that a form wants, if the value as a whole has another.
fn wrong_type(failures: &[Failure<'_, '_>], place: &str) -> Option<Types> {
    failures.iter().find_map(|failure| match &failure.kind {
        Kind::Check(Check::Type(types)) if failure.place == place => Some(*types),
        Kind::NoType(types) if failure.place == place => Some(*types),
        _ => None,
    })
}

/// The first property of the whole that a form wants and that is not there.
fn missing_name<'p>(failures: &[Failure<'p, '_>], place: &str) -> Option<&'p str> {
    failures.iter().find_map(|failure| match failure.kind {
        Kind::Missing(name) if failure.place == place => Some(name),
        _ => None,
    })
}

/// Whether a failure shows that another form was meant: the type of the whole, its value, or a property that must have
/// one value or one of few.
fn rules_out(failure: &Failure<'_, '_>, place: &str) -> bool {
    let Some(rest) = failure.place.strip_prefix(place) else { return false };
    match &failure.kind {
        Kind::Check(Check::Type(_)) | Kind::NoType(_) => rest.is_empty(),
        Kind::Check(Check::Const(_) | Check::Enum(_)) => rest.matches('/').count() <= 1,
        Kind::Check(Check::Never | Check::Not(_) | Check::Any(_) | Check::One(_)) => rest.is_empty(),
        _ => false,
    }
}
