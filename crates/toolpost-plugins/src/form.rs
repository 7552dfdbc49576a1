//! A server's form as a question that can be answered with yes or no, where that is possible. Pure.
//!
//! All that can be asked for here is a yes. It fits a form that wants nothing, one box to be ticked, a choice with a
//! word for agreement, and whatever has a default; the person is shown exactly what a yes would send.

use serde_json::{Map, Value};

/// Words of a choice that mean agreement and nothing more, in the order in which they are looked for.
const AGREEMENT: [&str; 8] = ["once", "yes", "accept", "approve", "allow", "confirm", "ok", "continue"];

/// What a yes would send, or why a yes cannot answer this.
pub(crate) fn content_of_yes(params: &Map<String, Value>) -> Result<Map<String, Value>, String> {
    if params.get("mode").and_then(Value::as_str) == Some("url") {
        let url = params.get("url").and_then(Value::as_str).unwrap_or("an address");
        return Err(format!(
            "it wants `{url}` to be opened, which is not done for a server; open it yourself"
        ));
    }
    let schema = params.get("requestedSchema");
    let field = |name: &str| schema.and_then(|schema| schema.get(name));
    let mut content = Map::new();
    // What has a default need not be asked for, wanted or not.
    for (name, property) in field("properties").and_then(Value::as_object).into_iter().flatten() {
        if let Some(default) = property.get("default").filter(|value| !value.is_null()) {
            content.insert(name.clone(), default.clone());
        }
    }
    for name in field("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        let property = field("properties").and_then(|all| all.get(name)).unwrap_or(&Value::Null);
        let Some(value) = agreed(property).or_else(|| content.get(name).cloned()) else {
            return Err(format!("it wants `{name}`, and only yes or no can be asked for here"));
        };
        content.insert(name.to_owned(), value);
    }
    Ok(content)
}

/// The value of a field that a yes stands for.
fn agreed(property: &Value) -> Option<Value> {
    if property["type"] == "boolean" {
        return Some(true.into());
    }
    let words: Vec<&str> = match (property["enum"].as_array(), property["oneOf"].as_array()) {
        (Some(words), _) => words.iter().filter_map(Value::as_str).collect(),
        (None, Some(titled)) => titled.iter().filter_map(|one| one["const"].as_str()).collect(),
        (None, None) => Vec::new(),
    };
    let word =
        AGREEMENT.iter().find_map(|agreement| words.iter().find(|word| word.eq_ignore_ascii_case(agreement)));
    word.map(|word| (*word).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(params: Value, expected: Result<Value, &str>) {
        let Value::Object(params) = params else { panic!("no object") };
        match (content_of_yes(&params), expected) {
            (Ok(content), Ok(expected)) => assert_eq!(Value::Object(content), expected),
            (Err(why), Err(expected)) => assert!(why.contains(expected), "{why}"),
            (got, expected) => panic!("{got:?}, not {expected:?}"),
        }
    }

    #[test]
    fn only_what_a_yes_can_answer_is_asked() {
        check(json!({"message": "sure?"}), Ok(json!({})));
        let form = |property: Value| json!({"requestedSchema": {"type": "object", "properties": {"a": property}, "required": ["a"]}});
        check(form(json!({"type": "boolean"})), Ok(json!({"a": true})));
        check(form(json!({"type": "string", "enum": ["no", "Yes"]})), Ok(json!({"a": "Yes"})));
        check(
            form(json!({"oneOf": [{"const": "once", "title": "x"}, {"const": "no"}]})),
            Ok(json!({"a": "once"})),
        );
        check(form(json!({"type": "integer", "default": 3})), Ok(json!({"a": 3})));
        let optional = json!({"requestedSchema": {"properties": {"a": {"default": "x"}, "b": {}}}});
        check(optional, Ok(json!({"a": "x"})));
        check(form(json!({"type": "string"})), Err("wants `a`"));
        check(form(json!({"enum": ["red", "blue"]})), Err("wants `a`"));
        check(json!({"mode": "url", "url": "https://x.test/y"}), Err("https://x.test/y"));
        check(json!({"requestedSchema": {"required": ["ghost"]}}), Err("wants `ghost`"));
    }
}
