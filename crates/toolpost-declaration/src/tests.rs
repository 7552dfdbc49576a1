//! One test for each rule of the providers, as lines of data: a schema, and what becomes of it.

mod gemini;
mod strict;

use super::{Format, Source, conforms, declare, export, lint, report};
use crate::Problem;
use serde_json::{Value, json};

fn source<'a>(name: &'a str, input: &'a Value) -> Source<'a> {
    Source {
        name,
        title: None,
        description: "Does it.",
        input,
        output: None,
        read_only: true,
        destructive: false,
        idempotent: true,
        open_world: false,
    }
}

fn schema_of(format: Format, declaration: &Value) -> &Value {
    match format {
        Format::Mcp => &declaration["inputSchema"],
        Format::OpenaiChat => &declaration["function"]["parameters"],
        Format::OpenaiResponses | Format::OpenaiStrict | Format::Gemini => &declaration["parameters"],
        Format::Anthropic => &declaration["input_schema"],
        Format::GeminiJsonSchema => &declaration["parametersJsonSchema"],
        Format::Langchain => &declaration["function"]["parameters"],
    }
}

/// The schema of the arguments becomes exactly this.
#[track_caller]
fn check(format: Format, input: Value, expected: Value) {
    let declaration = declare(&source("tool", &input), format).unwrap();
    assert_eq!(conforms(format, &declaration.value), Ok(()), "{}", declaration.value);
    assert_eq!(*schema_of(format, &declaration.value), expected, "notes: {:#?}", declaration.notes);
}

/// One property, required, becomes exactly this.
#[track_caller]
fn check_property(format: Format, property: Value, expected: Value) {
    let input = json!({"type": "object", "properties": {"p": property}, "required": ["p"]});
    let declaration = declare(&source("tool", &input), format).unwrap();
    assert_eq!(conforms(format, &declaration.value), Ok(()), "{}", declaration.value);
    assert_eq!(
        schema_of(format, &declaration.value)["properties"]["p"],
        expected,
        "notes: {:#?}",
        declaration.notes
    );
}

#[track_caller]
fn check_refused(format: Format, input: &Value, expected: &str) {
    let refusal = declare(&source("tool", input), format).unwrap_err();
    assert!(refusal.reason.contains(expected), "{refusal}");
}

#[test]
fn markers_never_appear() {
    let input = json!({
        "type": "object", "x-toolpost-path": true, "required": ["a", "x-toolpost-b"],
        "properties": {"a": {"type": "string", "x-toolpost-kind": "path", "default": {"x-toolpost-c": 1}},
                       "x-toolpost-b": {"type": "string"}},
    });
    for format in Format::ALL {
        let declaration = declare(&source("tool", &input), format).unwrap();
        assert!(!declaration.value.to_string().contains("x-toolpost"), "{format}");
    }
}

#[test]
fn the_schema_keyword_and_the_root_title_go() {
    let input = json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Args", "type": "object",
        "properties": {"file_path": {"type": "string", "title": "File Path"}}});
    for format in Format::ALL {
        let text = declare(&source("tool", &input), format).unwrap().value.to_string();
        assert!(
            !text.contains("$schema") && !text.contains("Args") && !text.contains("File Path"),
            "{format}: {text}"
        );
    }
}

#[test]
fn names() {
    let input = json!({"type": "object"});
    let long = "a".repeat(65);
    let longest = "a".repeat(129);
    for (name, format, expected) in [
        ("read_file-2", Format::Anthropic, ""),
        ("read.file", Format::Mcp, ""),
        ("read.file", Format::Gemini, ""),
        ("a:b", Format::Gemini, ""),
        ("a:b", Format::Mcp, "character ':'"),
        ("read.file", Format::Anthropic, "character '.'"),
        ("read.file", Format::OpenaiChat, "character '.'"),
        ("read file", Format::Mcp, "character ' '"),
        ("", Format::Mcp, "empty"),
        ("2fast", Format::Gemini, "start with a letter"),
        ("2fast", Format::Anthropic, ""),
        ("läs", Format::OpenaiStrict, "character 'ä'"),
        (&long, Format::Langchain, "65 characters"),
        (&long, Format::Gemini, "65 characters"),
        (&long, Format::Mcp, ""),
        (&longest, Format::Mcp, "129 characters"),
    ] {
        match declare(&source(name, &input), format) {
            Ok(declaration) => {
                assert_eq!(expected, "", "{name} {format}");
                assert_eq!(conforms(format, &declaration.value), Ok(()));
            }
            Err(refusal) => assert!(!expected.is_empty() && refusal.reason.contains(expected), "{refusal}"),
        }
    }
}

