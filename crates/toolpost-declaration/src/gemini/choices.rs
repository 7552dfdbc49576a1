//! Alternatives in Gemini's subset: `anyOf`, which must stand alone in its schema.

use super::{Convert, constrains, set_nullable};
use crate::keyword::{ANNOTATIONS, types};
use crate::merge::merge;
use crate::note::{Path, Refusal};
use serde_json::{Map, Value, json};

impl Convert<'_> {
    pub(super) fn alternatives(
        &mut self,
        source: &Map<String, Value>,
        path: Path<'_>,
        depth: usize,
    ) -> Result<Map<String, Value>, Refusal> {
        let mut base = source.clone();
        let keyword = if base.contains_key("anyOf") { "anyOf" } else { "oneOf" };
        let Some(Value::Array(branches)) = base.shift_remove(keyword) else {
            return self.schema(&Value::Object(base), path, depth + 1);
        };
        if keyword == "oneOf" {
            self.notes.add(path, "`oneOf` is `anyOf`", "Gemini has no `oneOf`");
        } else if base.shift_remove("oneOf").is_some() {
            self.notes.dropped(path, "oneOf", "Gemini has no `oneOf`, and the schema already has `anyOf`");
        }
        let accepts_null = branches.iter().any(is_null);
        let branches: Vec<&Value> = branches.iter().filter(|branch| !is_null(branch)).collect();
        if branches.is_empty() {
            base.insert("type".into(), "null".into());
            return self.schema(&Value::Object(base), path, depth + 1);
        }
        let mut result = if constrains(&base) && !branches.iter().any(|branch| is_shape(branch)) {
            self.notes.dropped(path, keyword, "Gemini takes no constraints next to a type");
            self.schema(&Value::Object(base), path, depth + 1)?
        } else {
            self.branches(&base, &branches, path.then(keyword), path, depth)?
        };
        if accepts_null {
            set_nullable(&mut result);
        }
        Ok(result)
    }

    fn branches(
        &mut self,
        base: &Map<String, Value>,
        branches: &[&Value],
        list: Path<'_>,
        path: Path<'_>,
        depth: usize,
    ) -> Result<Map<String, Value>, Refusal> {
        let words = |keyword: &str| ANNOTATIONS.contains(&keyword);
        let shape: Map<_, _> =
            base.iter().filter(|(key, _)| !words(key)).map(|(k, v)| (k.clone(), v.clone())).collect();
        let mut converted = Vec::new();
        for (index, branch) in branches.iter().enumerate() {
            let index = index.to_string();
            let here = list.then(&index);
            let Value::Object(branch) = branch else {
                return Ok(self.any(base, path));
            };
            self.budget.pay(&json!(branch)).map_err(|reason| Refusal::new(path, reason))?;
            self.budget.pay(&json!(shape)).map_err(|reason| Refusal::new(path, reason))?;
            let before = self.inlined.len();
            let mut whole = self.whole(branch.clone(), here)?;
            // What stands beside the alternatives holds for each of them.
            for keyword in merge(&mut whole, &shape) {
                self.notes.dropped(here, &keyword, "it contradicts the keywords next to the alternatives");
            }
            let branch = self.schema(&Value::Object(whole), here, depth + 1);
            self.inlined.truncate(before);
            // Alternatives within an alternative are alternatives of the whole.
            let mut branch = branch?;
            match branch.shift_remove("anyOf") {
                Some(Value::Array(inner)) => converted.extend(inner.into_iter().filter_map(into_map)),
                _ => converted.push(branch),
            }
        }
        Ok(self.one_of(converted, base, path))
    }

    /// Alternatives with the words that stood around them; a single one stands for itself.
    pub(super) fn one_of(
        &mut self,
        mut branches: Vec<Map<String, Value>>,
        around: &Map<String, Value>,
        path: Path<'_>,
    ) -> Map<String, Value> {
        for keyword in around.keys().filter(|key| ANNOTATIONS.contains(&key.as_str())) {
            if !matches!(keyword.as_str(), "title" | "description") {
                self.notes.dropped(path, keyword, "Gemini takes nothing next to `anyOf`");
            }
        }
        if let (Some(text), Some(first)) =
            (around.get("description").and_then(Value::as_str), branches.first_mut())
        {
            let own = first.get("description").and_then(Value::as_str).filter(|own| *own != text);
            let joined = own.map_or_else(|| text.to_owned(), |own| format!("{text} {own}"));
            first.insert("description".into(), joined.into());
        }
        if branches.len() == 1 {
            return branches.swap_remove(0);
        }
        Map::from_iter([("anyOf".to_owned(), json!(branches))])
    }

    /// Any value at all.
    pub(super) fn any(&mut self, source: &Map<String, Value>, path: Path<'_>) -> Map<String, Value> {
        self.notes.add(
            path,
            "any value is `anyOf` the types, without null and with lists of strings only",
            "Gemini wants a type",
        );
        let branches = ["string", "number", "boolean", "object"].map(|kind| json!({"type": kind}));
        let array = json!({"type": "array", "items": {"type": "string"}});
        let branches = branches.into_iter().chain([array]).filter_map(into_map).collect();
        self.one_of(branches, source, path)
    }
}

fn into_map(value: Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(map) => Some(map),
        _ => None,
    }
}

fn is_null(branch: &Value) -> bool {
    branch
        .as_object()
        .is_some_and(|branch| types(branch) == ["null"] || branch.get("const") == Some(&Value::Null))
}

/// Whether a branch says what a value looks like, not only what it must have.
fn is_shape(branch: &Value) -> bool {
    const SHAPES: [&str; 8] = ["type", "properties", "items", "$ref", "allOf", "anyOf", "oneOf", "enum"];
    branch.as_object().is_some_and(|branch| {
        SHAPES.iter().any(|key| branch.contains_key(*key)) || branch.contains_key("const")
    })
}
