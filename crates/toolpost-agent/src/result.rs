//! The result of an agent as data: found in its last text, and checked against a schema. Pure.

use serde_json::Value;
use toolpost_core::schema::Schema;

/// Maximum number of places of a text at which data is looked for.
const MOST_PLACES: usize = 50;

/// The data in a text that fits the schema: the text itself, what stands in a fence, what other words are wrapped around,
/// or the one value of an object around it. Otherwise what is wrong, a line each.
pub fn extract(text: &str, schema: &Value) -> Result<Value, String> {
    let schema = match Schema::compile(schema.clone()) {
        Ok(schema) => schema,
        Err(error) => return Err(format!("the schema itself is no schema: {error}")),
    };
    let mut first: Option<Value> = None;
    for candidate in candidates(text) {
        if schema.accepts(&candidate) {
            return Ok(candidate);
        }
        if let Some(inner) = only_value(&candidate).filter(|inner| schema.accepts(inner)) {
            return Ok(inner.clone());
        }
        first.get_or_insert(candidate);
    }
    match first {
        None => Err(format!("there is no JSON in the answer{}", why_not(text))),
        Some(value) => {
            let problems: Vec<String> =
                schema.problems(&value).iter().take(10).map(|problem| format!("- {problem}")).collect();
            Err(problems.join("\n"))
        }
    }
}

/// Where the first thing in a text that begins like JSON breaks off.
fn why_not(text: &str) -> String {
    let within = fenced(text).into_iter().next().unwrap_or(text).trim();
    let Some(start) = within.find(['{', '[']) else { return String::new() };
    match serde_json::from_str::<Value>(&within[start..]) {
        Err(error) => format!(": {error} of what begins with `{}`", &within[start..=start]),
        Ok(_) => String::new(),
    }
}

/// What a model is told whose answer does not fit.
pub fn correction(problems: &str, schema: &Value) -> String {
    format!(
        "Your answer does not fit the schema of the result:\n{problems}\n\nAnswer again with nothing but one JSON value that fits this schema:\n{schema}"
    )
}

/// What a model is told that has tools, and whose last text is to be data.
pub fn instruction(schema: &Value) -> String {
    format!("End with nothing but one JSON value that fits this schema:\n{schema}")
}

/// Everything in a text that is JSON, the likeliest first.
fn candidates(text: &str) -> Vec<Value> {
    let parse = |text: &str| serde_json::from_str::<Value>(text.trim()).ok();
    let mut found: Vec<Value> = parse(text).into_iter().collect();
    found.extend(fenced(text).into_iter().filter_map(parse));
    let mut from = 0;
    for _ in 0..MOST_PLACES {
        let Some(at) = text[from..].find(['{', '[']) else { break };
        let start = from + at;
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                from = start + values.byte_offset();
                found.push(value);
            }
            _ => from = start + 1,
        }
    }
    found
}

/// What stands between lines of three backticks.
fn fenced(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("```") {
        let after = &rest[at + 3..];
        let Some(line) = after.find('\n') else { break };
        let body = &after[line + 1..];
        let Some(end) = body.find("```") else { break };
        found.push(&body[..end]);
        rest = &body[end + 3..];
    }
    found
}

fn only_value(value: &Value) -> Option<&Value> {
    let object = value.as_object().filter(|object| object.len() == 1)?;
    object.values().next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(text: &str, expected: Result<Value, &str>) {
        let schema = json!({
            "type": "object", "properties": {"bullets": {"type": "array", "items": {"type": "string"}}},
            "required": ["bullets"], "additionalProperties": false,
        });
        match (extract(text, &schema), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{text}"),
            (Err(found), Err(expected)) => assert!(found.contains(expected), "{text}: {found}"),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn data_is_found_wherever_it_stands() {
        let data = json!({"bullets": ["a", "b"]});
        check(r#"{"bullets": ["a", "b"]}"#, Ok(data.clone()));
        check("```json\n{\"bullets\": [\"a\", \"b\"]}\n```", Ok(data.clone()));
        check("Here it is:\n```\n{\"bullets\": [\"a\", \"b\"]}\n```\nDone.", Ok(data.clone()));
        check(r#"Sure! {"bullets": ["a", "b"]} as you wished {x}."#, Ok(data.clone()));
        check(r#"An example is {"wrong": 1}. The result: {"bullets": ["a", "b"]}"#, Ok(data.clone()));
        check(r#"{"result": {"bullets": ["a", "b"]}}"#, Ok(data));
        check("no data at all", Err("no JSON"));
        check(r#"{"bullets": "a"}"#, Err("bullets"));
        check("{ [ { [", Err("no JSON"));
        check("```json\n{\"bullets\": [\"a \"b\" c\"]}\n```", Err("expected `,` or `]` at line 1 column 18"));
    }
}
