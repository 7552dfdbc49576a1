//! Random and hostile schemas: a conversion never panics, is bounded, and what it returns keeps the rules.

use super::{Format, Source, conforms, declare, lint};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};

fn source(input: &Value) -> Source<'_> {
    Source {
        name: "tool",
        title: None,
        description: "",
        input,
        output: Some(input),
        read_only: false,
        destructive: true,
        idempotent: false,
        open_world: true,
    }
}

/// Any JSON, small.
fn garbage() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-3i64..4).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(vec![
            "",
            "a",
            "b",
            "string",
            "object",
            "null",
            "dict",
            "#",
            "#/$defs/a",
            "date-time",
            "x-toolpost-a"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec(
                (prop::sample::select(vec!["a", "type", "$ref", "x-toolpost-z", "required"]), inner),
                0..3
            )
            .prop_map(|entries| Value::Object(
                entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
            )),
        ]
    })
}

const NAMES: [&str; 6] = ["a", "b", "c d", "x-toolpost-p", "", "type"];

/// A schema of known keywords, mostly with fitting values, sometimes with none that fit.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => prop::sample::select(vec!["string", "integer", "number", "boolean", "object", "array", "null", "dict", "any"])
            .prop_map(|kind| json!({"type": kind})),
        1 => any::<bool>().prop_map(Value::from),
        1 => prop::sample::select(vec!["#", "#/$defs/a", "#/$defs/b", "#/properties/a"]).prop_map(|to| json!({"$ref": to})),
        1 => prop::collection::vec(garbage(), 1..4).prop_map(|values| json!({"enum": values})),
        1 => garbage().prop_map(|value| json!({"const": value})),
        1 => garbage(),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        let named = prop::collection::vec((prop::sample::select(NAMES.to_vec()), inner.clone()), 0..4).prop_map(|entries| {
            Value::Object(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
        });
        let names = prop::collection::vec(prop::sample::select(NAMES.to_vec()), 0..4).prop_map(|names| json!(names));
        let kinds = prop::collection::vec(prop::sample::select(vec!["string", "integer", "object", "array", "null", "number"]), 1..4)
            .prop_map(|kinds| json!(kinds));
        let keyword = prop_oneof![
            4 => (Just("properties"), named.clone()),
            2 => (Just("required"), names.clone()),
            2 => (prop::sample::select(vec!["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"]), inner.clone()),
            3 => (prop::sample::select(vec!["anyOf", "oneOf", "allOf", "prefixItems"]), prop::collection::vec(inner, 0..4).prop_map(Value::from)),
            1 => (prop::sample::select(vec!["$defs", "definitions", "patternProperties", "dependentSchemas"]), named),
            2 => (Just("type"), kinds),
            2 => (Just("type"), prop::sample::select(vec!["string", "integer", "number", "object", "array"]).prop_map(Value::from)),
            1 => (Just("propertyOrdering"), names),
            2 => (prop::sample::select(vec!["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxItems",
                    "minProperties", "multipleOf"]), (-2i64..9).prop_map(Value::from)),
            1 => (prop::sample::select(vec!["nullable", "uniqueItems", "exclusiveMinimum", "required"]), any::<bool>().prop_map(Value::from)),
            1 => (prop::sample::select(vec!["format", "pattern", "description", "title", "$id", "$comment", "$schema"]),
                  prop::sample::select(vec!["date-time", "int64", "uint32", "a", ""]).prop_map(Value::from)),
            2 => (prop::sample::select(vec!["type", "enum", "const", "default", "properties", "required", "items", "anyOf", "oneOf",
                    "allOf", "$ref", "$defs", "minLength", "minimum", "exclusiveMaximum", "additionalProperties", "format", "nullable",
                    "dependentRequired", "examples", "x-toolpost-m", "x-other", "multipleOf", "pattern", "description", "title"]), garbage()),
        ];
        prop::collection::vec(keyword, 0..6).prop_map(|entries| {
            Value::Object(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>())
        })
    })
}

fn check(input: &Value) -> Result<usize, TestCaseError> {
    let mut declared = 0;
    for format in Format::ALL {
        match declare(&source(input), format) {
            Ok(declaration) => {
                declared += 1;
                let rules = conforms(format, &declaration.value);
                prop_assert!(rules.is_ok(), "{format}: {rules:?}\n{input}\n{}", declaration.value);
            }
            Err(refusal) => prop_assert!(!refusal.reason.is_empty()),
        }
    }
    Ok(declared)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_json_is_refused_or_conforms(input in garbage()) {
        check(&input)?;
    }

    #[test]
    fn any_schema_is_refused_or_conforms(mut input in schema()) {
        // Most roots are made an object, so that what lies below is reached.
        if let Value::Object(root) = &mut input {
            root.insert("type".into(), "object".into());
        }
        check(&input)?;
        lint(&source(&input));
    }

    #[test]
    fn any_property_is_refused_or_conforms(a in schema(), b in schema(), definition in schema()) {
        let input = json!({"type": "object", "properties": {"a": a, "b": b}, "required": ["b"],
                           "$defs": {"a": definition, "b": {"type": "string"}}});
        check(&input)?;
    }
}

