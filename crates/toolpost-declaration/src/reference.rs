//! Where a `$ref` leads, and how much following them may cost.

use super::keyword::{LIST, NAMED, ONE, each_inner};
use super::note::{Path, Refusal, shorten};
use serde_json::Value;

/// The most steps from one `$ref` straight to the next.
const MAX_HOPS: usize = 16;

/// The schema that a local reference names. Only places that hold a schema can be named.
pub(super) fn resolve<'a>(root: &'a Value, reference: &str) -> Result<&'a Value, String> {
    let shown = shorten(reference);
    let Some(pointer) = reference.strip_prefix('#') else {
        return Err(format!(
            "`$ref` to `{shown}` leads out of the schema; only local references are followed"
        ));
    };
    let nowhere = || format!("`$ref` to `{shown}` leads to no schema");
    if pointer.is_empty() {
        return Ok(root);
    }
    let mut segments = pointer.strip_prefix('/').ok_or_else(nowhere)?.split('/').map(unescape);
    let mut schema = root;
    while let Some(keyword) = segments.next() {
        let value = schema.get(keyword.as_str()).ok_or_else(nowhere)?;
        let inner = if ONE.contains(&keyword.as_str()) {
            Some(value)
        } else if NAMED.contains(&keyword.as_str()) {
            segments.next().and_then(|name| value.get(name))
        } else if LIST.contains(&keyword.as_str()) {
            segments.next().and_then(|index| value.get(index.parse::<usize>().ok()?))
        } else {
            None
        };
        schema = inner.filter(|inner| inner.is_object() || inner.is_boolean()).ok_or_else(nowhere)?;
    }
    Ok(schema)
}

/// Checks every reference of a schema.
pub(super) fn check_all(root: &Value) -> Result<(), Refusal> {
    let mut open = vec![root];
    while let Some(schema) = open.pop() {
        let Value::Object(map) = schema else { continue };
        if let Some(target) = map.get("$ref").and_then(Value::as_str) {
            check(root, target).map_err(|reason| Refusal::new(Path::ROOT, reason))?;
        }
        each_inner(map, |inner| open.push(inner));
    }
    Ok(())
}

/// Checks that a reference leads to a schema, and not from reference to reference for ever.
fn check(root: &Value, reference: &str) -> Result<(), String> {
    let mut next = reference;
    for _ in 0..MAX_HOPS {
        let target = resolve(root, next)?;
        match target.get("$ref").and_then(Value::as_str) {
            Some(reference) => next = reference,
            None => return Ok(()),
        }
    }
    Err(format!("`$ref` to `{}` goes from reference to reference without end", shorten(reference)))
}

/// How many values may still be copied while references are inlined.
pub(super) struct Budget(usize);

impl Budget {
    pub(super) fn new() -> Budget {
        Budget(20_000)
    }

    /// Pays for a copy of a value; fails when the whole would become too large.
    pub(super) fn pay(&mut self, value: &Value) -> Result<(), String> {
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            self.0 =
                self.0.checked_sub(1).ok_or("the schema becomes too large once references are inlined")?;
            match value {
                Value::Array(list) => open.extend(list),
                Value::Object(map) => open.extend(map.values()),
                _ => {}
            }
        }
        Ok(())
    }
}

/// One segment of a JSON pointer inside a URI fragment.
fn unescape(segment: &str) -> String {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let [first, tail @ ..] = rest {
        let decoded = match (first, tail) {
            (b'%', [high, low, ..]) => std::str::from_utf8(&[*high, *low])
                .ok()
                .and_then(|digits| u8::from_str_radix(digits, 16).ok()),
            _ => None,
        };
        bytes.push(decoded.unwrap_or(*first));
        rest = if decoded.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).replace("~1", "/").replace("~0", "~")
}
