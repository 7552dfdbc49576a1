//! Tools that are prompts: from a definition and arguments to what a child agent is told. Pure.

use serde_json::{Map, Value, json};
use toolpost_core::tool::PromptToolDef;

/// The schema of the arguments of a prompt tool.
pub fn input_schema(tool: &PromptToolDef) -> Value {
    let mut properties = Map::new();
    for parameter in &tool.parameters {
        let mut property = json!({ "type": parameter.kind });
        if parameter.kind == "array" {
            property["items"] = parameter.items.clone().unwrap_or_else(|| json!({}));
        }
        if !parameter.description.is_empty() {
            property["description"] = parameter.description.as_str().into();
        }
        properties.insert(parameter.name.clone(), property);
    }
    let required: Vec<&str> =
        tool.parameters.iter().filter(|one| one.is_required).map(|one| one.name.as_str()).collect();
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema
}

/// The names between `{{` and `}}` that are names of arguments by their form. What else stands between
/// braces, such as `{{#if x}}`, is text.
pub fn placeholders(prompt: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for (at, _) in prompt.match_indices("{{") {
        let from = &prompt[at + 2..];
        // The next place may begin one letter further: `{{{name}}}`.
        let inner = from.find("}}").map(|end| from[..end].trim_start_matches('{').trim());
        let Some(name) = inner else { continue };
        let is_name = name.starts_with(|first: char| first.is_alphabetic() || first == '_')
            && name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.'));
        if is_name {
            names.push(name);
        }
    }
    names
}

/// The prompt with the arguments in it. A placeholder that names no argument stays as it is, and an argument is never searched
/// for placeholders.
pub fn filled(prompt: &str, arguments: &Value) -> String {
    let mut text = String::with_capacity(prompt.len());
    let mut rest = prompt;
    while let Some(at) = rest.find("{{") {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        let name = from[2..].find("}}").map(|end| &from[2..2 + end]);
        match name.and_then(|name| Some((name, arguments.get(name.trim())?))) {
            Some((name, value)) => {
                match value {
                    Value::String(value) => text.push_str(value),
                    other => text.push_str(&other.to_string()),
                }
                rest = &from[name.len() + 4..];
            }
            None => {
                // The next place may begin one letter further: `{{{name}}}`.
                text.push('{');
                rest = &from[1..];
            }
        }
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_between_braces_are_found() {
        let prompt = "{{a}} {{ b_c }}\n{{#if x}} {{ }} {{{d}}} {{e f}} {{g\n{{h.i}}";
        assert_eq!(placeholders(prompt), ["a", "b_c", "d", "h.i"]);
    }

    #[test]
    fn placeholders_are_replaced_once() {
        let arguments = json!({"text": "a {{other}} b", "other": "x", "n": 3, "o": {"k": [1]}, "yes": true});
        for (prompt, expected) in [
            ("Sum: {{text}}", "Sum: a {{other}} b"),
            ("{{n}} {{o}} {{yes}}", "3 {\"k\":[1]} true"),
            ("{{ text }}", "a {{other}} b"),
            ("{{absent}} {{text", "{{absent}} {{text"),
            ("{{{other}}}", "{x}"),
            ("{{", "{{"),
            ("{{a}}{{other}}{{#if x}}", "{{a}}x{{#if x}}"),
            ("no gaps", "no gaps"),
        ] {
            assert_eq!(filled(prompt, &arguments), expected, "{prompt}");
        }
    }
}
