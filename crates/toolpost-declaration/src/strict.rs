//! A schema as OpenAI's strict mode takes it: every object closed, every property required, the optional ones nullable.
//!
//! Limits on a value that strict mode does not know are dropped with a note, because the tool checks its arguments
//! anyway. What changes the shape (open objects, conditions, patterns of names) makes the schema unfit as a whole.

mod disjoint;
mod plain;

use super::keyword::{ANNOTATIONS, implied_types, lists_null, part_for, types};
use super::merge::merge;
use super::note::{Notes, Path, Refusal, shorten};
use super::reference::{Budget, resolve};
use disjoint::are_disjoint;
use serde_json::{Map, Value, json};

/// OpenAI's limits.
const MAX_LEVELS: usize = 10;
const MAX_PROPERTIES: usize = 5000;

/// Keywords that shape a value and have no strict form.
const SHAPES: &[&str] = &[
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "patternProperties",
    "propertyNames",
    "contains",
    "minContains",
    "maxContains",
    "prefixItems",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// The strict form of a flattened schema, or why there is none.
pub(super) fn strict(schema: &Map<String, Value>, notes: &mut Notes) -> Result<Map<String, Value>, Refusal> {
    let root = Value::Object(schema.clone());
    let mut strict = Strict { root: &root, notes, budget: Budget::new(), properties: 0, values: 0 };
    let mut own = schema.clone();
    own.shift_remove("$defs");
    if ["enum", "const"].iter().any(|keyword| own.contains_key(*keyword)) {
        return Err(Refusal::new(Path::ROOT, "the root is an enumeration"));
    }
    let mut result = strict.object(&own, Path::ROOT, 1)?;
    if let Some(Value::Object(definitions)) = schema.get("$defs") {
        let parent = Path::ROOT.then("$defs");
        let mut converted = Map::new();
        for (name, definition) in definitions {
            converted.insert(name.clone(), Value::Object(strict.schema(definition, parent.then(name), 1)?));
        }
        result.insert("$defs".into(), Value::Object(converted));
    }
    Ok(result)
}

struct Strict<'a> {
    root: &'a Value,
    notes: &'a mut Notes,
    budget: Budget,
    properties: usize,
    values: usize,
}

