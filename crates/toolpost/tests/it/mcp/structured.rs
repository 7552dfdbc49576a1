//! What a result carries: by default the text alone, because hosts show their model whatever else there is, and often
//! instead of the text; with `--structured` the data too.

use super::{Connection, meta, text};
use crate::{Home, project};
use serde_json::{Value, json};
use toolpost_core::schema::Schema;

const REVISIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\xfc\xcf\xc0P\x0f\0\x04\x85\x01\x80\x84\xa9\x8c!\0\0\0\0IEND\xaeB`\x82";

/// A client of one revision.
struct Client {
    connection: Connection,
    is_modern: bool,
    next: u64,
}

impl Client {
    fn new(home: &Home, flags: &[&str], revision: &str) -> Client {
        let is_modern = revision == "2026-07-28";
        let connection = match is_modern {
            true => Connection::open(home, flags),
            false => Connection::legacy(home, flags, revision, json!({})),
        };
        Client { connection, is_modern, next: 0 }
    }

    fn ask(&mut self, method: &str, mut params: Value) -> Value {
        self.next += 1;
        if self.is_modern {
            params["_meta"] = meta(json!({}));
        }
        self.connection.request(self.next, method, params);
        loop {
            let message = self.connection.next();
            // The tools of the server come when it has started.
            if message["method"] != "notifications/tools/list_changed" {
                assert_eq!(message["id"], self.next, "{message}");
                return message;
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments}))
    }
}

/// A home with a server of tools of its own, one tool of which has an output schema.
fn with_upstream() -> Home {
    let home = Home::new();
    let server = project().join("crates/toolpost-plugins/tests/data/server.py");
    let entry = format!("[mcpServers.py]\ncommand = 'python3'\nargs = ['{}', 'good']\n", server.display());
    home.write(".config/toolpost/config.toml", entry);
    home.write("repo/long", "many words\n".repeat(40_000));
    home.write("repo/one.png", PNG);
    home
}

/// Calls that work, of every kind: short, long, with an attachment, of another server with and without a schema.
fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("read", json!({"filePath": "README.md"})),
        ("read", json!({"filePath": "one.png"})),
        ("list", json!({})),
        ("glob", json!({"pattern": "**/*.rs"})),
        ("grep", json!({"pattern": "fn main"})),
        ("bash", json!({"command": "echo said; cat long"})),
        ("write", json!({"filePath": "new.txt", "content": "new\n"})),
        ("edit", json!({"filePath": "new.txt", "oldString": "new", "newString": "newer"})),
        ("delete", json!({"filePath": "new.txt"})),
        ("batch", json!({"calls": [{"tool": "read", "args": {"filePath": "README.md"}}]})),
        ("mcp__py__echo", json!({"said": "hello"})),
        ("mcp__py__structured", json!({})),
    ]
}

#[test]
fn by_default_a_result_is_its_text() {
    let home = with_upstream();
    for revision in REVISIONS {
        let mut client = Client::new(&home, &["--policy", "privileged"], revision);
        for (tool, arguments) in calls() {
            let answer = client.call(tool, arguments);
            let result = &answer["result"];
            assert!(result["isError"] == false && !text(&answer).is_empty(), "{tool}: {answer}");
            assert!(result.get("structuredContent").is_none(), "{revision} {tool}: {result}");
            let blocks = result["content"].as_array().unwrap();
            let kinds: Vec<&Value> = blocks.iter().map(|block| &block["type"]).collect();
            let expected = if result.to_string().contains("image/png") { 2 } else { 1 };
            assert_eq!(kinds.len(), expected, "{revision} {tool}: {kinds:?}");
            // The protocol's own word is the only one there may be.
            let others = result["_meta"].as_object().into_iter().flat_map(|meta| meta.keys());
            let others: Vec<&String> =
                others.filter(|key| *key != "io.modelcontextprotocol/serverInfo").collect();
            assert!(others.is_empty(), "{revision} {tool}: {others:?}");
        }
        let tools = client.ask("tools/list", json!({}))["result"]["tools"].take();
        assert!(tools.to_string().contains("\"mcp__py__structured\""), "{tools}");
        for tool in tools.as_array().unwrap() {
            assert!(tool.get("outputSchema").is_none(), "{revision}: {tool}");
        }
    }
}

#[test]
fn data_without_a_text_is_sent_as_the_text() {
    let home = Home::new();
    for flags in [&["mcp"][..], &["mcp", "--structured"]] {
        let mut connection = Connection::of(home.command_of(&super::fixtures::program(&home), flags));
        connection.request(
            1,
            "tools/call",
            json!({"name": "test_only_data", "arguments": {}, "_meta": meta(json!({}))}),
        );
        let answer = connection.next();
        assert_eq!(text(&answer), r#"{"sum":3}"#, "{answer}");
        if flags.len() > 1 {
            assert_eq!(
                answer["result"]["structuredContent"],
                json!({"sum": 3, "output": r#"{"sum":3}"#}),
                "{answer}"
            );
        }
    }
}

#[test]
fn by_default_a_failure_is_its_text_and_its_code() {
    let home = with_upstream();
    for revision in REVISIONS {
        let mut client = Client::new(&home, &["--policy", "privileged"], revision);
        for (tool, arguments, code) in [
            ("read", json!({"filePath": "REDME.md"}), "FILE_NOT_FOUND"),
            ("edit", json!({"filePath": "README.md", "oldString": "absent", "newString": "x"}), "NO_MATCH"),
            ("read", json!({"filePath": true}), "VALIDATION_ERROR"),
            ("mcp__py__mismatch", json!({}), "RESULT_SCHEMA_MISMATCH"),
        ] {
            let answer = client.call(tool, arguments);
            assert!(text(&answer).starts_with("Error: "), "{answer}");
            assert_eq!(answer["result"]["_meta"]["toolpost/error"], json!({"code": code}), "{answer}");
            assert_eq!(answer["result"]["content"].as_array().unwrap().len(), 1, "{answer}");
        }
    }
}

#[test]
fn a_program_gets_data_that_fits_the_schemas_and_holds_the_whole_text() {
    let home = with_upstream();
    for revision in REVISIONS {
        let mut client = Client::new(&home, &["--policy", "privileged", "--structured"], revision);
        // The first call of a server's tool waits for the server, whose tools are in the list from then on.
        client.call("mcp__py__echo", json!({"said": "hello"}));
        let tools = client.ask("tools/list", json!({}))["result"]["tools"].take();
        let is_known = revision >= "2025-06-18";
        for (name, arguments) in calls() {
            let tool = tools.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap();
            let answer = client.call(name, arguments);
            let result = &answer["result"];
            assert_eq!(tool.get("outputSchema").is_some(), is_known, "{revision}: {tool}");
            assert_eq!(result.get("structuredContent").is_some(), is_known, "{revision}: {result}");
            if !is_known {
                continue;
            }
            let schema = Schema::compile(tool["outputSchema"].clone()).unwrap();
            let problems = schema.problems(&result["structuredContent"]);
            assert!(problems.is_empty(), "{revision} {name}: {problems:?}");
            assert_eq!(result["structuredContent"]["output"], text(&answer), "{revision} {name}");
            let mut without = result["structuredContent"].clone();
            without.as_object_mut().unwrap().remove("output");
            assert!(!schema.problems(&without).is_empty(), "{name}: the text is not promised");
        }
        let failed = client.call("read", json!({"filePath": "REDME.md"}));
        let error = &failed["result"]["_meta"]["toolpost/error"];
        assert_eq!(
            (&error["code"], &error["retryable"]),
            (&json!("FILE_NOT_FOUND"), &json!(false)),
            "{failed}"
        );
    }
    let mut client = Client::new(&home, &["--policy", "privileged", "--structured"], "2025-11-25");
    let read = client.call("read", json!({"filePath": "README.md"}));
    assert_eq!(read["result"]["structuredContent"]["totalLines"], 7);
    let data = client.call("mcp__py__structured", json!({}))["result"]["structuredContent"].take();
    assert_eq!(data, json!({"n": 3, "output": "three"}));
}

#[test]
fn the_configuration_sets_it_too_and_a_project_only_once_it_is_trusted() {
    let home = Home::new();
    let sends_data = |variable: Option<&str>| {
        let mut command = home.command(["mcp"]);
        if let Some(value) = variable {
            command.env("TOOLPOST_STRUCTURED", value);
        }
        let mut connection = Connection::of(command);
        let params =
            json!({"name": "read", "arguments": {"filePath": "README.md"}, "_meta": meta(json!({}))});
        connection.ask(1, "tools/call", params)["result"].get("structuredContent").is_some()
    };
    assert!(!sends_data(None) && sends_data(Some("true")));
    home.write(".config/toolpost/config.toml", "structured = true\n");
    assert!(sends_data(None) && !sends_data(Some("false")));
    let (_, doctor) = home.json(&["doctor"]);
    let shown = &doctor["configuration"]["structured"];
    assert_eq!((&shown["value"], &shown["layer"], &shown["line"]), (&json!(true), &json!("user"), &json!(1)));
    let page = home.run(&["doctor", "--all"]).stdout;
    let row =
        page.lines().find(|line| line.trim().starts_with("structured")).unwrap_or_else(|| panic!("{page}"));
    assert!(row.contains("true") && row.contains("config.toml:1"), "{row}");

    home.write(".config/toolpost/config.toml", "");
    home.write("repo/.toolpost/config.toml", "structured = true\n");
    assert!(!sends_data(None));
    let page = home.run(&["doctor", "--all"]).stdout;
    assert!(page.contains("sets what results over MCP carry (line 1)"), "{page}");
    assert_eq!(home.run(&["trust", "--yes"]).status, 0);
    assert!(sends_data(None));

    for (text, said) in [
        ("structured = 'yes'\n", "write true or false, such as `structured = true`"),
        ("structured = 1\n", "write true or false, such as `structured = true`"),
    ] {
        home.write(".config/toolpost/config.toml", text);
        let ran = home.run(&["tools"]);
        assert!(ran.status == 2 && ran.stderr.contains(said), "{}", ran.stderr);
    }
    home.write(".config/toolpost/config.toml", "");
    let mut command = home.command(["tools"]);
    let ran = crate::Ran::of(command.env("TOOLPOST_STRUCTURED", "perhaps").output().unwrap());
    assert!(ran.status == 2 && ran.stderr.contains("`perhaps` is neither true nor false"), "{}", ran.stderr);
}
