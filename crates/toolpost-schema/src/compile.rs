//! From a schema to its program. Works through a list instead of recursing, and looks at each schema once.

use crate::circle::first_stuck;
use crate::draft::Draft;
use crate::keyword::{compiled_pattern, dependent_names, plain};
use crate::program::{ByName, Check, Contains, Items, Node, NodeId, Object, Program, ResourceId};
use crate::reference::{Index, Target};
use crate::shape::{self, Wrong, whole};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::ptr;

/// Compiles a schema; an error says which part of it is wrong, and why.
pub(crate) fn compile(root: &Value) -> Result<Program, Wrong<'_>> {
    shape::check_depth(root)?;
    let draft = shape::draft_of(root)?;
    shape::check(root, draft)?;
    let mut compiler = Compiler {
        index: Index::of(root, draft),
        nodes: Vec::new(),
        known: HashMap::new(),
        waiting: Vec::new(),
        names: HashMap::new(),
    };
    compiler.node(root, 0)?;
    compiler.work()?;
    let dynamic = match compiler.names.is_empty() {
        true => Vec::new(),
        false => compiler.dynamic()?,
    };
    let Compiler { nodes, known, .. } = compiler;
    if let Some(stuck) = first_stuck(&nodes) {
        let part = known.iter().find(|(_, (id, _))| *id == stuck).map_or(root, |(_, (_, schema))| *schema);
        let message =
            "its references lead back to itself without end, so that no value can be checked".to_owned();
        return Err(Wrong { part, message });
    }
    Ok(Program { nodes, dynamic })
}

/// Whether a value has the shape of a schema of a draft; an error says where and why not.
pub(crate) fn is_schema(value: &Value, draft: Draft) -> Result<(), String> {
    let checked = shape::check_depth(value).and_then(|()| shape::check(value, draft));
    checked.map_err(|wrong| format!("at `{}`: {}", wrong.place(value), wrong.message))
}