impl Strict<'_> {
    fn schema(
        &mut self,
        schema: &Value,
        path: Path<'_>,
        level: usize,
    ) -> Result<Map<String, Value>, Refusal> {
        let Value::Object(source) = schema else {
            return Err(Refusal::new(path, "any value or none is allowed, and strict mode wants a type"));
        };
        let merged;
        let source = if source.contains_key("allOf") {
            merged = self.merged(source.clone(), path)?;
            &merged
        } else {
            source
        };
        if let Some(keyword) = SHAPES.iter().find(|keyword| source.contains_key(**keyword)) {
            return Err(Refusal::new(path, format!("strict mode has no `{keyword}`")));
        }
        if source.contains_key("$ref") {
            return self.reference(source, path);
        }
        if source.contains_key("anyOf") || source.contains_key("oneOf") {
            return self.alternatives(source, path, level);
        }
        let mut kinds = types(source);
        let is_told = !kinds.is_empty();
        if !is_told {
            kinds = implied_types(source);
            self.notes.add(path, format!("`type` is `{}`", kinds.join("` or `")), "strict mode wants a type");
        }
        let is_nullable = (kinds.contains(&"null") && kinds.len() > 1) || (!is_told && lists_null(source));
        let kinds: Vec<&str> = kinds.into_iter().filter(|kind| !is_nullable || *kind != "null").collect();
        let mut result = match kinds.as_slice() {
            [] => return Err(Refusal::new(path, "any value is allowed, and strict mode wants a type")),
            [kind] => self.typed(source, kind, path, level)?,
            kinds => self.union(source, kinds, path, level)?,
        };
        if is_nullable {
            allow_null(&mut result);
        }
        Ok(result)
    }

    /// One schema of all parts of `allOf`.
    fn merged(
        &mut self,
        mut source: Map<String, Value>,
        path: Path<'_>,
    ) -> Result<Map<String, Value>, Refusal> {
        while let Some(Value::Array(parts)) = source.shift_remove("allOf") {
            self.notes.add(path, "`allOf` is merged", "strict mode has no `allOf`");
            // The usual way to describe a reference: it can stay one.
            if let ([only], true) = (parts.as_slice(), is_annotation_only(&source))
                && only.get("$ref").is_some()
                && only.as_object().is_some_and(|only| only.len() == 1)
            {
                source.insert("$ref".into(), only["$ref"].clone());
                return Ok(source);
            }
            for part in &parts {
                let target = match part.get("$ref").and_then(Value::as_str) {
                    Some(reference) if part.as_object().is_some_and(|part| part.len() == 1) => {
                        resolve(self.root, reference).map_err(|reason| Refusal::new(path, reason))?
                    }
                    _ => part,
                };
                self.budget.pay(target).map_err(|reason| Refusal::new(path, reason))?;
                let Value::Object(target) = target else {
                    return Err(Refusal::new(path, "a part of `allOf` is a boolean"));
                };
                if let Some(keyword) = merge(&mut source, target).first() {
                    return Err(Refusal::new(path, format!("the parts of `allOf` disagree on `{keyword}`")));
                }
            }
        }
        Ok(source)
    }

    /// A reference stands alone in strict mode; what is said beside it goes around it.
    fn reference(
        &mut self,
        source: &Map<String, Value>,
        path: Path<'_>,
    ) -> Result<Map<String, Value>, Refusal> {
        let reference = source["$ref"].as_str().unwrap_or_default();
        let is_definition =
            reference.strip_prefix("#/$defs/").is_some_and(|name| !name.contains(['/', '~', '%']));
        if reference != "#" && !is_definition {
            return Err(Refusal::new(path, "strict mode follows references to `$defs` and to the root only"));
        }
        let mut around = source.clone();
        around.shift_remove("$ref");
        if !is_annotation_only(&around) {
            return Err(Refusal::new(path, "strict mode takes no constraints next to `$ref`"));
        }
        let alone = Map::from_iter([("$ref".to_owned(), Value::from(reference))]);
        let mut told = self.told(&around, path);
        if told.is_empty() {
            return Ok(alone);
        }
        told.insert("anyOf".into(), json!([alone]));
        Ok(told)
    }

    fn alternatives(
        &mut self,
        source: &Map<String, Value>,
        path: Path<'_>,
        level: usize,
    ) -> Result<Map<String, Value>, Refusal> {
        let mut around = source.clone();
        let branches = match (around.shift_remove("anyOf"), around.shift_remove("oneOf")) {
            (Some(Value::Array(branches)), None) => branches,
            (None, Some(Value::Array(branches))) => {
                if !are_disjoint(&branches, self.root) {
                    return Err(Refusal::new(
                        path,
                        "strict mode has no `oneOf`, and its branches may overlap",
                    ));
                }
                self.notes.add(
                    path,
                    "`oneOf` is `anyOf`",
                    "strict mode has no `oneOf`; the branches exclude each other",
                );
                branches
            }
            _ => return Err(Refusal::new(path, "both `anyOf` and `oneOf` are given")),
        };
        if !is_annotation_only(&around) {
            return Err(Refusal::new(path, "strict mode takes no constraints next to alternatives"));
        }
        let mut result = self.told(&around, path);
        let list = path.then("anyOf");
        let mut converted = Vec::with_capacity(branches.len());
        for (index, branch) in branches.iter().enumerate() {
            converted.push(Value::Object(self.schema(branch, list.then(&index.to_string()), level)?));
        }
        result.insert("anyOf".into(), converted.into());
        Ok(result)
    }

    /// Several types become alternatives, each with the keywords that speak of it.
    fn union(
        &mut self,
        source: &Map<String, Value>,
        kinds: &[&str],
        path: Path<'_>,
        level: usize,
    ) -> Result<Map<String, Value>, Refusal> {
        let mut result = self.told(source, path);
        let mut branches = Vec::new();
        for kind in kinds {
            if let Some(part) = part_for(source, kind) {
                branches.push(Value::Object(self.typed(&part, kind, path, level)?));
            }
        }
        if branches.is_empty() {
            return Err(Refusal::new(path, "no value of the enumeration has one of the types"));
        }
        self.notes.add(path, "the list of types is `anyOf`", "strict mode wants one type in a schema");
        result.insert("anyOf".into(), branches.into());
        Ok(result)
    }

    fn typed(
        &mut self,
        source: &Map<String, Value>,
        kind: &str,
        path: Path<'_>,
        level: usize,
    ) -> Result<Map<String, Value>, Refusal> {
        match kind {
            "object" => self.object(source, path, level),
            "array" => {
                check_level(path, level)?;
                let Some(items) = source.get("items") else {
                    return Err(Refusal::new(
                        path,
                        "an array of any values is open, and strict mode wants `items`",
                    ));
                };
                let mut result = self.simple(source, kind, path)?;
                let items = self.schema(items, path.then("items"), level + 1)?;
                result.insert("items".into(), Value::Object(items));
                Ok(result)
            }
            kind => self.simple(source, kind, path),
        }
    }

    fn object(
        &mut self,
        source: &Map<String, Value>,
        path: Path<'_>,
        level: usize,
    ) -> Result<Map<String, Value>, Refusal> {
        check_level(path, level)?;
        if let Some(keyword) = SHAPES.iter().find(|keyword| source.contains_key(**keyword)) {
            return Err(Refusal::new(path, format!("strict mode has no `{keyword}`")));
        }
        match source.get("additionalProperties") {
            Some(Value::Bool(false)) => {}
            None => self.notes.add(
                path,
                "`additionalProperties` is false",
                "strict mode wants every object closed",
            ),
            Some(_) => {
                return Err(Refusal::new(
                    path,
                    "the object takes further properties, and strict mode has none",
                ));
            }
        }
        let empty = Map::new();
        let properties = source.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let is_free = properties.is_empty() && !source.contains_key("additionalProperties");
        if is_free && level > 1 {
            return Err(Refusal::new(path, "the object takes any properties, and strict mode has none"));
        }
        self.properties += properties.len();
        if self.properties > MAX_PROPERTIES {
            return Err(Refusal::new(path, format!("more than {MAX_PROPERTIES} properties")));
        }
        let required: std::collections::HashSet<&str> = match source.get("required") {
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => Default::default(),
        };
        if let Some(name) = required.iter().find(|name| !properties.contains_key(**name)) {
            self.notes.add(
                path,
                format!("`{}` is not required", shorten(name)),
                "no such property is described",
            );
        }
        let mut converted = Map::new();
        let parent = path.then("properties");
        for (name, property) in properties {
            let here = parent.then(name);
            let mut schema = self.schema(property, here, level + 1)?;
            if !required.contains(name.as_str()) {
                self.notes.add(
                    here,
                    "required, and may be null",
                    "strict mode wants every property required",
                );
                allow_null(&mut schema);
            }
            converted.insert(name.clone(), Value::Object(schema));
        }
        let mut result = self.simple(source, "object", path)?;
        let names: Vec<&String> = converted.keys().collect();
        let names = json!(names);
        result.insert("properties".into(), Value::Object(converted));
        result.insert("required".into(), names);
        result.insert("additionalProperties".into(), false.into());
        Ok(result)
    }
}