#[test]
fn the_root_must_be_an_object() {
    for format in Format::ALL {
        check_refused(format, &json!({"type": "string"}), "root is string");
        check_refused(format, &json!(["a"]), "neither an object nor a boolean");
        check_refused(format, &json!(false), "no arguments at all");
        check_refused(format, &json!({"$ref": "https://example.com/a.json"}), "leads out");
        check_refused(format, &json!({"$ref": "#/$defs/missing"}), "leads to no schema");
        check_refused(
            format,
            &json!({"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}),
            "without end",
        );
    }
    check(Format::Mcp, json!(true), json!({"type": "object"}));
    check(Format::Mcp, json!({"type": ["object", "null"]}), json!({"type": "object"}));
}

#[test]
fn mcp_says_all_four_hints_and_keeps_the_schema() {
    let input = json!({"type": "object", "properties": {"a": {"oneOf": [{"const": 1}, {"type": "string"}]}}});
    let output = json!({"$schema": "x", "type": "array"});
    let mut source = source("tool", &input);
    source.title = Some("Tool");
    source.output = Some(&output);
    let declaration = declare(&source, Format::Mcp).unwrap();
    assert_eq!(
        declaration.value,
        json!({
            "name": "tool", "title": "Tool", "description": "Does it.", "inputSchema": input,
            "outputSchema": {"type": "array"},
            "annotations": {"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true,
                            "openWorldHint": false},
        })
    );
    assert_eq!(conforms(Format::Mcp, &declaration.value), Ok(()));
}

#[test]
fn shapes_of_the_providers() {
    let input = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"],
                       "additionalProperties": false});
    for (format, expected) in [
        (
            Format::OpenaiChat,
            json!({"type": "function", "function": {"name": "tool", "description": "Does it.", "parameters": input}}),
        ),
        (
            Format::OpenaiResponses,
            json!({"type": "function", "name": "tool", "description": "Does it.", "parameters": input, "strict": false}),
        ),
        (
            Format::OpenaiStrict,
            json!({"type": "function", "name": "tool", "description": "Does it.", "parameters": input, "strict": true}),
        ),
        (Format::Anthropic, json!({"name": "tool", "description": "Does it.", "input_schema": input})),
        (
            Format::Gemini,
            json!({"name": "tool", "description": "Does it.", "parameters":
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}}),
        ),
        (
            Format::GeminiJsonSchema,
            json!({"name": "tool", "description": "Does it.", "parametersJsonSchema": input}),
        ),
    ] {
        assert_eq!(declare(&source("tool", &input), format).unwrap().value, expected, "{format}");
    }
    let langchain = declare(&source("tool", &input), Format::Langchain).unwrap().value;
    assert_eq!(langchain["function"]["parameters"], input);
}

#[test]
fn lists_in_the_shape_of_the_providers() {
    let good = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let bad = json!({"type": "string"});
    for format in Format::ALL {
        let sources =
            [source("one", &good), source("two", &bad), source("three", &good), source("one", &good)];
        let (list, refused) = export(sources, format);
        let tools = match format {
            Format::Mcp => &list["tools"],
            Format::Gemini | Format::GeminiJsonSchema => &list[0]["functionDeclarations"],
            _ => &list,
        };
        assert_eq!(tools.as_array().unwrap().len(), 2, "{format}");
        let names: Vec<&str> = refused.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["two", "one"]);
        assert!(refused[1].1.reason.contains("same name"));
    }
    let none = |format| export(std::iter::empty(), format).0;
    assert_eq!(none(Format::Gemini), json!([]));
    assert_eq!(none(Format::GeminiJsonSchema), json!([]));
    assert_eq!(none(Format::Mcp), json!({"tools": []}));
    assert_eq!(none(Format::Anthropic), json!([]));
}

