//! An outcome as the client gets it: text for the model, data for a program, images and links as blocks.

use crate::client::{Client, Revision};
use serde_json::{Map, Value, json};
use toolpost_core::{Attachment, AttachmentContent, Outcome, Output, Truncation};

/// The result of `tools/call`. Content that is given stands in place of the outcome's text.
pub(crate) fn result(outcome: Outcome, content: Option<Vec<Value>>, client: &Client) -> Value {
    let truncated = outcome.metadata.truncated;
    let mut result = Map::new();
    match outcome.result {
        Ok(output) => {
            let Output { text, data, attachments, .. } = output;
            let mut blocks = content.unwrap_or_else(|| vec![text_block(text)]);
            blocks.extend(attachments.into_iter().map(|attachment| block(attachment, client)));
            blocks.extend(truncated.and_then(|truncated| link(truncated, client)));
            result.insert("content".to_owned(), Value::Array(blocks));
            // Before 2026-07-28 only an object could be structured; before 2025-06-18 nothing could.
            let is_fit = match client.revision {
                Revision::V2024_11_05 | Revision::V2025_03_26 => false,
                Revision::V2025_06_18 | Revision::V2025_11_25 => data.is_object(),
                Revision::V2026_07_28 => !data.is_null(),
            };
            if is_fit {
                result.insert("structuredContent".to_owned(), data);
            }
            result.insert("isError".to_owned(), false.into());
        }
        Err(error) => {
            let mut blocks = vec![text_block(format!("Error: {}", error.message()))];
            blocks.extend(truncated.and_then(|truncated| link(truncated, client)));
            result.insert("content".to_owned(), Value::Array(blocks));
            result.insert("isError".to_owned(), true.into());
            result.insert("_meta".to_owned(), json!({"toolpost/error": error}));
        }
    }
    Value::Object(result)
}

fn text_block(text: String) -> Value {
    Value::Object(Map::from_iter([("type".to_owned(), "text".into()), ("text".to_owned(), text.into())]))
}

fn block(attachment: Attachment, client: &Client) -> Value {
    let Attachment { media_type, filename, content } = attachment;
    match content {
        AttachmentContent::Data(data) if media_type.starts_with("image/") => {
            json!({"type": "image", "data": data, "mimeType": media_type})
        }
        AttachmentContent::Data(data)
            if media_type.starts_with("audio/") && client.revision >= Revision::V2025_03_26 =>
        {
            json!({"type": "audio", "data": data, "mimeType": media_type})
        }
        AttachmentContent::Data(data) => {
            // A name may hold what no address can.
            let name: String = filename.bytes().map(escaped).collect();
            let uri = format!("attachment:{name}");
            json!({"type": "resource", "resource": {"uri": uri, "mimeType": media_type, "blob": data}})
        }
        AttachmentContent::Handle(handle) if client.revision >= Revision::V2025_06_18 => {
            json!({"type": "resource_link", "uri": handle, "name": filename, "mimeType": media_type})
        }
        AttachmentContent::Handle(handle) => {
            text_block(format!("[{filename} ({media_type}) is kept as {handle}]"))
        }
    }
}

/// A byte as it stands in an address.
fn escaped(byte: u8) -> String {
    match byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    }
}

/// The link to an output that was too long to show.
fn link(truncated: Truncation, client: &Client) -> Option<Value> {
    let handle = truncated.handle?;
    (client.revision >= Revision::V2025_06_18).then(|| {
        json!({
            "type": "resource_link",
            "uri": handle,
            "name": "whole-output",
            "title": "Whole output",
            "description": format!("All {} bytes; {} are shown.", truncated.total_bytes, truncated.shown_bytes),
            "mimeType": "text/plain",
            "size": truncated.kept_bytes,
        })
    })
}
