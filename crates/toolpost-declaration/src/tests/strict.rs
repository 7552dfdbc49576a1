//! The rules of OpenAI's strict mode, as lines of data.

use super::{check, check_property, source};
use crate::{Format, conforms, declare};
use serde_json::{Value, json};

/// Strict mode is not possible, for this reason.
#[track_caller]
fn check_not_strict(property: Value, expected: &str) {
    let input = json!({"type": "object", "properties": {"p": property}, "required": ["p"]});
    let declaration = declare(&source("tool", &input), Format::OpenaiStrict).unwrap();
    assert_eq!(conforms(Format::OpenaiStrict, &declaration.value), Ok(()));
    assert_eq!(declaration.value["strict"], false);
    let note = declaration.notes.iter().find(|note| note.change.contains("strict: false")).unwrap();
    assert!(note.reason.contains(expected), "{note}");
}

#[test]
fn strict_closes_objects_and_requires_everything() {
    check(
        Format::OpenaiStrict,
        json!({"type": "object", "required": ["a"], "properties": {
            "a": {"type": "string", "minLength": 1},
            "b": {"type": "integer", "default": 5, "description": "How many."},
            "c": {"type": "string", "enum": ["x", "y"]},
            "d": {"const": "z"},
            "e": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "f": {"$ref": "#/$defs/f"},
            "g": {"type": ["string", "null"]},
            "h": {"type": ["string", "integer"], "maximum": 9},
            "i": {"type": "array", "items": {"type": "object", "properties": {"j": {"type": "string"}}, "required": ["j"]}},
         }, "$defs": {"f": {"type": "object", "properties": {"k": {"$ref": "#/$defs/f", "description": "Next."}}}}}),
        json!({"type": "object", "properties": {
            "a": {"type": "string"},
            "b": {"type": ["integer", "null"], "description": "How many. Default: 5."},
            "c": {"type": ["string", "null"], "enum": ["x", "y", null]},
            "d": {"type": ["string", "null"], "enum": ["z", null]},
            "e": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
            "f": {"anyOf": [{"$ref": "#/$defs/f"}, {"type": "null"}]},
            "g": {"type": ["string", "null"]},
            "h": {"anyOf": [{"type": "string"}, {"type": "integer", "maximum": 9}, {"type": "null"}]},
            "i": {"type": ["array", "null"], "items": {"type": "object", "properties": {"j": {"type": "string"}},
                  "required": ["j"], "additionalProperties": false}},
         }, "required": ["a", "b", "c", "d", "e", "f", "g", "h", "i"], "additionalProperties": false,
         "$defs": {"f": {"type": "object", "properties": {"k": {"description": "Next.",
            "anyOf": [{"$ref": "#/$defs/f"}, {"type": "null"}]}}, "required": ["k"], "additionalProperties": false}}}),
    );
}

#[test]
fn strict_converts_what_is_lossless() {
    for (property, expected) in [
        (
            json!({"oneOf": [{"type": "string"}, {"type": "null"}]}),
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ),
        (
            json!({"oneOf": [{"const": "a"}, {"const": "b"}]}),
            json!({"anyOf": [{"type": "string", "const": "a"}, {"type": "string", "const": "b"}]}),
        ),
        (
            json!({"allOf": [{"type": "string"}, {"pattern": "^a"}], "description": "D"}),
            json!({"type": "string", "description": "D", "pattern": "^a"}),
        ),
        (
            json!({"type": "string", "format": "date", "pattern": "^a", "maxLength": 3}),
            json!({"type": "string", "format": "date", "pattern": "^a"}),
        ),
        (json!({"type": "string", "format": "uri", "pattern": "(?=a)"}), json!({"type": "string"})),
        (
            json!({"type": "number", "exclusiveMinimum": 0, "multipleOf": 2}),
            json!({"type": "number", "exclusiveMinimum": 0, "multipleOf": 2}),
        ),
        (json!({"enum": [1, 2]}), json!({"type": "integer", "enum": [1, 2]})),
        (
            json!({"type": "object", "additionalProperties": false}),
            json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false}),
        ),
    ] {
        check_property(Format::OpenaiStrict, property, expected);
    }
}

#[test]
fn what_cannot_be_strict_is_declared_without() {
    let deep = (0..10).fold(json!({"type": "string"}), |inner, _| json!({"type": "array", "items": inner}));
    let many: Vec<String> = (0..1001).map(|number| number.to_string()).collect();
    let wide: serde_json::Map<_, _> =
        (0..5001).map(|number| (number.to_string(), json!({"type": "null"}))).collect();
    for (property, expected) in [
        (json!({}), "any value"),
        (json!(true), "any value"),
        (json!({"type": "object"}), "any properties"),
        (json!({"type": "object", "additionalProperties": {"type": "string"}}), "further properties"),
        (
            json!({"type": "object", "additionalProperties": true, "properties": {"a": {"type": "string"}}}),
            "further properties",
        ),
        (json!({"type": "array"}), "any values"),
        (json!({"oneOf": [{"type": "string"}, {"type": "string", "pattern": "a"}]}), "may overlap"),
        (json!({"allOf": [{"type": "string"}, {"type": "integer"}]}), "disagree on `type`"),
        (json!({"type": "string", "not": {"const": "a"}}), "no `not`"),
        (json!({"type": "string", "if": {"const": "a"}, "then": {}, "else": {}}), "no `if`"),
        (json!({"type": "object", "patternProperties": {"a": {"type": "string"}}}), "no `patternProperties`"),
        (
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "dependentRequired": {"a": ["b"]}}),
            "no `dependentRequired`",
        ),
        (json!({"type": "array", "prefixItems": [{"type": "string"}]}), "no `prefixItems`"),
        (
            json!({"$ref": "#/properties/p/properties/a", "properties": {"a": {"type": "string"}}}),
            "references",
        ),
        (deep, "10 levels"),
        (json!({"type": "string", "enum": many}), "1000 values"),
        (json!({"type": "object", "properties": wide}), "5000 properties"),
    ] {
        check_not_strict(property, expected);
    }
}
