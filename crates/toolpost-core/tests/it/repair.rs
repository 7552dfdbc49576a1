//! Properties of checking arguments, and of a registry that changes under its callers.

use crate::stage::{Stage, any, said, spec};
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use toolpost_core::{Call, Capability, Spec, ToolError, dynamic};

/// A schema and a value that fits it.
fn fitting() -> impl Strategy<Value = (Value, Value)> {
    let word = "[a-zA-Z0-9 _.,:\\[\\]{}\"-]{0,12}";
    let leaf = prop_oneof![
        word.prop_map(|text| (json!({"type": "string"}), json!(text))),
        any_number_text().prop_map(|text| (json!({"type": "string"}), json!(text))),
        proptest::num::i64::ANY.prop_map(|number| (json!({"type": "integer"}), json!(number))),
        proptest::num::f64::NORMAL.prop_map(|number| (json!({"type": "number"}), json!(number))),
        proptest::bool::ANY.prop_map(|truth| (json!({"type": "boolean"}), json!(truth))),
        Just((json!({"type": ["string", "null"]}), Value::Null)),
        Just((json!({"enum": ["a", 1, null]}), json!("a"))),
        word.prop_map(|text| (json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}), json!(text))),
        Just((json!({}), json!({"whatever": ["5", 5.5]}))),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            (inner.clone(), 0..4_usize).prop_map(|((schema, value), count)| {
                (json!({"type": "array", "items": schema}), json!(vec![value; count]))
            }),
            (
                proptest::collection::btree_map("[a-c_A-C-]{1,3}", (inner, proptest::bool::ANY), 0..5),
                proptest::bool::ANY
            )
                .prop_map(|(parts, is_closed)| object(parts, is_closed)),
        ]
    })
}

fn object(
    parts: std::collections::BTreeMap<String, ((Value, Value), bool)>,
    is_closed: bool,
) -> (Value, Value) {
    let (mut properties, mut value, mut required) = (Map::new(), Map::new(), Vec::new());
    for (name, ((schema, part), is_given)) in parts {
        properties.insert(name.clone(), schema);
        if is_given {
            required.push(name.clone());
            value.insert(name, part);
        }
    }
    let mut schema = json!({"type": "object", "properties": properties, "required": required});
    if is_closed {
        schema["additionalProperties"] = false.into();
    }
    (schema, value.into())
}

/// Texts that look like numbers, truth values or JSON.
fn any_number_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?",
        Just("true".to_owned()),
        Just("null".to_owned()),
        " ?\\[(1|2\\.50|1e3|\"x\")(, ?(-0|3|\"5\"))*\\] ?",
        " ?\\{\"a\": ?(1|\"b\")(, ?\"[ab]\": ?(2|null))?\\}",
    ]
}

fn validated(schema: &Value, arguments: Value) -> Result<toolpost_core::executor::Checked, ToolError> {
    let stage = Stage::new().tool(dynamic(spec("tool"), schema.clone(), |_, _| async { said("") }));
    stage.executor().validate(&stage.ctx().build(), "tool", arguments)
}

/// Typed arguments of every kind that tools use.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "only parsed")]
struct Every {
    file_path: Option<toolpost_core::WorkspacePath>,
    limit: Option<u8>,
    ratio: Option<f32>,
    force: Option<bool>,
    many: Option<Vec<String>>,
    edits: Option<Vec<Edit>>,
    map: Option<std::collections::BTreeMap<String, i64>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "kind")]
#[expect(dead_code, reason = "only parsed")]
enum Edit {
    Replace { old: String, count: Option<u32> },
    Delete { lines: (usize, usize) },
}

fn every_tool() -> Stage {
    Stage::new()
        .tool(toolpost_core::function(spec("typed").requires(Capability::Read), |_, _: Every| async {
            Ok(toolpost_core::Output::text(""))
        }))
        .tool(any(spec("free"), |_, _| async { said("") }))
        .tool(crate::stage::writer(spec("write").argument_alias("file", "path")))
}

