//! Which values of the arguments are paths of the workspace, by the mark in the schema.
//!
//! A value counts as a path where any schema that may apply to it has the mark. Which of several forms it really has is not
//! asked: policy must judge a path too many rather than one too few.

use crate::{MAX_DEPTH, PATH_MARK};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::ptr;

/// Keywords with one schema for the same value.
const SAME: [&str; 3] = ["then", "else", "if"];

/// Keywords with a list of schemas for the same value.
const FORMS: [&str; 3] = ["anyOf", "oneOf", "allOf"];

/// Keywords with a schema for items.
const ITEMS: [&str; 4] = ["items", "additionalItems", "unevaluatedItems", "contains"];

/// Keywords with a schema for values of keys that no other keyword names.
const OTHERS: [&str; 2] = ["additionalProperties", "unevaluatedProperties"];

/// Keywords with a reference to a schema for the same value.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Keywords with schemas for the same value, by a key that it has.
const DEPENDENT: [&str; 2] = ["dependentSchemas", "dependencies"];

/// Where the paths are among arguments, as far as that is known before there are any.
pub(crate) enum Places {
    /// There are none.
    Nowhere,
    /// These arguments, and nothing within others: what almost every tool has.
    Arguments(Vec<Marked>),
    /// The schema is gone through with each value.
    Anywhere,
}

/// An argument that is a path.
pub(crate) struct Marked {
    name: String,
    default: Option<String>,
}

impl Places {
    pub(crate) fn of(schema: &Value) -> Places {
        match crate::has_key(schema, PATH_MARK) {
            true => marked(schema).map_or(Places::Anywhere, Places::Arguments),
            false => Places::Nowhere,
        }
    }

    /// The values that are paths; of a property that is left out, its default.
    pub(crate) fn among<'a>(&'a self, schema: &'a Value, arguments: &'a Value) -> Vec<&'a str> {
        match (self, arguments) {
            (Places::Nowhere, _) => Vec::new(),
            (Places::Arguments(marked), Value::Object(map)) => {
                let value = |one: &'a Marked| match map.get(&one.name) {
                    Some(value) => value.as_str(),
                    None => one.default.as_deref(),
                };
                marked.iter().filter_map(value).collect()
            }
            _ => {
                let mut found = Vec::new();
                collect(schema, arguments, &mut found);
                found
            }
        }
    }
}

/// The arguments with the mark that must be given.
pub(crate) fn needed(schema: &Value) -> Vec<String> {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let is_path = |name: &&str| {
        let property = schema.get("properties").and_then(|all| all.get(*name));
        property.is_some_and(|property| property.get(PATH_MARK).is_some())
    };
    required.filter_map(Value::as_str).filter(is_path).map(str::to_owned).collect()
}

/// The arguments with the mark, where nothing else can be a path.
fn marked(schema: &Value) -> Option<Vec<Marked>> {
    let root = schema.as_object()?;
    if root.contains_key(PATH_MARK) || has_schema_for_itself(root) || has_schema_for_others(root) {
        return None;
    }
    let mut all = Vec::new();
    for (name, schema) in root.get("properties").and_then(Value::as_object)? {
        let leads_away = REFERENCES.iter().any(|keyword| crate::has_key(schema, keyword));
        if !leads_away && !crate::has_key(schema, PATH_MARK) {
            continue;
        }
        let keywords = schema.as_object()?;
        let has_parts = keywords.contains_key("properties")
            || keywords.contains_key("prefixItems")
            || ITEMS.iter().any(|keyword| keywords.contains_key(*keyword))
            || has_schema_for_others(keywords);
        if leads_away || has_parts || has_schema_for_itself(keywords) || !keywords.contains_key(PATH_MARK) {
            return None;
        }
        let default = keywords.get("default").and_then(Value::as_str).map(str::to_owned);
        all.push(Marked { name: name.clone(), default });
    }
    Some(all)
}

fn has_schema_for_itself(keywords: &Map<String, Value>) -> bool {
    let mut all = SAME.iter().chain(&FORMS).chain(&REFERENCES).chain(&DEPENDENT);
    all.any(|keyword| keywords.contains_key(*keyword))
}

/// Whether keys that are not named have a schema that could say something of them.
fn has_schema_for_others(keywords: &Map<String, Value>) -> bool {
    keywords.contains_key("patternProperties")
        || OTHERS.iter().any(|keyword| keywords.get(*keyword).is_some_and(Value::is_object))
}

/// Adds the values that are paths; of a property that is left out, its default.
fn collect<'a>(schema: &'a Value, value: &'a Value, found: &mut Vec<&'a str>) {
    let mut search = Search { root: schema, found, seen: HashSet::new(), added: HashSet::new() };
    search.visit(schema, value, 0);
}

struct Search<'a, 'f> {
    root: &'a Value,
    found: &'f mut Vec<&'a str>,
    /// Pairs of a schema and a value that were reached by a reference or as one of several forms: none is visited twice.
    seen: HashSet<(*const Value, *const Value)>,
    added: HashSet<*const u8>,
}

