//! Guarantee 42: the text that a tool writes for the model reaches the model, in every host of the table.
//!
//! Each host is the real one, installed by name and version, without a terminal and without a network beyond loopback. We
//! play its model, which asks for one `read`, one `bash` and one `edit` that fails, and look at what the host sends it next.

mod host;
mod model;
mod wire;

use crate::{Home, project};
use host::{HOSTS, Host, Stage};
use model::{Call, Model, Seen};
use serde_json::{Value, json};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// No host needs this long, also on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(240);

/// The three calls: what the table calls them, and what the model asks for.
fn calls() -> [(&'static str, Call); 3] {
    [
        ("text", ("read", json!({"filePath": "notes.txt"}))),
        // The output is computed, so that the call does not contain it.
        ("output", ("bash", json!({"command": "printf '%s\\tamber \"%s\"\\\\\\n' $((6*7)) $((4+4))"}))),
        (
            "error",
            (
                "edit",
                json!({"filePath": "src/main.rs", "oldString": "fn man() {}", "newString": "fn x() {}"}),
            ),
        ),
    ]
}

/// The texts that the calls give on the command line: what the model has to be sent.
fn expected(home: &Home, calls: &[Call]) -> Vec<String> {
    let text = |((what, _), (tool, arguments)): (&(&str, Call), &Call)| {
        let (_, envelope) = home.json(&["call", tool, &arguments.to_string(), "--policy", "privileged"]);
        assert_eq!(envelope["success"], *what != "error", "{envelope}");
        let text = envelope["output"].as_str().or(envelope["error"]["message"].as_str());
        text.unwrap_or_else(|| panic!("{envelope}")).trim().to_owned()
    };
    self::calls().iter().zip(calls).map(text).collect()
}

/// Runs a host and says what its model was sent.
fn run(host: &Host) -> (Vec<String>, Seen) {
    let home = Home::new();
    home.write(
        "repo/notes.txt",
        "It says \"hello\".\n\tA tab, a back\\slash and ünïcode: 🔧\nviolet anchor\n",
    );
    home.write("tmp/.keep", "");
    let model = Model::start(calls().map(|(_, call)| call).to_vec(), host.naming);
    let stage = Stage { home, model: model.address };
    let mut command = (host.command)(&stage, &host.wanted);
    let said = stage.home.path("said");
    let file = std::fs::File::create(&said).unwrap();
    command.stdin(Stdio::null()).stdout(file.try_clone().unwrap()).stderr(file);
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{} does not start: {error}", host.name));
    let began = Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break Some(status),
            None if began.elapsed() > PATIENCE => {
                child.kill().unwrap();
                child.wait().unwrap();
                break None;
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let seen = model.seen();
    let said = String::from_utf8_lossy(&std::fs::read(said).unwrap()).into_owned();
    let about = || {
        let first: String = seen.requests.first().map(Value::to_string).unwrap_or_default();
        format!(
            "{} {}: {status:?}; other requests: {:?}; it said:\n{said}\n{first}",
            host.name,
            host.version(),
            seen.others
        )
    };
    assert!(status.is_some_and(|status| status.success()), "{}", about());
    assert!(seen.outside.is_empty(), "it looked for {:?}; {}", seen.outside, about());
    // One for each call, and one with the result of the last.
    assert_eq!(seen.requests.len(), calls().len() + 1, "{}", about());
    (expected(&stage.home, &seen.calls), seen)
}

/// How often a request says this to a model, which also reads what stands in JSON within a text.
fn count(request: &Value, text: &str) -> usize {
    match request {
        Value::String(said) => {
            let plain = said.matches(text).count();
            let hidden = embedded(said).into_iter().map(|(raw, value)| {
                // What JSON does not write differently has been counted.
                count(&value, text).saturating_sub(raw.matches(text).count())
            });
            plain + hidden.sum::<usize>()
        }
        Value::Array(list) => list.iter().map(|one| count(one, text)).sum(),
        Value::Object(fields) => fields.values().map(|one| count(one, text)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// The JSON within a text: the whole text, or lists and objects somewhere in it.
fn embedded(text: &str) -> Vec<(&str, Value)> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(start) = text[at..].find(['[', '{']).map(|start| at + start) {
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                at = start + values.byte_offset();
                found.push((&text[start..at], value));
            }
            _ => at = start + 1,
        }
    }
    found
}

#[test]
fn a_text_is_counted_however_it_is_wrapped() {
    let text = "a \"b\"\n{}";
    let json = json!({"output": text}).to_string();
    for (request, expected) in [
        (json!([text]), 1),
        (json!([json]), 1),
        (json!([format!("failed with {json}, sorry")]), 1),
        (json!([json!([json]).to_string()]), 1),
        (json!([format!("{text} and {json}"), {"again": text}]), 3),
        (json!(["a \"b\"", "{}", "{\"a"]), 0),
    ] {
        assert_eq!(count(&request, text), expected, "{request}");
    }
    assert_eq!(count(&json!([json!({"output": "plain"}).to_string()]), "plain"), 1);
}

/// Runs a host and checks its row of the table: from the request after a call on, its model is sent the text of the
/// call, once.
fn check(name: &str) {
    let host = Host::named(name);
    let (expected, seen) = run(host);
    let mut row = format!("{name} {}", host.version());
    let mut wrong = String::new();
    for (index, ((what, _), text)) in calls().iter().zip(&expected).enumerate() {
        let counts: Vec<usize> = seen.requests.iter().map(|request| count(request, text)).collect();
        let wanted: Vec<usize> = (0..seen.requests.len()).map(|number| usize::from(number > index)).collect();
        row.push_str(if counts == wanted { " yes" } else { " no" });
        if counts != wanted {
            wrong.push_str(&format!("the {what} `{text}` comes {counts:?} times, not {wanted:?}\n"));
        }
    }
    println!("host: {row}");
    let last = seen.requests.last().map(|request| serde_json::to_string_pretty(request).unwrap());
    assert!(wrong.is_empty(), "{row}: {wrong}{}", last.unwrap_or_default());
    println!("measure: guarantee 42: {name} {} sends text, output and error, once each", host.version());
}

#[test]
fn guarantee_42_claude_code_reads_the_text() {
    check("@anthropic-ai/claude-code");
}

#[test]
fn guarantee_42_codex_reads_the_text() {
    check("@openai/codex");
}

#[test]
fn guarantee_42_gemini_cli_reads_the_text() {
    check("@google/gemini-cli");
}

#[test]
fn guarantee_42_opencode_reads_the_text() {
    check("opencode-ai");
}

#[test]
fn guarantee_42_pydantic_ai_reads_the_text() {
    check("pydantic-ai");
}

#[test]
fn guarantee_42_openai_agents_reads_the_text() {
    check("openai-agents");
}

#[test]
fn guarantee_42_smolagents_reads_the_text() {
    check("smolagents");
}

#[test]
fn guarantee_42_langchain_reads_the_text() {
    check("langchain-mcp-adapters");
}

#[test]
fn the_table_of_the_guide_has_these_hosts_and_versions() {
    let page = std::fs::read_to_string(project().join("docs/guide/mcp.md")).unwrap();
    let (_, rest) = page.split_once("<!-- hosts:begin -->\n").unwrap();
    let (table, _) = rest.split_once("<!-- hosts:end -->").unwrap();
    let mut rows = table.lines();
    assert_eq!(rows.next(), Some("| host | version | date | reads text | reads output | reads error |"));
    assert_eq!(rows.next(), Some("| --- | --- | --- | --- | --- | --- |"));
    let rows: Vec<Vec<&str>> =
        rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect();
    assert_eq!(rows.len(), HOSTS.len(), "{table}");
    for (row, host) in rows.iter().zip(&HOSTS) {
        let [name, version, date, answers @ ..] = row.as_slice() else { panic!("{row:?}") };
        assert_eq!((*name, *version), (format!("`{}`", host.name).as_str(), host.version()), "{ADVICE}");
        assert!(date.len() == 10 && date.starts_with("20"), "{row:?}");
        assert_eq!(answers, ["yes", "yes", "yes"], "{name}: {ADVICE}");
    }
}

const ADVICE: &str = "the table is out of date; run `cargo xtask hosts`";
