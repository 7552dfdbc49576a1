//! Whether a declaration still means what the tool's schema means: arguments that the tool accepts are accepted by the
//! declaration too, checked with a validator on random schemas and random arguments.

use super::{Format, Source, declare};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// A well-formed schema of typed values, as tools have them.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "string"})),
        Just(json!({"type": "string", "minLength": 1, "maxLength": 1})),
        Just(json!({"type": "integer"})),
        (0i64..3).prop_map(|limit| json!({"type": "integer", "exclusiveMinimum": limit - 1})),
        (0i64..3).prop_map(|limit| json!({"type": "integer", "exclusiveMaximum": limit, "minimum": 0})),
        (0i64..3).prop_map(|limit| json!({"type": "number", "maximum": limit, "format": "double"})),
        Just(json!({"type": "number", "exclusiveMinimum": 0})),
        Just(json!({"type": "boolean"})),
        Just(json!({"type": ["string", "null"]})),
        Just(json!({"type": ["integer", "string", "null"], "minimum": 1, "minLength": 1})),
        Just(json!({"type": "string", "nullable": true, "enum": ["a"]})),
        Just(json!({"enum": ["a", "b"]})),
        Just(json!({"enum": ["a", null]})),
        Just(json!({"enum": [1, 2]})),
        Just(json!({"enum": [1, "a", null]})),
        Just(json!({"const": "a"})),
        Just(json!({"const": 1})),
        Just(json!({"$ref": "#/$defs/word"})),
        Just(json!({"$ref": "#/$defs/pair", "description": "A pair."})),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let object = (prop::collection::btree_map("[ab]", inner.clone(), 1..3), any::<bool>()).prop_map(
            |(named, all)| {
                let required: Vec<&String> = named.keys().filter(|_| all).collect();
                json!({"type": "object", "properties": named, "required": required})
            },
        );
        let list = prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            3 => object,
            1 => inner.clone().prop_map(|items| json!({"type": "array", "items": items, "maxItems": 2})),
            1 => list.clone().prop_map(|list| json!({"anyOf": list, "description": "Any."})),
            1 => list.clone().prop_map(|list| json!({"oneOf": list})),
            1 => list.prop_map(|list| json!({"allOf": list})),
            1 => inner.prop_map(|inner| json!({"anyOf": [inner, {"type": "null"}]})),
        ]
    })
}

/// Arguments of the kind that the schemas above speak of.
fn argument() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        prop::sample::select(vec!["a", "b", "ab"]).prop_map(Value::from),
        (-1i64..4).prop_map(Value::from),
        Just(json!(0.5)),
        Just(json!(true)),
        Just(Value::Null),
    ];
    leaf.prop_recursive(2, 6, 2, |inner| {
        prop_oneof![
            2 => prop::collection::btree_map("[ab]", inner.clone(), 0..3).prop_map(|map| json!(map)),
            1 => prop::collection::vec(inner, 0..3).prop_map(Value::from),
        ]
    })
}

/// The tool's own schema, with `nullable` as OpenAPI means it.
fn as_meant(value: &Value) -> Value {
    match value {
        Value::Array(list) => list.iter().map(as_meant).collect(),
        Value::Object(map) => {
            let mut meant: Map<String, Value> =
                map.iter().map(|(key, value)| (key.clone(), as_meant(value))).collect();
            match meant.remove("nullable") {
                Some(Value::Bool(true)) => json!({"anyOf": [meant, {"type": "null"}]}),
                _ => Value::Object(meant),
            }
        }
        value => value.clone(),
    }
}

/// Arguments as a strict model gives them: every described property is there, null if it was not.
fn filled(arguments: &Value, schema: &Value) -> Value {
    if let (Value::Array(list), Some(items)) = (arguments, schema.get("items")) {
        return list.iter().map(|item| filled(item, items)).collect();
    }
    let (Value::Object(arguments), Some(Value::Object(properties))) = (arguments, schema.get("properties"))
    else {
        return arguments.clone();
    };
    let given = |(name, property): (&String, &Value)| {
        let value = arguments.get(name).map_or(Value::Null, |value| filled(value, property));
        (name.clone(), value)
    };
    Value::Object(properties.iter().map(given).collect())
}

fn is_valid(schema: &Value, instance: &Value) -> bool {
    jsonschema::draft202012::new(schema).unwrap().is_valid(instance)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_the_tool_accepts_the_declaration_accepts(
        a in schema(), b in schema(), wraps in any::<bool>(),
        candidates in prop::collection::vec((argument(), argument()), 12),
    ) {
        let own = json!({"type": "object", "properties": {"a": a}, "required": ["a"]});
        let more = json!({"type": "object", "properties": {"b": b}});
        let mut input = match wraps {
            true => json!({"type": "object", "allOf": [own, more]}),
            false => json!({"type": "object", "properties": {"a": a, "b": b}, "required": ["a"]}),
        };
        input["$defs"] = json!({"word": {"type": "string"}, "pair": {"type": "object", "properties": {
            "a": {"$ref": "#/$defs/word"}, "b": {"type": "integer"}}, "required": ["a"]}});
        let source = Source {
            name: "tool", title: None, description: "Does it.", input: &input, output: None,
            read_only: true, destructive: false, idempotent: true, open_world: false,
        };
        let meant = as_meant(&input);
        for (a, b) in candidates {
            let arguments = json!({"a": a, "b": b});
            if !is_valid(&meant, &arguments) {
                continue;
            }
            for format in Format::ALL {
                let Ok(declaration) = declare(&source, format) else { continue };
                let value = &declaration.value;
                let schema = match format {
                    Format::Mcp => &value["inputSchema"],
                    Format::OpenaiChat => &value["function"]["parameters"],
                    Format::OpenaiResponses | Format::OpenaiStrict | Format::Gemini => &value["parameters"],
                    Format::Anthropic => &value["input_schema"],
                    Format::GeminiJsonSchema => &value["parametersJsonSchema"],
                    Format::Langchain => &value["function"]["parameters"],
                };
                if value["strict"] == true {
                    // Closed objects and nulls for what is absent; alternatives are left to the other formats.
                    if !schema.to_string().contains("anyOf") {
                        prop_assert!(is_valid(schema, &filled(&arguments, schema)), "{input}\n{arguments}\n{schema}");
                    }
                    continue;
                }
                prop_assert!(is_valid(&as_meant(schema), &arguments), "{format}\n{input}\n{arguments}\n{schema}");
            }
        }
    }
}