impl<'a> Search<'a, '_> {
    fn visit(&mut self, schema: &'a Value, value: &'a Value, depth: usize) {
        let Value::Object(keywords) = schema else { return };
        if depth > MAX_DEPTH {
            return;
        }
        self.same(keywords, value, depth);
        match value {
            Value::String(text) if keywords.contains_key(PATH_MARK) => self.add(text),
            Value::Array(items) => self.items(keywords, items, depth + 1),
            Value::Object(map) => self.properties(keywords, map, depth + 1),
            _ => {}
        }
    }

    fn add(&mut self, text: &'a str) {
        if self.added.insert(text.as_ptr()) || text.is_empty() {
            self.found.push(text);
        }
    }

    /// Schemas that apply to the value itself.
    fn same(&mut self, keywords: &'a Map<String, Value>, value: &'a Value, depth: usize) {
        for schema in SAME.iter().filter_map(|keyword| keywords.get(*keyword)) {
            self.once(schema, value, depth);
        }
        for forms in FORMS.iter().filter_map(|keyword| keywords.get(*keyword)?.as_array()) {
            forms.iter().for_each(|schema| self.once(schema, value, depth));
        }
        for keyword in DEPENDENT {
            let dependent = keywords.get(keyword).and_then(Value::as_object).into_iter().flatten();
            dependent.for_each(|(_, schema)| self.once(schema, value, depth));
        }
        for keyword in REFERENCES {
            let Some(reference) = keywords.get(keyword).and_then(Value::as_str) else { continue };
            match target(self.root, reference) {
                Some(schema) => self.once(schema, value, depth),
                // Where it leads is not looked for, so whatever is there may be a path.
                None => self.everything(value),
            }
        }
    }

    fn once(&mut self, schema: &'a Value, value: &'a Value, depth: usize) {
        if self.seen.insert((ptr::from_ref(schema), ptr::from_ref(value))) {
            self.visit(schema, value, depth);
        }
    }

    fn items(&mut self, keywords: &'a Map<String, Value>, items: &'a [Value], depth: usize) {
        for keyword in ITEMS {
            match keywords.get(keyword) {
                // Older drafts write a list of schemas, one for each place.
                Some(Value::Array(schemas)) => self.places(schemas, items, depth),
                Some(schema) => items.iter().for_each(|item| self.visit(schema, item, depth)),
                None => {}
            }
        }
        if let Some(Value::Array(schemas)) = keywords.get("prefixItems") {
            self.places(schemas, items, depth);
        }
    }

    fn places(&mut self, schemas: &'a [Value], items: &'a [Value], depth: usize) {
        for (schema, item) in schemas.iter().zip(items) {
            self.visit(schema, item, depth);
        }
    }

    fn properties(&mut self, keywords: &'a Map<String, Value>, map: &'a Map<String, Value>, depth: usize) {
        let named = keywords.get("properties").and_then(Value::as_object);
        for (name, schema) in named.into_iter().flatten() {
            if let Some(value) = map.get(name).or_else(|| schema.get("default")) {
                self.visit(schema, value, depth);
            }
        }
        // Which keys a pattern means is not asked.
        let patterns = keywords.get("patternProperties").and_then(Value::as_object).into_iter().flatten();
        for (_, schema) in patterns {
            map.values().for_each(|value| self.visit(schema, value, depth));
        }
        let is_other = |name: &String| !named.is_some_and(|named| named.contains_key(name));
        for schema in OTHERS.iter().filter_map(|keyword| keywords.get(*keyword)) {
            for (_, value) in map.iter().filter(|(name, _)| is_other(name)) {
                self.visit(schema, value, depth);
            }
        }
    }

    fn everything(&mut self, value: &'a Value) {
        match value {
            Value::String(text) => self.add(text),
            Value::Array(items) => items.iter().for_each(|item| self.everything(item)),
            Value::Object(map) => map.values().for_each(|value| self.everything(value)),
            _ => {}
        }
    }
}

/// Where a reference within the document leads, if it is written as a path and no part of the document has an address of
/// its own, from which it would be read.
fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let pointer = crate::uri::decoded(reference.strip_prefix('#')?);
    let has_addresses = crate::has_key(root, "$id") || root.get("$schema").is_some_and(is_draft_4);
    if has_addresses { None } else { root.pointer(&pointer) }
}

/// There, `id` is the address of a schema.
fn is_draft_4(schema: &Value) -> bool {
    schema.as_str().is_some_and(|address| address.contains("draft-04"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn arguments_known_before_are_those_that_a_search_finds() {
        let path = || json!({"type": "string", PATH_MARK: true, "default": "d"});
        let schemas = [
            (json!({"properties": {"a": path(), "b": {"type": "array", "items": {}}}}), true),
            (json!({"properties": {"a": path(), "b": path()}, "additionalProperties": false}), true),
            (json!({"properties": {"a": {PATH_MARK: true}, "b": {"anyOf": [{"type": "string"}]}}}), true),
            (json!({"properties": {"a": path(), "b": {"items": path()}}}), false),
            (json!({"properties": {"a": path(), "b": {"anyOf": [path()]}}}), false),
            (json!({"properties": {"a": path(), "b": {"$ref": "#/properties/a"}}}), false),
            (json!({"properties": {"a": path()}, "additionalProperties": path()}), false),
            (json!({"properties": {"a": path()}, "patternProperties": {"b": path()}}), false),
            (json!({"properties": {"a": path()}, "if": {"properties": {"b": path()}}}), false),
            (json!({"properties": {"a": path()}, "dependentSchemas": {"a": {"items": path()}}}), false),
        ];
        let values = [
            json!({}),
            json!({"a": "x", "b": "y"}),
            json!({"a": "", "b": ""}),
            json!({"a": ["x"], "b": ["y"]}),
            json!({"a": {"b": "x"}, "b": 5}),
            json!({"c": "x", "a": null}),
            json!("x"),
            json!(["x"]),
        ];
        for (schema, is_known) in &schemas {
            let places = Places::of(schema);
            assert_eq!(matches!(places, Places::Arguments(_)), *is_known, "{schema}");
            for value in &values {
                let mut found = Vec::new();
                collect(schema, value, &mut found);
                assert_eq!(places.among(schema, value), found, "{schema} {value}");
            }
        }
    }
}
