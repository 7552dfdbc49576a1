//! Every recording means what it is expected to mean, however its bytes are cut.

use super::recording::{Decoded, Recording, all, decode};
use serde_json::{Value, json};
use toolpost_agent::model::{Format, Hints, from_http};
use toolpost_core::model::{Arguments, Delta, Finish, ModelErrorKind, Part, Response};

#[test]
fn every_recording_gives_what_is_expected() {
    let recordings = all();
    assert_eq!(recordings.len(), 100);
    for recording in &recordings {
        match recording.expect()["outcome"].as_str() {
            Some("http_error") => refused(recording),
            Some("stream_error") => broken(recording),
            Some("message") => answered(recording),
            other => panic!("{}: {other:?}", recording.id()),
        }
    }
}

#[test]
fn the_bytes_may_be_cut_anywhere() {
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for recording in all().iter().filter(|recording| recording.status() == 200) {
        let (format, body) = (recording.format, recording.body());
        let whole = decode(format, [body.as_slice()]);
        assert_eq!(decode(format, body.chunks(1)), whole, "{} byte by byte", recording.id());
        if body.len() < 3_000 {
            for place in 1..body.len() {
                let (head, tail) = body.split_at(place);
                assert_eq!(decode(format, [head, tail]), whole, "{} cut at {place}", recording.id());
            }
        }
        for _ in 0..10 {
            let mut rest = body.as_slice();
            let mut pieces = Vec::new();
            while !rest.is_empty() {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                let (piece, more) = rest.split_at(1 + (random as usize % 400) % rest.len());
                pieces.push(piece);
                rest = more;
            }
            assert_eq!(decode(format, pieces), whole, "{}", recording.id());
        }
    }
}

/// No part of a stream is taken for a whole response, except where only its last empty line is missing.
#[test]
fn a_stream_that_is_cut_off_is_an_error() {
    for recording in all().iter().filter(|recording| recording.expect()["outcome"] == "message") {
        // It says twice that it has ended; that the connection was cut between them only HTTP can tell.
        if recording.id() == "gemini-s-text-after-first-finish" {
            continue;
        }
        let body = recording.body();
        let trimmed = body.trim_ascii_end();
        let whole = decode(recording.format, [body.as_slice()]).1.unwrap();
        let step = 1 + trimmed.len() / 300;
        for place in (0..trimmed.len()).step_by(step) {
            match decode(recording.format, [&trimmed[..place]]).1 {
                Err(error) => assert!(error.retryable, "{} at {place}: {error:?}", recording.id()),
                // The end was there: what follows it are tokens, or `[DONE]`.
                Ok(response) => {
                    assert_eq!(response.text(), whole.text(), "{} at {place}", recording.id());
                    assert_eq!(calls(&response), calls(&whole), "{} at {place}", recording.id());
                }
            }
        }
    }
}

fn answered(recording: &Recording) {
    let (id, expect) = (recording.id(), recording.expect());
    let (deltas, response) = decode(recording.format, [recording.body().as_slice()]);
    let response = response.unwrap_or_else(|error| panic!("{id}: {error:?}"));
    assert_eq!(response.text(), expect["text"].as_str().unwrap(), "{id}");
    let mut found = calls(&response);
    for (call, expected) in found.iter_mut().zip(expected_calls(expect)) {
        if expected["id"].is_null() {
            call.as_object_mut().unwrap().remove("id");
        }
    }
    assert_eq!(found, expected_calls(expect), "{id}");
    assert_eq!(json!(response.finish_raw), expect["finish_raw"], "{id}");
    if let Some(chars) = expect["reasoning_chars"].as_u64() {
        assert_eq!(thought(&response).chars().count() as u64, chars, "{id}");
    }
    for key in ["refusal", "block_reason", "incomplete_reason"] {
        if let Some(note) = expect[key].as_str() {
            assert!(
                response.note.as_deref().is_some_and(|found| found.starts_with(note)),
                "{id}: {response:?}"
            );
        }
    }
    assert_eq!(expect["refusal"].is_string(), response.finish == Finish::Refusal, "{id}");
    if let Some(signatures) = expect["thought_signatures"].as_u64() {
        assert_eq!(opaque(&response, "thoughtSignature").len() as u64, signatures, "{id}");
    }
    if let Some(sources) = expect["grounding_sources"].as_array() {
        let found: Vec<Value> =
            response.sources.iter().map(|source| json!({"uri": source.url, "title": source.title})).collect();
        assert_eq!(&found, sources, "{id}");
    }
    if let Some(queries) = expect["search_queries"].as_array() {
        assert_eq!(&json!(response.queries), &json!(queries), "{id}");
    }
    blocks(&response, expect, id);
    usage(recording.format, &response, &expect["usage"], id);
    streamed(&deltas, &response, id);
    finished(&response, expect, id);
}

