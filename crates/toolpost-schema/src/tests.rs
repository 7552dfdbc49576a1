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
    let (value, notes) = repair(&schema(), &aliases, Spellings::default(), given.clone());
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
    check_repair(
        json!({"filePath": 7, "ignore": [8, "a"]}),
        json!({"filePath": "7", "ignore": ["8", "a"]}),
        2,
    );
}

#[test]
fn what_is_not_stays_for_the_validator() {
    for value in [
        json!({"filePath": 7.5}),
        json!({"filePath": 1e300}),
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

fn check_problems_by(schema: Value, given: Value, expected: &[&str]) {
    let compiled = Schema::compile(schema).unwrap();
    let problems: Vec<String> = compiled.problems(&given).iter().map(ToString::to_string).collect();
    assert_eq!(problems, expected, "{given}");
}

#[test]
fn of_several_forms_the_one_that_was_meant_is_explained() {
    let shapes = json!({"oneOf": [
        {"properties": {"kind": {"const": "circle"}, "radius": {"type": "number", "exclusiveMinimum": 0}},
         "required": ["kind", "radius"], "additionalProperties": false},
        {"properties": {"kind": {"enum": ["square"]}, "side": {"type": "number"}}, "required": ["kind", "side"]},
        {"type": "string"}
    ]});
    let check = |given, expected: &[&str]| check_problems_by(shapes.clone(), given, expected);
    check(
        json!({"kind": "circle", "radius": 0, "side": 1}),
        &[
            "`radius`: expected more than 0, got 0",
            "`side`: expected only `kind`, `radius`, got an unknown argument",
        ],
    );
    check(json!({"kind": "square"}), &["`side`: expected a value, got nothing"]);
    // Nothing says which one was meant.
    let none = "`arguments`: expected one of the forms in the schema, got an object of 1";
    check(json!({"kind": "line"}), &[none]);
    let types = json!({"properties": {"a": {"anyOf": [{"type": "string"}, {"type": ["integer", "null"]}]}}});
    check_problems_by(
        types,
        json!({"a": []}),
        &["`a`: expected null or an integer or a string, got an array of 0"],
    );
    let by_type = json!({"anyOf": [{"type": "string", "minLength": 2}, {"type": "array", "items": {"type": "string"}}]});
    check_problems_by(
        by_type.clone(),
        json!("a"),
        &["`arguments`: expected at least 2 characters, got \"a\""],
    );
    check_problems_by(by_type, json!(["a", 5]), &["`[1]`: expected a string, got 5"]);
    // The only form whose names are all there was meant; where no form has them, each says which it wants.
    let tagged = json!({"oneOf": [
        {"type": "object", "properties": {"one": {"type": "object", "additionalProperties": false}}, "required": ["one"]},
        {"type": "object", "properties": {"two": {"type": "string"}}, "required": ["two"]}
    ]});
    check_problems_by(
        tagged.clone(),
        json!({"one": {"b": 2}}),
        &["`one.b`: expected no arguments, got an unknown argument"],
    );
    check_problems_by(
        tagged,
        json!({"on": {}}),
        &["`arguments`: expected an object with `one` or with `two`, got an object of 1"],
    );
    let twice = json!({"oneOf": [{"type": "integer"}, {"minimum": 1}]});
    check_problems_by(
        twice,
        json!(1),
        &["`arguments`: expected exactly one of the forms in the schema, but more than one fits, got 1"],
    );
}

#[test]
fn problems_come_in_the_order_of_the_document() {
    let schema = json!({
        "properties": {"b": {"type": "string"}, "a": {"type": "string", "maxLength": 1, "pattern": "^x"}},
        "required": ["c", "d"],
        "minProperties": 4,
    });
    let expected = [
        "`a`: expected at most 1 characters, got \"yy\"",
        "`a`: expected text that matches `^x`, got \"yy\"",
        "`b`: expected a string, got 5",
        "`c`: expected a value, got nothing",
        "`d`: expected a value, got nothing",
        "`arguments`: expected at least 4 keys, got an object of 2",
    ];
    check_problems_by(schema, json!({"a": "yy", "b": 5}), &expected);
}

#[test]
fn every_rule_says_what_it_expects() {
    for (schema, given, expected) in [
        (json!({"multipleOf": 0.1}), json!(0.25), "`arguments`: expected a multiple of 0.1, got 0.25"),
        (
            json!({"uniqueItems": true}),
            json!([1, 1.0]),
            "`arguments`: expected items that all differ, got an array of 2",
        ),
        (
            json!({"contains": {"const": 1}, "maxContains": 2}),
            json!([]),
            "`arguments`: expected at least 1 items and at most 2 of the form that `contains` in the schema describes, got an array of 0",
        ),
        (
            json!({"propertyNames": {"pattern": "^a"}}),
            json!({"b": 1}),
            "`b`: expected a key that is text that matches `^a`, got \"b\"",
        ),
        (
            json!({"dependentRequired": {"a": ["b"]}, "properties": {"b": {"type": "string"}}}),
            json!({"a": 1}),
            "`b`: expected a string, because `a` is given, got nothing",
        ),
        (
            json!({"not": {"type": "string"}}),
            json!("a"),
            "`arguments`: expected something else than what `not` in the schema describes, got \"a\"",
        ),
        (json!({"properties": {"a": false}}), json!({"a": 1}), "`a`: expected nothing here, got 1"),
        (
            json!({"properties": {"at": {"format": "date-time"}}}),
            json!({"at": "tomorrow"}),
            "`at`: expected a date-time such as 2026-01-31T12:00:00Z, got \"tomorrow\"",
        ),
        (
            json!({"allOf": [{"properties": {"ab": {"type": "string"}}}], "properties": {"abc": {}},
                   "unevaluatedProperties": false}),
            json!({"ab": 5, "abd": 1}),
            "`ab`: expected a string, got 5 · `abd`: expected only `abc`, got an unknown argument; did you mean `abc`?",
        ),
    ] {
        let compiled = Schema::compile(schema).unwrap();
        let problems: Vec<String> = compiled.problems(&given).iter().map(ToString::to_string).collect();
        assert_eq!(problems.join(" · "), expected);
    }
}

#[test]
fn formats_are_checked_alike_in_every_draft() {
    for draft in ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"] {
        let schema =
            json!({"$schema": draft, "properties": {"id": {"format": "uuid"}, "x": {"format": "other"}}});
        let compiled = Schema::compile(schema).unwrap();
        assert!(compiled.accepts(&json!({"id": "123e4567-e89b-12d3-a456-426614174000", "x": "?"})));
        assert!(!compiled.accepts(&json!({"id": "123"})));
    }
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

#[test]
fn paths_are_found_wherever_a_schema_can_put_them() {
    let check = |schema: Value, arguments: Value, expected: &[&str]| {
        let compiled = Schema::compile(schema).unwrap();
        assert_eq!(compiled.paths(&arguments), expected, "{compiled:?}");
    };
    let path = || json!({"type": "string", PATH_MARK: true});
    let file = || json!({"type": "object", "properties": {"path": path()}});
    for keyword in ["anyOf", "oneOf", "allOf"] {
        check(json!({keyword: [{"type": "object"}, file()]}), json!({"path": "a"}), &["a"]);
        check(json!({"properties": {"to": {keyword: [path()]}}}), json!({"to": "b"}), &["b"]);
    }
    check(json!({"if": {}, "then": file(), "else": false}), json!({"path": "a"}), &["a"]);
    check(json!({"$ref": "#/$defs/f", "$defs": {"f": file()}}), json!({"path": "a"}), &["a"]);
    check(json!({"additionalProperties": path()}), json!({"x": "a", "y": "b"}), &["a", "b"]);
    check(
        json!({"properties": {"n": {}}, "additionalProperties": path()}),
        json!({"n": "no", "y": "b"}),
        &["b"],
    );
    check(json!({"patternProperties": {"^f": path()}}), json!({"f1": "a"}), &["a"]);
    check(
        json!({"properties": {"l": {"prefixItems": [{}, path()], "items": file()}}}),
        json!({"l": ["x", "a", {"path": "b"}]}),
        &["b", "a"],
    );
    check(json!({"dependentSchemas": {"path": file()}}), json!({"path": "a"}), &["a"]);
    // A tree, by its anchor or by its address: where a reference leads that is not a path, every text may be one.
    let tree = json!({"properties": {"path": path(), "below": {"items": {"$ref": "#"}}}});
    check(tree, json!({"path": "a", "below": [{"path": "b", "below": [{"path": "c"}]}]}), &["a", "b", "c"]);
    check(
        json!({"$ref": "#f", "$defs": {"f": {"$anchor": "f", "properties": {"path": path()}}}}),
        json!({"path": "a"}),
        &["a"],
    );
    // Two forms of each level are not 2^100 visits.
    let level = json!({"properties": {"next": {"$ref": "#"}, "path": path()}});
    let schema = json!({"anyOf": [level.clone(), level]});
    let deep = (0..100).fold(json!({"path": "end"}), |value, _| json!({"next": value}));
    check(schema, deep, &["end"]);
}

#[test]
fn an_argument_by_two_of_its_names_is_called_that() {
    let schema = json!({"properties": {"path": {"type": "string"}}, "additionalProperties": false});
    let alias = Alias::new("list_directory", "list").argument("dir_path", "path");
    let offered = json!({"properties": {"dir_path": {"type": "string"}}, "additionalProperties": false});
    let (arguments, _) = alias.apply(json!({"path": "p", "dir_path": "src"}), Caller::Own);
    let problems = Schema::compile(schema).unwrap().problems_in(&arguments, &offered, Some(&alias));
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["`dir_path`: expected it once, got it twice, by two of its names"]);
}
