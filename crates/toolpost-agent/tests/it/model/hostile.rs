//! Streams that no honest provider sends are bounded, and end with an error or with what can be made of them.

use super::recording::{decode, decode_within};
use serde_json::{Value, json};
use toolpost_agent::model::{Format, Limits};
use toolpost_core::model::{Arguments, Finish, ModelErrorKind, Response};

fn events(values: &[Value]) -> Vec<u8> {
    values.iter().map(|value| format!("data: {value}\n\n")).collect::<String>().into_bytes()
}

fn chat(calls: Value, finish: Value) -> Value {
    json!({"choices": [{"delta": {"tool_calls": calls}, "finish_reason": finish}]})
}

/// The calls of a chat stream of these deltas: id, name and arguments.
fn check_calls(deltas: &[Value], expected: &[(&str, &str, &str)]) {
    let mut values: Vec<Value> = deltas.iter().map(|delta| chat(json!([delta]), Value::Null)).collect();
    values.push(chat(json!([]), json!("tool_calls")));
    let response = decode(Format::OpenaiChat, [events(&values).as_slice()]).1.unwrap();
    let found: Vec<(String, String, String)> = response
        .tool_calls()
        .map(|call| (call.id.clone(), call.name.clone(), shown(&call.arguments)))
        .collect();
    let found: Vec<(&str, &str, &str)> =
        found.iter().map(|(id, name, text)| (id.as_str(), name.as_str(), text.as_str())).collect();
    assert_eq!(found, expected, "{deltas:?}");
}

fn shown(arguments: &Arguments) -> String {
    match arguments {
        Arguments::Json(value) => value.to_string(),
        Arguments::Unparsable(text) => format!("unparsable {text}"),
    }
}

fn delta(index: impl Into<Value>, id: &str, name: &str, arguments: impl Into<Value>) -> Value {
    let (index, arguments): (Value, Value) = (index.into(), arguments.into());
    let mut value = json!({"function": {"arguments": arguments}});
    if !index.is_null() {
        value["index"] = index;
    }
    if !id.is_empty() {
        value["id"] = id.into();
    }
    if !name.is_empty() {
        value["function"]["name"] = name.into();
    }
    value
}

/// A server that cannot parse a call may send the text before it, and the end that belongs to a call.
#[test]
fn an_end_with_a_call_that_is_missing_is_no_end() {
    for (end, expected) in
        [("stop", Finish::Stop), ("tool_calls", Finish::Other), ("function_call", Finish::Other)]
    {
        let text = json!({"choices": [{"delta": {"content": "I look."}, "finish_reason": end}]});
        let response = decode(Format::OpenaiChat, [events(&[text]).as_slice()]).1.unwrap();
        let is_noted = response.note.is_some_and(|note| note.contains("announces a call"));
        assert_eq!((response.finish, is_noted), (expected, expected == Finish::Other), "{end}");
    }
}

#[test]
fn calls_are_told_apart_by_whatever_a_server_sends() {
    let none = Value::Null;
    let one = ("a", "f", "{\"x\":1}");
    let two = ("b", "g", "{}");
    check_calls(
        &[delta(0, "a", "f", "{\"x\""), delta(0, "", "", ":1}"), delta(1, "b", "g", "")],
        &[one, two],
    );
    // No index at all.
    check_calls(
        &[
            delta(none.clone(), "a", "f", "{\"x\""),
            delta(none.clone(), "", "", ":1}"),
            delta(none.clone(), "b", "g", "{}"),
        ],
        &[one, two],
    );
    // Every call has index 0.
    check_calls(&[delta(0, "a", "f", "{\"x\":1}"), delta(0, "b", "g", "{}")], &[one, two]);
    // No index and no id, the whole call at once; arguments as an object.
    check_calls(
        &[delta(none.clone(), "", "f", json!({"x": 1})), delta(none.clone(), "", "g", json!({}))],
        &[("call_1_1", "f", "{\"x\":1}"), ("call_1_2", "g", "{}")],
    );
    // The same id twice.
    check_calls(
        &[delta(0, "a", "f", "{\"x\":1}"), delta(1, "a", "g", "{}")],
        &[one, ("call_1_2", "g", "{}")],
    );
    // The same call twice is one.
    check_calls(&[delta(0, "a", "f", "{\"x\":1}"), delta(1, "a", "f", "{\"x\":1}")], &[one]);
    // Name and id with every piece.
    check_calls(&[delta(0, "a", "f", "{\"x\""), delta(0, "a", "f", ":1}")], &[one]);
    // Interleaved.
    check_calls(
        &[
            delta(0, "a", "f", "{\"x\""),
            delta(1, "b", "g", "{"),
            delta(0, "", "", ":1}"),
            delta(1, "", "", "}"),
        ],
        &[one, two],
    );
    // An index out of this world is only a name.
    check_calls(&[delta(1_000_000, "a", "f", "{\"x\":1}"), delta(u64::MAX, "b", "g", "{}")], &[one, two]);
    // Text that is not JSON is never taken for arguments.
    check_calls(&[delta(0, "a", "f", "{\"x\":1")], &[("a", "f", "unparsable {\"x\":1")]);
    let deep = "[".repeat(5_000);
    check_calls(&[delta(0, "a", "f", deep.as_str())], &[("a", "f", &format!("unparsable {deep}"))]);
}

