//! Whether a value has the shape of a schema: each keyword of its draft with a value that it can have.
//!
//! Where references lead and what patterns mean is seen by the compiler, not here.

use crate::draft::{Draft, Holds};
use crate::problem::shown;
use crate::program::TYPES;
use serde_json::{Map, Value};
use std::ptr;
use toolpost_text::nearest;

/// Schemas nested deeper than this are refused.
const MAX_DEPTH: usize = 192;

/// What is wrong with a schema, and the part that is.
#[derive(Debug)]
pub(crate) struct Wrong<'v> {
    pub(crate) part: &'v Value,
    pub(crate) message: String,
}

impl Wrong<'_> {
    /// The place of the part as a JSON pointer.
    pub(crate) fn place(&self, root: &Value) -> String {
        place_of(root, self.part).unwrap_or_default()
    }
}

/// Looked for only when there is something wrong, so that a good schema pays nothing for it.
fn place_of(value: &Value, part: &Value) -> Option<String> {
    if ptr::eq(value, part) {
        return Some(String::new());
    }
    match value {
        Value::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(at, item)| place_of(item, part).map(|rest| format!("/{at}{rest}"))),
        Value::Object(map) => map.iter().find_map(|(key, item)| {
            let rest = place_of(item, part)?;
            Some(format!("/{}{rest}", key.replace('~', "~0").replace('/', "~1")))
        }),
        _ => None,
    }
}

/// The draft of a schema as a whole: what its `$schema` says, or the newest.
pub(crate) fn draft_of(root: &Value) -> Result<Draft, Wrong<'_>> {
    match root.get("$schema") {
        None => Ok(Draft::Draft2020),
        Some(value) => value.as_str().and_then(Draft::named).ok_or_else(|| Wrong {
            part: value,
            message: format!(
                "`$schema` is {}, which is not a supported draft; leave it out or name one of draft-04, draft-06, \
                 draft-07, 2019-09 and 2020-12, such as \"https://json-schema.org/draft/2020-12/schema\"",
                shown(value)
            ),
        }),
    }
}

/// Whether a value is nested deeper than a schema may be.
pub(crate) fn check_depth(root: &Value) -> Result<(), Wrong<'_>> {
    if crate::is_deeper(root, MAX_DEPTH) {
        let message = format!("it is nested deeper than {MAX_DEPTH} levels; use `$defs` and `$ref`");
        return Err(Wrong { part: root, message });
    }
    Ok(())
}

/// Checks a schema and all schemas inside of it.
pub(crate) fn check(schema: &Value, draft: Draft) -> Result<(), Wrong<'_>> {
    let map = match schema {
        Value::Bool(_) => return Ok(()),
        Value::Object(map) => map,
        other => return wrong(other, "a schema must be an object, `true` or `false`"),
    };
    let draft = draft.inside(map);
    if draft.ref_stands_alone() && map.get("$ref").is_some_and(Value::is_string) {
        return definitions(map, draft);
    }
    for (keyword, value) in map {
        check_keyword(keyword, value, draft)?;
    }
    Ok(())
}

/// Beside a `$ref` that stands alone, only definitions are read.
fn definitions(map: &Map<String, Value>, draft: Draft) -> Result<(), Wrong<'_>> {
    map.get("definitions").map_or(Ok(()), |value| check_keyword("definitions", value, draft))
}

fn wrong<'v, T>(part: &'v Value, rule: &str) -> Result<T, Wrong<'v>> {
    Err(Wrong { part, message: format!("{rule}, and is {}", shown(part)) })
}

fn check_keyword<'v>(keyword: &str, value: &'v Value, draft: Draft) -> Result<(), Wrong<'v>> {
    match (draft.holds(keyword), value) {
        (Holds::Nothing, _) => check_plain(keyword, value, draft),
        (Holds::One | Holds::OneOrList, Value::Object(_) | Value::Bool(_)) => check(value, draft),
        (Holds::One, Value::Array(_)) if keyword == "items" => wrong(
            value,
            "`items` must be one schema; a list of schemas by position is called `prefixItems` in draft 2020-12 (or \
             name draft-07 in `$schema`)",
        ),
        (Holds::One, _) => {
            wrong(value, &format!("`{keyword}` must be a schema (an object, `true` or `false`)"))
        }
        (Holds::List, Value::Array(list)) if list.is_empty() => {
            wrong(value, &format!("`{keyword}` must be a list of at least one schema"))
        }
        (Holds::List | Holds::OneOrList, Value::Array(list)) => {
            list.iter().try_for_each(|schema| check(schema, draft))
        }
        (Holds::List, _) => wrong(value, &format!("`{keyword}` must be a list of schemas")),
        (Holds::OneOrList, _) => wrong(value, &format!("`{keyword}` must be a schema or a list of schemas")),
        (Holds::ByName, Value::Object(map)) => map.values().try_for_each(|schema| check(schema, draft)),
        (Holds::ByNameOrNames, Value::Object(map)) => map.values().try_for_each(|value| match value {
            Value::Array(_) => names(value, keyword),
            schema => check(schema, draft),
        }),
        (Holds::ByName | Holds::ByNameOrNames, _) => {
            wrong(value, &format!("`{keyword}` must be an object of schemas"))
        }
    }
}

