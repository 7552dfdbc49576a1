//! What a server answers to a call, as an output of ours. Pure.

use crate::complaint::harmless;
use crate::fault::take;
use crate::listed::Listed;
use base64::Engine;
use serde_json::{Value, json};
use toolpost_core::outcome::{Attachment, AttachmentContent};
use toolpost_core::schema::Schema;
use toolpost_core::{Code, Output, ToolError};

/// The output of a call, or the failure that the server reports. `shown` says how the resource of an address can be read.
pub(crate) fn read(
    mut result: Value,
    tool: &Listed,
    shown: &dyn Fn(&str) -> String,
    notes: Vec<String>,
) -> Result<Output<Value>, ToolError> {
    let blocks = match take(&mut result, "content") {
        Value::Array(blocks) => blocks,
        _ => Vec::new(),
    };
    let data = take(&mut result, "structuredContent");
    let mut parts = Parts::default();
    let is_for_model = |block: &Value| match block["annotations"]["audience"].as_array() {
        Some(audience) => audience.is_empty() || audience.iter().any(|one| one == "assistant"),
        None => true,
    };
    // What is meant for the person alone is for the model too where there is nothing else.
    let has_text = blocks.iter().any(|block| block["type"] == "text" && is_for_model(block));
    for block in blocks {
        if block["type"] != "text" || is_for_model(&block) || !has_text {
            parts.add(block, shown);
        }
    }
    if parts.texts.is_empty() && !data.is_null() {
        parts.texts.push(data.to_string());
    }
    let notes = notes.iter().map(|note| format!("[note on the server: {note}]"));
    let is_error = result["isError"] == true;
    if is_error && parts.texts.is_empty() {
        parts.texts.push("the server says that the call failed, and not why".to_owned());
    }
    parts.texts.extend(notes);
    let text = parts.texts.join("\n");
    if is_error {
        let error = ToolError::execution(text);
        return Err(if data.is_null() { error } else { error.with("structuredContent", data) });
    }
    check(tool, &data)?;
    let mut output = Output::new(&tool.name, text, data);
    output.attachments = parts.attachments;
    Ok(output)
}

/// What is promised is kept, or the answer is none: whoever asks us was promised the same.
fn check(tool: &Listed, data: &Value) -> Result<(), ToolError> {
    let Some(schema) = &tool.output else { return Ok(()) };
    let mismatch = |why: String| {
        ToolError::new(
            Code::ResultSchemaMismatch,
            format!("the server's answer to `{}` does not fit the schema that it gave: {why}", tool.name),
        )
    };
    if data.is_null() {
        return Err(mismatch("there is no structured content".to_owned()));
    }
    let problems = Schema::compile(schema.clone())?.problems(data);
    match problems.first() {
        None => Ok(()),
        Some(first) => Err(mismatch(first.to_string())),
    }
}

#[derive(Default)]
struct Parts {
    texts: Vec<String>,
    attachments: Vec<Attachment>,
}

impl Parts {
    fn add(&mut self, mut block: Value, shown: &dyn Fn(&str) -> String) {
        match block["type"].as_str() {
            Some("text") => self.texts.extend(text(take(&mut block, "text"))),
            Some("image") => self.attach(&mut block, "data", "image"),
            Some("audio") => self.attach(&mut block, "data", "audio"),
            Some("resource") => {
                let mut resource = take(&mut block, "resource");
                match text(take(&mut resource, "text")) {
                    Some(text) => {
                        let uri = harmless(resource["uri"].as_str().unwrap_or("a resource"));
                        self.texts.push(format!("[{uri}]\n{text}"));
                    }
                    None => self.attach(&mut resource, "blob", "resource"),
                }
            }
            Some("resource_link") => {
                let field = |name: &str| block[name].as_str().map(harmless);
                let name = field("title").or_else(|| field("name")).unwrap_or_default();
                let about = field("description").map_or_else(String::new, |about| format!(": {about}"));
                let uri = field("uri").unwrap_or_default();
                self.texts.push(format!("[{name} at the server: {uri}{about}; {} shows it]", shown(&uri)));
            }
            kind => {
                let kind: String = kind.unwrap_or("no type").chars().take(40).collect();
                self.texts.push(format!("[a block of a kind that is not known here: {}]", harmless(&kind)));
            }
        }
    }

    fn attach(&mut self, block: &mut Value, field: &str, kind: &str) {
        let data = text(take(block, field)).unwrap_or_default();
        let media_type = block["mimeType"].as_str().unwrap_or("application/octet-stream").to_owned();
        if base64::engine::general_purpose::STANDARD.decode(&data).is_err() {
            self.texts
                .push(format!("[{kind} of type {}: its data is not valid base64]", harmless(&media_type)));
            return;
        }
        let number = self.attachments.len() + 1;
        let ending = media_type.rsplit(['/', '+']).next().unwrap_or("bin");
        let ending: String = ending.chars().filter(char::is_ascii_alphanumeric).take(10).collect();
        let filename = format!("{kind}-{number}.{ending}");
        self.attachments.push(Attachment { media_type, filename, content: AttachmentContent::Data(data) });
    }
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// The parameters of a call.
pub(crate) fn call(tool: &str, arguments: Value) -> serde_json::Map<String, Value> {
    let fields = [("name".to_owned(), json!(tool)), ("arguments".to_owned(), arguments)];
    fields.into_iter().collect()
}

#[cfg(test)]
mod tests;
