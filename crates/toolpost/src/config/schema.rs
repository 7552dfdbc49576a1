//! The JSON Schema of the file, for editors. Made from the rows that the reader follows.

use super::key::InFile;
use super::keys::KEYS;
use serde_json::{Map, Value, json};

/// The name of the schema beside a configuration.
pub(crate) const SCHEMA_FILE: &str = "config.schema.json";

/// The schema of a configuration.
pub(crate) fn schema() -> Value {
    let keys = KEYS.iter().filter(|key| !matches!(key.file(), InFile::Never));
    let properties: Map<String, Value> = keys.map(|key| (key.name().to_owned(), key.schema())).collect();
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "toolpost configuration",
        "description": "~/.config/toolpost/config.toml, or .toolpost/config.toml of a project",
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    })
}