/// Both texts mean the same JSON, number by number and key by key.
fn means_the_same(text: &str, value: &Value) -> bool {
    let squeezed = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    let written = squeezed(text);
    if written.eq_ignore_ascii_case(&value.to_string()) || (written == "None" && value.is_null()) {
        return true;
    }
    // Written differently (`1e3`, `2.50`): then it is the same number to all its digits.
    let plain = |text: &str| -> Option<Vec<String>> {
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
        let mut numbers = Vec::new();
        for part in text.split(|c| !is_part(c)).filter(|part| part.contains(|c: char| c.is_ascii_digit())) {
            numbers.push(digits(part)?);
        }
        Some(numbers)
    };
    let shape = |text: &str| {
        text.chars().filter(|c| !c.is_ascii_digit() && !"+-.eE".contains(*c)).collect::<String>()
    };
    plain(&written) == plain(&value.to_string()) && shape(&written) == shape(&squeezed(&value.to_string()))
}

/// A number written out: sign, digits, and where the point is.
fn digits(text: &str) -> Option<String> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i64 = exponent.trim_start_matches('+').parse().ok()?;
    let sign = if mantissa.starts_with('-') { "-" } else { "" };
    let mantissa = mantissa.trim_start_matches('-');
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{before}{after}");
    let point = before.len() as i64 + exponent - (all.len() - all.trim_start_matches('0').len()) as i64;
    match all.trim_matches('0') {
        "" => Some("0".to_owned()),
        digits => Some(format!("{sign}{digits}@{point}")),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arguments_that_fit_are_never_changed((schema, value) in fitting()) {
        let schema = json!({"type": "object", "properties": {"value": schema}});
        let arguments = json!({"value": value});
        let checked = validated(&schema, arguments.clone()).unwrap();
        prop_assert_eq!(checked.arguments, arguments);
        prop_assert!(checked.repairs.is_empty(), "{:?}", checked.repairs);
    }

    #[test]
    fn any_bytes_give_a_value_or_an_error(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..80)) {
        let stage = every_tool();
        let ctx = stage.ctx().build();
        for bytes in [bytes.clone(), [b"{\"limit\":", bytes.as_slice(), b"}"].concat(), [b"[\"", bytes.as_slice(), b"\"]"].concat()] {
            let Ok(arguments) = serde_json::from_slice::<Value>(&bytes) else { continue };
            for tool in ["typed", "free", "write"] {
                let _ = stage.executor().validate(&ctx, tool, arguments.clone());
            }
        }
    }

    #[test]
    fn any_json_gives_a_value_or_an_error((_, value) in fitting(), key in "(filePath|file_path|limit|LIMIT|ratio|force|many|edits|map|path|file|x)") {
        let stage = every_tool();
        let ctx = stage.ctx().build();
        for arguments in [json!({key.clone(): value}), json!({key.clone(): value.to_string()}), json!({key: value}).to_string().into(), value] {
            for tool in ["typed", "free", "write", "nobody"] {
                match stage.executor().validate(&ctx, tool, arguments.clone()) {
                    Ok(checked) => prop_assert!(checked.arguments.is_object()),
                    Err(error) => prop_assert!(matches!(error.code().as_str(), "VALIDATION_ERROR" | "TOOL_NOT_FOUND")),
                }
            }
        }
    }

    #[test]
    fn an_integer_becomes_a_text_as_it_was_written(number in prop_oneof![
        proptest::num::i64::ANY.prop_map(Value::from),
        proptest::num::u64::ANY.prop_map(Value::from),
    ]) {
        let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}});
        let checked = validated(&schema, json!({"text": number})).unwrap();
        prop_assert_eq!(&checked.arguments, &json!({"text": number.to_string()}));
        prop_assert_eq!(checked.repairs.len(), 1);
    }

    #[test]
    fn another_number_never_becomes_a_text(number in proptest::num::f64::NORMAL) {
        let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}});
        let error = validated(&schema, json!({"text": number})).unwrap_err();
        prop_assert_eq!(error.code().as_str(), "VALIDATION_ERROR");
    }

    #[test]
    fn what_is_mended_is_what_was_written(
        text in any_number_text(),
        kind in "(integer|number|boolean|array|object|null)",
    ) {
        let schema = json!({"type": "object", "properties": {"value": {"type": kind}}, "required": ["value"]});
        if let Ok(checked) = validated(&schema, json!({"value": text})) {
            prop_assert_eq!(checked.repairs.len(), 1);
            let mended = &checked.arguments["value"];
            prop_assert!(means_the_same(&text, mended), "{} became {}", text, mended);
        }
    }
}