/// Makes a strict schema accept `null`.
fn allow_null(schema: &mut Map<String, Value>) {
    let nothing = json!({"type": "null"});
    if let Some(constant) = schema.shift_remove("const") {
        schema.insert("enum".into(), json!([constant]));
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    if schema.contains_key("$ref") {
        let reference = std::mem::take(schema);
        schema.insert("anyOf".into(), json!([reference, nothing]));
        return;
    }
    if let Some(Value::Array(branches)) = schema.get_mut("anyOf")
        && !branches.contains(&nothing)
    {
        branches.push(nothing);
    }
    match schema.get_mut("type") {
        Some(Value::Array(kinds)) if !kinds.iter().any(|kind| kind == "null") => kinds.push("null".into()),
        Some(kind @ Value::String(_)) if kind != "null" => *kind = json!([kind.take(), "null"]),
        _ => {}
    }
}

fn check_level(path: Path<'_>, level: usize) -> Result<(), Refusal> {
    match level > MAX_LEVELS {
        true => Err(Refusal::new(path, format!("nested deeper than {MAX_LEVELS} levels"))),
        false => Ok(()),
    }
}

fn is_annotation_only(schema: &Map<String, Value>) -> bool {
    schema.keys().all(|keyword| ANNOTATIONS.contains(&keyword.as_str()))
}
