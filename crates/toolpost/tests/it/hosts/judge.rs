//! What a model was sent, counted: a text however it is wrapped, and pictures.

use serde_json::Value;

/// How often a request says this to a model, which also reads what is in JSON within a text, or in a list as Python prints it.
pub(super) fn count(request: &Value, text: &str) -> usize {
    match request {
        Value::String(said) => {
            let plain = said.matches(text).count();
            let hidden = embedded(said).into_iter().map(|(raw, value)| {
                // What JSON does not write differently has been counted.
                count(&value, text).saturating_sub(raw.matches(text).count())
            });
            match plain + hidden.sum::<usize>() {
                0 => said.matches(&as_python_prints(text)).count(),
                found => found,
            }
        }
        Value::Array(list) => list.iter().map(|one| count(one, text)).sum(),
        Value::Object(fields) => fields.values().map(|one| count(one, text)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn as_python_prints(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t")
}

/// The JSON within a text: the whole text, or lists and objects somewhere in it.
fn embedded(text: &str) -> Vec<(&str, Value)> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(start) = text[at..].find(['[', '{']).map(|start| at + start) {
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                at = start + values.byte_offset();
                found.push((&text[start..at], value));
            }
            _ => at = start + 1,
        }
    }
    found
}

/// How many pictures a request has, as pictures: one that is only its letters in a text is none.
pub(super) fn pictures(request: &Value) -> usize {
    match request {
        Value::String(said) => usize::from(said.starts_with("data:image/")),
        Value::Array(list) => list.iter().map(pictures).sum(),
        Value::Object(fields) => {
            let kind =
                ["media_type", "mimeType", "mime_type"].iter().find_map(|key| fields.get(*key)?.as_str());
            match kind.is_some_and(|kind| kind.starts_with("image/")) && fields.contains_key("data") {
                true => 1,
                false => fields.values().map(pictures).sum(),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_text_is_counted_however_it_is_wrapped() {
        let text = "a \"b\"\n{}";
        let json = json!({"output": text}).to_string();
        for (request, expected) in [
            (json!([text]), 1),
            (json!([json]), 1),
            (json!([format!("failed with {json}, sorry")]), 1),
            (json!([json!([json]).to_string()]), 1),
            (json!([format!("{text} and {json}"), {"again": text}]), 3),
            (json!(["['a \"b\"\\n{}']"]), 1),
            (json!(["a \"b\"", "{}", "{\"a"]), 0),
        ] {
            assert_eq!(count(&request, text), expected, "{request}");
        }
        assert_eq!(count(&json!([json!({"output": "plain"}).to_string()]), "plain"), 1);
    }

    #[test]
    fn a_picture_counts_only_as_one() {
        for (request, expected) in [
            (json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}), 1),
            (json!({"source": {"type": "base64", "media_type": "image/png", "data": "AA"}}), 1),
            (json!({"inlineData": {"mimeType": "image/png", "data": "AA"}}), 1),
            (json!([json!({"mimeType": "image/png", "data": "AA"}).to_string()]), 0),
            (json!({"mimeType": "text/plain", "data": "AA"}), 0),
        ] {
            assert_eq!(pictures(&request), expected, "{request}");
        }
    }
}
