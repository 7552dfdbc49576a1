//! Answers of servers, good and bad.

use super::*;
use serde_json::Map;

fn tool(output: Option<Value>) -> Listed {
    Listed {
        title: None,
        name: "t".to_owned(),
        description: String::new(),
        input: json!({"type": "object"}),
        output,
        annotations: Map::new(),
    }
}

fn text_of(result: Value) -> String {
    match read(result, &tool(None), &|uri| format!("read {uri}"), Vec::new()) {
        Ok(output) => output.text,
        Err(error) => format!("Error: {}", error.message()),
    }
}

#[test]
fn every_kind_of_block_has_its_place() {
    let result = json!({"content": [
        {"type": "text", "text": "one"},
        {"type": "text", "text": "for the eyes", "annotations": {"audience": ["user"]}},
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {"type": "image", "data": "%%", "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "x://y", "text": "two"}},
        {"type": "resource", "resource": {"uri": "x://z", "blob": "aGk=", "mimeType": "application/pdf"}},
        {"type": "resource_link", "uri": "x://l", "name": "l"},
        {"type": "hologram"},
    ]});
    let output = read(result, &tool(None), &|uri| format!("read {uri}"), vec!["n".to_owned()]).unwrap();
    assert_eq!(
        output.text,
        "one\n[image of type image/png: its data is not valid base64]\n[x://y]\ntwo\n[l at the server: x://l; read x://l shows it]\n\
         [a block of a kind that is not known here: hologram]\n[note on the server: n]"
    );
    let names: Vec<&str> = output.attachments.iter().map(|one| one.filename.as_str()).collect();
    assert_eq!(names, ["image-1.png", "resource-2.pdf"]);
}

#[test]
fn failures_and_odd_answers_say_something() {
    assert_eq!(text_of(json!({"content": [{"type": "text", "text": "no"}], "isError": true})), "Error: no");
    let silent = text_of(json!({"isError": true}));
    assert_eq!(silent, "Error: the server says that the call failed, and not why");
    assert_eq!(text_of(json!({"structuredContent": {"a": 1}})), r#"{"a":1}"#);
    assert_eq!((text_of(json!({})), text_of(json!(7)), text_of(json!({"content": 3}))), Default::default());
    let eyes = json!({"content": [{"type": "text", "text": "x", "annotations": {"audience": ["user"]}}]});
    assert_eq!(text_of(eyes), "x");
}

#[test]
fn a_schema_that_was_promised_is_held_to() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let answer = |data: Value| {
        read(
            json!({"structuredContent": data}),
            &tool(Some(schema.clone())),
            &|uri| uri.to_owned(),
            Vec::new(),
        )
    };
    assert_eq!(answer(json!({"n": 3})).unwrap().data, json!({"n": 3}));
    for wrong in [json!({"n": "x"}), json!({}), Value::Null] {
        assert_eq!(answer(wrong).unwrap_err().code(), Code::ResultSchemaMismatch);
    }
}