/// Text, thinking and calls are streamed as they are kept.
fn streamed(deltas: &[Delta], response: &Response, id: &str) {
    assert_eq!(said(deltas), response.text(), "{id}");
    let begun = deltas.iter().filter_map(|delta| match delta {
        Delta::ToolCall { id, name } => Some((id.as_str(), name.as_str())),
        _ => None,
    });
    let kept = response.tool_calls().map(|call| (call.id.as_str(), call.name.as_str()));
    assert_eq!(begun.collect::<Vec<_>>(), kept.collect::<Vec<_>>(), "{id}");
    let ids: std::collections::HashSet<&str> = response.tool_calls().map(|call| call.id.as_str()).collect();
    assert_eq!(ids.len(), response.tool_calls().count(), "{id}");
    assert!(!ids.contains(""), "{id}");
}

fn finished(response: &Response, expect: &Value, id: &str) {
    let expected = match expect["finish_raw"].as_str() {
        Some("MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL") => Finish::Malformed,
        Some("MAX_TOKENS" | "max_tokens" | "length" | "incomplete") => Finish::Length,
        Some("SAFETY") | None => Finish::Blocked,
        _ if expect["refusal"].is_string() => Finish::Refusal,
        _ if expected_calls(expect).is_empty() => Finish::Stop,
        _ => Finish::ToolCalls,
    };
    assert_eq!(response.finish, expected, "{id}");
}

/// The kinds of blocks or items, in order.
fn blocks(response: &Response, expect: &Value, id: &str) {
    let Some(kinds) = expect["block_types"].as_array().or(expect["item_types"].as_array()) else { return };
    let is_blocks = expect["block_types"].is_array();
    let found: Vec<String> = response
        .parts
        .iter()
        .map(|part| match part {
            Part::Text { .. } if is_blocks => "text".to_owned(),
            Part::Text { .. } => "message".to_owned(),
            Part::Thinking { .. } if is_blocks => "thinking".to_owned(),
            Part::Thinking { .. } => "reasoning".to_owned(),
            Part::ToolCall(_) if is_blocks => "tool_use".to_owned(),
            Part::ToolCall(_) => "function_call".to_owned(),
            Part::Opaque(opaque) => opaque.value["type"].as_str().unwrap().to_owned(),
            other => panic!("{other:?}"),
        })
        .collect();
    // A message that only refuses has no text.
    let is_refusal = expect["refusal"].is_string();
    assert_eq!(json!(found), if is_refusal { json!([]) } else { json!(kinds) }, "{id}");
    for call in expect["server_tool_calls"].as_array().into_iter().flatten() {
        let is_there = response.parts.iter().any(|part| {
            matches!(part, Part::Opaque(opaque)
                if opaque.value["name"] == call["name"] && opaque.value["input"] == call["args"])
        });
        assert!(is_there, "{id}: {call}");
    }
}

