//! Keywords that look at the value alone, from JSON to their checks.

use crate::draft::Draft;
use crate::format::Format;
use crate::number::Decimal;
use crate::pattern::Pattern;
use crate::program::{Check, Choice, Types};
use crate::shape::{Wrong, whole};
use serde_json::{Map, Value};

pub(crate) fn compiled_pattern<'v>(pattern: &str, part: &'v Value) -> Result<Pattern, Wrong<'v>> {
    Pattern::compile(pattern).map_err(|reason| Wrong {
        part,
        message: format!("the pattern `{pattern}` cannot be used: {reason}"),
    })
}

fn texts(value: &Value) -> Vec<Box<str>> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(Into::into).collect()
}

pub(crate) fn dependent_names(value: &Value) -> Vec<(Box<str>, Vec<Box<str>>)> {
    let lists = value.as_object().into_iter().flatten().filter(|(_, value)| value.is_array());
    lists.map(|(name, list)| (name.as_str().into(), texts(list))).collect()
}

/// A keyword that looks at the value alone. Its shape has been checked.
pub(crate) fn plain<'v>(
    keyword: &str,
    value: &'v Value,
    map: &Map<String, Value>,
    draft: Draft,
) -> Result<Option<Check>, Wrong<'v>> {
    let count = || whole(value).unwrap_or_default();
    let is_exclusive = |key: &str| draft == Draft::Draft4 && map.get(key) == Some(&Value::Bool(true));
    Ok(Some(match (keyword, value) {
        ("type", _) => Check::Type(types(value)),
        ("enum", _) => Check::Enum(choice(value)),
        ("const", _) if draft >= Draft::Draft6 => Check::Const(value.clone()),
        ("minimum", Value::Number(limit)) if is_exclusive("exclusiveMinimum") => {
            Check::ExclusiveMinimum(limit.clone())
        }
        ("maximum", Value::Number(limit)) if is_exclusive("exclusiveMaximum") => {
            Check::ExclusiveMaximum(limit.clone())
        }
        ("minimum", Value::Number(limit)) => Check::Minimum(limit.clone()),
        ("maximum", Value::Number(limit)) => Check::Maximum(limit.clone()),
        ("exclusiveMinimum", Value::Number(limit)) => Check::ExclusiveMinimum(limit.clone()),
        ("exclusiveMaximum", Value::Number(limit)) => Check::ExclusiveMaximum(limit.clone()),
        ("multipleOf", Value::Number(divisor)) => match Decimal::of(divisor) {
            Some(decimal) => Check::MultipleOf(divisor.clone(), decimal),
            None => return Ok(None),
        },
        ("minLength", _) => Check::MinLength(count()),
        ("maxLength", _) => Check::MaxLength(count()),
        ("pattern", Value::String(pattern)) => Check::Pattern(compiled_pattern(pattern, value)?),
        ("format", Value::String(name)) => match Format::named(name) {
            Some(format) => Check::Format(format),
            None => return Ok(None),
        },
        ("minItems", _) => Check::MinItems(count()),
        ("maxItems", _) => Check::MaxItems(count()),
        ("uniqueItems", Value::Bool(true)) => Check::UniqueItems,
        ("minProperties", _) => Check::MinProperties(count()),
        ("maxProperties", _) => Check::MaxProperties(count()),
        ("required", _) => Check::Required(texts(value)),
        ("dependentRequired", _) if draft >= Draft::Draft2019 => {
            Check::DependentNames(dependent_names(value))
        }
        _ => return Ok(None),
    }))
}

fn types(value: &Value) -> Types {
    let mut types = Types::default();
    match value {
        Value::Array(list) => list.iter().filter_map(Value::as_str).for_each(|name| {
            types.add(name);
        }),
        one => {
            types.add(one.as_str().unwrap_or_default());
        }
    }
    types
}

fn choice(options: &Value) -> Choice {
    fn weight(value: &Value) -> u64 {
        match value {
            Value::String(_) => 0,
            Value::Array(items) => 1 + items.iter().map(|item| 1 + weight(item)).sum::<u64>(),
            Value::Object(map) => 1 + map.values().map(|item| 1 + weight(item)).sum::<u64>(),
            _ => 1,
        }
    }
    let mut texts = texts(options);
    texts.sort_unstable();
    let weight = options.as_array().into_iter().flatten().map(weight).sum();
    Choice { options: options.clone(), texts, weight }
}
