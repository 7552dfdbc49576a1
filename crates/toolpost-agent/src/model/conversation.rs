//! A conversation as every provider accepts it: turns alternate, and each call has its result in the next turn.
//!
//! Runs that were interrupted, and histories that were shortened, break these rules. A provider then refuses the whole
//! request, so they are restored here, once for all formats.

use std::borrow::Cow;
use toolpost_core::model::{Arguments, Message, Part, Role, ToolCall, ToolResult};

/// What the model is told of a call whose result is not known.
const NO_RESULT: &str =
    "Error: no result is known; the call was interrupted and may or may not have taken effect";

/// What a turn says that has nothing to say.
const EMPTY: &str = "(empty)";

/// One or more messages of one side.
pub(super) struct Turn<'a> {
    pub(super) role: Role,
    /// The results of the calls of the turn before, in the order of those calls; in a turn of the user only.
    pub(super) results: Vec<(&'a ToolCall, Cow<'a, ToolResult>)>,
    /// Everything else.
    pub(super) parts: Vec<Cow<'a, Part>>,
}

impl<'a> Turn<'a> {
    fn new(role: Role) -> Turn<'a> {
        Turn { role, results: Vec::new(), parts: Vec::new() }
    }

    fn calls(&self) -> Vec<&'a ToolCall> {
        let call = |part: &Cow<'a, Part>| match part {
            Cow::Borrowed(Part::ToolCall(call)) => Some(call),
            _ => None,
        };
        self.parts.iter().filter_map(call).collect()
    }
}

/// The turns of a conversation.
pub(super) fn turns(messages: &[Message]) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for message in messages {
        let is_same = turns.last().is_some_and(|turn| turn.role == message.role);
        if !is_same {
            begin(&mut turns, message.role);
        }
        if let Some(turn) = turns.last_mut() {
            turn.parts.extend(message.parts.iter().filter(|part| has_content(part)).map(Cow::Borrowed));
        }
    }
    if turns.last().is_some_and(|turn| !turn.calls().is_empty()) {
        begin(&mut turns, Role::User);
    }
    pair(&mut turns);
    for turn in turns.iter_mut().filter(|turn| turn.role == Role::User) {
        if turn.results.is_empty() && turn.parts.is_empty() {
            turn.parts.push(Cow::Owned(Part::text(EMPTY)));
        }
    }
    turns.retain(|turn| turn.role == Role::User || !turn.parts.is_empty());
    turns
}

fn begin(turns: &mut Vec<Turn<'_>>, role: Role) {
    // Every provider wants the user to begin.
    if turns.is_empty() && role == Role::Assistant {
        turns.push(Turn::new(Role::User));
    }
    turns.push(Turn::new(role));
}

fn has_content(part: &Part) -> bool {
    !matches!(part, Part::Text { text, opaque: None } if text.is_empty())
}

