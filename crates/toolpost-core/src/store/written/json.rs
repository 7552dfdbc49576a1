//! An event as JSON. What every call records is written by hand: as long as the names of its fields go through a serializer that
//! knows nothing of them, they cost more than what they name.

use crate::event::{Event, EventKind};
use serde::Serialize;
use serde_json::{Error, to_writer};

/// Adds an event, as `serde_json` would write it.
pub(super) fn write(out: &mut Vec<u8>, event: &Event) -> Result<(), Error> {
    match &event.kind {
        EventKind::CallRequested { tool, arguments, parent } => {
            head(out, event, "callRequested")?;
            text(out, ",\"tool\":", tool)?;
            value(out, ",\"arguments\":", arguments)?;
            value(out, ",\"parent\":", parent)?;
        }
        EventKind::CallDecided { effect, reason } => {
            head(out, event, "callDecided")?;
            text(out, ",\"effect\":", effect)?;
            text(out, ",\"reason\":", reason)?;
        }
        EventKind::CallStarted { tool, attempt, dry_run } => {
            head(out, event, "callStarted")?;
            text(out, ",\"tool\":", tool)?;
            value(out, ",\"attempt\":", attempt)?;
            value(out, ",\"dryRun\":", dry_run)?;
        }
        EventKind::CallFinished { tool, output, error, metadata } => {
            head(out, event, "callFinished")?;
            text(out, ",\"tool\":", tool)?;
            value(out, ",\"output\":", output)?;
            value(out, ",\"error\":", error)?;
            value(out, ",\"metadata\":", metadata)?;
        }
        _ => return to_writer(out, event),
    }
    out.push(b'}');
    Ok(())
}

/// All that stands before the fields of a kind, and the kind.
fn head(out: &mut Vec<u8>, event: &Event, kind: &str) -> Result<(), Error> {
    value(out, "{\"atMs\":", &event.at_ms)?;
    text(out, ",\"session\":", &event.session)?;
    value(out, ",\"sequence\":", &event.sequence)?;
    let names =
        [(",\"agent\":", &event.agent), (",\"activation\":", &event.activation), (",\"call\":", &event.call)];
    for (key, name) in names {
        if let Some(name) = name {
            text(out, key, name)?;
        }
    }
    text(out, ",\"event\":", kind)
}

fn value(out: &mut Vec<u8>, key: &str, value: &impl Serialize) -> Result<(), Error> {
    out.extend_from_slice(key.as_bytes());
    to_writer(out, value)
}

/// A text, most of which have nothing in them that is written otherwise.
fn text(out: &mut Vec<u8>, key: &str, text: &str) -> Result<(), Error> {
    // All bytes are looked at, whatever is found, so that many are at once.
    let is_special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    if text.bytes().fold(false, |found, byte| found | is_special(byte)) {
        return value(out, key, &text);
    }
    out.reserve(key.len() + text.len() + 2);
    out.extend_from_slice(key.as_bytes());
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
    out.push(b'"');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Code, ToolError};
    use crate::event::Told;
    use crate::outcome::Metadata;
    use serde_json::json;

    #[test]
    fn events_are_written_as_the_serializer_writes_them() {
        let texts = ["", "read", "a \"b\" \\ c", "ä\u{1f600}\u{7f}\u{2028}", "\u{0}\u{1f}\n\t\r"];
        for one in texts {
            let name = || one.to_owned();
            let told = Told {
                title: name(),
                text: name(),
                left_out: 3,
                attachments: vec![("image/png".to_owned(), name())],
            };
            let error = ToolError::new(Code::Timeout, one).with("path", one);
            let metadata =
                Metadata { files_accessed: vec![name()], execution_time_ms: 0.1, ..Metadata::default() };
            let kinds = [
                EventKind::CallRequested {
                    tool: name(),
                    arguments: json!({one: [one, 1, null]}),
                    parent: None,
                },
                EventKind::CallRequested { tool: name(), arguments: json!(null), parent: Some(name()) },
                EventKind::CallDecided { effect: name(), reason: name() },
                EventKind::CallStarted { tool: name(), attempt: u32::MAX, dry_run: true },
                EventKind::CallFinished {
                    tool: name(),
                    output: Some(told),
                    error: None,
                    metadata: metadata.clone(),
                },
                EventKind::CallFinished { tool: name(), output: None, error: Some(error), metadata },
                EventKind::Warning { message: name() },
                EventKind::ToolInitialized { tool: name() },
            ];
            for kind in kinds {
                for names in [None, Some(name())] {
                    let (agent, activation, call) = (names.clone(), names.clone(), names);
                    let event = Event {
                        at_ms: u64::MAX,
                        session: name(),
                        sequence: 7,
                        agent,
                        activation,
                        call,
                        kind: kind.clone(),
                    };
                    let mut written = b"before".to_vec();
                    write(&mut written, &event).unwrap();
                    let expected = format!("before{}", serde_json::to_string(&event).unwrap());
                    assert_eq!(String::from_utf8(written).unwrap(), expected);
                }
            }
        }
    }
}
