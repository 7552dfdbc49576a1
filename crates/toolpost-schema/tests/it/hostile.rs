//! Schemas and values that are made to hurt: no crash, no endless work, and words where the answer is no.

use crate::generate::{Random, any_value};
use crate::rounds;
use serde_json::{Map, Value, json};
use toolpost_schema::{MAX_DEPTH, Schema, check_shape};

fn nested(levels: usize, wrap: impl Fn(Value) -> Value) -> Value {
    (0..levels).fold(json!({}), |value, _| wrap(value))
}

/// That a schema does not compile, and that the message contains these words.
fn check_refused(schema: Value, words: &str) {
    let error = Schema::compile(schema).expect_err(words).to_string();
    let begins = ["the schema itself is not valid: ", "the schema itself is not valid at `"];
    assert!(begins.iter().any(|begin| error.starts_with(begin)), "{error}");
    assert!(error.contains(words), "{error}\nshould say: {words}");
}

/// That a value is refused with these words.
fn check_problem(schema: &Schema, value: &Value, words: &str) {
    assert!(!schema.accepts(value));
    let problems: Vec<String> = schema.problems(value).iter().map(ToString::to_string).collect();
    assert!(problems.join("\n").contains(words), "{problems:?}");
}

#[test]
fn deep_schemas_are_refused() {
    // Built without `json!`, which would copy each level once more.
    let holding = |key: &str, inner: Value| Value::Object(Map::from_iter([(key.to_owned(), inner)]));
    let too_deep = "nested deeper than 192 levels";
    for key in ["not", "const", "unknown"] {
        check_refused(nested(1_000, |inner| holding(key, inner)), too_deep);
    }
    for key in ["properties", "$defs"] {
        check_refused(nested(500, |inner| holding(key, holding("a", inner))), too_deep);
    }
    check_refused(nested(500, |inner| holding("allOf", Value::Array(vec![inner]))), too_deep);
}

#[test]
fn a_schema_as_deep_as_may_be_can_be_used() {
    for wrap in [
        |inner| json!({"not": inner}),
        |inner| json!({"if": inner, "then": {}}),
        |inner| json!({"unevaluatedProperties": inner, "x": {}}),
    ] {
        let schema = Schema::compile(nested(190, wrap)).unwrap();
        schema.accepts(&json!({"a": 1}));
        schema.problems(&json!({"a": 1}));
    }
}

#[test]
fn deep_values_are_refused() {
    let tree = Schema::compile(json!({"$ref": "#/$defs/tree", "$defs": {"tree": {
        "anyOf": [{"type": "array", "items": {"$ref": "#/$defs/tree"}}, {"type": "object"}],
        "unevaluatedItems": false, "uniqueItems": true}}}));
    let tree = tree.unwrap();
    assert!(tree.accepts(&nested(MAX_DEPTH - 1, |inner| Value::Array(vec![inner]))));
    check_problem(&tree, &nested(2_000, |inner| Value::Array(vec![inner])), "at most 128 levels");
    let open = Schema::compile(json!({"enum": [[]], "uniqueItems": true})).unwrap();
    check_problem(&open, &nested(2_000, |inner| Value::Array(vec![inner])), "at most 128 levels");
}

#[test]
fn references_that_lead_in_a_circle_are_refused() {
    let circle = "lead back to itself without end";
    check_refused(json!({"$ref": "#"}), circle);
    check_refused(json!({"allOf": [{"$ref": "#"}]}), circle);
    check_refused(
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
        circle,
    );
    check_refused(json!({"properties": {"a": {"$ref": "#/properties/a"}}}), circle);
    // Those that can end are followed as far as is sensible.
    let maybe = Schema::compile(json!({"anyOf": [{"type": "object"}, {"$ref": "#"}]})).unwrap();
    assert!(maybe.accepts(&json!({})));
    check_problem(&maybe, &json!(1), "from reference to reference without end");
    let negated = Schema::compile(json!({"not": {"$ref": "#"}})).unwrap();
    check_problem(&negated, &json!(1), "from reference to reference without end");
    let dynamic = Schema::compile(json!({"$dynamicAnchor": "a", "$dynamicRef": "#a"})).unwrap();
    check_problem(&dynamic, &json!(1), "from reference to reference without end");
}