/// Puts each result to its call.
fn pair(turns: &mut [Turn<'_>]) {
    for index in 0..turns.len() {
        if turns[index].role == Role::Assistant {
            continue;
        }
        let calls = index.checked_sub(1).map(|before| turns[before].calls()).unwrap_or_default();
        let turn = &mut turns[index];
        let mut results = Vec::new();
        let mut others = Vec::new();
        for part in std::mem::take(&mut turn.parts) {
            match part {
                Cow::Borrowed(Part::ToolResult(result)) => results.push(Some(result)),
                other => others.push(other),
            }
        }
        for call in calls {
            let found = results.iter_mut().find(|result| result.is_some_and(|result| result.id == call.id));
            let result = match found.and_then(Option::take) {
                Some(result) => Cow::Borrowed(result),
                None => Cow::Owned(no_result(call)),
            };
            turn.results.push((call, result));
        }
        turn.parts = results.into_iter().flatten().map(|result| Cow::Owned(as_text(result))).collect();
        turn.parts.extend(others);
    }
}

fn no_result(call: &ToolCall) -> ToolResult {
    let (id, name) = (call.id.clone(), call.name.clone());
    ToolResult {
        id,
        name,
        text: NO_RESULT.to_owned(),
        attachments: Vec::new(),
        is_error: true,
        code: None,
        data: serde_json::Value::Null,
    }
}

/// A result whose call is not there any more.
fn as_text(result: &ToolResult) -> Part {
    Part::text(format!("(result of an earlier call of {})\n{}", result.name, result.text))
}

/// The arguments as an object, which is what most providers insist on.
pub(super) fn object(arguments: &Arguments) -> serde_json::Value {
    match arguments {
        Arguments::Json(value) if value.is_object() => value.clone(),
        Arguments::Json(value) => serde_json::json!({"invalid_arguments": value}),
        Arguments::Unparsable(text) => serde_json::json!({"invalid_arguments": text}),
    }
}

/// The text of a result for formats that cannot say otherwise that it is an error.
pub(super) fn marked(result: &ToolResult) -> String {
    match result.is_error && !result.text.starts_with("Error") {
        true => format!("Error: {}", result.text),
        false => result.text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call(id: &str) -> Part {
        let arguments = Arguments::Json(json!({}));
        Part::ToolCall(ToolCall { id: id.into(), name: format!("tool_{id}"), arguments, opaque: None })
    }

    fn result(id: &str) -> Part {
        let (name, text) = (format!("tool_{id}"), format!("text of {id}"));
        Part::ToolResult(ToolResult {
            id: id.into(),
            name,
            text,
            attachments: vec![],
            is_error: false,
            code: None,
            data: serde_json::Value::Null,
        })
    }

    /// Messages as `u` and `a` with their parts; turns as one line each.
    fn check(messages: &[(char, &[Part])], expected: &[&str]) {
        let role = |name| if name == 'u' { Role::User } else { Role::Assistant };
        let messages: Vec<Message> = messages
            .iter()
            .map(|(name, parts)| Message { role: role(*name), parts: parts.to_vec() })
            .collect();
        let found: Vec<String> = turns(&messages).iter().map(shown).collect();
        assert_eq!(found, expected);
    }

    fn shown(turn: &Turn<'_>) -> String {
        let mut words = vec![if turn.role == Role::User { "u" } else { "a" }.to_owned()];
        words.extend(turn.results.iter().map(|(call, result)| match result.is_error {
            true => format!("{}!", call.id),
            false => format!("{}={}", call.id, result.id),
        }));
        words.extend(turn.parts.iter().map(|part| match part.as_ref() {
            Part::Text { text, .. } => format!("'{}'", text.lines().next().unwrap_or_default()),
            Part::ToolCall(call) => format!("call {}", call.id),
            _ => "?".to_owned(),
        }));
        words.join(" ")
    }

    #[test]
    fn turns_alternate_and_every_call_has_its_result() {
        let text = Part::text;
        check(&[('u', &[text("a")]), ('u', &[text("b"), text("")])], &["u 'a' 'b'"]);
        check(&[('u', &[])], &["u '(empty)'"]);
        check(&[('a', &[text("a")])], &["u '(empty)'", "a 'a'"]);
        check(
            &[
                ('u', &[text("q")]),
                ('a', &[call("1"), call("2")]),
                ('u', &[text("t"), result("2"), result("1")]),
            ],
            &["u 'q'", "a call 1 call 2", "u 1=1 2=2 't'"],
        );
        check(&[('u', &[text("q")]), ('a', &[call("1")])], &["u 'q'", "a call 1", "u 1!"]);
        check(
            &[
                ('u', &[text("q")]),
                ('a', &[call("1"), call("2")]),
                ('u', &[result("1")]),
                ('u', &[text("t")]),
            ],
            &["u 'q'", "a call 1 call 2", "u 1=1 2! 't'"],
        );
        check(&[('u', &[result("9")])], &["u '(result of an earlier call of tool_9)'"]);
        check(
            &[('u', &[text("q")]), ('a', &[call("1")]), ('u', &[result("1"), result("1")])],
            &["u 'q'", "a call 1", "u 1=1 '(result of an earlier call of tool_1)'"],
        );
        check(&[('u', &[text("q")]), ('a', &[text("")]), ('u', &[text("r")])], &["u 'q'", "u 'r'"]);
    }
}