#[test]
fn foreign_types_and_older_drafts() {
    for (property, expected) in [
        (json!({"type": "dict"}), json!({"type": "object"})),
        (json!({"type": "float"}), json!({"type": "number"})),
        (json!({"type": "tuple"}), json!({"type": "array"})),
        (json!({"type": "List[str]"}), json!({"type": "array"})),
        (json!({"type": "STRING"}), json!({"type": "string"})),
        (json!({"type": "any"}), json!({})),
        (json!({"type": ["int", "None"]}), json!({"type": ["integer", "null"]})),
        (json!({"type": "quux"}), json!({})),
        (json!({"type": 7, "minLength": -1, "enum": [], "pattern": 3}), json!({})),
        (json!("string"), json!({"type": "string"})),
        (json!(17), json!({})),
        (json!(true), json!(true)),
        (
            json!({"type": "string", "nullable": true, "enum": ["a"]}),
            json!({"type": ["string", "null"], "enum": ["a", null]}),
        ),
        (
            json!({"type": "integer", "format": "uint32", "minimum": 0}),
            json!({"type": "integer", "minimum": 0}),
        ),
        (json!({"type": "integer", "format": "int64"}), json!({"type": "integer", "format": "int64"})),
        (
            json!({"type": "number", "minimum": 0, "exclusiveMinimum": true}),
            json!({"type": "number", "exclusiveMinimum": 0}),
        ),
        (
            json!({"type": "array", "items": [{"type": "string"}]}),
            json!({"type": "array", "prefixItems": [{"type": "string"}]}),
        ),
        (json!({"type": "string", "minLength": 2.0}), json!({"type": "string", "minLength": 2})),
    ] {
        check_property(Format::Mcp, property, expected);
    }
    check(
        Format::Mcp,
        json!({"properties": {"a": {"type": "string", "required": true}}, "definitions": {"b": {"type": "string"}},
               "anyOf": [{"$ref": "#/definitions/b"}]}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "$defs": {"b": {"type": "string"}},
               "anyOf": [{"$ref": "#/$defs/b"}], "required": ["a"]}),
    );
}

#[test]
fn alternatives_at_the_root_are_merged() {
    let tagged = json!({"type": "object", "oneOf": [
        {"type": "object", "properties": {"kind": {"type": "string", "const": "add"}, "text": {"type": "string"}}, "required": ["kind", "text"]},
        {"type": "object", "properties": {"kind": {"type": "string", "const": "drop"}, "index": {"type": "integer"}}, "required": ["kind", "index"]},
    ]});
    let merged = json!({"type": "object", "properties": {"kind": {"type": "string", "enum": ["add", "drop"]},
        "text": {"type": "string"}, "index": {"type": "integer"}}, "required": ["kind"]});
    for format in [Format::Anthropic, Format::OpenaiChat, Format::Langchain] {
        check(format, tagged.clone(), merged.clone());
    }
    check(
        Format::Anthropic,
        json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
               "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
        json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}),
    );
    check(
        Format::Anthropic,
        json!({"type": "object", "allOf": [{"$ref": "#/$defs/a"}, {"properties": {"b": {"type": "integer"}}, "required": ["b"]}],
               "$defs": {"a": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}}}),
        json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a", "b"]}),
    );
    check_refused(
        Format::Anthropic,
        &json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        "no alternative",
    );
    check_refused(Format::Anthropic, &json!({"anyOf": [{"$ref": "#"}]}), "itself");
    let input = json!({"type": "object", "properties": {"a b": {"type": "string"}}});
    check(Format::Anthropic, input.clone(), json!({"type": "object", "properties": {}}));
    let input = json!({"type": "object", "properties": {"a b": {"type": "string"}}, "required": ["a b"]});
    check_refused(Format::Anthropic, &input, "parameter's name");
}

#[test]
fn openai_wants_items_and_no_enumeration_at_the_root() {
    check_property(Format::OpenaiChat, json!({"type": "array"}), json!({"type": "array", "items": {}}));
    check(
        Format::OpenaiResponses,
        json!({"type": "object", "not": {"required": ["a"]}, "enum": [{}]}),
        json!({"type": "object", "properties": {}}),
    );
}

#[test]
fn a_real_argument_type_fits_everywhere() {
    #[derive(schemars::JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Args {
        /// File to read.
        file_path: String,
        /// First line.
        offset: Option<usize>,
        /// What to do.
        edits: Vec<Edit>,
        /// How.
        mode: Option<Mode>,
    }
    #[derive(schemars::JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Edit {
        /// Before.
        old: String,
        /// After.
        new: Option<String>,
    }
    #[derive(schemars::JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    enum Mode {
        /// The lines.
        Content,
        /// The names.
        Files,
    }
    let input = serde_json::to_value(schemars::schema_for!(Args)).unwrap();
    for format in Format::ALL {
        let declaration = declare(&source("tool", &input), format).unwrap();
        assert_eq!(conforms(format, &declaration.value), Ok(()), "{}", declaration.value);
        assert_eq!(declaration.value["strict"] == true, format == Format::OpenaiStrict);
        assert!(!declaration.value.to_string().contains("uint"));
    }
    assert!(
        lint(&source("tool", &input)).iter().all(|finding| finding.problem != Problem::UndescribedParameter)
    );
}

