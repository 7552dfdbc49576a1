//! The virtual files of a session as resources, in both eras; and which packs are listed.

use super::{Connection, meta, text};
use crate::Home;
use serde_json::{Value, json};

fn uris(answer: &Value) -> Vec<&str> {
    let resources = answer["result"]["resources"].as_array().unwrap_or_else(|| panic!("no list: {answer}"));
    resources.iter().map(|resource| resource["uri"].as_str().unwrap()).collect()
}

fn put(home: &Home, path: &str, content: &str) {
    let arguments = json!({"path": path, "content": content}).to_string();
    let (status, outcome) = home.json(&["call", "vfs_write", &arguments, "--session", "s"]);
    assert_eq!(status, 0, "{outcome}");
}

#[test]
fn they_are_listed_and_read_in_both_eras() {
    let home = Home::new();
    put(&home, "notes/ä b.md", "# Plan\n");
    put(&home, "other", "x");
    home.write("repo/dot.bin", b"\xff\x00");
    assert_eq!(home.run(&["vfs", "import", "dot.bin", "--session", "s"]).status, 0);
    for is_modern in [false, true] {
        let mut connection = match is_modern {
            false => Connection::legacy(&home, &["--session", "s"], "2025-11-25", json!({})),
            true => Connection::open(&home, &["--session", "s"]),
        };
        let with_meta = |mut params: Value| {
            if is_modern {
                params["_meta"] = meta(json!({}));
            }
            params
        };
        let answer = connection.ask(1, "resources/list", with_meta(json!({})));
        let uri = "toolpost-vfs:///notes/%C3%A4%20b.md";
        assert_eq!(uris(&answer), ["toolpost-vfs:///dot.bin", uri, "toolpost-vfs:///other"]);
        let file = &answer["result"]["resources"][1];
        assert_eq!(
            (&file["name"], &file["mimeType"], &file["size"]),
            (&json!("notes/ä b.md"), &json!("text/markdown"), &json!(7))
        );
        let answer = connection.ask(2, "resources/read", with_meta(json!({"uri": uri})));
        assert_eq!(
            answer["result"]["contents"],
            json!([{"uri": uri, "mimeType": "text/markdown", "text": "# Plan\n"}])
        );
        let fresh = answer["result"].get("ttlMs");
        assert_eq!(fresh, is_modern.then_some(&json!(0)), "it may change at any time");
        let answer =
            connection.ask(3, "resources/read", with_meta(json!({"uri": "toolpost-vfs:///dot.bin"})));
        assert_eq!(answer["result"]["contents"][0]["blob"], "/wA=");
        for wrong in ["toolpost-vfs:///none", "toolpost-vfs:///../up", "toolpost-vfs:///"] {
            let answer = connection.ask(4, "resources/read", with_meta(json!({"uri": wrong})));
            let code = if is_modern { -32602 } else { -32002 };
            assert_eq!(answer["error"]["code"], code, "{wrong}: {answer}");
            assert_eq!(answer["error"]["data"]["uri"], wrong);
        }
        let answer = connection.ask(5, "resources/templates/list", with_meta(json!({})));
        assert_eq!(answer["result"]["resourceTemplates"][1]["uriTemplate"], "toolpost-vfs:///{+path}");
    }
}

#[test]
fn only_what_the_policy_lets_be_read_is_shown() {
    let home = Home::new();
    put(&home, "open", "x");
    put(&home, "secret/a", "CANARY");
    home.write(
        ".config/toolpost/config.toml",
        "[[rule]]\neffect = \"deny\"\naction = \"vfs_read\"\nresource = \"secret\"\n",
    );
    let mut connection = Connection::legacy(&home, &["--session", "s"], "2025-11-25", json!({}));
    assert_eq!(uris(&connection.ask(1, "resources/list", json!({}))), ["toolpost-vfs:///open"]);
    for uri in ["toolpost-vfs:///secret/a", "toolpost-vfs:////secret/a", "toolpost-vfs:///%2fsecret/a"] {
        let answer = connection.ask(2, "resources/read", json!({"uri": uri}));
        assert!(answer["error"].is_object() && !answer.to_string().contains("CANARY"), "{answer}");
    }
    // Another session sees its own.
    let mut other = Connection::legacy(&home, &[], "2025-11-25", json!({}));
    assert_eq!(uris(&other.ask(1, "resources/list", json!({}))), Vec::<&str>::new());
}

