//! A root that is one plain object, for the providers that accept no alternatives there.

use super::keyword::{each_inner, types};
use super::merge::{merge, unite};
use super::note::{Notes, Path, Refusal};
use super::reference::{Budget, check_all, resolve};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The most references, parts and alternatives within each other at the root.
const MAX_DEPTH: usize = 16;
/// The most alternatives in one list at the root.
const MAX_ALTERNATIVES: usize = 256;

/// The schema of the arguments with `$ref`, `allOf`, `anyOf` and `oneOf` gone from its root. It has `properties`,
/// and only the definitions that something still refers to.
pub(super) fn flatten(root: &Value, notes: &mut Notes) -> Result<Map<String, Value>, Refusal> {
    let mut flatten = Flatten { root, notes, budget: Budget::new() };
    let Value::Object(map) = root else {
        return Err(Refusal::new(Path::ROOT, "the root is not an object schema"));
    };
    let mut schema = flatten.schema(map.clone(), Path::ROOT, 0)?;
    if !is_object(&schema) {
        return Err(Refusal::new(Path::ROOT, "no alternative at the root is an object"));
    }
    schema.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    if schema.get("required").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        schema.shift_remove("required");
    }
    prune(&mut schema, root);
    check_still_there(schema)
}

struct Flatten<'a> {
    root: &'a Value,
    notes: &'a mut Notes,
    budget: Budget,
}

impl Flatten<'_> {
    fn schema(
        &mut self,
        mut schema: Map<String, Value>,
        path: Path<'_>,
        depth: usize,
    ) -> Result<Map<String, Value>, Refusal> {
        if depth > MAX_DEPTH {
            return Err(Refusal::new(path, "the root refers to itself or nests too many alternatives"));
        }
        if let Some(Value::String(reference)) = schema.shift_remove("$ref") {
            let target = self.copy(&reference, path)?;
            let target = self.schema(target, path, depth + 1)?;
            self.notes.add(path, "`$ref` is inlined", "the root must be a plain object");
            self.join(&mut schema, &target, path);
        }
        if let Some(Value::Array(parts)) = schema.shift_remove("allOf") {
            for part in parts {
                let Value::Object(part) = part else { continue };
                let part = self.schema(part, path, depth + 1)?;
                self.join(&mut schema, &part, path);
            }
            self.notes.add(path, "`allOf` is merged", "it is not accepted at the top level");
        }
        for keyword in ["anyOf", "oneOf"] {
            let Some(Value::Array(branches)) = schema.shift_remove(keyword) else { continue };
            if branches.len() > MAX_ALTERNATIVES {
                return Err(Refusal::new(
                    path,
                    format!("more than {MAX_ALTERNATIVES} alternatives at the root"),
                ));
            }
            let mut objects = Vec::new();
            for branch in branches {
                self.budget.pay(&branch).map_err(|reason| Refusal::new(path, reason))?;
                match branch {
                    Value::Object(branch) => objects.push(self.schema(branch, path, depth + 1)?),
                    Value::Bool(true) => objects.push(Map::new()),
                    _ => {}
                }
            }
            let count = objects.len();
            objects.retain(is_object);
            if objects.is_empty() && count > 0 {
                return Err(Refusal::new(path, "no alternative at the root is an object"));
            }
            unite(&mut schema, &objects, path, self.notes);
        }
        Ok(schema)
    }

    fn copy(&mut self, reference: &str, path: Path<'_>) -> Result<Map<String, Value>, Refusal> {
        let target = resolve(self.root, reference).and_then(|target| {
            self.budget.pay(target)?;
            Ok(target)
        });
        match target.map_err(|reason| Refusal::new(path, reason))? {
            Value::Object(target) => Ok(target.clone()),
            _ => Ok(Map::new()),
        }
    }

    fn join(&mut self, schema: &mut Map<String, Value>, part: &Map<String, Value>, path: Path<'_>) {
        for keyword in merge(schema, part) {
            self.notes.dropped(path, &keyword, "the parts disagree on it, and the first one stands");
        }
    }
}

/// A reference into what was merged away leads nowhere now.
fn check_still_there(schema: Map<String, Value>) -> Result<Map<String, Value>, Refusal> {
    let schema = Value::Object(schema);
    check_all(&schema)?;
    match schema {
        Value::Object(schema) => Ok(schema),
        _ => Ok(Map::new()),
    }
}

fn is_object(schema: &Map<String, Value>) -> bool {
    let kinds = types(schema);
    kinds.is_empty() || kinds.contains(&"object")
}

/// Leaves the definitions that are reached from the schema itself.
fn prune(schema: &mut Map<String, Value>, root: &Value) {
    let Some(Value::Object(mut definitions)) = schema.shift_remove("$defs") else { return };
    let mut reached = BTreeSet::new();
    let mut open: Vec<&Value> = Vec::new();
    each_inner(schema, |inner| open.push(inner));
    while let Some(inner) = open.pop() {
        let Value::Object(map) = inner else { continue };
        if let Some(reference) = map.get("$ref").and_then(Value::as_str)
            && reached.insert(reference.to_owned())
            && let Ok(target) = resolve(root, reference)
        {
            open.push(target);
        }
        each_inner(map, |inner| open.push(inner));
    }
    // A pointer below or beside a definition, or to the root, may reach any of them.
    let is_plain = |reference: &String| {
        reference.strip_prefix("#/$defs/").is_some_and(|name| !name.contains(['/', '~', '%']))
    };
    if reached.iter().all(is_plain) {
        definitions.retain(|name, _| reached.contains(&format!("#/$defs/{name}")));
    }
    if !definitions.is_empty() {
        schema.insert("$defs".into(), Value::Object(definitions));
    }
}
