//! The declaration for Anthropic's Messages API: JSON Schema with a plain object at its root.

use super::Source;
use super::note::{Notes, Path, Refusal, shorten};
use super::root::flatten;
use serde_json::{Map, Value};

pub(super) fn declare(source: &Source<'_>, input: &Value, notes: &mut Notes) -> Result<Value, Refusal> {
    let mut schema = flatten(input, notes)?;
    check_names(&mut schema, notes)?;
    let mut tool = Map::new();
    tool.insert("name".into(), source.name.into());
    if !source.description.is_empty() {
        tool.insert("description".into(), source.description.into());
    }
    tool.insert("input_schema".into(), Value::Object(schema));
    Ok(Value::Object(tool))
}

/// The names of parameters have a rule too. An optional parameter can be left out; another name for it would not be
/// understood by the tool.
fn check_names(schema: &mut Map<String, Value>, notes: &mut Notes) -> Result<(), Refusal> {
    let required: Vec<Value> = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return Ok(()) };
    let bad: Vec<String> = properties.keys().filter(|name| !is_allowed(name)).cloned().collect();
    for name in bad {
        let reason = "Anthropic allows 1 to 64 letters, digits, `_`, `.` and `-` in a parameter's name";
        let parent = Path::ROOT.then("properties");
        if required.iter().any(|required| *required == name) {
            return Err(Refusal::new(parent.then(&name), reason));
        }
        properties.shift_remove(&name);
        notes.add(parent, format!("the optional parameter `{}` is left out", shorten(&name)), reason);
    }
    Ok(())
}

fn is_allowed(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'))
}
