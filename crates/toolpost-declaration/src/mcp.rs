//! The declaration for the Model Context Protocol: JSON Schema as it is, and all four hints said explicitly.

use super::Source;
use super::normal::normal;
use super::note::{Notes, Path};
use serde_json::{Map, Value, json};

pub(super) fn declare(source: &Source<'_>, input: Value, notes: &mut Notes) -> Value {
    let mut tool = Map::new();
    tool.insert("name".into(), source.name.into());
    if let Some(title) = source.title {
        tool.insert("title".into(), title.into());
    }
    if !source.description.is_empty() {
        tool.insert("description".into(), source.description.into());
    }
    tool.insert("inputSchema".into(), input);
    if let Some(output) = source.output {
        let mut about_output = Notes::default();
        match normal(output, &mut about_output) {
            Ok(schema @ Value::Object(_)) => {
                tool.insert("outputSchema".into(), schema);
            }
            Ok(_) => notes.dropped(Path::ROOT, "outputSchema", "a boolean says nothing about the answer"),
            Err(refusal) => notes.dropped(Path::ROOT, "outputSchema", refusal.to_string()),
        }
    }
    tool.insert(
        "annotations".into(),
        json!({
            "readOnlyHint": source.read_only,
            "destructiveHint": source.destructive,
            "idempotentHint": source.idempotent,
            "openWorldHint": source.open_world,
        }),
    );
    Value::Object(tool)
}
