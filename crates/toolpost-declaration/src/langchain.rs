//! The declaration for LangChain: the keyword arguments of `StructuredTool`.
//!
//! The model behind it is not known here, so the root is made plain, as most of them want it; `args_schema` always has
//! `properties`, which LangChain reads without asking.

use super::note::{Notes, Refusal};
use super::root::flatten;
use super::{Source, description_or_name};
use serde_json::{Value, json};

pub(super) fn declare(source: &Source<'_>, input: &Value, notes: &mut Notes) -> Result<Value, Refusal> {
    Ok(json!({
        "name": source.name,
        "description": description_or_name(source, notes),
        "args_schema": flatten(input, notes)?,
        "metadata": {
            "readOnlyHint": source.read_only,
            "destructiveHint": source.destructive,
            "idempotentHint": source.idempotent,
            "openWorldHint": source.open_world,
        },
    }))
}