struct Compiler<'v> {
    index: Index<'v>,
    nodes: Vec<Node>,
    known: HashMap<*const Value, (NodeId, &'v Value)>,
    waiting: Vec<(NodeId, &'v Value)>,
    /// The numbers of dynamic anchors that something refers to.
    names: HashMap<&'v str, u32>,
}

impl<'v> Compiler<'v> {
    /// The node of a schema, which is compiled later if it is new. `resource` is where the schema was found.
    fn node(&mut self, schema: &'v Value, resource: ResourceId) -> Result<NodeId, Wrong<'v>> {
        if let Some((id, _)) = self.known.get(&ptr::from_ref(schema)) {
            return Ok(*id);
        }
        if self.index.owner(schema).is_none() {
            // A reference may lead to a part that no keyword makes a schema.
            shape::check(schema, self.index.draft(resource))?;
            self.index.visit(schema, resource);
        }
        let id = self.nodes.len() as NodeId;
        let resource = self.index.owner(schema).unwrap_or(resource);
        self.nodes.push(Node { resource, ..Node::default() });
        self.known.insert(ptr::from_ref(schema), (id, schema));
        self.waiting.push((id, schema));
        Ok(id)
    }

    fn work(&mut self) -> Result<(), Wrong<'v>> {
        while let Some((id, schema)) = self.waiting.pop() {
            let resource = self.nodes[id as usize].resource;
            let mut checks = match schema {
                Value::Object(map) => self.checks(map, resource)?,
                Value::Bool(false) => vec![Check::Never],
                _ => Vec::new(),
            };
            // These ask what all others have looked at.
            let is_last =
                |check: &Check| matches!(check, Check::UnevaluatedItems(_) | Check::UnevaluatedProperties(_));
            checks.sort_by_key(is_last);
            let node = &mut self.nodes[id as usize];
            node.asks_for_evaluated = checks.last().is_some_and(is_last);
            node.checks = checks;
        }
        Ok(())
    }

    /// The nodes of the dynamic anchors that something refers to.
    fn dynamic(&mut self) -> Result<Vec<(ResourceId, u32, NodeId)>, Wrong<'v>> {
        let mut all = Vec::new();
        for (resource, name, schema) in self.index.dynamic_anchors() {
            if let Some(number) = self.names.get(name).copied() {
                all.push((resource, number, self.node(schema, resource)?));
            }
        }
        let before = self.names.len();
        self.work()?;
        // What was compiled just now may refer to further anchors.
        if self.names.len() > before { self.dynamic() } else { Ok(all) }
    }

    fn checks(&mut self, map: &'v Map<String, Value>, resource: ResourceId) -> Result<Vec<Check>, Wrong<'v>> {
        let draft = self.index.draft(resource);
        let mut checks = Vec::with_capacity(map.len());
        if draft.ref_stands_alone()
            && let Some(reference) = map.get("$ref").filter(|value| value.is_string())
        {
            checks.push(self.reference(reference, resource)?);
            return Ok(checks);
        }
        let mut has_object = false;
        let mut has_items = false;
        for (keyword, value) in map {
            match keyword.as_str() {
                "properties" | "patternProperties" | "additionalProperties" => {
                    if !std::mem::replace(&mut has_object, true) {
                        checks.push(Check::Object(self.object(map, resource)?));
                    }
                }
                "items" | "prefixItems" | "additionalItems" => {
                    if !std::mem::replace(&mut has_items, true) {
                        checks.push(Check::Items(self.items(map, draft, resource)?));
                    }
                }
                keyword => {
                    let check = match plain(keyword, value, map, draft)? {
                        Some(check) => Some(check),
                        None => self.applicator(keyword, value, map, resource)?,
                    };
                    checks.extend(check);
                }
            }
        }
        Ok(checks)
    }

    fn object(&mut self, map: &'v Map<String, Value>, resource: ResourceId) -> Result<Object, Wrong<'v>> {
        let mut object = Object::default();
        if let Some(Value::Object(properties)) = map.get("properties") {
            object.properties = ByName::new(self.by_name(properties, resource)?);
        }
        if let Some(Value::Object(patterns)) = map.get("patternProperties") {
            for (pattern, schema) in patterns {
                let pattern = compiled_pattern(pattern, schema)?;
                object.patterns.push((pattern, self.node(schema, resource)?));
            }
        }
        if let Some(schema) = map.get("additionalProperties") {
            object.additional = Some(self.node(schema, resource)?);
        }
        Ok(object)
    }

    fn by_name(
        &mut self,
        map: &'v Map<String, Value>,
        resource: ResourceId,
    ) -> Result<Vec<(Box<str>, NodeId)>, Wrong<'v>> {
        map.iter().map(|(name, schema)| Ok((name.as_str().into(), self.node(schema, resource)?))).collect()
    }

    fn list(&mut self, value: &'v Value, resource: ResourceId) -> Result<Vec<NodeId>, Wrong<'v>> {
        value.as_array().into_iter().flatten().map(|schema| self.node(schema, resource)).collect()
    }

    fn items(
        &mut self,
        map: &'v Map<String, Value>,
        draft: Draft,
        resource: ResourceId,
    ) -> Result<Items, Wrong<'v>> {
        let (prefix, rest) = match map.get("items") {
            items if draft >= Draft::Draft2020 => (map.get("prefixItems"), items),
            Some(list @ Value::Array(_)) => (Some(list), map.get("additionalItems")),
            items => (None, items),
        };
        let prefix = prefix.map_or(Ok(Vec::new()), |list| self.list(list, resource))?;
        let rest = rest.map(|schema| self.node(schema, resource)).transpose()?;
        Ok(Items { prefix, rest })
    }

    /// A keyword that applies other schemas.
    fn applicator(
        &mut self,
        keyword: &str,
        value: &'v Value,
        map: &'v Map<String, Value>,
        resource: ResourceId,
    ) -> Result<Option<Check>, Wrong<'v>> {
        let draft = self.index.draft(resource);
        let since_2019 = draft >= Draft::Draft2019;
        Ok(Some(match keyword {
            "$ref" => self.reference(value, resource)?,
            "$dynamicRef" if draft == Draft::Draft2020 => self.dynamic_reference(value, resource)?,
            "$recursiveRef" if draft == Draft::Draft2019 => self.recursive_reference(value, resource)?,
            "allOf" => Check::All(self.list(value, resource)?),
            "anyOf" => Check::Any(self.list(value, resource)?),
            "oneOf" => Check::One(self.list(value, resource)?),
            "not" => Check::Not(self.node(value, resource)?),
            "if" if draft >= Draft::Draft7 => {
                let mut branch = |key| map.get(key).map(|schema| self.node(schema, resource)).transpose();
                let (then, otherwise) = (branch("then")?, branch("else")?);
                Check::If { condition: self.node(value, resource)?, then, otherwise }
            }
            "contains" if draft >= Draft::Draft6 => {
                let limit = |key: &str| map.get(key).filter(|_| since_2019).and_then(whole);
                let node = self.node(value, resource)?;
                let evaluates = draft >= Draft::Draft2020;
                let (least, most) = (limit("minContains").unwrap_or(1), limit("maxContains"));
                Check::Contains(Contains { node, least, most, evaluates })
            }
            "propertyNames" if draft >= Draft::Draft6 => Check::Names(self.node(value, resource)?),
            "dependencies" if !since_2019 => Check::All(vec![self.dependencies(value, resource)?]),
            "dependentSchemas" if since_2019 => {
                let Value::Object(map) = value else { return Ok(None) };
                Check::DependentSchemas(self.by_name(map, resource)?)
            }
            "unevaluatedItems" if since_2019 => Check::UnevaluatedItems(self.node(value, resource)?),
            "unevaluatedProperties" if since_2019 => {
                Check::UnevaluatedProperties(self.node(value, resource)?)
            }
            _ => return Ok(None),
        }))
    }

    /// `dependencies` of the older drafts, names and schemas, as a node of their own.
    fn dependencies(&mut self, value: &'v Value, resource: ResourceId) -> Result<NodeId, Wrong<'v>> {
        let mut schemas = Vec::new();
        for (name, schema) in value.as_object().into_iter().flatten().filter(|(_, value)| !value.is_array()) {
            schemas.push((name.as_str().into(), self.node(schema, resource)?));
        }
        let checks = vec![Check::DependentNames(dependent_names(value)), Check::DependentSchemas(schemas)];
        self.nodes.push(Node { checks, resource, ..Node::default() });
        Ok((self.nodes.len() - 1) as NodeId)
    }

    fn reference(&mut self, value: &'v Value, resource: ResourceId) -> Result<Check, Wrong<'v>> {
        Ok(match self.target(value, resource)? {
            Target::Schema { schema, resource, .. } => Check::Ref(self.node(schema, resource)?),
            Target::Draft(draft) => Check::IsSchema(draft),
        })
    }

    fn target(&self, value: &'v Value, resource: ResourceId) -> Result<Target<'v>, Wrong<'v>> {
        let reference = value.as_str().unwrap_or_default();
        self.index.resolve(reference, resource).map_err(|message| Wrong { part: value, message })
    }

    fn dynamic_reference(&mut self, value: &'v Value, from: ResourceId) -> Result<Check, Wrong<'v>> {
        let (schema, resource, is_dynamic) = match self.target(value, from)? {
            Target::Schema { schema, resource, is_dynamic } => (schema, resource, is_dynamic),
            Target::Draft(draft) => return Ok(Check::IsSchema(draft)),
        };
        let node = self.node(schema, resource)?;
        let name = value.as_str().unwrap_or_default().split_once('#').map_or("", |(_, name)| name);
        Ok(match is_dynamic {
            true => Check::DynamicRef(self.number(name), node),
            false => Check::Ref(node),
        })
    }

    fn recursive_reference(&mut self, value: &'v Value, from: ResourceId) -> Result<Check, Wrong<'v>> {
        let Target::Schema { schema, resource, .. } = self.target(value, from)? else {
            return Ok(Check::Never);
        };
        let node = self.node(schema, resource)?;
        Ok(match self.index.is_recursive(resource) {
            true => Check::DynamicRef(self.number(""), node),
            false => Check::Ref(node),
        })
    }

    fn number(&mut self, name: &'v str) -> u32 {
        let next = self.names.len() as u32;
        *self.names.entry(name).or_insert(next)
    }
}
