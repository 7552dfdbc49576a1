//! What a whole patch is wrapped in: CDATA, a string of JSON, or an object with the patch in it.

use crate::filesystem::ladder;
use serde_json::Value;
use std::borrow::Cow;

/// So many times a patch is looked into; a text that was escaped more often is not.
const MOST: usize = 3;

/// The patch without what is around it.
pub(super) fn unwrapped(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for _ in 0..MOST {
        let bare = text.trim();
        let inner = bare.strip_prefix("<![CDATA[").and_then(|rest| rest.strip_suffix("]]>"));
        let next = match inner {
            Some(inner) => Some(inner.strip_prefix('\n').unwrap_or(inner).to_owned()),
            None => from_json(bare).or_else(|| unescaped(bare)).or_else(|| uncoloured(bare)),
        };
        match next {
            Some(next) => text = Cow::Owned(next),
            None => break,
        }
    }
    text
}

fn from_json(text: &str) -> Option<String> {
    if !text.starts_with(['"', '{']) {
        return None;
    }
    match serde_json::from_str(text).ok()? {
        Value::String(text) => Some(text),
        Value::Object(fields) if fields.len() == 1 => {
            let known = |name: &String| ["patch", "input", "diff"].contains(&name.as_str());
            fields
                .into_iter()
                .find(|(name, _)| known(name))
                .and_then(|(_, value)| value.as_str().map(str::to_owned))
        }
        _ => None,
    }
}

/// A diff in the colours of a terminal.
fn uncoloured(text: &str) -> Option<String> {
    let is_coloured = text.lines().any(|line| {
        let bare = line.strip_prefix("\u{1b}[").and_then(|code| code.split_once('m'));
        bare.is_some_and(|(_, rest)| {
            rest.starts_with("@@") || rest.starts_with("--- ") || rest.starts_with("*** ")
        })
    });
    if is_coloured { ladder::without_colours(text) } else { None }
}

/// A patch on one line, with `\n` for the ends of its lines.
fn unescaped(text: &str) -> Option<String> {
    let is_escaped = !text.contains('\n') && text.contains("\\n");
    if !is_escaped {
        return None;
    }
    let is_ends_alone = text.match_indices('\\').all(|(at, _)| text[at..].starts_with("\\n"));
    if is_ends_alone {
        return Some(text.replace("\\n", "\n"));
    }
    // A string of JSON without its quotes: those within are escaped, and nothing else is that code has too.
    let is_quoted = text.contains("\\\"") && serde_json::from_str::<String>(&format!("\"{text}\"")).is_ok();
    let escapes = ["\\n", "\\\"", "\\\\"];
    let mut rest = text;
    let mut is_plain = true;
    while let Some(at) = rest.find('\\') {
        is_plain &= escapes.iter().any(|escape| rest[at..].starts_with(escape));
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    if is_quoted && is_plain {
        return serde_json::from_str(&format!("\"{text}\"")).ok();
    }
    // Escapes that were escaped again; with others, an escape may be one of the code.
    let mut runs = text.split(|one: char| one != '\\').filter(|run| !run.is_empty());
    match runs.all(|run| run.len() >= 2) {
        true => serde_json::from_str(&format!("\"{text}\"")).ok(),
        false => None,
    }
}
