//! The rules of Gemini's subset, as lines of data.

use super::{check, check_property, check_refused, source};
use crate::{Format, declare};
use serde_json::json;

#[test]
fn gemini_takes_its_subset_only() {
    for (property, expected) in [
        (json!({"const": "a"}), json!({"type": "string", "enum": ["a"]})),
        (
            json!({"type": "string", "enum": ["a", "", null]}),
            json!({"type": "string", "enum": ["a"], "nullable": true}),
        ),
        (
            json!({"type": "integer", "enum": [1, 2], "description": "D."}),
            json!({"type": "integer", "description": "D. One of [1,2]."}),
        ),
        (
            json!({"oneOf": [{"type": "string"}, {"type": "integer"}]}),
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        ),
        (
            json!({"anyOf": [{"type": "string"}, {"type": "null"}], "description": "D."}),
            json!({"type": "string", "description": "D.", "nullable": true}),
        ),
        (
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}], "description": "D."}),
            json!({"anyOf": [{"type": "string", "description": "D.", "nullable": true}, {"type": "integer", "nullable": true}]}),
        ),
        (
            json!({"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 10}),
            json!({"type": "integer", "minimum": 1, "maximum": 9}),
        ),
        (
            json!({"type": "integer", "exclusiveMinimum": 1.5, "minimum": 7}),
            json!({"type": "integer", "minimum": 7}),
        ),
        (json!({"type": "number", "exclusiveMinimum": 0}), json!({"type": "number"})),
        (json!({"type": ["string", "null"]}), json!({"type": "string", "nullable": true})),
        (
            json!({"type": ["string", "integer"], "minLength": 1, "minimum": 2}),
            json!({"anyOf": [{"type": "string", "minLength": 1}, {"type": "integer", "minimum": 2}]}),
        ),
        (json!({"type": "string", "properties": {"a": {}}}), json!({"type": "string"})),
        (json!({"type": "array"}), json!({"type": "array", "items": {"type": "string"}})),
        (json!({"type": "object"}), json!({"type": "object"})),
        (
            json!({"type": "object", "properties": {}, "additionalProperties": {"type": "string"}}),
            json!({"type": "object"}),
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": false}, "required": ["a", "b", "c"]}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}),
        ),
        (
            json!({"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}}, {"properties": {"b": {"type": "string"}}}]}),
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}),
        ),
        (
            json!({"type": "string", "format": "uri", "uniqueItems": true, "foo": 1}),
            json!({"type": "string"}),
        ),
        (json!({"type": "string", "format": "date-time"}), json!({"type": "string", "format": "date-time"})),
        (json!({"type": "integer", "format": "int64"}), json!({"type": "integer", "format": "int64"})),
        (
            json!({"type": "string", "default": "a", "title": "T"}),
            json!({"type": "string", "default": "a", "title": "T"}),
        ),
        (json!({"type": "null"}), json!({"type": "string", "nullable": true})),
        (
            json!(true),
            json!({"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}, {"type": "object"},
                             {"type": "array", "items": {"type": "string"}}]}),
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "anyOf": [{"required": ["a"]}]}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}}),
        ),
    ] {
        check_property(Format::Gemini, property, expected);
    }
}

#[test]
fn gemini_inlines_references_and_refuses_endless_ones() {
    check(
        Format::Gemini,
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/a", "description": "A."}, "b": {"$ref": "#/$defs/a"}},
               "$defs": {"a": {"type": "object", "properties": {"c": {"$ref": "#/$defs/c"}}}, "c": {"type": "string"}}}),
        json!({"type": "object", "properties": {
            "a": {"description": "A.", "type": "object", "properties": {"c": {"type": "string"}}},
            "b": {"type": "object", "properties": {"c": {"type": "string"}}}}}),
    );
    let endless = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}}}});
    check_refused(Format::Gemini, &endless, "contains itself");
    let empty = json!({"type": "object"});
    let declaration = declare(&source("tool", &empty), Format::Gemini).unwrap();
    assert_eq!(declaration.value, json!({"name": "tool", "description": "Does it."}));
    check(Format::GeminiJsonSchema, endless.clone(), endless);
}
