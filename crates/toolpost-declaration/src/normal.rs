//! The first step of every conversion: whatever came in becomes plain JSON Schema 2020-12.
//!
//! Internal markers go, older drafts and foreign dialects are rewritten, a keyword whose value makes no sense is
//! dropped, references are checked. What leaves here is of bounded size and depth, and every keyword has a value of
//! its kind, so that the later steps need not ask again. It knows nothing of providers.

mod value;

use super::foreign::{Meaning, meaning};
use super::keyword::{LIST, MARKER, NAMED, ONE, TYPES, types};
use super::note::{Notes, Path, Refusal, shorten};
use super::reference;
use serde_json::{Map, Value};

/// Deeper than this no JSON text is read either (`serde_json` stops there); some sixty objects within each other.
const MAX_DEPTH: usize = 128;
/// The largest schema, in bytes of keys and strings with a little for each value.
const MAX_SIZE: usize = 1 << 20;

/// The schema as plain JSON Schema, an object or a boolean.
pub(super) fn normal(source: &Value, notes: &mut Notes) -> Result<Value, Refusal> {
    measure(source)?;
    if !source.is_object() && !source.is_boolean() {
        return Err(Refusal::new(Path::ROOT, "the schema is neither an object nor a boolean"));
    }
    let renames = source.get("definitions").is_some() && source.get("$defs").is_none();
    let schema = Normal { notes, renames }.schema(source, Path::ROOT)?;
    reference::check_all(&schema)?;
    Ok(schema)
}

/// The schema as that of a tool's arguments: its root has the type `object` and nothing else.
pub(super) fn as_arguments(schema: Value, notes: &mut Notes) -> Result<Value, Refusal> {
    let mut root = match schema {
        Value::Object(root) => root,
        Value::Bool(true) => Map::new(),
        _ => return Err(Refusal::new(Path::ROOT, "the schema accepts no arguments at all")),
    };
    let kinds = types(&root);
    if !kinds.is_empty() && !kinds.contains(&"object") {
        let reason = format!("arguments are an object, and the schema's root is {}", kinds.join(" or "));
        return Err(Refusal::new(Path::ROOT, reason));
    }
    if kinds != ["object"] {
        notes.add(Path::ROOT, "`type` is `object`", "arguments are always an object");
    }
    let mut ordered = Map::from_iter([("type".to_owned(), Value::from("object"))]);
    root.shift_remove("type");
    if root.shift_remove("title").is_some() {
        notes.dropped(Path::ROOT, "title", "it names a type of the program, which tells the model nothing");
    }
    ordered.extend(root);
    Ok(Value::Object(ordered))
}

struct Normal<'n> {
    notes: &'n mut Notes,
    /// Whether `definitions` at the root becomes `$defs`.
    renames: bool,
}

