//! Values of an entry by their keys. The error says what stands there and what should.

use crate::config::node::{Node, Value};

/// The value of a key; `null` is none.
pub(super) fn present<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    node.get(key).filter(|found| found.value != Value::Null)
}

pub(super) fn flag(node: &Node, key: &str) -> Result<Option<bool>, String> {
    match present(node, key).map(|found| (&found.value, found)) {
        None => Ok(None),
        Some((Value::Bool(is_true), _)) => Ok(Some(*is_true)),
        Some((_, found)) => Err(format!("`{key}` is {}; write true or false", found.kind())),
    }
}

pub(super) fn text(node: &Node, key: &str) -> Result<Option<String>, String> {
    let Some(found) = present(node, key) else { return Ok(None) };
    match found.as_text() {
        Some(text) => Ok(Some(text.to_owned())),
        None => Err(format!("`{key}` is {}; write a text", found.kind())),
    }
}

/// A text, or what people write where a text is meant: a number, true or false.
fn word(node: &Node) -> Option<String> {
    match &node.value {
        Value::Text(text) | Value::Number(text) => Some(text.clone()),
        Value::Bool(is_true) => Some(is_true.to_string()),
        _ => None,
    }
}

pub(super) fn texts(node: &Node, key: &str) -> Result<Option<Vec<String>>, String> {
    let Some(found) = present(node, key) else { return Ok(None) };
    let wrong = |what: &Node| format!("`{key}` holds {}; write a list of texts", what.kind());
    let Value::List(items) = &found.value else { return Err(wrong(found)) };
    items.iter().map(|item| word(item).ok_or_else(|| wrong(item))).collect::<Result<_, _>>().map(Some)
}

pub(super) fn pairs(node: &Node, key: &str) -> Result<Vec<(String, String)>, String> {
    let Some(found) = present(node, key) else { return Ok(Vec::new()) };
    let wrong = |what: &Node| format!("`{key}` holds {}; write a table of texts", what.kind());
    let Value::Table(members) = &found.value else { return Err(wrong(found)) };
    let given = members.iter().filter(|member| member.node.value != Value::Null);
    given.map(|one| Ok((one.key.clone(), word(&one.node).ok_or_else(|| wrong(&one.node))?))).collect()
}

/// Names of variables: texts, or tables with a `name`.
pub(super) fn names(node: &Node, key: &str) -> Result<Vec<String>, String> {
    let Some(found) = present(node, key) else { return Ok(Vec::new()) };
    let Value::List(items) = &found.value else {
        return Err(format!("`{key}` is {}; write a list", found.kind()));
    };
    let name = |item: &Node| item.as_text().or_else(|| item.get("name")?.as_text()).map(str::to_owned);
    items
        .iter()
        .map(|item| name(item).ok_or_else(|| format!("`{key}` holds {}; write names", item.kind())))
        .collect()
}