/// A call whose arguments have not begun when the tokens run out is not a call without arguments.
#[test]
fn a_call_that_was_cut_off_is_not_one_without_arguments() {
    let chat = [chat(json!([delta(0, "a", "f", "")]), Value::Null), chat(json!([]), json!("length"))];
    let anthropic = [
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "a", "name": "f"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}),
        json!({"type": "message_stop"}),
    ];
    let responses = [json!({"type": "response.incomplete", "response": {"status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
        "output": [{"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}", "status": "incomplete"}]}})];
    let streams = [
        (Format::OpenaiChat, events(&chat)),
        (Format::Anthropic, events(&anthropic)),
        (Format::OpenaiResponses, events(&responses)),
    ];
    for (format, stream) in streams {
        let response: Response = decode(format, [stream.as_slice()]).1.unwrap();
        let call = response.tool_calls().next().unwrap();
        assert!(matches!(call.arguments, Arguments::Unparsable(_)), "{format:?}: {call:?}");
    }
}

/// Of too many calls the first ones are kept, and the others are counted: the answer can be used.
#[test]
fn more_calls_than_anybody_needs_are_left_out() {
    for count in [129_u64, 200, 6_000] {
        let many: Vec<Value> =
            (0..count).map(|index| delta(index, &format!("c{index}"), "f", "{}")).collect();
        let gemini: Vec<Value> = (0..count).map(|_| json!({"functionCall": {"name": "f"}})).collect();
        let blocks = (0..count).flat_map(|index| {
            [
                json!({"type": "content_block_start", "index": index, "content_block": {"type": "tool_use", "name": "f"}}),
                json!({"type": "content_block_delta", "index": index,
                    "delta": {"type": "input_json_delta", "partial_json": "{}"}}),
                json!({"type": "content_block_stop", "index": index}),
            ]
        });
        let ends = [
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
            json!({"type": "message_stop"}),
        ];
        let blocks: Vec<Value> = blocks.chain(ends).collect();
        let whole: Vec<Value> =
            (0..count).map(|index| json!({"type": "tool_use", "name": "f", "input": {"n": index}})).collect();
        let whole = json!({"type": "message", "content": whole, "stop_reason": "tool_use"});
        let item = |index: u64| json!({"type": "function_call", "id": index.to_string(), "name": "f", "arguments": "{}"});
        let items = (0..count).flat_map(|index| {
            [
                json!({"type": "response.output_item.added", "item": item(index)}),
                json!({"type": "response.output_item.done", "item": item(index)}),
            ]
        });
        let end = json!({"type": "response.completed", "response": {"status": "completed", "output": []}});
        let items: Vec<Value> = items.chain([end]).collect();
        let streams = [
            (Format::OpenaiChat, events(&[chat(json!(many), Value::Null), chat(json!([]), json!("stop"))])),
            (
                Format::Gemini,
                events(&[json!({"candidates": [{"content": {"parts": gemini}, "finishReason": "STOP"}]})]),
            ),
            (Format::Anthropic, events(&blocks)),
            (Format::Anthropic, events(&[whole])),
            (Format::OpenaiResponses, events(&items)),
            (
                Format::Ollama,
                format!("{}\n", json!({"message": {"tool_calls": many}, "done": true})).into_bytes(),
            ),
        ];
        for (format, stream) in streams {
            let response = decode(format, [stream.as_slice()]).1.unwrap();
            let kept = response.tool_calls().count() as u64;
            assert_eq!((kept, response.surplus_calls), (128, count - 128), "{format:?}");
            let is_whole =
                |call: &toolpost_core::model::ToolCall| matches!(call.arguments, Arguments::Json(_));
            assert!(response.tool_calls().all(is_whole), "{format:?}");
        }
    }
}