/// Each definition refers to the next one twice: 2^60 ways to the end.
fn bomb(keyword: &str, levels: usize, last: Value) -> Value {
    let mut definitions = Map::new();
    for at in 0..levels {
        let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
        definitions.insert(format!("d{at}"), json!({keyword: [next, next]}));
    }
    definitions.insert(format!("d{levels}"), last);
    json!({"$ref": "#/$defs/d0", "$defs": definitions})
}

#[test]
fn bombs_of_references_do_not_go_off() {
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let schema = Schema::compile(bomb(keyword, 60, json!({"type": "string"}))).unwrap();
        // Quickly decided or given up, and the same both times.
        let fits = schema.accepts(&json!("a"));
        assert_eq!(schema.problems(&json!("a")).is_empty(), fits, "{keyword}");
        assert!(!schema.accepts(&json!(1)), "{keyword}");
        assert!(!schema.problems(&json!(1)).is_empty(), "{keyword}");
    }
    let schema = Schema::compile(bomb("allOf", 60, json!(true))).unwrap();
    check_problem(&schema, &json!("a"), "takes too many steps");
    let mut inside = bomb("allOf", 60, json!(true));
    inside["unevaluatedProperties"] = json!(false);
    check_problem(&Schema::compile(inside).unwrap(), &json!({"a": 1}), "takes too many steps");
    let names =
        json!({"propertyNames": {"$ref": "#/$defs/d0"}, "$defs": bomb("allOf", 60, json!(true))["$defs"]});
    check_problem(&Schema::compile(names).unwrap(), &json!({"a": 1}), "takes too many steps");
}

#[test]
fn large_schemas_and_values_are_checked() {
    let names: Vec<String> = (0..100_000).map(|at| format!("property{at}")).collect();
    let properties: Map<String, Value> =
        names.iter().map(|name| (name.clone(), json!({"type": "string"}))).collect();
    let schema = json!({"properties": properties, "required": names, "additionalProperties": false});
    let schema = Schema::compile(schema).unwrap();
    let value: Map<String, Value> = names.iter().map(|name| (name.clone(), json!("x"))).collect();
    assert!(schema.accepts(&Value::Object(value)));
    assert_eq!(schema.problems(&json!({})).len(), 32);

    let options = Schema::compile(json!({"items": {"enum": names}, "uniqueItems": true})).unwrap();
    assert!(options.accepts(&json!(names)));
    let numbers: Vec<usize> = (0..200_000).collect();
    let unique = Schema::compile(json!({"items": {"type": "integer"}, "uniqueItems": true})).unwrap();
    assert!(unique.accepts(&json!(numbers)));

    // Many numbers, each compared with many: given up, and not quadratic.
    let numbers = &numbers[..20_000];
    let slow = Schema::compile(json!({"items": {"enum": numbers}})).unwrap();
    check_problem(&slow, &json!(vec![19_999; 20_000]), "takes too many steps");
    check_problem(&slow, &json!([-1]), ",…] (20000 in all), got -1");
    let chain: Map<String, Value> =
        (0..50_000).map(|at| (format!("d{at}"), json!({"$ref": format!("#/$defs/d{}", at + 1)}))).collect();
    let mut chain = json!({"$ref": "#/$defs/d0", "$defs": chain});
    chain["$defs"]["d50000"] = json!(true);
    check_problem(&Schema::compile(chain).unwrap(), &json!(1), "from reference to reference");
}