#[test]
fn what_would_lose_something_is_not_mended() {
    for (kind, text) in [
        ("number", "1e-400"),
        ("number", "0.1234567890123456789"),
        ("integer", "9007199254740990.9999"),
        ("integer", "123456789012345678901"),
        ("array", "[1e-400]"),
        ("object", r#"{"a": 1, "a": 2}"#),
    ] {
        let schema = json!({"type": "object", "properties": {"value": {"type": kind}}});
        assert!(validated(&schema, json!({"value": text})).is_err(), "{text}");
    }
}

/// The arguments of a call, and how many were repaired.
fn check(properties: Value, required: &[&str], arguments: Value, expected: Value, repairs: usize) {
    let schema = json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    let checked =
        validated(&schema, arguments.clone()).unwrap_or_else(|error| panic!("{arguments}: {error}"));
    assert_eq!(checked.arguments, expected, "{arguments}");
    assert_eq!(checked.repairs.len(), repairs, "{arguments}: {:?}", checked.repairs);
}

#[test]
fn an_integer_is_a_text_only_where_nothing_else_is_taken() {
    let text = json!({"type": "string"});
    check(json!({"a": text}), &[], json!({"a": 1}), json!({"a": "1"}), 1);
    check(
        json!({"a": {"type": "array", "items": text}}),
        &[],
        json!({"a": [1, "b"]}),
        json!({"a": ["1", "b"]}),
        1,
    );
    check(json!({"a": {"type": ["string", "boolean"]}}), &[], json!({"a": -7}), json!({"a": "-7"}), 1);
    // `b` is what makes the arguments not fit; `a` takes a number, or anything.
    for a in [
        json!({}),
        json!({"type": ["string", "integer"]}),
        json!({"anyOf": [{"type": "string"}, {"type": "number"}]}),
    ] {
        let properties = json!({"a": a, "b": {"type": "integer"}});
        check(properties, &[], json!({"a": 1, "b": "2"}), json!({"a": 1, "b": 2}), 1);
    }
    // A choice of texts is not met by a number that is none of them.
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "enum": ["1", "2"]}}});
    assert!(validated(&schema, json!({"a": 1})).is_ok() && validated(&schema, json!({"a": 3})).is_err());
}

#[test]
fn an_empty_argument_counts_as_left_out_where_the_schema_says_so() {
    let absent = |kind: Value| {
        let mut schema = kind;
        schema["x-toolpost-empty"] = "absent".into();
        schema
    };
    let text = || absent(json!({"type": "string"}));
    let list = || absent(json!({"type": "array", "items": {"type": "string"}}));
    check(json!({"a": text(), "b": list()}), &[], json!({"a": "", "b": []}), json!({}), 2);
    check(
        json!({"a": text(), "b": list()}),
        &[],
        json!({"a": " ", "b": [""]}),
        json!({"a": " ", "b": [""]}),
        0,
    );
    // Also where it does not fit, or is spelled otherwise.
    check(json!({"a": absent(json!({"enum": ["x", "y"]}))}), &[], json!({"a": ""}), json!({}), 1);
    check(json!({"theHash": text()}), &[], json!({"the_hash": ""}), json!({}), 2);
    check(json!({"b": list()}), &[], json!({"b": "[]"}), json!({}), 2);
    // Without the mark, and where it is required, an empty value is a value.
    check(json!({"a": {"type": "string"}}), &[], json!({"a": ""}), json!({"a": ""}), 0);
    check(json!({"a": text()}), &["a"], json!({"a": ""}), json!({"a": ""}), 0);
    // An argument that is never a string needs no mark for an empty one.
    for kind in [json!("integer"), json!("boolean"), json!(["array", "null"]), json!("object")] {
        check(json!({"a": {"type": kind}}), &[], json!({"a": ""}), json!({}), 1);
    }
    check(json!({"a": {"type": "array"}}), &[], json!({"a": []}), json!({"a": []}), 0);
    check(json!({"a": {"type": ["string", "null"]}}), &[], json!({"a": ""}), json!({"a": ""}), 0);
    // In items of a list.
    let items = json!({"type": "array", "items": {"type": "object", "properties": {"a": text()}}});
    check(
        json!({"many": items}),
        &[],
        json!({"many": [{"a": ""}, {"a": "x"}]}),
        json!({"many": [{}, {"a": "x"}]}),
        1,
    );
    // Beside another argument.
    let beside = || json!({"type": "string", "x-toolpost-empty": {"beside": "b"}});
    check(json!({"a": beside(), "b": list()}), &[], json!({"a": "", "b": ["x"]}), json!({"b": ["x"]}), 1);
    check(json!({"a": beside(), "b": list()}), &[], json!({"a": "", "b": []}), json!({"a": ""}), 1);
    check(json!({"a": beside(), "b": list()}), &[], json!({"a": "", "b": "[]"}), json!({"a": ""}), 2);
    check(json!({"a": beside(), "b": list()}), &[], json!({"a": "", "b": "[\"x\"]"}), json!({"b": ["x"]}), 2);
    check(json!({"a": beside(), "b": list()}), &[], json!({"a": "", "b": null}), json!({"a": ""}), 1);
}

