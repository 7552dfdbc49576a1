//! The requests that we build for the recorded conversations mean what the recorded requests mean.

use super::canonical::{Canonical, Item, Side, canonical, request};
use super::recording::{Recording, all, decode};
use serde_json::{Value, json};
use toolpost_agent::model::{Encoded, Format, Target, encode};
use toolpost_core::model::{Arguments, Message, Opaque, Part, Request, Role, ToolCall, ToolResult};

/// Requests that cannot be compared, and why.
const SKIPPED: [(&str, &str); 5] = [
    ("anthropic-err-400-tool-order", "it is wrong, which is why it was refused; ours is right, see below"),
    ("anthropic-n-image-url", "an image behind a URL; ours are sent themselves"),
    ("gemini-vertex-err-400", "a file behind a URL; ours are sent themselves"),
    ("openai-chat-err-400-role", "a role that the model refuses; it is a quirk of the row"),
    ("openai-responses-err-400", "a temperature that is out of range"),
];

#[test]
fn our_requests_mean_what_the_recorded_ones_mean() {
    let mut compared = 0;
    for recording in all() {
        let is_skipped = SKIPPED.iter().any(|(id, _)| *id == recording.id());
        if is_skipped || recording.request().is_null() {
            continue;
        }
        let expected = meaning(&recording);
        let ours = encode(&target(&recording), &request(recording.format, recording.request(), &expected));
        compare(&recording, &ours.unwrap(), &expected);
        compared += 1;
    }
    assert_eq!(compared, 90);
}

/// What we received is sent back as the recorded client sent it back: signatures, thoughts and ids in their places.
#[test]
fn what_was_received_goes_back_where_it_belongs() {
    let recordings = all();
    let mut compared = Vec::new();
    for next in &recordings {
        let Some((name, place)) = next.session() else { continue };
        // The recorded client took the text before `</think>` for thoughts; ours takes it for what the server calls it.
        if next.id() == "ollama-native-n-tool-loop-2" {
            continue;
        }
        let before = recordings.iter().find(|other| other.session() == Some((name, place - 1)));
        let Some(before) = before else { continue };
        let (_, response) = decode(before.format, [before.body().as_slice()]);
        let response = response.unwrap();
        let expected = meaning(next);
        let mut built = request(next.format, next.request(), &expected);
        // In place of the last turn of the model, as the client wrote it, stands what we received.
        let last = built.messages.iter().rposition(|message| message.role == Role::Assistant);
        let last = last.unwrap_or_else(|| panic!("{}", next.id()));
        built.messages[last].parts = response.parts.clone();
        let ids: Vec<String> = response.tool_calls().map(|call| call.id.clone()).collect();
        let results = built.messages[last + 1].parts.iter_mut().filter_map(|part| match part {
            Part::ToolResult(result) => Some(result),
            _ => None,
        });
        results.zip(ids).for_each(|(result, id)| result.id = id);
        compare(next, &encode(&target(next), &built).unwrap(), &expected);
        compared.push(next.id().to_owned());
    }
    assert!(compared.len() >= 12, "{compared:?}");
}

fn target(recording: &Recording) -> Target {
    let path = recording.value["request"]["url_path"].as_str().unwrap();
    let from_path = path.split("models/").nth(1).and_then(|rest| rest.split(':').next());
    let model = recording.request()["model"].as_str().or(from_path).unwrap();
    Target::new(recording.format, model)
}

fn meaning(recording: &Recording) -> Canonical {
    canonical(recording.format, recording.request()).unwrap_or_else(|| panic!("{}", recording.id()))
}