#[test]
fn clients_hear_when_one_comes_or_goes() {
    let home = Home::new();
    put(&home, "old", "x");
    let mut legacy = Connection::legacy(&home, &["--session", "s"], "2025-11-25", json!({}));
    assert_eq!(uris(&legacy.ask(1, "resources/list", json!({}))).len(), 1);
    let mut modern = Connection::open(&home, &["--session", "s"]);
    let wanted = json!({"resourcesListChanged": true, "toolsListChanged": false});
    modern.request("sub", "subscriptions/listen", json!({"notifications": wanted, "_meta": meta(json!({}))}));
    let first = modern.next();
    assert_eq!(first["params"]["notifications"], json!({"resourcesListChanged": true}), "{first}");
    let hears = |connection: &Connection, why: &str| {
        let news = connection.next();
        assert_eq!(news["method"], "notifications/resources/list_changed", "{why}: {news}");
    };
    // By another process, by itself, and by a deletion; another version of a file changes no list.
    put(&home, "new", "x");
    for connection in [&legacy, &modern] {
        hears(connection, "another process");
    }
    put(&home, "new", "y");
    legacy.request(2, "tools/call", json!({"name": "vfs_delete", "arguments": {"path": "new"}}));
    let mut came = [legacy.next(), legacy.next()];
    came.sort_by_key(|message| message["id"].is_null());
    assert!(text(&came[0]).contains("is deleted"), "{came:?}");
    assert_eq!(came[1]["method"], "notifications/resources/list_changed", "{came:?}");
    hears(&modern, "a deletion");
    put(&home, "new", "again");
    hears(&legacy, "one that comes back");
    hears(&modern, "one that comes back");
}

#[test]
fn the_packs_of_the_list_are_chosen() {
    let home = Home::new();
    let names = |flags: &[&str]| {
        let mut connection = Connection::legacy(&home, flags, "2025-11-25", json!({}));
        let answer = connection.ask(1, "tools/list", json!({}));
        let tools = answer["result"]["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<String>>()
    };
    assert!(!names(&[]).iter().any(|name| name.starts_with("vfs_")));
    assert_eq!(
        names(&["--packs", "vfs, meta"]),
        ["vfs_read", "vfs_write", "vfs_list", "vfs_delete", "batch", "tool_search"]
    );
    let usual = names(&[]);
    let added = names(&["--packs", "+vfs"]);
    assert!(usual.iter().all(|name| added.contains(name)), "{added:?}");
    assert_eq!(added.len(), usual.len() + 4, "{added:?}");
    // What is not listed is found, and called.
    let mut connection = Connection::legacy(&home, &[], "2025-11-25", json!({}));
    let found = connection.call(1, "tool_search", json!({"query": "virtual file"}));
    assert!(text(&found).contains("\"name\":\"vfs_read\""), "{found}");
    let written = connection.call(2, "vfs_write", json!({"path": "a", "content": "x"}));
    assert!(text(&written).contains("version 1"), "{written}");
    // Files of the workspace are those of a session, where that is asked for.
    let mut connection = Connection::legacy(&home, &["--workspace", "vfs:other"], "2025-11-25", json!({}));
    let written = connection.call(1, "write", json!({"filePath": "a.md", "content": "x\n"}));
    assert_eq!(written["result"]["isError"], false, "{written}");
    assert_eq!(home.run(&["vfs", "show", "a.md", "--session", "other"]).stdout, "x\n");
}