/// A keyword that holds no schema.
fn check_plain<'v>(keyword: &str, value: &'v Value, draft: Draft) -> Result<(), Wrong<'v>> {
    let must = |is_fine: bool, what: &str| match is_fine {
        true => Ok(()),
        false => wrong(value, &format!("`{keyword}` must be {what}")),
    };
    let since_2019 = draft >= Draft::Draft2019;
    match keyword {
        "type" => types(value),
        "required" => names(value, keyword),
        "enum" | "examples" => must(value.is_array(), "a list of values"),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            must(whole(value).is_some(), "a whole number that is not negative")
        }
        "minContains" | "maxContains" if since_2019 => {
            must(whole(value).is_some(), "a whole number that is not negative")
        }
        "exclusiveMinimum" | "exclusiveMaximum" if draft == Draft::Draft4 => {
            must(value.is_boolean(), "`true` or `false` in draft-04")
        }
        "exclusiveMinimum" | "exclusiveMaximum" if value.is_boolean() => {
            must(false, "a number, which is the limit itself (`true` is draft-04; name it in `$schema`)")
        }
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
            must(value.is_number(), "a number")
        }
        "multipleOf" => must(value.as_f64().is_some_and(|number| number > 0.0), "a number greater than 0"),
        "uniqueItems" | "readOnly" | "writeOnly" | "deprecated" => {
            must(value.is_boolean(), "`true` or `false`")
        }
        "$recursiveAnchor" if draft == Draft::Draft2019 => must(value.is_boolean(), "`true` or `false`"),
        "pattern" | "format" | "title" | "description" | "$ref" | "$schema" => {
            must(value.is_string(), "a string")
        }
        "contentEncoding" | "contentMediaType" | "$comment" if draft >= Draft::Draft7 => {
            must(value.is_string(), "a string")
        }
        "id" if draft == Draft::Draft4 => must(value.is_string(), "a string"),
        "$id" if since_2019 => must(
            value.as_str().is_some_and(|id| id.find('#').is_none_or(|at| at + 1 == id.len())),
            "a URI without fragment (a name inside of the document is an `$anchor`)",
        ),
        "$id" if draft >= Draft::Draft6 => must(value.is_string(), "a string"),
        "$recursiveRef" if draft == Draft::Draft2019 => must(value == "#", "\"#\""),
        "$dynamicRef" if draft == Draft::Draft2020 => must(value.is_string(), "a string"),
        "$anchor" if since_2019 => must(is_anchor(value), "a name of letters, digits, `_`, `-` and `.`"),
        "$dynamicAnchor" if draft == Draft::Draft2020 => {
            must(is_anchor(value), "a name of letters, digits, `_`, `-` and `.`")
        }
        "$vocabulary" if since_2019 => must(value.is_object(), "an object"),
        "dependentRequired" if since_2019 => match value {
            Value::Object(map) => map.values().try_for_each(|value| names(value, keyword)),
            _ => must(false, "an object of lists of names"),
        },
        _ => Ok(()),
    }
}

fn is_anchor(value: &Value) -> bool {
    value.as_str().is_some_and(|name| {
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':'))
    })
}

/// A whole number that is not negative; one that is too large for its type is as good as the largest.
pub(crate) fn whole(value: &Value) -> Option<u64> {
    let Value::Number(number) = value else { return None };
    number.as_u64().or_else(|| {
        let float = number.as_f64().filter(|float| *float >= 0.0 && float.fract() == 0.0)?;
        Some(float as u64)
    })
}

/// A list of different names.
fn names<'v>(value: &'v Value, keyword: &str) -> Result<(), Wrong<'v>> {
    let Value::Array(list) = value else {
        return wrong(value, &format!("`{keyword}` must be a list of the names of properties"));
    };
    if let Some(other) = list.iter().find(|item| !item.is_string()) {
        return wrong(other, &format!("what `{keyword}` lists must be names of properties"));
    }
    different(list, keyword)
}

fn different<'v>(list: &'v [Value], keyword: &str) -> Result<(), Wrong<'v>> {
    let mut seen = std::collections::HashSet::new();
    match list.iter().find(|item| !seen.insert(item.as_str())) {
        Some(twice) => wrong(twice, &format!("`{keyword}` must list each name once")),
        None => Ok(()),
    }
}

fn types(value: &Value) -> Result<(), Wrong<'_>> {
    let one = |value: &'_ Value| match value.as_str() {
        Some(name) if TYPES.contains(&name) => None,
        Some(name) => {
            let near = nearest(name, TYPES.into_iter(), 1).into_iter().next();
            let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            Some(format!("`type` must be one of {}, and is {}{hint}", TYPES.join(", "), shown(value)))
        }
        None => Some(format!("`type` must be the name of a type or a list of them, and is {}", shown(value))),
    };
    match value {
        Value::Array(list) if list.is_empty() => wrong(value, "`type` must list at least one type"),
        Value::Array(list) => {
            for part in list {
                one(part).map_or(Ok(()), |message| Err(Wrong { part, message }))?;
            }
            different(list, "type")
        }
        _ => one(value).map_or(Ok(()), |message| Err(Wrong { part: value, message })),
    }
}