#[test]
fn patterns_take_linear_time_and_bounded_memory() {
    let schema = Schema::compile(json!({"pattern": "^(a+)+$"})).unwrap();
    assert!(!schema.accepts(&json!(format!("{}b", "a".repeat(100_000)))));
    check_refused(json!({"pattern": "((a{100}){100}){100}"}), "bytes when compiled");
    check_refused(json!({"patternProperties": {"\\p{L}{999}": {}}}), "bytes when compiled");
    check_refused(json!({"pattern": "(?=a)b"}), "look-around such as `(?=a` is not supported");
    check_refused(json!({"pattern": "(?<!a)b"}), "look-around");
    check_refused(json!({"pattern": r"(a)\1"}), r"back-reference `\1`");
    check_refused(json!({"pattern": r"(?<x>a)\k<x>"}), r"back-reference `\k`");
    check_refused(json!({"pattern": "("}), "the pattern `(` cannot be used: unclosed group");
    check_refused(json!({"pattern": "("[..1].repeat(200_000)}), "cannot be used");
}

#[test]
fn mistakes_in_schemas_are_explained() {
    for (schema, expected) in [
        (
            json!({"type": "strin"}),
            "at `/type`: `type` must be one of null, boolean, integer, number, string, array, object, and is \"strin\"; did you mean `string`?",
        ),
        (
            json!({"properties": {"a/b": {"minLength": -1}}}),
            "at `/properties/a~1b/minLength`: `minLength` must be a whole number that is not negative, and is -1",
        ),
        (
            json!({"required": "a"}),
            "at `/required`: `required` must be a list of the names of properties, and is \"a\"",
        ),
        (
            json!({"required": ["a", 5]}),
            "at `/required/1`: what `required` lists must be names of properties, and is 5",
        ),
        (
            json!({"required": ["a", "a"]}),
            "at `/required/1`: `required` must list each name once, and is \"a\"",
        ),
        (
            json!({"anyOf": []}),
            "at `/anyOf`: `anyOf` must be a list of at least one schema, and is an array of 0",
        ),
        (
            json!({"properties": []}),
            "at `/properties`: `properties` must be an object of schemas, and is an array of 0",
        ),
        (
            json!({"properties": {"a": 5}}),
            "at `/properties/a`: a schema must be an object, `true` or `false`, and is 5",
        ),
        (
            json!({"multipleOf": 0}),
            "at `/multipleOf`: `multipleOf` must be a number greater than 0, and is 0",
        ),
        (
            json!({"minimum": 1, "exclusiveMinimum": true}),
            "`exclusiveMinimum` must be a number, which is the limit itself",
        ),
        (
            json!({"items": [{}]}),
            "at `/items`: `items` must be one schema; a list of schemas by position is called `prefixItems`",
        ),
        (json!({"$ref": "#/$defs/a"}), "at `/$ref`: `#/$defs/a` does not exist"),
        (json!({"$ref": "#a"}), "there is no `$anchor` of this name"),
        (json!({"$ref": "https://example.com/x.json"}), "leads to another document, and nothing is fetched"),
        (
            json!({"$ref": "https://json-schema.org/draft/2020-12/schema#/$defs/anchorString"}),
            "leads into a meta-schema",
        ),
        (json!({"$schema": "http://json-schema.org/draft-03/schema#"}), "which is not a supported draft"),
        (
            json!({"$ref": "#/x", "x": {"type": 5}}),
            "at `/x/type`: `type` must be the name of a type or a list of them, and is 5",
        ),
        (json!([]), "not valid: a schema must be an object, `true` or `false`, and is an array of 0"),
    ] {
        check_refused(schema, expected);
    }
}

#[test]
fn a_reference_to_the_meta_schema_wants_a_schema() {
    for draft in ["https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#"] {
        let schema = Schema::compile(json!({"properties": {"schema": {"$ref": draft}}})).unwrap();
        assert!(schema.accepts(&json!({"schema": {"type": "object", "properties": {"a": true}}})));
        check_problem(
            &schema,
            &json!({"schema": {"type": "strin"}}),
            "`schema`: expected a JSON Schema: at `/type`: ",
        );
    }
}