impl Normal<'_> {
    fn schema(&mut self, source: &Value, path: Path<'_>) -> Result<Value, Refusal> {
        let map = match source {
            Value::Object(map) => map,
            Value::Bool(_) => return Ok(source.clone()),
            Value::String(name) if matches!(meaning(name), Meaning::Type(_)) => {
                self.notes.add(path, "a bare type name made a schema", "a schema is an object or a boolean");
                &Map::from_iter([("type".to_owned(), source.clone())])
            }
            _ => {
                self.notes.add(path, "allows any value", "what stood here is not a schema");
                return Ok(Value::Object(Map::new()));
            }
        };
        let mut schema = Map::new();
        for (keyword, value) in map {
            self.keyword(&mut schema, keyword, value, path)?;
        }
        self.lift_required(map, &mut schema, path);
        self.modernise(map, &mut schema, path);
        Ok(Value::Object(schema))
    }

    fn keyword(
        &mut self,
        schema: &mut Map<String, Value>,
        keyword: &str,
        value: &Value,
        path: Path<'_>,
    ) -> Result<(), Refusal> {
        let here = path.then(keyword);
        let kept = match keyword {
            _ if keyword.starts_with(MARKER) => return Ok(()),
            "$schema" => {
                self.notes.dropped(
                    path,
                    keyword,
                    "several providers refuse it, and 2020-12 is meant without it",
                );
                return Ok(());
            }
            "$id" | "$anchor" | "$dynamicAnchor" | "$vocabulary" | "$recursiveAnchor" => {
                self.notes.dropped(path, keyword, "references are local pointers only");
                return Ok(());
            }
            "$dynamicRef" | "$recursiveRef" => {
                return Err(Refusal::new(here, format!("`{keyword}` is not supported; use `$ref`")));
            }
            // Read together with their neighbours afterwards.
            "nullable" | "additionalItems" => return Ok(()),
            "required" if value.is_boolean() => return Ok(()),
            "exclusiveMinimum" | "exclusiveMaximum" if value.is_boolean() => return Ok(()),
            "type" => self.kind(value, path),
            "$ref" => value.as_str().map(|reference| match reference.strip_prefix("#/definitions/") {
                Some(rest) if self.renames => format!("#/$defs/{rest}").into(),
                _ => value.clone(),
            }),
            "items" if value.is_array() => {
                self.notes.add(
                    path,
                    "`items` as a list is `prefixItems`",
                    "the list form is of older drafts",
                );
                let list = self.list(value, here)?;
                list.map(|list| schema.insert("prefixItems".into(), list));
                return Ok(());
            }
            "items" | "additionalProperties" if !value.is_object() && !value.is_boolean() => None,
            _ if ONE.contains(&keyword) => Some(self.schema(value, here)?),
            _ if LIST.contains(&keyword) => self.list(value, here)?,
            _ if NAMED.contains(&keyword) => self.named(value, here)?,
            _ => value::checked(keyword, value),
        };
        let Some(kept) = kept else {
            if keyword != "type" {
                self.notes.dropped(path, keyword, "its value is not of the kind that the keyword takes");
            }
            return Ok(());
        };
        if keyword == "format" && kept.as_str().is_some_and(is_machine_integer) {
            self.notes.dropped(path, keyword, "the width of an integer is not a JSON Schema format");
            return Ok(());
        }
        let keyword = if keyword == "definitions" && self.renames { "$defs" } else { keyword };
        schema.insert(keyword.into(), kept);
        Ok(())
    }

    fn list(&mut self, value: &Value, path: Path<'_>) -> Result<Option<Value>, Refusal> {
        let Value::Array(list) = value else { return Ok(None) };
        let mut schemas = Vec::with_capacity(list.len());
        for (index, inner) in list.iter().enumerate() {
            schemas.push(self.schema(inner, path.then(&index.to_string()))?);
        }
        Ok((!schemas.is_empty()).then_some(Value::Array(schemas)))
    }

    fn named(&mut self, value: &Value, path: Path<'_>) -> Result<Option<Value>, Refusal> {
        let Value::Object(named) = value else { return Ok(None) };
        let mut schemas = Map::new();
        for (name, inner) in named.iter().filter(|(name, _)| !name.starts_with(MARKER)) {
            let here = path.then(name);
            let mut schema = self.schema(inner, here)?;
            let repeats = schema["title"].as_str().is_some_and(|title| is_same_word(title, name));
            if let (Value::Object(schema), true) = (&mut schema, repeats) {
                schema.shift_remove("title");
                self.notes.dropped(here, "title", "it repeats the name");
            }
            schemas.insert(name.clone(), schema);
        }
        Ok(Some(Value::Object(schemas)))
    }

    /// The value of `type`, with foreign names translated; none where any type is meant.
    fn kind(&mut self, value: &Value, path: Path<'_>) -> Option<Value> {
        let names: Vec<&str> = match value {
            Value::String(name) => vec![name],
            Value::Array(names) if names.iter().all(Value::is_string) => {
                names.iter().filter_map(Value::as_str).collect()
            }
            _ => {
                self.notes.dropped(path, "type", "it is neither a name nor a list of names");
                return None;
            }
        };
        let mut kinds: Vec<&'static str> = Vec::new();
        for name in names {
            let shown = shorten(name);
            match meaning(name) {
                Meaning::Type(kind) => {
                    if kind != name {
                        let reason = format!("`{shown}` is not a JSON Schema type");
                        self.notes.add(path, format!("`type` is `{kind}`"), reason);
                    }
                    if !kinds.contains(&kind) {
                        kinds.push(kind);
                    }
                }
                Meaning::Any | Meaning::Unknown => {
                    self.notes.dropped(path, "type", format!("`{shown}` is not a JSON Schema type"));
                    return None;
                }
            }
        }
        debug_assert!(kinds.iter().all(|kind| TYPES.contains(kind)));
        match kinds.as_slice() {
            [] => None,
            [kind] => Some((*kind).into()),
            kinds => Some(kinds.into()),
        }
    }

    /// `required: true` inside a property, as draft 3 and many hand-written schemas have it.
    fn lift_required(
        &mut self,
        source: &Map<String, Value>,
        schema: &mut Map<String, Value>,
        path: Path<'_>,
    ) {
        let Some(Value::Object(properties)) = source.get("properties") else { return };
        let lifted = properties
            .iter()
            .filter(|(name, inner)| {
                !name.starts_with(MARKER) && inner.get("required") == Some(&Value::Bool(true))
            })
            .map(|(name, _)| Value::from(name.as_str()));
        let mut required: Vec<Value> = lifted.collect();
        if required.is_empty() {
            return;
        }
        self.notes.add(path, "`required: true` moved from the properties", "`required` lists names");
        if let Some(Value::Array(listed)) = schema.get("required") {
            required.extend(listed.iter().cloned());
        }
        if let Some(required) = value::checked("required", &required.into()) {
            schema.insert("required".into(), required);
        }
    }

    /// Keywords of older drafts and of OpenAPI that change what their neighbours mean.
    fn modernise(&mut self, source: &Map<String, Value>, schema: &mut Map<String, Value>, path: Path<'_>) {
        for (exclusive, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
            if source.get(exclusive) == Some(&Value::Bool(true))
                && let Some(limit) = schema.shift_remove(bound)
            {
                self.notes.add(path, format!("`{exclusive}` has the number"), "the boolean is of draft 4");
                schema.insert(exclusive.into(), limit);
            }
        }
        if source.get("nullable") == Some(&Value::Bool(true)) {
            self.notes.add(path, "`nullable` is the type `null`", "`nullable` is of OpenAPI");
            value::allow_null(schema);
        }
    }
}

