//! Recorded calls, as lines of JSON: those that read, edit or write one file. Other tools are not looked at.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value;

/// One call about one file.
pub(super) struct Call {
    /// The session and the path: calls with the same one are about the same file.
    pub(super) about: (String, String),
    pub(super) deed: Deed,
    /// What the model was told, if the call failed.
    pub(super) error: Option<String>,
}

/// What was asked for.
pub(super) enum Deed {
    /// The whole file was shown: its text, up to the final newline.
    Read(String),
    /// The new content, and the old one where it is known.
    Write {
        content: String,
        original: Option<String>,
    },
    Edit(Edit),
}

/// The replacement of one text by another.
pub(super) struct Edit {
    pub(super) id: String,
    pub(super) path: String,
    pub(super) old: String,
    pub(super) new: String,
    pub(super) replace_all: bool,
    /// The whole file before, which is recorded for edits that landed.
    pub(super) original: Option<String>,
}

/// The calls of a file, in its order: by session, then by time.
pub(super) fn read(file: &Path) -> Result<Vec<Call>> {
    let reader = File::open(file).with_context(|| format!("cannot read {}", file.display()))?;
    let mut calls = Vec::new();
    for (index, line) in BufReader::new(reader).lines().enumerate() {
        let value: Value = serde_json::from_str(&line?)
            .with_context(|| format!("line {} of {} is invalid JSON", index + 1, file.display()))?;
        calls.extend(call(&value));
    }
    Ok(calls)
}

fn call(value: &Value) -> Option<Call> {
    let arguments = &value["arguments"];
    let text = |name: &str| arguments[name].as_str().map(str::to_owned);
    let path = text("file_path")?;
    let answer = value["text"].as_str().unwrap_or_default();
    let original = value["original"].as_str().map(str::to_owned);
    let deed = match value["tool"].as_str()? {
        "Read" if arguments["offset"].is_null() && arguments["limit"].is_null() => Deed::Read(shown(answer)?),
        "Write" => Deed::Write { content: text("content")?, original },
        "Edit" => Deed::Edit(Edit {
            id: value["id"].as_str()?.to_owned(),
            path: path.clone(),
            old: text("old_string")?,
            new: text("new_string")?,
            replace_all: arguments["replace_all"].as_bool().unwrap_or(false),
            original,
        }),
        _ => return None,
    };
    let session = value["session"].as_str().unwrap_or_default().to_owned();
    let failed = value["failed"].as_bool().unwrap_or(false);
    Some(Call { about: (session, path), deed, error: failed.then(|| answer.to_owned()) })
}

/// The text behind line numbers; `None` if the answer shows no file.
fn shown(answer: &str) -> Option<String> {
    let mut text = String::new();
    for (index, line) in answer.lines().enumerate() {
        let Some((number, line)) = line.split_once(['→', '\t']) else { break };
        if number.trim().parse() != Ok(index + 1) {
            break;
        }
        text.push_str(line);
        text.push('\n');
    }
    (!text.is_empty()).then_some(text)
}
