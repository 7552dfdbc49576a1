//! The protocol by hand, in both eras.

use super::{Connection, meta, text};
use crate::{Home, offered};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;
use toolpost_core::Dialect;
use toolpost_core::policy::Profile;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\xfc\xcf\xc0P\x0f\0\x04\x85\x01\x80\x84\xa9\x8c!\0\0\0\0IEND\xaeB`\x82";

fn names(answer: &Value) -> Vec<String> {
    let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("no tools: {answer}"));
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn check_revision(asked: &str, answered: &str) {
    let home = Home::new();
    let mut connection = Connection::open(&home, &[]);
    let answer = connection.ask(0, "initialize", json!({"protocolVersion": asked, "capabilities": {}}));
    assert_eq!(answer["result"]["protocolVersion"], answered);
    assert!(answer["result"]["instructions"].as_str().unwrap().contains("workspace"));
    connection.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let answer = connection.call("two", "read", json!({"filePath": "README.md", "limit": 1}));
    assert!(text(&answer).starts_with("1: # fixture"), "{answer}");
    assert_eq!(answer["result"]["isError"], false);
    assert!(answer["result"].get("resultType").is_none());
    let again = connection.ask(3, "initialize", json!({"protocolVersion": asked, "capabilities": {}}));
    assert_eq!(again["error"]["code"], -32600);
}

#[test]
fn every_revision_with_a_handshake_is_spoken() {
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        check_revision(revision, revision);
    }
    check_revision("1999-01-01", "2025-11-25");
    check_revision("2026-07-28", "2025-11-25");
}

#[test]
fn modern_requests_need_no_handshake() {
    let home = Home::new();
    let mut connection = Connection::open(&home, &[]);
    let answer = connection.ask(1, "server/discover", json!({"_meta": meta(json!({}))}));
    let result = &answer["result"];
    assert_eq!(
        (&result["supportedVersions"], &result["resultType"]),
        (&json!(["2026-07-28"]), &json!("complete"))
    );
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "toolpost");
    assert!(result["ttlMs"].is_u64() && result["cacheScope"] == "private");
    let answer = connection.ask(2, "tools/list", json!({"_meta": meta(json!({}))}));
    assert_eq!(names(&answer), offered(Profile::Standard, &Dialect::canonical()));
    let params = json!({"name": "read", "arguments": {"filePath": "README.md"}, "_meta": meta(json!({}))});
    let answer = connection.ask("x", "tools/call", params);
    assert!(text(&answer).starts_with("1: # fixture"), "{answer}");
    assert_eq!(answer["result"]["resultType"], "complete");
    // Who says nothing of itself is told how to.
    let answer = connection.ask(4, "tools/list", json!({}));
    assert_eq!(answer["error"]["code"], -32602);
    assert!(answer["error"]["message"].as_str().unwrap().contains("initialize"));
    let mut old = meta(json!({}));
    old["io.modelcontextprotocol/protocolVersion"] = "2030-01-01".into();
    let answer = connection.ask(5, "tools/list", json!({"_meta": old}));
    assert_eq!(answer["error"]["code"], -32022);
    assert_eq!(answer["error"]["data"], json!({"supported": ["2026-07-28"], "requested": "2030-01-01"}));
    for gone in ["ping", "logging/setLevel", "resources/subscribe", "initialize"] {
        let answer = connection.ask(gone, gone, json!({"_meta": meta(json!({}))}));
        assert_eq!(answer["error"]["code"], -32601, "{gone}");
    }
}

#[test]
fn both_eras_share_one_connection() {
    let home = Home::new();
    let mut connection = Connection::legacy(&home, &[], "2025-11-25", json!({}));
    assert_eq!(connection.ask(1, "ping", json!({}))["result"], json!({}));
    let modern = connection.ask(2, "tools/list", json!({"_meta": meta(json!({}))}));
    let legacy = connection.ask(3, "tools/list", json!({}));
    assert_eq!(modern["result"]["tools"], legacy["result"]["tools"]);
    assert_eq!(connection.ask(4, "server/discover", json!({}))["error"]["code"], -32601);
}

#[test]
fn tools_say_all_that_a_client_wants_to_know() {
    let home = Home::new();
    let mut connection = Connection::legacy(&home, &["--policy", "privileged"], "2025-11-25", json!({}));
    let answer = connection.ask(1, "tools/list", json!({}));
    for tool in answer["result"]["tools"].as_array().unwrap() {
        assert!(tool["title"].is_string() && tool["description"].is_string(), "{tool}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{hint}: {tool}");
        }
    }
    let find = |name: &str| {
        let tools = answer["result"]["tools"].as_array().unwrap();
        tools.iter().find(|tool| tool["name"] == name).unwrap().clone()
    };
    assert_eq!(find("read")["annotations"]["readOnlyHint"], true);
    assert_eq!(find("bash")["annotations"]["destructiveHint"], true);
    assert_eq!(
        (&find("apply_patch")["title"], &find("bash_output")["title"]),
        (&json!("Apply patch"), &json!("Bash output"))
    );
    assert_eq!(connection.ask(2, "tools/list", json!({}))["result"], answer["result"]);
}

#[test]
fn only_what_the_policy_offers_is_listed_and_refusals_explain() {
    let home = Home::new();
    let mut connection = Connection::legacy(&home, &["--policy", "read-only"], "2025-11-25", json!({}));
    assert_eq!(
        names(&connection.ask(1, "tools/list", json!({}))),
        offered(Profile::ReadOnly, &Dialect::canonical())
    );
    let answer = connection.call(2, "write", json!({"filePath": "x", "content": "y"}));
    assert_eq!(answer["result"]["isError"], true);
    assert!(text(&answer).contains("--allow write"), "{answer}");
}

#[test]
fn dialects_name_the_tools() {
    let home = Home::new();
    let mut connection = Connection::legacy(&home, &["--dialect", "claude"], "2025-11-25", json!({}));
    let names = names(&connection.ask(1, "tools/list", json!({})));
    assert!(names.contains(&"Read".to_owned()) && !names.contains(&"read".to_owned()), "{names:?}");
    let answer = connection.call(2, "Read", json!({"file_path": "README.md"}));
    assert!(text(&answer).starts_with("1: # fixture"), "{answer}");
}

#[test]
fn mistakes_teach() {
    let home = Home::new();
    let mut connection = Connection::legacy(&home, &[], "2025-11-25", json!({}));
    let answer = connection.call(1, "raed", json!({}));
    assert_eq!(answer["error"]["code"], -32602);
    assert!(answer["error"]["message"].as_str().unwrap().contains("nearest: `read`"), "{answer}");
    let answer = connection.call(2, "read", json!({"filePath": true}));
    assert_eq!(answer["result"]["isError"], true);
    assert!(text(&answer).contains("`filePath`: expected a string"), "{answer}");
    assert_eq!(answer["result"]["_meta"]["toolpost/error"]["code"], "VALIDATION_ERROR");
    let answer = connection.call(3, "read", json!({"filePath": "REDME.md"}));
    assert!(text(&answer).contains("README.md") && answer["result"]["isError"] == true, "{answer}");
    for params in [json!({}), json!({"name": 7}), json!({"name": "read", "arguments": [1]})] {
        assert_eq!(connection.ask(4, "tools/call", params)["error"]["code"], -32602);
    }
    assert_eq!(connection.ask(5, "tools/lsit", json!({}))["error"]["code"], -32601);
    assert_eq!(connection.ask(6, "resources/read", json!({"uri": "test://x"}))["error"]["code"], -32002);
}

#[test]
fn lists_come_by_pages() {
    let home = Home::new();
    let mut connection = Connection::legacy(&home, &["--page-size", "4"], "2025-11-25", json!({}));
    let (mut all, mut cursor) = (Vec::new(), None);
    for page in 0.. {
        let params = cursor.map_or_else(|| json!({}), |cursor: Value| json!({"cursor": cursor}));
        let answer = connection.ask(page, "tools/list", params);
        all.extend(names(&answer));
        match answer["result"].get("nextCursor") {
            Some(next) => cursor = Some(next.clone()),
            None => break,
        }
    }
    assert_eq!(all, offered(Profile::Standard, &Dialect::canonical()));
    for cursor in [json!("nonsense"), json!(""), json!(4)] {
        assert_eq!(connection.ask("c", "tools/list", json!({"cursor": cursor}))["error"]["code"], -32602);
    }
}

#[test]
fn images_are_image_blocks() {
    let home = Home::new();
    home.write("repo/dot.png", PNG);
    let mut connection = Connection::legacy(&home, &[], "2025-11-25", json!({}));
    let answer = connection.call(1, "read", json!({"filePath": "dot.png"}));
    let blocks = answer["result"]["content"].as_array().unwrap();
    let image = blocks.iter().find(|block| block["type"] == "image").unwrap_or_else(|| panic!("{answer}"));
    assert_eq!(image["mimeType"], "image/png");
    assert!(image["data"].as_str().unwrap().starts_with("iVBOR"));
}

#[test]
fn what_is_too_long_can_be_read_whole_in_its_session() {
    let home = Home::new();
    let flags = ["--policy", "privileged", "--structured"];
    let mut connection = Connection::legacy(&home, &flags, "2025-11-25", json!({}));
    let answer = connection.call(1, "bash", json!({"command": "seq 1 20000"}));
    let blocks = answer["result"]["content"].as_array().unwrap();
    let link =
        blocks.iter().find(|block| block["type"] == "resource_link").unwrap_or_else(|| panic!("{answer}"));
    assert!(text(&answer).contains(link["uri"].as_str().unwrap()), "the text names it too: {answer}");
    let read = connection.ask(2, "resources/read", json!({"uri": link["uri"]}));
    let whole = read["result"]["contents"][0]["text"].as_str().unwrap();
    let numbers: String = (1..=20_000).map(|number| format!("{number}\n")).collect();
    assert_eq!(whole, numbers);
    assert_eq!(link["size"], numbers.len());
    let templates = connection.ask(3, "resources/templates/list", json!({}));
    assert_eq!(templates["result"]["resourceTemplates"][0]["uriTemplate"], "spill:{callId}");
    let mut other = Connection::legacy(&home, &flags, "2025-11-25", json!({}));
    let answer = other.ask(1, "resources/read", json!({"uri": link["uri"]}));
    assert_eq!(answer["error"]["data"]["uri"], link["uri"], "{answer}");
    let params = json!({"uri": link["uri"], "_meta": meta(json!({}))});
    assert_eq!(other.ask(2, "resources/read", params)["error"]["code"], -32602);
}

#[test]
fn progress_says_what_a_command_says() {
    let home = Home::new();
    for is_modern in [false, true] {
        let mut connection = Connection::legacy(&home, &["--policy", "privileged"], "2025-11-25", json!({}));
        let mut own = if is_modern { meta(json!({})) } else { json!({}) };
        own["progressToken"] = "p1".into();
        let command = "echo first; sleep 1; echo second; sleep 1; echo third";
        connection.request(
            7,
            "tools/call",
            json!({"name": "bash", "arguments": {"command": command}, "_meta": own}),
        );
        let mut told = Vec::new();
        let answer = loop {
            let message = connection.next();
            if message["id"] == 7 {
                break message;
            }
            assert_eq!(message["method"], "notifications/progress", "{message}");
            assert_eq!(message["params"]["progressToken"], "p1");
            told.push(message["params"].clone());
        };
        assert!(text(&answer).contains("third"), "{answer}");
        assert!(told.iter().any(|one| one["message"].as_str().unwrap().ends_with("first")), "{told:?}");
        let values: Vec<f64> = told.iter().map(|one| one["progress"].as_f64().unwrap()).collect();
        assert!(values.windows(2).all(|pair| pair[0] < pair[1]), "{values:?}");
        connection.silence(Duration::from_millis(200));
    }
}

#[test]
fn a_cancelled_call_stops_and_is_followed_by_silence() {
    let home = Home::new();
    for is_modern in [false, true] {
        let mut connection = Connection::legacy(&home, &["--policy", "privileged"], "2025-11-25", json!({}));
        let mut own = if is_modern { meta(json!({})) } else { json!({}) };
        own["progressToken"] = 1.into();
        let command = "echo begun; sleep 1; touch made";
        let params = json!({"name": "bash", "arguments": {"command": command}, "_meta": own});
        connection.request("c", "tools/call", params);
        assert_eq!(connection.next()["method"], "notifications/progress");
        let params = json!({"requestId": "c", "reason": "changed my mind"});
        connection.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
        // One that had left already may still arrive.
        std::thread::sleep(Duration::from_millis(100));
        while connection.lines.try_recv().is_ok() {}
        connection.silence(Duration::from_millis(1_500));
        assert!(!home.path("repo/made").exists());
        let answer = connection.call("d", "read", json!({"filePath": "README.md"}));
        assert_eq!(answer["result"]["isError"], false);
    }
}

#[test]
fn a_hundred_calls_in_flight_each_get_their_own_answer() {
    let home = Home::new();
    home.write("repo/lines", (1..=100).map(|line| format!("line {line}\n")).collect::<String>());
    let mut connection = Connection::legacy(&home, &[], "2025-11-25", json!({}));
    for id in 1..=100 {
        let arguments = json!({"filePath": "lines", "offset": id, "limit": 1});
        connection.request(id, "tools/call", json!({"name": "read", "arguments": arguments}));
    }
    let mut seen = BTreeSet::new();
    for _ in 0..100 {
        let answer = connection.next();
        let id = answer["id"].as_u64().unwrap();
        assert!(text(&answer).starts_with(&format!("{id}: line {id}\n")), "{answer}");
        assert!(seen.insert(id));
    }
}

#[test]
fn list_changes_reach_clients_of_both_eras() {
    let home = Home::new();
    let mut connection = Connection::with_fixtures(&home, "2025-11-25", json!({}));
    let before = names(&connection.ask(1, "tools/list", json!({})));
    let params = json!({"_meta": meta(json!({})), "notifications": {"toolsListChanged": true}});
    connection.request("sub", "subscriptions/listen", params);
    let told = connection.next();
    assert_eq!(told["method"], "notifications/subscriptions/acknowledged", "{told}");
    assert_eq!(told["params"]["notifications"], json!({"toolsListChanged": true}));
    connection.request(2, "tools/call", json!({"name": "test_trigger_tool_change"}));
    let messages = [connection.next(), connection.next(), connection.next()];
    let changes: Vec<&Value> =
        messages.iter().filter(|one| one["method"] == "notifications/tools/list_changed").collect();
    assert_eq!(changes.len(), 2, "{messages:?}");
    let key = "io.modelcontextprotocol/subscriptionId";
    let tagged = changes.iter().filter(|one| one["params"]["_meta"][key] == "sub").count();
    assert_eq!(tagged, 1, "{messages:?}");
    assert_eq!(names(&connection.ask(3, "tools/list", json!({}))).len(), before.len() + 1);
    // Who listens no more hears no more; the other still does.
    let params = json!({"requestId": "sub"});
    connection.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
    connection.request(4, "tools/call", json!({"name": "test_trigger_tool_change"}));
    let messages = [connection.next(), connection.next()];
    assert!(messages.iter().all(|one| one["params"].get("_meta").is_none()), "{messages:?}");
    connection.silence(Duration::from_millis(200));
}

#[test]
fn the_fixtures_are_not_in_the_product() {
    let home = Home::new();
    let mut connection = Connection::legacy(&home, &[], "2025-11-25", json!({}));
    assert!(!names(&connection.ask(1, "tools/list", json!({}))).iter().any(|name| name.starts_with("test_")));
    assert_eq!(connection.ask(2, "prompts/list", json!({}))["error"]["code"], -32601);
    assert_eq!(home.run(&["mcp", "--pack", "conformance"]).status, 2);
}
