//! Hosts that send every argument of a tool: an empty string or list that says nothing counts as left out.

use super::{call, memory};
use serde_json::{Value, json};
use std::sync::Arc;
use toolpost_core::Registry;

/// The optional arguments that take a string or a list and do not say what an empty one means; those below `items` too.
fn silent(schema: &Value, path: &str, found: &mut Vec<String>) {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let place = format!("{path}.{name}");
        silent(property.get("items").unwrap_or(property), &place, found);
        let kind = &property["type"];
        let takes_empty = kind == "string" || kind == "array" || property.get("enum").is_some();
        // Left out, it is empty too.
        let is_usual = property["default"] == "" || property["default"] == json!([]);
        if takes_empty
            && !is_usual
            && !required.contains(&name.as_str())
            && property.get("x-toolpost-empty").is_none()
        {
            found.push(place);
        }
    }
}

#[test]
fn every_optional_argument_says_what_an_empty_one_means() {
    let registry = Arc::new(Registry::new());
    toolpost_tools::register_all(&registry, &toolpost_tools::Settings::default()).unwrap();
    let (snapshot, mut found, mut tools) = (registry.snapshot(), Vec::new(), 0);
    for entry in snapshot.all() {
        silent(entry.prepared().unwrap().schema.value(), entry.name(), &mut found);
        tools += 1;
    }
    assert!(tools > 40, "{tools}");
    assert!(found.is_empty(), "{found:?}");
}

const FIXTURE: &str = "//- a.txt\none\ntwo\n";

/// The call works as if it had not been given what is named, and says so.
fn check(tool: &str, args: Value, ignored: &[&str], file: &str, after: Option<&str>) {
    let ctx = memory(FIXTURE);
    let outcome = call(&ctx, tool, args.clone());
    let text = outcome.to_text();
    assert!(outcome.is_success(), "{tool} {args}: {text}");
    let mut named: Vec<&str> = outcome.metadata.repairs.iter().map(|repair| repair.path.as_str()).collect();
    named.sort_unstable();
    assert_eq!(named, ignored, "{tool} {args}");
    assert!(ignored.iter().all(|name| text.contains(&format!("`{name}`: "))), "{text}");
    if let Some(after) = after {
        assert_eq!(String::from_utf8(super::edit::content(&ctx, file)).unwrap(), after, "{tool} {args}");
    }
}

#[test]
fn all_arguments_at_once_are_no_contradiction() {
    let whole = |old: &str, new: &str, edits: Value| json!({"filePath": "a.txt", "oldString": old, "newString": new, "replaceAll": false, "edits": edits, "expectedHash": ""});
    let edits = json!([{"oldString": "one", "newString": "1"}]);
    check("edit", whole("one", "1", json!([])), &["edits", "expectedHash"], "a.txt", Some("1\ntwo\n"));
    // An empty new text deletes.
    check("edit", whole("one\n", "", json!([])), &["edits", "expectedHash"], "a.txt", Some("two\n"));
    check(
        "edit",
        whole("", "", edits.clone()),
        &["expectedHash", "newString", "oldString"],
        "a.txt",
        Some("1\ntwo\n"),
    );
    check(
        "edit",
        whole("", "", edits.to_string().into()),
        &["edits", "expectedHash", "newString", "oldString"],
        "a.txt",
        Some("1\ntwo\n"),
    );
    // An empty old text creates.
    let new =
        json!({"filePath": "b.txt", "oldString": "", "newString": "new\n", "edits": [], "expectedHash": ""});
    check("edit", new, &["edits", "expectedHash"], "b.txt", Some("new\n"));
    let new = json!({"filePath": "b.txt", "content": "", "expectedHash": ""});
    check("write", new, &["expectedHash"], "b.txt", Some(""));
    check("list", json!({"path": "", "ignore": [], "depth": 3}), &["path"], "a.txt", None);
    check("glob", json!({"pattern": "*.txt", "path": ""}), &["path"], "a.txt", None);
    let all = json!({"path": "", "ignore": "", "depth": "", "limit": "", "hidden": ""});
    check("list", all, &["depth", "hidden", "ignore", "limit", "path"], "a.txt", None);
    let all = json!({"filePath": "a.txt", "offset": "", "limit": ""});
    check("read", all, &["limit", "offset"], "a.txt", None);
    let all =
        json!({"pattern": "two", "path": "", "include": "", "type": "", "excludePattern": "", "mode": ""});
    check("grep", all, &["excludePattern", "include", "mode", "path", "type"], "a.txt", None);
}

#[test]
fn what_contradicts_is_still_refused() {
    let edits = json!([{"oldString": "one", "newString": "1"}]);
    for (old, new) in [("one", "1"), ("one", ""), ("", "1")] {
        let args = json!({"filePath": "a.txt", "oldString": old, "newString": new, "edits": edits});
        let text = call(&memory(FIXTURE), "edit", args).to_text();
        assert!(text.contains("give either `oldString` and `newString`, or `edits`, not both"), "{text}");
    }
    for args in [
        json!({"filePath": "a.txt", "edits": []}),
        json!({"filePath": "a.txt", "edits": [], "newString": "x"}),
    ] {
        assert!(!call(&memory(FIXTURE), "edit", args.clone()).is_success(), "{args}");
    }
}
