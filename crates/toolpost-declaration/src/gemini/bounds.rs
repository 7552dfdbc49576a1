//! Formats and bounds in Gemini's subset, which knows no exclusive ones.

use crate::note::{Notes, Path};
use serde_json::{Map, Value};

/// Whether Gemini knows a format for a type.
pub(super) fn is_known_format(kind: &str, format: &Value) -> bool {
    matches!(
        (kind, format.as_str()),
        ("integer", Some("int32" | "int64"))
            | ("number", Some("float" | "double"))
            | ("string", Some("enum" | "date-time"))
    )
}

/// Exclusive bounds of an integer become inclusive ones; those of a number cannot.
pub(super) fn exclusive(
    source: &Map<String, Value>,
    kind: &str,
    result: &mut Map<String, Value>,
    path: Path<'_>,
    notes: &mut Notes,
) {
    for (keyword, bound, step) in [("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)] {
        let Some(limit) = source.get(keyword).filter(|_| matches!(kind, "integer" | "number")) else {
            continue;
        };
        let inclusive = (kind == "integer").then(|| next(limit, step)).flatten();
        let Some(inclusive) = inclusive else {
            notes.dropped(path, keyword, "Gemini has no exclusive bounds");
            continue;
        };
        notes.add(path, format!("`{keyword}` is `{bound}` {inclusive}"), "Gemini has no exclusive bounds");
        let present = result.get(bound).and_then(Value::as_f64);
        #[expect(clippy::cast_precision_loss, reason = "only compared")]
        let is_tighter = present.is_none_or(|present| (inclusive as f64 - present) * f64::from(step) > 0.0);
        if is_tighter {
            result.insert(bound.into(), inclusive.into());
        }
    }
}

/// The first whole number beyond a limit.
fn next(limit: &Value, step: i32) -> Option<i64> {
    if let Some(whole) = limit.as_i64() {
        return whole.checked_add(step.into());
    }
    let limit = limit.as_f64().filter(|limit| limit.abs() < 9_007_199_254_740_992.0)?;
    let beyond = if step > 0 { limit.floor() + 1.0 } else { limit.ceil() - 1.0 };
    #[expect(clippy::cast_possible_truncation, reason = "checked to be small, and whole by now")]
    Some(beyond as i64)
}
