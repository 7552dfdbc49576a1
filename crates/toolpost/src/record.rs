//! What the log keeps of an event: enough to know what happened, and no copy of files that are nobody else's business.

use serde_json::Value;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use toolpost_core::activation::Fact;
use toolpost_core::event::{EventKind, Told};
use toolpost_core::model::{Arguments, Part, ToolCall};
use toolpost_core::policy::is_protected;
use toolpost_core::{Capability, Event};

/// Bytes of an output that are kept; the rest is under its handle. Of a long argument as many.
const MOST_OUTPUT: usize = 4 * 1024;
/// Bytes of a string among the arguments that is kept whole.
const MOST_ARGUMENT: usize = 16 * 1024;

/// The event as it is kept.
pub(crate) fn kept(event: &Arc<Event>) -> Arc<Event> {
    match &event.kind {
        EventKind::CallRequested { arguments, .. } if is_long(arguments) || names_secret(arguments) => {
            let mut kept = (**event).clone();
            if let EventKind::CallRequested { arguments, .. } = &mut kept.kind {
                let is_secret = names_secret(arguments);
                shorten(arguments, is_secret);
            }
            Arc::new(kept)
        }
        EventKind::CallFinished { output: Some(output), metadata, .. } => {
            let is_secret = metadata.files_accessed.iter().any(|name| is_secret(name));
            // A run of an agent goes on from what its model was told.
            let most = if event.activation.is_some() { Told::MOST_TEXT } else { MOST_OUTPUT };
            if !is_secret && output.text.len() <= most {
                return Arc::clone(event);
            }
            let mut kept = (**event).clone();
            if let EventKind::CallFinished { output: Some(output), .. } = &mut kept.kind {
                match is_secret {
                    true => output.text = hashed(&output.text),
                    false => {
                        let end = output.text.floor_char_boundary(most);
                        output.left_out += output.text.len() - end;
                        output.text.truncate(end);
                    }
                }
            }
            Arc::new(kept)
        }
        EventKind::Activation { fact: Fact::Answered { response, .. } }
            if response.tool_calls().any(|call| json_of(call).is_some_and(names_secret)) =>
        {
            let mut kept = (**event).clone();
            if let EventKind::Activation { fact: Fact::Answered { response, .. } } = &mut kept.kind {
                for part in &mut response.parts {
                    if let Part::ToolCall(ToolCall { arguments: Arguments::Json(value), .. }) = part
                        && names_secret(value)
                    {
                        shorten(value, true);
                    }
                }
            }
            Arc::new(kept)
        }
        _ => Arc::clone(event),
    }
}

fn json_of(call: &ToolCall) -> Option<&Value> {
    match &call.arguments {
        Arguments::Json(value) => Some(value),
        Arguments::Unparsable(_) => None,
    }
}

/// Whether a file is one whose reading asks.
fn is_secret(name: &str) -> bool {
    is_protected(Capability::Read, name)
}

fn any(value: &Value, is: &dyn Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => is(text),
        Value::Array(items) => items.iter().any(|item| any(item, is)),
        Value::Object(fields) => fields.values().any(|field| any(field, is)),
        _ => false,
    }
}

fn is_long(arguments: &Value) -> bool {
    any(arguments, &|text| text.len() > MOST_ARGUMENT)
}

/// Whether an argument is the name of a file whose reading asks. A long text is no name.
fn names_secret(arguments: &Value) -> bool {
    const LONGEST_NAME: usize = 1024;
    any(arguments, &|text| text.len() <= LONGEST_NAME && !text.contains('\n') && is_secret(text))
}

fn shorten(value: &mut Value, is_secret_file: bool) {
    match value {
        Value::String(text) if is_secret_file && !is_secret(text) => *text = hashed(text),
        Value::String(text) if text.len() > MOST_ARGUMENT => {
            let end = text.floor_char_boundary(MOST_OUTPUT);
            *text = format!(
                "{}… [{} bytes more; the whole has {}]",
                &text[..end],
                text.len() - end,
                hashed(text)
            );
        }
        Value::Array(items) => items.iter_mut().for_each(|item| shorten(item, is_secret_file)),
        Value::Object(fields) => fields.values_mut().for_each(|field| shorten(field, is_secret_file)),
        _ => {}
    }
}

fn hashed(text: &str) -> String {
    format!("sha256:{} ({} bytes)", toolpost_core::text::hex(&Sha256::digest(text)), text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use toolpost_core::outcome::Metadata;

    fn of(kind: EventKind) -> EventKind {
        let event = Event {
            at_ms: 1,
            session: "s".to_owned(),
            sequence: 1,
            agent: None,
            activation: None,
            call: None,
            kind,
        };
        kept(&Arc::new(event)).kind.clone()
    }

    fn arguments(arguments: Value) -> Value {
        match of(EventKind::CallRequested { tool: "write".to_owned(), arguments, parent: None }) {
            EventKind::CallRequested { arguments, .. } => arguments,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn arguments_are_kept_up_to_a_length() {
        let plain = json!({"filePath": "a.txt", "content": "x".repeat(MOST_ARGUMENT)});
        assert_eq!(arguments(plain.clone()), plain);
        let long = arguments(json!({"filePath": "a.txt", "content": "x".repeat(MOST_ARGUMENT + 1)}));
        assert!(long["content"].as_str().is_some_and(|text| text.len() < 5_000 && text.contains("sha256:")));
        assert_eq!(long["filePath"], "a.txt");
    }

    #[test]
    fn of_files_whose_reading_asks_only_a_hash_is_kept() {
        let secret = arguments(json!({"filePath": "app/.env", "content": "KEY=hunter2"}));
        assert_eq!(secret["filePath"], "app/.env");
        assert!(secret["content"].as_str().is_some_and(|text| text.starts_with("sha256:")), "{secret}");
        let output = Told {
            title: ".env".to_owned(),
            text: "KEY=hunter2".to_owned(),
            left_out: 0,
            attachments: vec![],
        };
        let metadata = Metadata { files_accessed: vec![".env".to_owned()], ..Metadata::default() };
        let told = of(EventKind::CallFinished {
            tool: "read".to_owned(),
            output: Some(output),
            error: None,
            metadata,
        });
        assert!(!format!("{told:?}").contains("hunter2"), "{told:?}");
    }

    #[test]
    fn outputs_are_kept_up_to_a_length() {
        let text = "ä".repeat(MOST_OUTPUT);
        let output = Told { title: String::new(), text, left_out: 7, attachments: vec![] };
        let metadata = Metadata::default();
        match of(EventKind::CallFinished {
            tool: "read".to_owned(),
            output: Some(output),
            error: None,
            metadata,
        }) {
            EventKind::CallFinished { output: Some(told), .. } => {
                assert_eq!((told.text.len(), told.left_out), (MOST_OUTPUT, MOST_OUTPUT + 7));
            }
            other => panic!("{other:?}"),
        }
    }
}