/// Any JSON with the words of JSON Schema in it.
fn any_schema(random: &mut Random, depth: usize) -> Value {
    const WORDS: [&str; 46] = [
        "type",
        "enum",
        "const",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "multipleOf",
        "minLength",
        "pattern",
        "format",
        "minItems",
        "uniqueItems",
        "items",
        "prefixItems",
        "additionalItems",
        "contains",
        "minContains",
        "maxContains",
        "required",
        "properties",
        "patternProperties",
        "additionalProperties",
        "propertyNames",
        "dependencies",
        "dependentRequired",
        "dependentSchemas",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "then",
        "else",
        "unevaluatedItems",
        "unevaluatedProperties",
        "$ref",
        "$id",
        "id",
        "$anchor",
        "$dynamicRef",
        "$dynamicAnchor",
        "$recursiveRef",
        "$recursiveAnchor",
        "$defs",
        "definitions",
        "$schema",
    ];
    const TEXTS: [&str; 16] = [
        "#",
        "#/",
        "#a",
        "#/$defs/a",
        "a",
        "a#a",
        "//",
        "http://x/y?z#/a",
        "string",
        "object",
        "urn:x",
        "../..",
        "%",
        "#/%zz",
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2019-09/schema",
    ];
    match random.below(if depth == 0 { 4 } else { 12 }) {
        0 => json!(random.chance(50)),
        1 => any_value(random, 1),
        2 | 3 => json!(random.pick(&TEXTS)),
        4 => (0..random.below(3)).map(|_| any_schema(random, depth - 1)).collect(),
        _ => {
            let count = random.below(4);
            let pairs = (0..count).map(|_| {
                let key = if random.chance(85) { *random.pick(&WORDS) } else { "a" };
                (key.to_owned(), any_schema(random, depth - 1))
            });
            Value::Object(pairs.collect())
        }
    }
}

#[test]
fn no_schema_and_no_value_causes_a_crash() {
    let mut compiled = 0;
    for seed in 0..rounds(30_000, 20_000_000) {
        let random = &mut Random::new(seed);
        let schema = any_schema(random, 4);
        let _ = check_shape(&schema);
        let Ok(schema) = Schema::compile(schema) else { continue };
        compiled += 1;
        for _ in 0..4 {
            let value = any_value(random, 3);
            assert_eq!(schema.problems(&value).is_empty(), schema.accepts(&value), "seed {seed}: {value}");
        }
    }
    assert!(compiled > 5_000, "only {compiled} compiled");
}

#[test]
fn no_pattern_causes_a_crash() {
    const PARTS: [&str; 40] = [
        "a",
        "\\",
        "[",
        "]",
        "^",
        "-",
        "(",
        ")",
        "?",
        "*",
        "+",
        "{",
        "}",
        "1",
        ",",
        "\\d",
        "\\W",
        "\\s",
        "\\b",
        "\\B",
        "\\u00e9",
        "\\uD83D\\uDE00",
        "\\uD800",
        "\\u{1F600}",
        "\\x41",
        "\\cA",
        "\\p{L}",
        "\\P{Lu}",
        "\\/",
        "&&",
        "--",
        "~~",
        "(?:",
        "(?<n>",
        ".",
        "$",
        "|",
        "é",
        "😀",
        "\\0",
    ];
    let mut compiled = 0;
    for seed in 0..rounds(4_000, 2_000_000) {
        let random = &mut Random::new(seed);
        let pattern: String = (0..1 + random.below(8)).map(|_| *random.pick(&PARTS)).collect();
        if let Ok(schema) = Schema::compile(json!({"pattern": pattern})) {
            compiled += 1;
            for text in ["", "a", "é-]", "1\n"] {
                schema.accepts(&json!(text));
            }
        }
    }
    assert!(compiled > 500, "only {compiled} compiled");
}
