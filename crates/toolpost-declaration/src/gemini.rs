//! The declarations for Gemini: `parameters`, a subset of OpenAPI 3.0, and `parametersJsonSchema`.
//!
//! One keyword that Gemini does not know fails the whole request, so the subset is built from nothing: only what is
//! listed here is ever copied.

mod bounds;
mod choices;

use super::keyword::{
    ANNOTATIONS, describe, implied_types, in_short, is_of, lists_null, part_for, speaks_of, types,
};
use super::merge::merge;
use super::note::{Notes, Path, Refusal, shorten};
use super::reference::{Budget, resolve};
use super::root::flatten;
use super::{Source, description_or_name};
use serde_json::{Map, Value, json};

/// The deepest nesting once references are inlined.
const MAX_DEPTH: usize = 64;
/// How often a reference may lead to itself before it counts as endless: parts that were merged at one place can name
/// the same reference again without containing it.
const MAX_REPEATS: usize = 3;

/// The form that newer endpoints take: JSON Schema as it is.
pub(super) fn declare_json_schema(source: &Source<'_>, input: Value, notes: &mut Notes) -> Value {
    json!({
        "name": source.name,
        "description": description_or_name(source, notes),
        "parametersJsonSchema": input,
    })
}

/// The form that every endpoint takes.
pub(super) fn declare(source: &Source<'_>, input: &Value, notes: &mut Notes) -> Result<Value, Refusal> {
    let mut tool = Map::new();
    tool.insert("name".into(), source.name.into());
    tool.insert("description".into(), description_or_name(source, notes).into());
    let mut schema = flatten(input, notes)?;
    schema.shift_remove("$defs");
    let mut convert = Convert { root: input, notes, budget: Budget::new(), inlined: Vec::new() };
    let parameters = convert.typed(&schema, "object", Path::ROOT, 0)?;
    if parameters.contains_key("properties") {
        tool.insert("parameters".into(), Value::Object(parameters));
    } else {
        notes.dropped(
            Path::ROOT,
            "parameters",
            "Gemini refuses an object without properties; none are declared",
        );
    }
    Ok(Value::Object(tool))
}

struct Convert<'a> {
    root: &'a Value,
    notes: &'a mut Notes,
    budget: Budget,
    /// The references that led here.
    inlined: Vec<String>,
}

