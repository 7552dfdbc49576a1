//! An outcome as the client gets it: the text for the model, and images. A program that asks for it gets the data, and
//! files as blocks, as well.

use crate::client::Client;
use crate::structured::Shape;
use serde_json::{Map, Value, json};
use toolpost_core::outcome::{Attachment, AttachmentContent, Truncation};
use toolpost_core::{Outcome, Output};
use toolpost_mcp::Revision;

/// For whom results are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    /// A host that shows its model what it gets. Many show structured content, links and `_meta` instead of the text, or
    /// beside it, so there is nothing but the text, and images and sound.
    Model,
    /// A program: data of this shape beside the text, whole errors, and links to whole outputs.
    Program(Shape),
}

/// The result of `tools/call`. Content that is given stands in place of the outcome's text.
pub(crate) fn result(
    outcome: Outcome,
    content: Option<Vec<Value>>,
    client: &Client,
    reader: Reader,
) -> Value {
    let link = match reader {
        Reader::Model => None,
        Reader::Program(_) => {
            outcome.metadata.truncated.clone().and_then(|truncated| link(truncated, client))
        }
    };
    let note = outcome.repair_note();
    let with_note = |text: String| match &note {
        Some(note) => format!("{}\n{note}", text.trim_end_matches('\n')),
        None => text,
    };
    let mut result = Map::new();
    match outcome.result {
        Ok(output) => {
            let Output { text, data, attachments, .. } = output;
            // Before 2025-06-18 nothing could be structured.
            let structured = match reader {
                Reader::Program(shape) if client.revision >= Revision::V2025_06_18 => {
                    Some(shape.content(data, &text))
                }
                _ => None,
            };
            let mut blocks = content.unwrap_or_else(|| vec![text_block(with_note(text))]);
            let is_sent = |attachment: &Attachment| match reader {
                // A model reads the text. The bytes of a document would cost it many times as much.
                Reader::Model => {
                    ["image/", "audio/"].iter().any(|kind| attachment.media_type.starts_with(kind))
                }
                Reader::Program(_) => true,
            };
            let sent = attachments.into_iter().filter(is_sent);
            blocks.extend(sent.map(|attachment| block(attachment, client)));
            blocks.extend(link);
            result.insert("content".to_owned(), Value::Array(blocks));
            if let Some(structured) = structured {
                result.insert("structuredContent".to_owned(), structured);
            }
            result.insert("isError".to_owned(), false.into());
        }
        Err(error) => {
            let mut blocks = vec![text_block(with_note(format!("Error: {}", error.message())))];
            blocks.extend(link);
            result.insert("content".to_owned(), Value::Array(blocks));
            result.insert("isError".to_owned(), true.into());
            let error = match reader {
                Reader::Model => json!({"code": error.code()}),
                Reader::Program(_) => json!(error),
            };
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
