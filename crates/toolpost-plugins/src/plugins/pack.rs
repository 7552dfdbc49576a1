//! A server's tools as a pack, and what each costs in a list.

use super::names::Named;
use crate::listed::Listed;
use crate::tool;
use crate::upstream::Upstream;
use serde_json::json;
use std::sync::Arc;
use toolpost_core::pack::Manifest;
use toolpost_core::text::tokens;
use toolpost_core::{Pack, ToolError};

/// About what a tool's declaration costs.
pub(super) fn price(name: &str, listed: &Listed) -> usize {
    tokens(name) + tokens(&listed.description) + tokens(&listed.input.to_string())
}

/// The pack of a server; none if it has no tools.
pub(super) fn pack(
    upstream: &Arc<Upstream>,
    tools: &[Named],
    version: &str,
) -> Result<Option<Pack>, ToolError> {
    if tools.is_empty() {
        return Ok(None);
    }
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    let name = upstream.part();
    let manifest = json!({
        "schemaVersion": Manifest::SCHEMA_VERSION,
        "name": name,
        "description": format!("The tools of the MCP server {name}."),
        "tools": names,
        "riskProfile": "privileged",
        "tags": ["mcp"],
    });
    let manifest = Manifest::parse(name, manifest.to_string().as_bytes())
        .map_err(|errors| ToolError::execution(format!("the pack of `{name}` cannot be made: {errors}")))?
        .manifest;
    let made = tools.iter().map(|tool| tool::make(upstream, &tool.listed, &tool.name, version));
    Ok(Some(made.fold(Pack::new(manifest), Pack::with)))
}
