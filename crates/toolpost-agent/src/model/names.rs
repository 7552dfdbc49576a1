//! Names of tools in a conversation, as every provider takes them back.
//!
//! A model may write any name. It is told that there is no such tool, and its call stays in the conversation; a provider
//! refuses the whole request, and every request after it, if the name is not one that it could have declared.

use std::borrow::Cow;
use toolpost_core::model::{Message, Part, Request};

/// Maximum number of characters of a name.
const LONGEST: usize = 64;

/// The request with a legal name in place of each that is not.
pub(super) fn legal(request: &Request) -> Cow<'_, Request> {
    let is_offered = |name: &str| request.tools.iter().any(|tool| tool.spec.name == name);
    let is_fine = |name: &str| is_legal(name) || is_offered(name);
    let has_illegal = |message: &Message| name_list(&message.parts).any(|name| !is_fine(name));
    if !request.messages.iter().any(has_illegal) {
        return Cow::Borrowed(request);
    }
    let mut request = request.clone();
    let tools = std::sync::Arc::clone(&request.tools);
    for part in request.messages.iter_mut().flat_map(|message| &mut message.parts) {
        let name = match part {
            Part::ToolCall(call) => &mut call.name,
            Part::ToolResult(result) => &mut result.name,
            _ => continue,
        };
        if !is_legal(name) && !tools.iter().any(|tool| tool.spec.name == *name) {
            *name = made_legal(name);
        }
    }
    Cow::Owned(request)
}

fn name_list(parts: &[Part]) -> impl Iterator<Item = &str> {
    parts.iter().filter_map(|part| match part {
        Part::ToolCall(call) => Some(call.name.as_str()),
        Part::ToolResult(result) => Some(result.name.as_str()),
        _ => None,
    })
}

fn is_legal(name: &str) -> bool {
    name.len() <= LONGEST
        && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(is_plain)
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn made_legal(name: &str) -> String {
    let plain = |letter: char| match u8::try_from(letter) {
        Ok(byte) if is_plain(byte) => letter,
        _ => '_',
    };
    let begins = name.starts_with(|first: char| first.is_ascii_digit() || first == '-');
    let begin = if begins || name.is_empty() { "_" } else { "" };
    begin.chars().chain(name.chars().map(plain)).take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_legal() {
        for (name, expected) in [
            ("read", "read"),
            ("functions.read", "functions_read"),
            ("read file!", "read_file_"),
            ("", "_"),
            ("1st", "_1st"),
            ("-x", "_-x"),
            ("lösche", "l_sche"),
        ] {
            assert_eq!(made_legal(name), expected);
            assert!(is_legal(expected), "{expected}");
        }
        assert_eq!(made_legal(&"ä".repeat(100)), "_".repeat(64));
    }
}