/// Walks without recursion, because the depth is not known yet.
fn measure(source: &Value) -> Result<(), Refusal> {
    let mut size = 0;
    let mut open = vec![(source, 1)];
    while let Some((value, depth)) = open.pop() {
        if depth > MAX_DEPTH {
            return Err(Refusal::new(
                Path::ROOT,
                format!("the schema is nested deeper than {MAX_DEPTH} levels"),
            ));
        }
        size += 8;
        match value {
            Value::String(text) => size += text.len(),
            Value::Array(list) => open.extend(list.iter().map(|value| (value, depth + 1))),
            Value::Object(map) => {
                size += map.keys().map(String::len).sum::<usize>();
                open.extend(map.values().map(|value| (value, depth + 1)));
            }
            _ => {}
        }
        if size > MAX_SIZE {
            return Err(Refusal::new(Path::ROOT, format!("the schema is larger than {MAX_SIZE} bytes")));
        }
    }
    Ok(())
}

/// The formats that schema generators derive from a program's integers, and that no provider knows.
fn is_machine_integer(format: &str) -> bool {
    let width = format.strip_prefix("uint").or_else(|| format.strip_prefix("int").filter(|w| !w.is_empty()));
    width.is_some_and(|width| {
        !matches!(format, "int32" | "int64") && matches!(width, "" | "8" | "16" | "32" | "64" | "128")
    })
}

fn is_same_word(left: &str, right: &str) -> bool {
    let letters = |text: &'_ str| {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>()
    };
    letters(left) == letters(right)
}
