//! The keywords of strict mode that hold no schema: what is told to the model, and the limits of one value.

use super::Strict;
use crate::keyword::{ANNOTATIONS, describe, in_short, part_for};
use crate::note::{Path, Refusal};
use serde_json::{Map, Value};

/// OpenAI's limit over all enumerations of a schema.
const MAX_ENUM_VALUES: usize = 1000;
const FORMATS: &[&str] =
    &["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

impl Strict<'_> {
    /// The keywords of one type that strict mode knows, apart from inner schemas.
    pub(super) fn simple(
        &mut self,
        source: &Map<String, Value>,
        kind: &str,
        path: Path<'_>,
    ) -> Result<Map<String, Value>, Refusal> {
        let mut result = Map::from_iter([("type".to_owned(), Value::from(kind))]);
        result.extend(self.told(source, path));
        let part = part_for(source, kind).ok_or_else(|| {
            Refusal::new(path, format!("no value of the enumeration is of the type {kind}"))
        })?;
        for (keyword, value) in source {
            let is_known = match keyword.as_str() {
                "type" | "items" | "properties" | "required" | "additionalProperties" => continue,
                keyword if ANNOTATIONS.contains(&keyword) => continue,
                "enum" | "const" => true,
                "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
                    matches!(kind, "number" | "integer")
                }
                "minItems" | "maxItems" => kind == "array",
                "format" => {
                    kind == "string" && value.as_str().is_some_and(|format| FORMATS.contains(&format))
                }
                // Looking around is beyond the grammars that strict mode compiles.
                "pattern" => kind == "string" && value.as_str().is_some_and(|text| !has_look_around(text)),
                _ => false,
            };
            match part.get(keyword) {
                Some(value) if is_known => {
                    if keyword == "enum" {
                        self.values += value.as_array().map_or(0, Vec::len);
                    }
                    result.insert(keyword.clone(), value.clone());
                }
                _ => self.notes.dropped(path, keyword, "strict mode does not know it here"),
            }
        }
        if self.values > MAX_ENUM_VALUES {
            return Err(Refusal::new(path, format!("more than {MAX_ENUM_VALUES} values in enumerations")));
        }
        Ok(result)
    }

    /// What a schema tells the model. Strict mode has no `default`, so the description says it.
    pub(super) fn told(&mut self, source: &Map<String, Value>, path: Path<'_>) -> Map<String, Value> {
        let mut told = Map::new();
        for keyword in ["title", "description"] {
            if let Some(text) = source.get(keyword) {
                told.insert(keyword.into(), text.clone());
            }
        }
        if let Some(default) = source.get("default") {
            self.notes.dropped(path, "default", "strict mode has no `default`; the description says it");
            if let (false, Some(text)) = (default.is_null(), in_short(default)) {
                describe(&mut told, &format!("Default: {text}."));
            }
        }
        for keyword in ["example", "examples", "deprecated", "readOnly", "writeOnly", "$comment"] {
            if source.contains_key(keyword) {
                self.notes.dropped(path, keyword, "strict mode does not know it");
            }
        }
        told
    }
}

fn has_look_around(pattern: &str) -> bool {
    ["(?=", "(?!", "(?<"].iter().any(|mark| pattern.contains(mark))
}
