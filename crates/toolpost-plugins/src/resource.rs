//! Resources of servers: their addresses here, and the tool by which each server's are read. Pure.

use crate::complaint::harmless;
use crate::fault::take;
use crate::listed::Listed;
use serde_json::{Map, Value, json};
use toolpost_core::{Output, ToolError};

/// The name of the tool, which is that of the method: a server's own tool of this name is left out.
pub(crate) const READER: &str = "resources/read";

/// What the addresses begin with under which resources of servers can be read here. The server's part of the names of its
/// tools follows, and then its own address, so that no address of one server leads to another.
pub(crate) const PREFIX: &str = "toolpost-mcp://";

/// The address here of a server's resource.
pub(crate) fn address(part: &str, uri: &str) -> String {
    format!("{PREFIX}{part}/{uri}")
}

/// The server's part and its own address, if this is an address of a server's resource here.
pub(crate) fn parse(address: &str) -> Option<(&str, &str)> {
    address.strip_prefix(PREFIX)?.split_once('/').filter(|(part, uri)| !part.is_empty() && !uri.is_empty())
}

/// The tool that reads a server's resources.
pub(crate) fn reader() -> Listed {
    let hints = json!({"readOnlyHint": true, "openWorldHint": false});
    Listed {
        name: READER.to_owned(),
        title: Some("Read a resource".to_owned()),
        description: "Reads a resource that a result or list of this server names.".to_owned(),
        input: json!({
            "type": "object",
            "properties": {"uri": {"type": "string", "description": "The address, as the server names it."}},
            "required": ["uri"],
        }),
        output: None,
        annotations: hints.as_object().cloned().unwrap_or_default(),
    }
}

/// What was read: the text for the model, and the contents as data.
pub(crate) fn read(mut answer: Value) -> Result<Output<Value>, ToolError> {
    let contents = match take(&mut answer, "contents") {
        Value::Array(contents) => contents,
        _ => return Err(ToolError::execution("the server's answer has no `contents`")),
    };
    let shown = |content: &Value| match content["text"].as_str() {
        Some(text) => text.to_owned(),
        None => {
            let media_type = harmless(content["mimeType"].as_str().unwrap_or("application/octet-stream"));
            format!("[{media_type}, which is not text]")
        }
    };
    let text = contents.iter().map(shown).collect::<Vec<_>>().join("\n");
    let data = Map::from_iter([("contents".to_owned(), Value::Array(contents))]);
    Ok(Output::new("a resource", text, Value::Object(data)))
}