/// Endless streams of any kind end at the limit, with little memory used until then.
#[test]
fn endless_streams_end_at_the_limit() {
    let limits = Limits { response: 2 << 20, event: 100_000 };
    let text = |format: Format| match format {
        Format::Gemini => {
            json!({"candidates": [{"content": {"parts": [{"text": "x", "thoughtSignature": "s"}]}}]})
        }
        Format::Anthropic => {
            json!({"type": "content_block_start", "content_block": {"type": "text", "text": "x"}})
        }
        Format::OpenaiResponses => json!({"type": "response.output_item.done", "item": {"type": "message"}}),
        Format::OpenaiChat => json!({"choices": [{"delta": {"content": "x", "reasoning_details": [{}]}}]}),
        Format::Ollama => json!({"message": {"content": "x"}}),
    };
    for format in Format::ALL {
        let pieces = [
            format!("data: {}\n\n", text(format)),
            ": ping\n\n".to_owned(),
            "data: {\"type\":\"ping\"}\n\n".to_owned(),
            "data: x".to_owned(),
            "{\"a\":1}\n".to_owned(),
            "[".to_owned(),
            "{\"a\":".to_owned(),
            " ".to_owned(),
        ];
        for piece in pieces {
            let stream = piece.repeat((3 << 20) / piece.len());
            let error = decode_within(format, stream.as_bytes().chunks(4_096), limits).1.unwrap_err();
            assert!(matches!(error.kind, ModelErrorKind::Protocol), "{format:?}, {piece:?}: {error:?}");
        }
    }
}

/// Whatever comes, nothing panics.
#[test]
fn anything_can_stand_anywhere() {
    let values = [
        json!(null),
        json!(0),
        json!(-1),
        json!("x"),
        json!([]),
        json!([1]),
        json!({}),
        json!({"type": 1}),
        json!({"choices": 1}),
        json!({"choices": [null]}),
        json!({"choices": [{"delta": "x"}]}),
        json!({"choices": [{"delta": {"tool_calls": [null, 1, {"index": -1}, {"function": 1}]}}]}),
        json!({"candidates": [{"content": {"parts": [null, 1, {"functionCall": null}, {"functionCall": []}]}}]}),
        json!({"candidates": [{"groundingMetadata": {"groundingChunks": [1, null]}}]}),
        json!({"type": "content_block_delta", "index": 9, "delta": {"type": "text_delta", "text": "x"}}),
        json!({"type": "content_block_start"}),
        json!({"type": "content_block_stop", "index": u64::MAX}),
        json!({"type": "message", "content": [null, {"type": "tool_use"}], "usage": {"input_tokens": u64::MAX,
            "cache_read_input_tokens": u64::MAX}}),
        json!({"type": "response.completed"}),
        json!({"type": "response.output_item.done"}),
        json!({"type": "response.completed", "response": {"output": [null, {"type": "reasoning"}, {"type": "message",
            "content": [null]}]}}),
        json!({"message": {"tool_calls": [{"function": {"arguments": "x"}}]}, "done": true}),
        json!({"usage": {"prompt_tokens": 1e300, "completion_tokens": -5}}),
        json!({"usageMetadata": {"promptTokenCount": "x"}}),
        json!({"error": null}),
        json!({"response": {"candidates": []}}),
    ];
    for format in Format::ALL {
        for first in &values {
            for second in &values {
                let stream = events(&[first.clone(), second.clone()]);
                let _ = decode(format, [stream.as_slice()]);
                let _ = decode(format, [first.to_string().as_bytes(), second.to_string().as_bytes()]);
            }
        }
    }
}

#[test]
fn a_character_that_is_cut_in_two_is_whole_again() {
    let stream = concat!(
        r#"data: {"choices":[{"delta":{"content":"a \ud83d"}}]}"#,
        "\n\n",
        r#"data: {"choices":[{"delta":{"content":"\ude00 b"}}]}"#,
        "\n\n",
        r#"data: {"choices":[{"delta":{"content":" \udc00"},"finish_reason":"stop"}]}"#,
        "\n\ndata: [DONE]\n\n",
    );
    for size in [1, 2, 7, 1_000] {
        let chunks: Vec<&[u8]> = stream.as_bytes().chunks(size).collect();
        let response = decode(Format::OpenaiChat, chunks.iter().copied()).1.unwrap();
        assert_eq!(response.text(), "a 😀 b \u{fffd}", "{size}");
    }
    // Half of a character among the arguments of a call does not make them unreadable.
    check_calls(
        &[delta(0, "1", "write", r#"{"text":"\ud83d""#), delta(0, "", "", "}")],
        &[("1", "write", "{\"text\":\"\"}")],
    );
    check_calls(
        &[delta(0, "1", "write", r#"{"text":"\ud83d"#), delta(0, "", "", r#"\ude00"}"#)],
        &[("1", "write", "{\"text\":\"😀\"}")],
    );
}