#[test]
fn the_checker_finds_what_providers_refuse() {
    for (format, value) in [
        (
            Format::Gemini,
            json!({"name": "t", "description": "d", "parameters": {"type": "object", "properties": {"a": {"type": "string", "const": "a"}}}}),
        ),
        (
            Format::Gemini,
            json!({"name": "t", "description": "d", "parameters": {"type": "object", "properties": {"a": {"type": ["string", "null"]}}}}),
        ),
        (
            Format::Gemini,
            json!({"name": "t", "description": "d", "parameters": {"type": "object", "properties": {}}}),
        ),
        (
            Format::Gemini,
            json!({"name": "t", "description": "d", "parameters": {"type": "object", "properties": {"a": {"type": "integer", "enum": ["1"]}}}}),
        ),
        (
            Format::Gemini,
            json!({"name": "t", "description": "d", "parameters": {"type": "object", "properties": {"a": {"type": "array"}}}}),
        ),
        (
            Format::Gemini,
            json!({"name": "t", "description": "d", "parameters": {"$schema": "x", "type": "object", "properties": {"a": {"type": "string"}}}}),
        ),
        (
            Format::OpenaiStrict,
            json!({"type": "function", "name": "t", "strict": true, "parameters": {"type": "object", "properties": {"a": {"type": "string"}}, "required": [], "additionalProperties": false}}),
        ),
        (
            Format::OpenaiStrict,
            json!({"type": "function", "name": "t", "strict": true, "parameters": {"type": "object", "properties": {}, "required": []}}),
        ),
        (
            Format::OpenaiResponses,
            json!({"type": "function", "name": "t", "parameters": {"type": "object", "properties": {}}}),
        ),
        (
            Format::OpenaiChat,
            json!({"type": "function", "function": {"name": "t", "parameters": {"type": "object", "properties": {}, "anyOf": [{}]}}}),
        ),
        (Format::Anthropic, json!({"name": "t", "input_schema": {"type": "object", "oneOf": [{}]}})),
        (
            Format::Anthropic,
            json!({"name": "t", "input_schema": {"type": "object", "properties": {"a": {"type": "dict"}}}}),
        ),
        (Format::Anthropic, json!({"name": "t.u", "input_schema": {"type": "object"}})),
        (Format::Mcp, json!({"name": "t", "inputSchema": {"type": "object"}})),
        (
            Format::Mcp,
            json!({"name": "t", "inputSchema": {"type": "object", "x-toolpost-a": 1}, "annotations": {"readOnlyHint": true,
            "destructiveHint": true, "idempotentHint": true, "openWorldHint": true}}),
        ),
        (
            Format::Langchain,
            json!({"type": "function", "function": {"name": "t", "description": "d", "parameters": {"type": "object"}}}),
        ),
        (
            Format::GeminiJsonSchema,
            json!({"name": "t", "description": "d", "parametersJsonSchema": {"type": "object", "$schema": "x"}}),
        ),
        (
            Format::GeminiJsonSchema,
            json!({"name": "t", "description": "d", "parametersJsonSchema": {"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}}}),
        ),
    ] {
        assert!(conforms(format, &value).is_err(), "{format}: {value}");
    }
}

#[test]
fn findings() {
    let input = json!({"type": "object", "properties": {
        "a": {"type": "string", "description": "A."},
        "b": {"type": "array", "items": {"type": "object", "properties": {"c": {"type": "float"}}}},
    }});
    let long = "x".repeat(41);
    let mut source = source(&long, &input);
    let found = lint(&source);
    let paths = |problem| {
        found
            .iter()
            .filter(move |finding| finding.problem == problem)
            .map(|finding| finding.path.as_str())
            .collect::<Vec<_>>()
    };
    assert_eq!(paths(Problem::UndescribedParameter), ["/properties/b", "/properties/b/items/properties/c"]);
    assert_eq!(paths(Problem::LongName).len(), 1);
    assert!(paths(Problem::Changed).contains(&"/properties/b/items/properties/c"));
    assert_eq!(paths(Problem::Price).len(), 1);
    let description = "y".repeat(1025);
    source.description = &description;
    source.name = "a.b";
    let report = report(&source, Format::Anthropic);
    let problems: Vec<Problem> = report.findings.iter().map(|finding| finding.problem).collect();
    assert!(problems.contains(&Problem::LongDescription) && problems.contains(&Problem::Refused));
    assert_eq!(report.tokens, 0);
    source.description = " ";
    assert!(lint(&source).iter().any(|finding| finding.problem == Problem::NoDescription));
}