fn compare(recording: &Recording, encoded: &Encoded, expected: &Canonical) {
    let id = recording.id();
    let mut found = canonical(recording.format, &encoded.body).unwrap();
    let mut expected = expected.clone();
    // Where there is no description, ours is the name. What a schema is named does not matter.
    for ((_, ours, _), (_, theirs, _)) in found.tools.iter_mut().zip(&expected.tools) {
        if theirs.is_empty() {
            ours.clear();
        }
    }
    // Anthropic insists on a limit.
    if expected.max_tokens.is_none() {
        found.max_tokens = None;
    }
    // Calls of one turn without thoughts may be told apart by name and place.
    for (_, items) in found.turns.iter_mut().chain(&mut expected.turns) {
        for item in items {
            if let Item::Thinking(_, Some(_)) = item
                && recording.format == Format::OpenaiResponses
                && let Item::Thinking(text, _) = item
            {
                text.clear();
            }
            // The recorded client of Gemini had its own signature for an empty text, which ours sends as a part.
            if let Item::Text(text, signature) = item
                && text.is_empty()
            {
                *signature = None;
            }
        }
    }
    for meaning in [&mut found, &mut expected] {
        for (_, items) in &mut meaning.turns {
            items.retain(|item| !matches!(item, Item::Text(text, None) if text.is_empty()));
        }
        meaning.turns.retain(|(_, items)| !items.is_empty());
        // A conversation that begins with nothing begins with a placeholder.
        if let Some((Side::User, items)) = meaning.turns.first()
            && items == &[Item::Text("(empty)".into(), None)]
        {
            meaning.turns.remove(0);
        }
    }
    assert_eq!(found, expected, "{id}");
    assert_eq!(encoded.left_out, [], "{id}");
    assert_eq!(encoded.body["model"].as_str(), recording.request()["model"].as_str(), "{id}");
}

fn call(id: &str, opaque: Option<Opaque>) -> Part {
    let arguments = Arguments::Json(json!({"a": 1}));
    Part::ToolCall(ToolCall { id: id.into(), name: "look".into(), arguments, opaque })
}

fn result(id: &str, is_error: bool) -> Part {
    let (name, text) = ("look".to_owned(), "nothing".to_owned());
    Part::ToolResult(ToolResult {
        id: id.into(),
        name,
        text,
        attachments: vec![],
        is_error,
        code: None,
        data: Value::Null,
    })
}

/// The body of a conversation of a question, parts of the model, and parts of the user.
fn body(format: Format, model: &str, said: Vec<Part>, answered: Vec<Part>) -> Value {
    let messages = vec![
        Message::user("q"),
        Message { role: Role::Assistant, parts: said },
        Message { role: Role::User, parts: answered },
    ];
    let request = Request { messages, ..Request::default() };
    encode(&Target::new(format, model), &request).unwrap().body
}