impl Convert<'_> {
    fn schema(
        &mut self,
        schema: &Value,
        path: Path<'_>,
        depth: usize,
    ) -> Result<Map<String, Value>, Refusal> {
        if depth > MAX_DEPTH {
            return Err(Refusal::new(
                path,
                format!("nested deeper than {MAX_DEPTH} levels with references inlined"),
            ));
        }
        let Value::Object(source) = schema else {
            return Ok(self.any(&Map::new(), path));
        };
        if source.contains_key("$ref") || source.contains_key("allOf") {
            let before = self.inlined.len();
            let whole = self.whole(source.clone(), path)?;
            let converted = self.schema(&Value::Object(whole), path, depth + 1);
            self.inlined.truncate(before);
            return converted;
        }
        if source.contains_key("anyOf") || source.contains_key("oneOf") {
            return self.alternatives(source, path, depth);
        }
        let mut kinds = types(source);
        if kinds.is_empty() {
            kinds = implied_types(source);
            if kinds.is_empty() {
                return Ok(self.any(source, path));
            }
            self.notes.add(path, format!("`type` is `{}`", kinds.join("` or `")), "Gemini wants a type");
        }
        let accepts_null = kinds.contains(&"null") || lists_null(source);
        kinds.retain(|kind| *kind != "null");
        // Integers are numbers, and one branch serves both.
        if kinds.contains(&"number") {
            kinds.retain(|kind| *kind != "integer");
        }
        let mut result = match kinds.as_slice() {
            [] => {
                self.notes.add(
                    path,
                    "a nullable string",
                    "Gemini's older endpoints have no type for null alone",
                );
                self.typed(&Map::new(), "string", path, depth)?
            }
            [kind] => self.typed(source, kind, path, depth)?,
            kinds => self.union(source, kinds, path, depth)?,
        };
        if accepts_null {
            set_nullable(&mut result);
        }
        Ok(result)
    }

    /// References inlined and parts merged, at this place only.
    fn whole(
        &mut self,
        mut source: Map<String, Value>,
        path: Path<'_>,
    ) -> Result<Map<String, Value>, Refusal> {
        loop {
            let mut parts = Vec::new();
            if let Some(Value::String(reference)) = source.shift_remove("$ref") {
                parts.push(self.inline(&reference, path)?);
                self.notes.add(path, "`$ref` is inlined", "Gemini has no `$ref`");
            }
            if let Some(Value::Array(list)) = source.shift_remove("allOf") {
                self.notes.add(path, "`allOf` is merged", "Gemini has no `allOf`");
                for part in list {
                    self.budget.pay(&part).map_err(|reason| Refusal::new(path, reason))?;
                    parts.push(part);
                }
            }
            if parts.is_empty() {
                return Ok(source);
            }
            for part in parts {
                let Value::Object(mut part) = part else { continue };
                // A part that is itself a reference or has parts is opened before it is merged.
                if part.contains_key("$ref") || part.contains_key("allOf") {
                    part = self.whole(part, path)?;
                }
                for keyword in merge(&mut source, &part) {
                    self.notes.dropped(path, &keyword, "the parts disagree on it, and the first one stands");
                }
            }
        }
    }

    fn inline(&mut self, reference: &str, path: Path<'_>) -> Result<Value, Refusal> {
        if self.inlined.iter().filter(|open| *open == reference).count() >= MAX_REPEATS {
            let shown = shorten(reference);
            return Err(Refusal::new(
                path,
                format!("`{shown}` contains itself, and Gemini's subset has no references"),
            ));
        }
        let target = resolve(self.root, reference).map_err(|reason| Refusal::new(path, reason))?;
        self.budget.pay(target).map_err(|reason| Refusal::new(path, reason))?;
        self.inlined.push(reference.to_owned());
        Ok(target.clone())
    }

    fn union(
        &mut self,
        source: &Map<String, Value>,
        kinds: &[&str],
        path: Path<'_>,
        depth: usize,
    ) -> Result<Map<String, Value>, Refusal> {
        self.notes.add(path, "the list of types is `anyOf`", "Gemini takes one type in a schema");
        let mut branches = Vec::new();
        for part in kinds.iter().filter_map(|kind| part_for(source, kind)) {
            self.budget.pay(&Value::Object(part.clone())).map_err(|reason| Refusal::new(path, reason))?;
            let kind = types(&part).concat();
            branches.push(self.typed(&part, &kind, path, depth + 1)?);
        }
        if branches.is_empty() {
            return Ok(self.any(source, path));
        }
        Ok(self.one_of(branches, source, path))
    }

    /// A schema of one type.
    fn typed(
        &mut self,
        source: &Map<String, Value>,
        kind: &str,
        path: Path<'_>,
        depth: usize,
    ) -> Result<Map<String, Value>, Refusal> {
        let mut result = Map::from_iter([("type".to_owned(), Value::from(kind))]);
        for (keyword, value) in source {
            match keyword.as_str() {
                "title" | "description" | "default" | "example" => {
                    result.insert(keyword.clone(), value.clone());
                }
                // Handled below, and by whoever called.
                "type" | "enum" | "const" | "items" | "properties" | "required" | "propertyOrdering" => {}
                "exclusiveMinimum" | "exclusiveMaximum" if speaks_of(keyword, kind) => {}
                "format" if bounds::is_known_format(kind, value) => {
                    result.insert(keyword.clone(), value.clone());
                }
                "format" => self.notes.dropped(path, keyword, "Gemini does not know this format"),
                "minimum" | "maximum" | "pattern" if speaks_of(keyword, kind) => {
                    result.insert(keyword.clone(), value.clone());
                }
                "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
                    if speaks_of(keyword, kind) && value.as_i64().is_some() =>
                {
                    result.insert(keyword.clone(), value.clone());
                }
                _ => self.notes.dropped(
                    path,
                    keyword,
                    format!("Gemini does not take it in a schema of type {kind}"),
                ),
            }
        }
        bounds::exclusive(source, kind, &mut result, path, self.notes);
        self.enumeration(source, kind, &mut result, path);
        match kind {
            "object" => self.properties(source, &mut result, path, depth)?,
            "array" => {
                let items = match source.get("items") {
                    Some(items) => self.schema(items, path.then("items"), depth + 1)?,
                    None => {
                        self.notes.add(path, "`items` is a string", "Gemini wants `items` in every array");
                        Map::from_iter([("type".to_owned(), Value::from("string"))])
                    }
                };
                result.insert("items".into(), Value::Object(items));
            }
            _ => {
                for keyword in
                    ["items", "properties", "required"].iter().filter(|key| source.contains_key(**key))
                {
                    self.notes.dropped(path, keyword, format!("it says nothing about a {kind}"));
                }
            }
        }
        Ok(result)
    }

    fn properties(
        &mut self,
        source: &Map<String, Value>,
        result: &mut Map<String, Value>,
        path: Path<'_>,
        depth: usize,
    ) -> Result<(), Refusal> {
        let empty = Map::new();
        let properties = source.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let parent = path.then("properties");
        let mut converted = Map::new();
        for (name, property) in properties {
            let here = parent.then(name);
            if *property == Value::Bool(false) {
                self.notes.add(here, "left out", "it may never be given");
                continue;
            }
            converted.insert(name.clone(), Value::Object(self.schema(property, here, depth + 1)?));
        }
        for keyword in ["required", "propertyOrdering"] {
            let Some(Value::Array(names)) = source.get(keyword) else { continue };
            let is_there = |name: &&Value| name.as_str().is_some_and(|name| converted.contains_key(name));
            let kept: Vec<Value> = names.iter().filter(is_there).cloned().collect();
            if kept.len() < names.len() {
                let change = format!("`{keyword}` lists only properties that exist");
                self.notes.add(path, change, "Gemini refuses the name of a property that is not described");
            }
            if !kept.is_empty() {
                result.insert(keyword.into(), kept.into());
            }
        }
        if !converted.is_empty() {
            result.insert("properties".into(), Value::Object(converted));
        }
        Ok(())
    }

    /// Gemini enumerates strings only, and none of them empty; other values are told in words.
    fn enumeration(
        &mut self,
        source: &Map<String, Value>,
        kind: &str,
        result: &mut Map<String, Value>,
        path: Path<'_>,
    ) {
        let values: Vec<&Value> = match (source.get("const"), source.get("enum")) {
            (Some(value), _) => vec![value],
            (None, Some(Value::Array(values))) => values.iter().filter(|value| !value.is_null()).collect(),
            _ => return,
        };
        if source.contains_key("const") {
            self.notes.add(path, "`const` is an enumeration of one", "Gemini has no `const`");
        }
        let (kept, others): (Vec<&Value>, Vec<&Value>) = values
            .iter()
            .partition(|value| kind == "string" && value.as_str().is_some_and(|text| !text.is_empty()));
        if !kept.is_empty() {
            result.insert("enum".into(), json!(kept));
        }
        if others.is_empty() {
            return;
        }
        let others: Vec<&Value> = others.into_iter().filter(|value| is_of(value, kind)).collect();
        self.notes.add(
            path,
            "values left out of `enum`",
            "Gemini enumerates strings that are not empty, nothing else",
        );
        if let (true, Some(text)) = (kind != "string" && !others.is_empty(), in_short(&json!(others))) {
            describe(result, &format!("One of {text}."));
        }
    }
}

/// Where there are alternatives they stand alone, and each says it.
fn set_nullable(schema: &mut Map<String, Value>) {
    if let Some(Value::Array(branches)) = schema.get_mut("anyOf") {
        for branch in branches {
            if let Value::Object(branch) = branch {
                branch.insert("nullable".into(), true.into());
            }
        }
        return;
    }
    schema.insert("nullable".into(), true.into());
}

/// Whether a schema says more than words.
fn constrains(schema: &Map<String, Value>) -> bool {
    schema.keys().any(|keyword| !ANNOTATIONS.contains(&keyword.as_str()))
}
