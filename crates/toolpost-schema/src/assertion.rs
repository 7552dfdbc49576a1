//! Checks that look at one value alone.

use crate::check::Walk;
use crate::equal::{all_differ, equal};
use crate::number::{Decimal, compare};
use crate::program::{Check, Choice};
use serde_json::{Number, Value};

/// Whether the value passes the check; none if the check applies other schemas. A check for another type is passed.
pub(crate) fn holds(check: &Check, value: &Value, walk: &mut Walk<'_, '_>) -> Option<bool> {
    match check {
        Check::Never => Some(false),
        Check::Type(types) => Some(types.has(value)),
        Check::Enum(choice) => Some(is_chosen(choice, value, walk)),
        Check::Const(wanted) => Some(equal(wanted, value)),
        Check::Minimum(_)
        | Check::Maximum(_)
        | Check::ExclusiveMinimum(_)
        | Check::ExclusiveMaximum(_)
        | Check::MultipleOf(..) => Some(match value {
            Value::Number(number) => number_holds(check, number),
            _ => true,
        }),
        Check::MinLength(_) | Check::MaxLength(_) | Check::Pattern(_) | Check::Format(_) => {
            Some(match value {
                Value::String(text) => walk.spend(text.len() as u64 / 64) && text_holds(check, text),
                _ => true,
            })
        }
        Check::MinItems(_) | Check::MaxItems(_) | Check::UniqueItems => Some(match value {
            Value::Array(items) => array_holds(check, items, walk),
            _ => true,
        }),
        Check::MinProperties(least) => Some(value.as_object().is_none_or(|map| map.len() as u64 >= *least)),
        Check::MaxProperties(most) => Some(value.as_object().is_none_or(|map| map.len() as u64 <= *most)),
        _ => None,
    }
}

fn is_chosen(choice: &Choice, value: &Value, walk: &mut Walk<'_, '_>) -> bool {
    if let Value::String(text) = value {
        return choice.texts.binary_search_by(|known| (**known).cmp(text)).is_ok();
    }
    walk.spend(choice.weight)
        && choice.options.as_array().is_some_and(|options| options.iter().any(|option| equal(option, value)))
}

fn number_holds(check: &Check, number: &Number) -> bool {
    match check {
        Check::Minimum(limit) => compare(number, limit).is_ge(),
        Check::Maximum(limit) => compare(number, limit).is_le(),
        Check::ExclusiveMinimum(limit) => compare(number, limit).is_gt(),
        Check::ExclusiveMaximum(limit) => compare(number, limit).is_lt(),
        Check::MultipleOf(_, divisor) => {
            Decimal::of(number).is_some_and(|number| number.is_multiple_of(*divisor))
        }
        _ => true,
    }
}

fn text_holds(check: &Check, text: &str) -> bool {
    let at_least = |count: u64| text.chars().count() as u64 >= count;
    match check {
        // A character takes one to four bytes, which often answers without counting.
        Check::MinLength(least) => text.len() as u64 >= least.saturating_mul(4) || at_least(*least),
        Check::MaxLength(most) => text.len() as u64 <= *most || !at_least(most.saturating_add(1)),
        Check::Pattern(pattern) => pattern.matches(text),
        Check::Format(format) => format.fits(text),
        _ => true,
    }
}

fn array_holds(check: &Check, items: &[Value], walk: &mut Walk<'_, '_>) -> bool {
    match check {
        Check::MinItems(least) => items.len() as u64 >= *least,
        Check::MaxItems(most) => items.len() as u64 <= *most,
        Check::UniqueItems => walk.spend(items.iter().map(size).sum()) && all_differ(items),
        _ => true,
    }
}

/// About how long it takes to hash a value.
fn size(value: &Value) -> u64 {
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<u64>(),
        Value::Object(map) => 1 + map.values().map(size).sum::<u64>(),
        Value::String(text) => 1 + text.len() as u64 / 64,
        _ => 1,
    }
}