/// Providers count differently; ours are the tokens that are paid for, cached and thought ones included.
fn usage(format: Format, response: &Response, expect: &Value, id: &str) {
    let usage = response.usage;
    let number = |key: &str| expect[key].as_u64();
    let (input, output) = match format {
        Format::Gemini => (None, usage.output - usage.reasoning),
        Format::Anthropic => (Some(usage.input - usage.cached - usage.cache_write), usage.output),
        _ => (Some(usage.input), usage.output),
    };
    if expect.is_object() {
        assert_eq!(output, number("output").unwrap_or(0), "{id}");
        assert_eq!(input.unwrap_or(0), if input.is_some() { number("input").unwrap() } else { 0 }, "{id}");
        assert!(usage.input >= number("input").unwrap_or(0), "{id}");
        assert_eq!(usage.input + usage.output, number("total").unwrap_or(usage.input + usage.output), "{id}");
        assert_eq!(usage.reasoning, number("reasoning").unwrap_or(usage.reasoning), "{id}");
    }
    assert!(usage.cached + usage.cache_write <= usage.input && usage.reasoning <= usage.output, "{id}");
}

fn broken(recording: &Recording) {
    let (id, expect) = (recording.id(), recording.expect());
    let (deltas, response): Decoded = decode(recording.format, [recording.body().as_slice()]);
    let error = response.unwrap_err();
    assert_eq!(said(&deltas), expect["text"].as_str().unwrap(), "{id}");
    assert_eq!(json!(error.code), expect["stream_error"]["type"], "{id}");
    assert_eq!(json!(error.message), expect["stream_error"]["message"], "{id}");
    assert_eq!((error.kind, error.retryable), (ModelErrorKind::Server, true), "{id}");
}

fn refused(recording: &Recording) {
    let (id, expect) = (recording.id(), recording.expect());
    let hints = Hints::read(|name| recording.header(name));
    let error = from_http(recording.status(), &hints, &recording.body());
    assert_eq!(json!(error.status), expect["status"], "{id}");
    let code = if expect["code"].is_string() { &expect["code"] } else { &expect["type"] };
    assert_eq!(&json!(error.code), code, "{id}");
    let message: Vec<&str> = expect["message"].as_str().unwrap().split_whitespace().collect();
    assert!(error.message.starts_with(&message.join(" ")), "{id}: {}", error.message);
    let pause = expect["retry_delay"].as_str().map(|text| text.trim_end_matches('s').parse::<u64>().unwrap());
    assert_eq!(error.retry_after_ms, pause.map(|seconds| seconds * 1_000), "{id}");
    let expected = match (recording.status(), id) {
        (401, _) | (_, "gemini-err-400-bad-key") => (ModelErrorKind::Authentication, false),
        (404, _) => (ModelErrorKind::NotFound, false),
        (429, _) => (ModelErrorKind::RateLimited, true),
        (503 | 529, _) => (ModelErrorKind::Server, true),
        _ => (ModelErrorKind::Invalid, false),
    };
    assert_eq!((error.kind, error.retryable), expected, "{id}");
}

fn said(deltas: &[Delta]) -> String {
    let texts = deltas.iter().filter_map(|delta| match delta {
        Delta::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

fn thought(response: &Response) -> String {
    let texts = response.parts.iter().filter_map(|part| match part {
        Part::Thinking { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

fn opaque<'a>(response: &'a Response, key: &str) -> Vec<&'a Value> {
    let values = response.parts.iter().filter_map(|part| match part {
        Part::Text { opaque, .. } | Part::Thinking { opaque, .. } => opaque.as_ref(),
        Part::ToolCall(call) => call.opaque.as_ref(),
        _ => None,
    });
    values.filter_map(|opaque| opaque.value.get(key)).collect()
}

/// Calls as the recordings write them, without ids that we made.
fn calls(response: &Response) -> Vec<Value> {
    let calls = response.tool_calls().map(|call| {
        let args = match &call.arguments {
            Arguments::Json(value) => value.clone(),
            Arguments::Unparsable(text) => json!({"__unparsable__": text}),
        };
        let mut value = json!({"name": call.name, "args": args});
        if !call.id.starts_with("call_1_") {
            value["id"] = call.id.clone().into();
        }
        value
    });
    calls.collect()
}

fn expected_calls(expect: &Value) -> Vec<Value> {
    expect["tool_calls"].as_array().cloned().unwrap_or_default()
}
