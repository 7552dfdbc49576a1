//! Lists, in an order that changes only with what is listed, by pages.

use crate::Server;
use crate::dispatch::Exchange;
use crate::resource;
use crate::structured::Shape;
use crate::virtual_file;
use serde_json::{Map, Value, json};
use toolpost_core::ToolError;
use toolpost_core::host::HANDLE_PREFIX;
use toolpost_declaration::{Format, Source, declare};
use toolpost_mcp::{Revision, RpcError};

/// Claude Code leaves tools out until its model searches for them, except for those whose entry has this under `_meta`.
const ALWAYS_LOAD: &str = "anthropic/alwaysLoad";

/// The tools that the policy offers to this session, under the names of its dialect.
pub(crate) fn tools(
    server: &Server,
    exchange: &Exchange,
    params: &Map<String, Value>,
) -> Result<Value, RpcError> {
    let context = &exchange.session.context;
    let listing = {
        let mut before = exchange.session.listed();
        let listing = server.executor.listing_after(context, &|name| before.contains(name));
        *before = listing.listed.iter().map(|entry| entry.name().to_owned()).collect();
        listing
    };
    let internal = |error: ToolError| RpcError::internal(error.to_string());
    let definitions = listing.definitions().map_err(internal)?;
    let (page, next) = page(&definitions, params, server.options.page_size, listing.snapshot.generation())?;
    let mut tools = Vec::with_capacity(page.len());
    // An output schema says what structured content is like; without that, it would only cost tokens.
    let is_structured = server.options.structured && exchange.client.revision >= Revision::V2025_06_18;
    let has_meta = exchange.client.revision >= Revision::V2025_06_18;
    for (_, definition) in page {
        let title = definition.title.clone().unwrap_or_else(|| title(&definition.name));
        let output = definition.output.as_ref().filter(|_| is_structured);
        let source = Source { title: Some(&title), output, ..Source::of(definition) };
        // A tool that cannot be declared is left out, as it is by `tools export`, which says why.
        let Ok(declaration) = declare(&source, Format::Mcp) else { continue };
        let mut tool = declaration.value;
        if let Some(fields) = tool.as_object_mut().filter(|_| is_structured) {
            let declared = fields.shift_remove("outputSchema");
            fields.insert("outputSchema".to_owned(), Shape::of(output).schema(declared));
        }
        // A tool of a group is one of another server: whether these are needed at once, only the user knows.
        if has_meta && definition.rule_names.is_none() {
            tool["_meta"] = json!({ALWAYS_LOAD: true});
        }
        tools.push(tool);
    }
    Ok(as_page("tools", tools.into(), next))
}

/// A name for people: `apply_patch` is "Apply patch".
fn title(name: &str) -> String {
    let spaced = name.replace(['_', '-'], " ");
    let mut letters = spaced.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The resources that can be read without having been given a link.
pub(crate) async fn resources(
    server: &Server,
    exchange: &Exchange,
    params: &Map<String, Value>,
) -> Result<Value, RpcError> {
    let mut all = virtual_file::list(server, exchange).await?;
    all.extend(server.extension.iter().flat_map(|extension| extension.resources()));
    all.extend(resource::listed(server, exchange).await);
    let (page, next) = page(&all, params, server.options.page_size, 0)?;
    Ok(as_page("resources", page.to_vec().into(), next))
}

/// What kinds of resources there are.
pub(crate) fn templates(
    server: &Server,
    exchange: &Exchange,
    params: &Map<String, Value>,
) -> Result<Value, RpcError> {
    let mut all = vec![json!({
        "uriTemplate": format!("{HANDLE_PREFIX}{{callId}}"),
        "name": "whole-output",
        "title": "Whole output",
        "description": "The whole output of a call of this session that was too long to show.",
        "mimeType": "text/plain",
    })];
    if virtual_file::are_offered(server, &exchange.session) {
        all.push(virtual_file::template());
    }
    all.extend(server.extension.iter().flat_map(|extension| extension.templates()));
    let (page, next) = page(&all, params, server.options.page_size, 0)?;
    Ok(as_page("resourceTemplates", page.to_vec().into(), next))
}

/// The prompts, which only an extension has.
pub(crate) fn prompts(
    server: &Server,
    all: &[Value],
    params: &Map<String, Value>,
) -> Result<Value, RpcError> {
    let (page, next) = page(all, params, server.options.page_size, 0)?;
    Ok(as_page("prompts", page.to_vec().into(), next))
}

fn as_page(name: &str, items: Value, next: Option<String>) -> Value {
    let mut list = json!({ name: items });
    if let Some(next) = next {
        list["nextCursor"] = next.into();
    }
    list
}

/// The part of a list that a cursor leads to, and the cursor of the next one.
fn page<'a, T>(
    all: &'a [T],
    params: &Map<String, Value>,
    size: usize,
    generation: u64,
) -> Result<(&'a [T], Option<String>), RpcError> {
    let size = size.max(1);
    let start = match params.get("cursor") {
        None | Some(Value::Null) => 0,
        Some(cursor) => {
            let cursor = cursor.as_str().unwrap_or_default();
            start(cursor, generation).filter(|start| *start < all.len()).ok_or_else(|| {
                let shown: String = cursor.chars().take(40).collect();
                RpcError::params(format!(
                    "invalid cursor `{shown}`, or the list has changed since; start again without a cursor"
                ))
            })?
        }
    };
    let end = (start + size).min(all.len());
    let next = (end < all.len()).then(|| format!("{end}-{generation}"));
    Ok((&all[start..end], next))
}

fn start(cursor: &str, generation: u64) -> Option<usize> {
    let (start, made_at) = cursor.split_once('-')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_current = is_number(made_at) && made_at.parse() == Ok(generation);
    (is_current && is_number(start)).then(|| start.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_cover_the_list_once() {
        let all: Vec<usize> = (0..25).collect();
        let (mut seen, mut cursor) = (Vec::new(), None);
        loop {
            let params = cursor.iter().map(|one: &String| ("cursor".to_owned(), json!(one))).collect();
            let (part, next) = page(&all, &params, 10, 3).unwrap();
            seen.extend_from_slice(part);
            cursor = next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, all);
    }

    #[test]
    fn a_cursor_that_leads_nowhere_is_refused() {
        let all: Vec<usize> = (0..25).collect();
        for cursor in
            [json!("x"), json!("10-4"), json!("25-3"), json!("-1-3"), json!("+1-3"), json!(7), json!("")]
        {
            let params = Map::from_iter([("cursor".to_owned(), cursor)]);
            assert_eq!(page(&all, &params, 10, 3).unwrap_err().code, -32602, "{params:?}");
        }
    }

    #[test]
    fn titles_read_like_words() {
        assert_eq!((title("apply_patch"), title("")), ("Apply patch".to_owned(), String::new()));
    }
}
