//! `analyze_image_ui_qa` with a scripted model: valid JSON, broken JSON and prose.

use crate::answering::{Answering, saying};
use crate::{executor, run};
use serde_json::{Value, json};
use std::sync::Arc;
use toolpost_core::model::Part;
use toolpost_core::{Code, Context, Memory, Output, ToolError, Workspace, WorkspacePath};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89";

fn analyzed(answer: &str, path: &str) -> (Result<Output<Value>, ToolError>, Arc<Answering>) {
    let model = Answering::new(Ok(saying(answer, Vec::new())));
    let memory = Memory::from_fixture("//- notes.txt\nno picture\n");
    memory.write(&WorkspacePath::new("shot.png"), PNG).unwrap();
    let ctx = Context::builder(Arc::new(memory)).services(model.services()).build();
    let args = json!({"imagePath": path, "context": "The login page."});
    (run(executor().call(&ctx, "analyze_image_ui_qa", args)).result, model)
}

#[test]
fn a_report_is_a_table_and_data() {
    let answer = r#"{"findings":[{"severity":"minor","category":"content","description":"A typo","location":"footer","suggestion":"Correct it"},
        {"severity":"critical","category":"layout","description":"Button | covered","location":"right","suggestion":"Move it"}],"summary":"Two things."}"#;
    let (result, model) = analyzed(answer, "shot.png");
    let output = result.unwrap();
    assert_eq!(
        output.text,
        "2 findings in shot.png, by a model that looked at it:\n\
         | severity | category | where | what | suggestion |\n| --- | --- | --- | --- | --- |\n\
         | critical | layout | right | Button \\| covered | Move it |\n| minor | content | footer | A typo | Correct it |\n\n\
         Two things."
    );
    assert_eq!(output.data["findings"][0]["severity"], "critical");
    assert_eq!((&output.data["summary"], &output.data["isProse"]), (&json!("Two things."), &json!(false)));
    let asked = model.asked.lock().unwrap();
    let [Part::Text { text, .. }, Part::File(picture)] = asked[0].messages[0].parts.as_slice() else {
        panic!("{asked:?}")
    };
    assert!(text.contains("The login page.") && asked[0].schema.is_some());
    assert_eq!(picture.media_type, "image/png");
}

#[test]
fn what_is_no_report_is_the_summary() {
    for answer in ["The page looks fine to me.", "{\"findings\": [{\"severity\": \"maj"] {
        let output = analyzed(answer, "shot.png").0.unwrap();
        assert_eq!((&output.data["summary"], &output.data["isProse"]), (&json!(answer), &json!(true)));
        assert_eq!(output.data["findings"], json!([]));
    }
}

#[test]
fn only_pictures_are_sent() {
    let (result, model) = analyzed("", "notes.txt");
    assert_eq!(result.unwrap_err().code(), Code::ValidationError);
    assert_eq!(analyzed("", "missing.png").0.unwrap_err().code(), Code::FileNotFound);
    assert!(model.asked.lock().unwrap().is_empty());
}