#[test]
fn nesting_without_end_is_refused() {
    for wrap in ["items", "not", "anyOf"] {
        let mut input = json!({"type": "string"});
        for _ in 0..10_000 {
            let inner = if wrap == "anyOf" { Value::Array(vec![input]) } else { input };
            input = Value::Object(Map::from_iter([(wrap.to_owned(), inner)]));
        }
        for format in Format::ALL {
            assert!(declare(&source(&input), format).unwrap_err().reason.contains("deeper"), "{format}");
        }
        lint(&source(&input));
        take_apart(input);
    }
}

#[test]
fn sixty_levels_are_fine_where_the_provider_has_no_limit() {
    let input = (0..60)
        .fold(json!({"type": "string"}), |inner, _| json!({"type": "object", "properties": {"a": inner}}));
    assert_eq!(check(&input).unwrap(), Format::ALL.len());
}

#[test]
fn large_schemas_are_bounded() {
    let wide: Map<_, _> = (0..20_000).map(|n| (format!("p{n}"), json!({"type": "dict"}))).collect();
    let long_names: Map<_, _> =
        (0..100).map(|n| (format!("{n}{}", "n".repeat(9000)), json!({"type": "any"}))).collect();
    let values: Vec<_> = (0..60_000).map(|n| n.to_string()).collect();
    let many: Vec<_> = (0..20_000).map(|n| json!({"required": [n.to_string()]})).collect();
    let doubling: Map<_, _> = (0..60)
        .map(|n| {
            let next = json!({"$ref": format!("#/$defs/d{}", (n + 1).min(60))});
            (
                format!("d{n}"),
                json!({"type": "object", "properties": {"a": next, "b": next}, "anyOf": [next, next]}),
            )
        })
        .chain([("d60".to_owned(), json!({"type": "object"}))])
        .collect();
    let chain: Map<_, _> = (0..9000)
        .map(|n| (format!("d{n}"), json!({"items": {"$ref": format!("#/$defs/d{}", (n + 1) % 9000)}})))
        .collect();
    for (what, input) in [
        ("wide", json!({"type": "object", "properties": wide})),
        ("long names", json!({"type": "object", "properties": long_names})),
        ("long text", json!({"type": "object", "description": "d".repeat(1_000_000)})),
        ("too long", json!({"type": "object", "description": "d".repeat(1_100_000)})),
        ("values", json!({"type": "object", "properties": {"a": {"enum": values}}})),
        (
            "merged values",
            json!({"type": "object", "properties": {"a": {"allOf": [{"enum": values}, {"enum": values}]}}}),
        ),
        ("required", json!({"type": "object", "required": values, "allOf": [{"required": values}]})),
        ("alternatives", json!({"type": "object", "anyOf": many})),
        ("inner alternatives", json!({"type": "object", "properties": {"a": {"oneOf": many}}})),
        (
            "doubling",
            json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": doubling}),
        ),
        ("doubling root", json!({"type": "object", "$ref": "#/$defs/d0", "$defs": doubling})),
        ("chain", json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": chain})),
    ] {
        let size = input.to_string().len();
        for format in Format::ALL {
            let start = Instant::now();
            let declared = declare(&source(&input), format);
            let took = start.elapsed();
            if let Ok(declaration) = &declared {
                assert!(declaration.value.to_string().len() < 3 * size + 1_000_000, "{what} {format}");
                assert!(
                    serde_json::to_string(&declaration.notes).unwrap().len() < 300_000,
                    "{what} {format}"
                );
            }
            println!(
                "{what}: {format}: {took:?}, {}",
                declared.map_or_else(|refusal| refusal.reason, |_| "declared".into())
            );
            assert!(took < Duration::from_secs(10), "{what} {format} took {took:?}");
        }
    }
}

/// A value this deep must not be dropped as a whole, which would overflow the stack.
fn take_apart(value: Value) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(list) => open.extend(list),
            Value::Object(map) => open.extend(map.into_iter().map(|(_, value)| value)),
            _ => {}
        }
    }
}
