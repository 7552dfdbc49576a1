//! The drafts of JSON Schema, and where each of them puts schemas inside of schemas.

use serde_json::{Map, Value};

/// A draft, in the order of publication.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Draft {
    Draft4,
    Draft6,
    Draft7,
    Draft2019,
    Draft2020,
}

/// What the value of a keyword consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// No schema.
    Nothing,
    One,
    List,
    OneOrList,
    /// An object of schemas.
    ByName,
    /// An object of schemas and of lists of names.
    ByNameOrNames,
}

impl Draft {
    /// The draft that a `$schema` names, with `http` or `https`, with or without `#`.
    pub(crate) fn named(uri: &str) -> Option<Draft> {
        let uri = uri.strip_suffix('#').unwrap_or(uri);
        let name = uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://"))?;
        match name.strip_prefix("json-schema.org/")?.trim_end_matches('/') {
            "draft/2020-12/schema" => Some(Draft::Draft2020),
            "draft/2019-09/schema" => Some(Draft::Draft2019),
            "draft-07/schema" => Some(Draft::Draft7),
            "draft-06/schema" => Some(Draft::Draft6),
            "draft-04/schema" => Some(Draft::Draft4),
            _ => None,
        }
    }

    /// The keyword by which a schema names itself.
    pub(crate) fn id_keyword(self) -> &'static str {
        if self == Draft::Draft4 { "id" } else { "$id" }
    }

    /// Whether `$ref` makes its neighbours meaningless.
    pub(crate) fn ref_stands_alone(self) -> bool {
        self <= Draft::Draft7
    }

    /// What the value of a keyword consists of.
    pub(crate) fn holds(self, keyword: &str) -> Holds {
        use Draft::{Draft6, Draft7, Draft2019, Draft2020};
        match keyword {
            "properties" | "patternProperties" | "definitions" => Holds::ByName,
            "allOf" | "anyOf" | "oneOf" => Holds::List,
            "not" | "additionalProperties" => Holds::One,
            "items" if self < Draft2020 => Holds::OneOrList,
            "items" => Holds::One,
            "additionalItems" if self < Draft2020 => Holds::One,
            "dependencies" => Holds::ByNameOrNames,
            "contains" | "propertyNames" if self >= Draft6 => Holds::One,
            "if" | "then" | "else" if self >= Draft7 => Holds::One,
            "$defs" | "dependentSchemas" if self >= Draft2019 => Holds::ByName,
            "unevaluatedItems" | "unevaluatedProperties" | "contentSchema" if self >= Draft2019 => Holds::One,
            "prefixItems" if self >= Draft2020 => Holds::List,
            _ => Holds::Nothing,
        }
    }

    /// Calls `each` with every schema directly inside of this one.
    pub(crate) fn for_each_inside<'v>(self, schema: &'v Map<String, Value>, each: &mut dyn FnMut(&'v Value)) {
        let stands_alone = self.ref_stands_alone() && schema.get("$ref").is_some_and(Value::is_string);
        for (keyword, value) in schema {
            if stands_alone && keyword != "definitions" {
                continue;
            }
            match (self.holds(keyword), value) {
                (Holds::One | Holds::OneOrList, Value::Object(_) | Value::Bool(_)) => each(value),
                (Holds::List | Holds::OneOrList, Value::Array(list)) => list.iter().for_each(&mut *each),
                (Holds::ByName, Value::Object(map)) => map.values().for_each(&mut *each),
                (Holds::ByNameOrNames, Value::Object(map)) => {
                    map.values().filter(|value| !value.is_array()).for_each(&mut *each);
                }
                _ => {}
            }
        }
    }

    /// The draft of a schema inside of one of this draft: its own `$schema` decides, if it has an identity of its own.
    pub(crate) fn inside(self, schema: &Map<String, Value>) -> Draft {
        let named = schema.get("$schema").and_then(Value::as_str).and_then(Draft::named);
        match named {
            Some(draft) if schema.contains_key(draft.id_keyword()) => draft,
            _ => self,
        }
    }
}