#[test]
fn anthropic_wants_calls_last_and_results_first() {
    let said = vec![call("1", None), Part::text("I look."), call("2", None)];
    let answered = vec![Part::text("go on"), result("2", true), result("1", false)];
    let body = body(Format::Anthropic, "claude-haiku-4-5", said, answered);
    let kinds = |index: usize| {
        let blocks = body["messages"][index]["content"].as_array().unwrap().iter();
        blocks.map(|block| block["type"].as_str().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(kinds(1), ["text", "tool_use", "tool_use"]);
    assert_eq!(kinds(2), ["tool_result", "tool_result", "text"]);
    assert_eq!(body["messages"][2]["content"][0]["tool_use_id"], "1");
    assert_eq!(body["messages"][2]["content"][1]["is_error"], true);
}

#[test]
fn gemini_gets_its_own_ids_and_a_word_for_a_missing_signature() {
    let own = Opaque { format: "gemini".into(), value: json!({"id": "g1", "thoughtSignature": "s"}) };
    let said = vec![call("1", Some(own)), call("2", None)];
    let body_of =
        |model, said| body(Format::Gemini, model, said, vec![result("1", false), result("2", false)]);
    let found = body_of("gemini-3-pro", said);
    let (model, user) = (&found["contents"][1]["parts"], &found["contents"][2]["parts"]);
    assert_eq!(
        (&model[0]["functionCall"]["id"], &user[0]["functionResponse"]["id"]),
        (&json!("g1"), &json!("g1"))
    );
    assert_eq!((&model[0]["thoughtSignature"], &model[1]["thoughtSignature"]), (&json!("s"), &Value::Null));
    let foreign = Opaque { format: "anthropic".into(), value: json!({"id": "x", "thoughtSignature": "x"}) };
    let found = body_of("gemini-3-pro", vec![call("1", Some(foreign.clone())), call("2", None)]);
    let part = &found["contents"][1]["parts"][0];
    assert_eq!(part["thoughtSignature"], "skip_thought_signature_validator");
    assert_eq!(part["functionCall"]["id"], Value::Null);
    let found = body_of("gemini-2.5-pro", vec![call("1", Some(foreign)), call("2", None)]);
    assert_eq!(found["contents"][1]["parts"][0]["thoughtSignature"], Value::Null);
}

#[test]
fn what_another_provider_wants_back_is_left_out() {
    let foreign = |format: &str| Opaque {
        format: format.into(),
        value: json!({"signature": "CANARY", "thoughtSignature": "CANARY", "field": "CANARY", "type": "CANARY"}),
    };
    for format in Format::ALL {
        for other in Format::ALL.into_iter().filter(|other| *other != format) {
            let opaque = foreign(other.as_str());
            let said = vec![
                Part::Thinking { text: "hm".into(), opaque: Some(opaque.clone()) },
                Part::Text { text: "t".into(), opaque: Some(opaque.clone()) },
                Part::Opaque(opaque.clone()),
                call("1", Some(opaque)),
            ];
            let body = body(format, "m", said, vec![result("1", false)]).to_string();
            assert!(!body.contains("CANARY"), "{format:?} sends what is of {other:?}: {body}");
        }
    }
}

/// A local server has no limit of its own: a small model that finds no end would write for hours.
#[test]
fn servers_without_a_limit_are_sent_that_of_the_model() {
    let check = |(output, window): (Option<u64>, Option<u64>), asked: Option<u64>, expected: Option<u64>| {
        for (format, place) in [(Format::OpenaiChat, "/max_tokens"), (Format::Ollama, "/options/num_predict")]
        {
            let target = Target { output_tokens: output, context_tokens: window, ..Target::new(format, "m") };
            let request = Request {
                messages: vec![Message::user("hello")],
                max_output_tokens: asked,
                ..Request::default()
            };
            let body = encode(&target, &request).unwrap().body;
            assert_eq!(body.pointer(place).and_then(Value::as_u64), expected, "{body}");
        }
    };
    check((Some(80), Some(8_192)), None, Some(80));
    check((Some(80), Some(8_192)), Some(20), Some(20));
    // The prompt may have three quarters of the window.
    check((Some(8_192), Some(8_192)), None, None);
    check((Some(80), None), None, None);
    check((None, Some(8_192)), None, None);
}

#[test]
fn arguments_that_cannot_be_read_are_sent_back_as_an_object() {
    let arguments = Arguments::Unparsable("{\"a\": ".into());
    let said =
        vec![Part::ToolCall(ToolCall { id: "1".into(), name: "look".into(), arguments, opaque: None })];
    for format in Format::ALL {
        let body = body(format, "m", said.clone(), vec![result("1", true)]).to_string();
        assert!(body.contains("invalid_arguments"), "{body}");
    }
}

#[test]
fn names_that_a_provider_refuses_are_sent_back_in_a_legal_form() {
    for name in ["functions.read", "read file", "", "rm -rf /; echo", &"x".repeat(200), "läsen", "9lives"] {
        let arguments = Arguments::Json(json!({}));
        let call = ToolCall { id: "1".into(), name: name.to_owned(), arguments, opaque: None };
        let mut answered = result("1", true);
        if let Part::ToolResult(result) = &mut answered {
            result.name = name.to_owned();
        }
        for format in Format::ALL {
            let body = body(format, "m", vec![Part::ToolCall(call.clone())], vec![answered.clone()]);
            let mut names = Vec::new();
            collect(&body, &mut names);
            assert!(!names.is_empty(), "{body}");
            for found in names {
                let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
                let is_fine = (1..=64).contains(&found.len()) && found.bytes().all(is_legal);
                assert!(
                    is_fine && !found.starts_with(|first: char| first.is_ascii_digit()),
                    "{format:?}: {found}"
                );
            }
        }
    }
}

/// Every value of a key `name` or `tool_name`.
fn collect(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value.as_str().filter(|_| key == "name" || key == "tool_name") {
                    Some(name) => names.push(name.to_owned()),
                    None => collect(value, names),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, names)),
        _ => {}
    }
}