#[test]
fn a_mark_that_says_nothing_is_refused() {
    for mark in [json!("abscent"), json!(true), json!({"beside": "c"}), json!({"besides": "b"})] {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string", "x-toolpost-empty": mark}, "b": {}}});
        let tool = dynamic(spec("tool"), schema, |_, _| async { said("") });
        let registry = toolpost_core::Registry::new();
        let error = registry.register(tool).unwrap_err();
        assert!(error.message().contains("x-toolpost-empty"), "{error}");
    }
}

/// A tool that answers with its version.
fn versioned(name: &'static str, version: u64) -> toolpost_core::tool::DynamicTool {
    let spec = Spec::new(name, format!("{version}.0.0"), "One of two that belong together.");
    any(spec, move |_, _| async move { said(version.to_string()) })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_sees_one_registry_however_it_changes_meanwhile() {
    let stage = Stage::new().tool(versioned("a", 0)).tool(versioned("b", 0)).tool(any(
        spec("pair"),
        |ctx, args| async move {
            let mut seen = Vec::new();
            for name in ["a", "b", "a"] {
                seen.push(ctx.call(Call::new(name, json!({}))).await.unwrap().to_text());
                if args["yields"].as_bool() == Some(true) {
                    tokio::task::yield_now().await;
                }
            }
            let calls = ["b", "a"].map(|name| Call::new(name, json!({}))).to_vec();
            seen.extend(ctx.call_all(calls).await.unwrap().iter().map(toolpost_core::Outcome::to_text));
            said(seen.join(" "))
        },
    ));
    let is_over = Arc::new(AtomicBool::new(false));
    let swapping: Vec<_> = (0..2)
        .map(|thread| {
            let (registry, is_over) = (stage.registry.clone(), is_over.clone());
            std::thread::spawn(move || {
                let mut swaps = 0;
                while !is_over.load(Ordering::Relaxed) {
                    swaps += 1;
                    let version = swaps * 2 + thread;
                    let names = if swaps % 2 == 0 { ["a", "b"] } else { ["b", "a"] };
                    registry
                        .change(|draft| {
                            for name in names {
                                draft.unregister(name);
                                draft.register(Arc::new(versioned(name, version)))?;
                            }
                            Ok(())
                        })
                        .unwrap();
                    std::thread::yield_now();
                }
                swaps
            })
        })
        .collect();
    let (executor, ctx) = (stage.executor(), toolpost_core::Context::in_memory());
    let mut versions = std::collections::BTreeSet::new();
    for round in 0..40 {
        let calls = (0..8).map(|n| executor.call(&ctx, "pair", json!({"yields": (n + round) % 2 == 0})));
        for outcome in futures_util::future::join_all(calls).await {
            let text = outcome.to_text();
            let mut seen: Vec<&str> = text.split(' ').collect();
            seen.dedup();
            assert_eq!(seen.len(), 1, "{text}");
            versions.insert(text);
        }
    }
    is_over.store(true, Ordering::Relaxed);
    let swaps: u64 = swapping.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert!(swaps > 10 && versions.len() > 3, "{swaps} swaps, {} seen", versions.len());
}
