//! The parameters of a tool that is a prompt, and the gaps in the prompt that they fill.

use super::node::{Content, Node};
use super::reader::Reader;
use super::yaml::short;
use crate::prompt_tool::placeholders;
use serde_json::{Value, json};
use std::collections::HashSet;
use toolpost_core::text::nearest;
use toolpost_core::tool::PromptParameter;

/// The keys of a parameter.
pub(super) const OF_PARAMETERS: [&str; 4] = ["type", "items", "description", "required"];

/// The types of a parameter.
const KINDS: [&str; 6] = ["string", "number", "integer", "boolean", "object", "array"];

/// What the items of an array are: the name of a type, or a JSON schema.
fn items(reader: &mut Reader<'_>, node: &Node, kind: Option<&str>, field: &str) -> Option<Value> {
    let field = format!("{field}.items");
    if kind != Some("array") {
        reader.broken(node.at, &field, "`items` belongs to `type: array`; remove it, or change the type");
        return None;
    }
    let Content::Map(_) = &node.content else {
        return reader.one_of(node, &field, &KINDS).map(|kind| json!({ "type": kind }));
    };
    let schema = node.to_value();
    if let Err(error) = toolpost_core::schema::Schema::compile(schema.clone()) {
        reader.broken(node.at, &field, format!("`items` is no schema: {error}"));
        return None;
    }
    Some(schema)
}

/// Warns of gaps in a prompt that no argument fills: the model that answers would read them as they stand.
pub(super) fn check_gaps(
    reader: &mut Reader<'_>,
    node: &Node,
    prompt: &str,
    parameters: &[PromptParameter],
    field: &str,
) {
    let mut known = HashSet::new();
    for name in placeholders(prompt) {
        if parameters.iter().any(|one| one.name == name) || !known.insert(name) {
            continue;
        }
        let names = || parameters.iter().map(|one| one.name.as_str());
        let hint = match (nearest(name, names(), 1).first(), names().next()) {
            (Some(near), _) => format!("did you mean `{{{{{near}}}}}`?"),
            (None, None) => format!("the tool has no parameters; add `{name}` under `parameters`"),
            (None, Some(_)) => {
                format!("the parameters are {}", names().collect::<Vec<_>>().join(", "))
            }
        };
        let message = format!(
            "`{{{{{}}}}}` names no parameter, so that it stays as it is in the prompt; {hint}",
            short(name)
        );
        reader.warn(node.at, field, message);
    }
}

/// `NAME: { type, items, description, required }`.
pub(super) fn parameters(reader: &mut Reader<'_>, node: &Node, field: &str) -> Vec<PromptParameter> {
    let Content::Map(entries) = &node.content else {
        reader.broken(
            node.at,
            field,
            format!("`parameters` is {}; write a mapping from names to `{{ type: string }}`", node.kind()),
        );
        return Vec::new();
    };
    let mut known = HashSet::new();
    let mut all = Vec::new();
    for (key, value) in entries {
        let field = format!("{field}.{}", key.text);
        if !known.insert(key.text.clone()) {
            continue;
        }
        if !matches!(value.content, Content::Map(_)) {
            reader.broken(
                value.at,
                &field,
                format!(
                    "`{}` is {}; write `{{ type: string, description: …, required: true }}`",
                    short(&key.text),
                    value.kind()
                ),
            );
            continue;
        }
        let kind = match value.get("type") {
            Some(node) => reader.one_of(node, &format!("{field}.type"), &KINDS),
            None => Some("string".to_owned()),
        };
        let items = value.get("items").and_then(|node| items(reader, node, kind.as_deref(), &field));
        let description =
            value.get("description").and_then(|node| reader.text(node, &format!("{field}.description")));
        let is_required = match value.get("required").map(|node| (&node.content, node)) {
            None => false,
            Some((Content::Boolean(is), _)) => *is,
            Some((_, node)) => {
                reader.broken(
                    node.at,
                    &format!("{field}.required"),
                    format!("`required` is {}; write `true` or `false`", node.kind()),
                );
                false
            }
        };
        if let Some(kind) = kind {
            let name = key.text.clone();
            all.push(PromptParameter {
                name,
                kind,
                items,
                description: description.unwrap_or_default(),
                is_required,
            });
        }
    }
    all
}
