//! Schemas from types, problems in words, repairs that lose nothing.

use super::repair::repair;
use super::*;
use serde_json::json;

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "filePath": {"type": "string", "description": "File to read."},
            "limit": {"type": "integer", "minimum": 1},
            "ratio": {"type": "number"},
            "force": {"type": "boolean"},
            "ignore": {"type": "array", "items": {"type": "string"}},
            "edits": {"type": "array", "items": {
                "type": "object",
                "properties": {"oldString": {"type": "string"}, "count": {"type": "integer"}},
                "additionalProperties": false
            }},
            "mode": {"enum": ["content", "files"]}
        },
        "required": ["filePath"],
        "additionalProperties": false
    })
}

fn check_repair(given: Value, expected: Value, repairs: usize) {
    let aliases = [("path".to_owned(), "filePath".to_owned())];
    let (value, notes) = repair(&schema(), &aliases, None, given.clone());
    assert_eq!(value, expected, "{given}");
    assert_eq!(notes.len(), repairs, "{given}: {notes:?}");
}

#[test]
fn what_is_plainly_meant_is_mended() {
    check_repair(json!({"filepath": "a", "limit": "5"}), json!({"filePath": "a", "limit": 5}), 2);
    check_repair(json!({"path": "a"}), json!({"filePath": "a"}), 1);
    check_repair(json!({"FILE-PATH": "a"}), json!({"filePath": "a"}), 1);
    check_repair(json!({"force": "true"}), json!({"force": true}), 1);
    check_repair(json!({"limit": 5.0}), json!({"limit": 5}), 1);
    check_repair(json!({"ratio": " 0.5 "}), json!({"ratio": 0.5}), 1);
    check_repair(json!({"ratio": "-1.50e3"}), json!({"ratio": -1500.0}), 1);
    check_repair(json!({"ignore": "[\"a\",\"b\"]"}), json!({"ignore": ["a", "b"]}), 1);
    check_repair(
        json!({"edits": [{"old_string": "a", "count": "2"}]}),
        json!({"edits": [{"oldString": "a", "count": 2}]}),
        2,
    );
    check_repair(json!({"edits": "[{\"old_string\":\"a\"}]"}), json!({"edits": [{"oldString": "a"}]}), 2);
    check_repair(json!("{\"filePath\":\"a\"}"), json!({"filePath": "a"}), 1);
    check_repair(json!({"limit": null}), json!({}), 1);
}

#[test]
fn what_is_not_stays_for_the_validator() {
    for value in [
        json!({"filePath": 7}),
        json!({"filePath": null}),
        json!({"limit": "five"}),
        json!({"limit": 5.5}),
        json!({"limit": "5.5"}),
        json!({"force": "yes"}),
        json!({"force": 1}),
        json!({"ratio": "12345678901234567890123"}),
        json!({"ratio": "1e-400"}),
        json!({"limit": "9007199254740990.9999"}),
        json!({"ignore": "[12345678901234567890123]"}),
        json!({"edits": "[{\"count\": 1, \"count\": 2}]"}),
        json!({"ignore": "a"}),
        json!({"filePath": "a", "file_path": "b"}),
        json!({"nothing": 1}),
        json!([1]),
    ] {
        check_repair(value.clone(), value, 0);
    }
}

fn check_problem(given: Value, expected: &str) {
    let compiled = Schema::compile(schema()).unwrap();
    let problems: Vec<String> = compiled.problems(&given).iter().map(ToString::to_string).collect();
    assert_eq!(problems.join(" · "), expected);
    assert!(!compiled.accepts(&given));
}

#[test]
fn problems_say_where_and_what_was_expected() {
    check_problem(json!({"filePath": 7}), "`filePath`: expected a string, got 7");
    check_problem(json!({}), "`filePath`: expected a string (File to read), got nothing");
    check_problem(json!({"filePath": "a", "limit": 0}), "`limit`: expected at least 1, got 0");
    check_problem(
        json!({"filePath": "a", "mode": "file"}),
        "`mode`: expected one of [\"content\",\"files\"], got \"file\"; did you mean `files`?",
    );
    check_problem(
        json!({"filePath": "a", "edits": [{"newString": 1}]}),
        "`edits[0].newString`: expected only `oldString`, `count`, got an unknown argument; did you mean `oldString`?",
    );
    check_problem(json!(3), "`arguments`: expected an object, got 3");
}

/// What a model may ask for.
#[derive(serde::Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Args {
    /// File to read.
    #[schemars(extend("x-toolpost-path" = true))]
    file_path: String,
    /// First line.
    offset: Option<usize>,
    /// How.
    mode: Option<Mode>,
    /// Globs.
    #[serde(default)]
    ignore: Vec<String>,
}

#[derive(serde::Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Content,
    Files,
}

#[test]
fn a_type_becomes_a_terse_schema() {
    let schema = arguments_of::<Args>();
    assert_eq!(
        schema,
        json!({
            "type": "object",
            "properties": {
                "filePath": {"type": "string", "x-toolpost-path": true, "description": "File to read."},
                "offset": {"type": "integer", "minimum": 0, "description": "First line."},
                "mode": {"type": "string", "enum": ["content", "files"], "description": "How."},
                "ignore": {"type": "array", "items": {"type": "string"}, "default": [], "description": "Globs."}
            },
            "additionalProperties": false,
            "required": ["filePath"]
        })
    );
    let compiled = Schema::compile(schema).unwrap();
    assert_eq!(compiled.paths(&json!({"filePath": "a", "ignore": ["b"]})), ["a"]);
}

#[test]
fn references_to_elsewhere_and_broken_schemas_are_refused() {
    for schema in [json!({"$ref": "https://example.com/x.json"}), json!({"type": 5}), json!({"pattern": "("})]
    {
        let error = Schema::compile(schema).unwrap_err();
        assert!(error.to_string().starts_with("the schema itself is not valid at `"), "{error}");
    }
}

#[test]
fn depth_is_bounded() {
    let deep = |levels: usize| (0..levels).fold(Value::Null, |value, _| json!([value]));
    assert!(!is_too_deep(&deep(MAX_DEPTH)));
    assert!(is_too_deep(&deep(MAX_DEPTH + 1)));
}
