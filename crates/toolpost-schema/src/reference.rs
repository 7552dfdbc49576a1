//! Where the references of a schema lead: the resources of a document, their anchors, and JSON pointers.

use crate::draft::Draft;
use crate::program::ResourceId;
use crate::uri;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::ptr;

/// A part of the document that has an address of its own.
struct Resource<'v> {
    root: &'v Value,
    address: String,
    draft: Draft,
    anchors: Vec<Anchor<'v>>,
}

struct Anchor<'v> {
    name: &'v str,
    schema: &'v Value,
    is_dynamic: bool,
}

/// Where a reference leads.
pub(crate) enum Target<'v> {
    Schema {
        schema: &'v Value,
        resource: ResourceId,
        /// Whether it was found by the name of a dynamic anchor.
        is_dynamic: bool,
    },
    /// The schema of schemas.
    Draft(Draft),
}

/// All schemas of a document.
pub(crate) struct Index<'v> {
    resources: Vec<Resource<'v>>,
    by_address: HashMap<String, ResourceId>,
    /// The resource of each schema.
    owners: HashMap<*const Value, ResourceId>,
}

impl<'v> Index<'v> {
    pub(crate) fn of(root: &'v Value, draft: Draft) -> Index<'v> {
        let mut index = Index { resources: Vec::new(), by_address: HashMap::new(), owners: HashMap::new() };
        index.add_resource(root, String::new(), draft);
        index.visit(root, 0);
        index
    }

    fn add_resource(&mut self, root: &'v Value, address: String, draft: Draft) -> ResourceId {
        let id = self.resources.len() as ResourceId;
        self.by_address.entry(address.clone()).or_insert(id);
        self.resources.push(Resource { root, address, draft, anchors: Vec::new() });
        id
    }

    pub(crate) fn draft(&self, resource: ResourceId) -> Draft {
        self.resources[resource as usize].draft
    }

    /// The resource of a schema, if it has been visited.
    pub(crate) fn owner(&self, schema: &'v Value) -> Option<ResourceId> {
        self.owners.get(&ptr::from_ref(schema)).copied()
    }

    /// Notes a schema that belongs to a resource, and all schemas inside of it.
    pub(crate) fn visit(&mut self, schema: &'v Value, resource: ResourceId) {
        if self.owners.contains_key(&ptr::from_ref(schema)) {
            return;
        }
        let Value::Object(map) = schema else {
            self.owners.insert(ptr::from_ref(schema), resource);
            return;
        };
        let resource = self.name(schema, map, resource);
        self.owners.insert(ptr::from_ref(schema), resource);
        let mut inside = Vec::new();
        self.draft(resource).for_each_inside(map, &mut |schema| inside.push(schema));
        inside.into_iter().for_each(|schema| self.visit(schema, resource));
    }

    /// Reads the names that a schema gives itself; the resource that it belongs to.
    fn name(&mut self, schema: &'v Value, map: &'v Map<String, Value>, within: ResourceId) -> ResourceId {
        let draft = self.draft(within).inside(map);
        let mut resource = within;
        let text = |key: &str| map.get(key).and_then(Value::as_str);
        if draft.ref_stands_alone() && text("$ref").is_some() {
            return resource;
        }
        if let Some(id) = text(draft.id_keyword()) {
            let (address, fragment) = uri::split(id);
            if !address.is_empty() {
                let address = uri::resolve(&self.resources[within as usize].address, address);
                if ptr::eq(schema, self.resources[within as usize].root) {
                    self.by_address.insert(address.clone(), within);
                    self.resources[within as usize].address = address;
                } else {
                    resource = self.add_resource(schema, address, draft);
                }
            }
            if !fragment.is_empty() {
                self.add_anchor(resource, fragment, schema, false);
            }
        }
        if draft >= Draft::Draft2019
            && let Some(name) = text("$anchor")
        {
            self.add_anchor(resource, name, schema, false);
        }
        if draft == Draft::Draft2020
            && let Some(name) = text("$dynamicAnchor")
        {
            self.add_anchor(resource, name, schema, true);
        }
        if draft == Draft::Draft2019 && map.get("$recursiveAnchor") == Some(&Value::Bool(true)) {
            self.add_anchor(resource, "", schema, true);
        }
        resource
    }

    fn add_anchor(&mut self, resource: ResourceId, name: &'v str, schema: &'v Value, is_dynamic: bool) {
        self.resources[resource as usize].anchors.push(Anchor { name, schema, is_dynamic });
    }

    /// All dynamic anchors: their resources, names and schemas.
    pub(crate) fn dynamic_anchors(&self) -> Vec<(ResourceId, &'v str, &'v Value)> {
        let all = self.resources.iter().enumerate().flat_map(|(id, resource)| {
            let dynamic = resource.anchors.iter().filter(|anchor| anchor.is_dynamic);
            dynamic.map(move |anchor| (id as ResourceId, anchor.name, anchor.schema))
        });
        all.collect()
    }

    /// Whether the root of a resource has `$recursiveAnchor: true`.
    pub(crate) fn is_recursive(&self, resource: ResourceId) -> bool {
        self.resources[resource as usize]
            .anchors
            .iter()
            .any(|anchor| anchor.is_dynamic && anchor.name.is_empty())
    }

    /// Where a reference in a resource leads; an error says why it leads nowhere.
    pub(crate) fn resolve(&self, reference: &str, from: ResourceId) -> Result<Target<'v>, String> {
        let (document, fragment) = uri::split(reference);
        let address = uri::resolve(&self.resources[from as usize].address, document);
        let id = match self.by_address.get(&address) {
            Some(id) => *id,
            None => return foreign(reference, &address, fragment),
        };
        let fragment = uri::decoded(fragment);
        let resource = &self.resources[id as usize];
        if fragment.is_empty() {
            return Ok(Target::Schema { schema: resource.root, resource: id, is_dynamic: false });
        }
        if fragment.starts_with('/') {
            return self
                .pointed(id, &fragment)
                .map(|(schema, resource)| Target::Schema { schema, resource, is_dynamic: false })
                .ok_or_else(|| format!("`{reference}` does not exist; check it for typing errors"));
        }
        let mut named = resource.anchors.iter().filter(|anchor| anchor.name == fragment);
        let anchor = named.next().ok_or_else(|| {
            format!(
                "`{reference}` does not exist; there is no `$anchor` of this name, and a path begins with `#/`"
            )
        })?;
        let is_dynamic = anchor.is_dynamic || named.any(|anchor| anchor.is_dynamic);
        Ok(Target::Schema { schema: anchor.schema, resource: id, is_dynamic })
    }

    /// The value at a JSON pointer, and the resource that it is in.
    fn pointed(&self, resource: ResourceId, pointer: &str) -> Option<(&'v Value, ResourceId)> {
        let root = self.resources[resource as usize].root;
        pointer.split('/').skip(1).try_fold((root, resource), |(value, resource), token| {
            let value = match value {
                Value::Object(map) => map.get(&token.replace("~1", "/").replace("~0", "~"))?,
                Value::Array(items) => items.get(token.parse::<usize>().ok()?)?,
                _ => return None,
            };
            Some((value, self.owner(value).unwrap_or(resource)))
        })
    }
}

/// A reference to another document: only the schemas of schemas are known.
fn foreign<'v>(reference: &str, address: &str, fragment: &str) -> Result<Target<'v>, String> {
    match Draft::named(address) {
        Some(draft) if fragment.is_empty() => Ok(Target::Draft(draft)),
        Some(_) => Err(format!(
            "`{reference}` leads into a meta-schema; only a reference to the whole of it is known"
        )),
        None => Err(format!(
            "`{reference}` leads to another document, and nothing is fetched; put the schema into `$defs` and refer to \
             it by `#/$defs/NAME`"
        )),
    }
}
