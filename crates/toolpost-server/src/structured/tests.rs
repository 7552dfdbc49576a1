//! Data and text together always fit the schema that is announced, whatever the tool's own schema is like.

use super::*;
use toolpost_core::schema::Schema;

/// What is sent for this schema and this data, after it was found to fit the schema that is sent.
fn check(schema: Option<Value>, data: Value, expected: Value) {
    let shape = Shape::of(schema.as_ref());
    let content = shape.content(data, "text");
    assert_eq!(content, expected, "{schema:?}");
    let sent = shape.schema(schema);
    assert_eq!(sent["type"], "object", "{sent}");
    let problems = Schema::compile(sent.clone()).unwrap().problems(&content);
    assert!(problems.is_empty(), "{problems:?}: {content} under {sent}");
    // The text is promised: without it, nothing fits.
    let mut without = content;
    without.as_object_mut().unwrap().remove("output");
    assert!(!Schema::compile(sent).unwrap().problems(&without).is_empty(), "{without}");
}

fn object(properties: Value) -> Value {
    json!({"type": "object", "properties": properties, "required": ["n"], "additionalProperties": false})
}

#[test]
fn an_object_gets_one_more_field() {
    let plain = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    for schema in [object(json!({"n": {"type": "integer"}})), plain] {
        check(Some(schema), json!({"n": 3}), json!({"n": 3, "output": "text"}));
    }
    check(Some(json!({"type": "object"})), json!({}), json!({"output": "text"}));
}

#[test]
fn without_a_schema_the_data_decides() {
    check(None, json!({"n": 3}), json!({"n": 3, "output": "text"}));
    check(None, Value::Null, json!({"output": "text"}));
    check(None, json!([1, 2]), json!({"output": "text", "data": [1, 2]}));
    check(None, json!({"output": 5}), json!({"output": "text", "data": {"output": 5}}));
}

#[test]
fn data_that_cannot_have_another_field_stands_beside_the_text() {
    let apart = |data: Value| json!({"output": "text", "data": data});
    for (schema, data) in [
        (object(json!({"n": {}, "output": {"type": "integer"}})), json!({"n": 1, "output": 5})),
        (json!({"type": "array", "items": {"type": "integer"}}), json!([1])),
        (json!({"type": "string"}), json!("x")),
        (json!({"type": ["object", "null"]}), Value::Null),
        (json!({"type": "object", "maxProperties": 1}), json!({"n": 1})),
        (json!({"type": "object", "additionalProperties": {"type": "integer"}}), json!({"n": 1})),
        (json!({"type": "object", "oneOf": [object(json!({"n": {}}))]}), json!({"n": 1})),
        (json!({"type": "object", "required": ["output"]}), json!({"output": 1})),
        (json!(true), json!(7)),
    ] {
        check(Some(schema), data.clone(), apart(data));
    }
}

#[test]
fn references_lead_to_where_they_led() {
    let tree = json!({
        "type": "object",
        "properties": {"output": {"$ref": "#/$defs/leaf"}, "below": {"type": "array", "items": {"$ref": "#"}}},
        "$defs": {"leaf": {"type": "integer", "default": {"$ref": "#/$defs/leaf"}}},
        "additionalProperties": false,
    });
    let data = json!({"output": 1, "below": [{"output": 2}]});
    check(Some(tree.clone()), data.clone(), json!({"output": "text", "data": data}));
    let sent = Shape::Beside.schema(Some(tree));
    let wrong = json!({"output": "text", "data": {"below": [{"output": "no integer"}]}});
    assert!(!Schema::compile(sent.clone()).unwrap().problems(&wrong).is_empty(), "{sent}");
    assert_eq!(sent["properties"]["data"]["$defs"]["leaf"]["default"]["$ref"], "#/$defs/leaf");
    // A property of that name holds a schema.
    let named =
        json!({"type": "object", "properties": {"output": {}, "default": {"$ref": "#/properties/output"}}});
    let sent = Shape::Beside.schema(Some(named));
    let target = &sent["properties"]["data"]["properties"]["default"]["$ref"];
    assert_eq!(target, "#/properties/data/properties/output");
}

#[test]
fn a_field_that_the_schema_does_not_name_is_not_lost() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let data = json!({"n": 3, "output": 5});
    check(Some(schema), data.clone(), json!({"n": 3, "output": "text", "data": data}));
}
