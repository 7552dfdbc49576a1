//! The declaration for LangChain: what `bind_tools` of every chat model takes, which is the form of Chat Completions.
//!
//! The model behind it is not known here, so the root is made plain, as most of them want it; `parameters` always has
//! `properties`, which LangChain reads without asking.

use super::note::{Notes, Refusal};
use super::root::flatten;
use super::{Source, description_or_name};
use serde_json::{Value, json};

pub(super) fn declare(source: &Source<'_>, input: &Value, notes: &mut Notes) -> Result<Value, Refusal> {
    Ok(json!({
        "type": "function",
        "function": {
            "name": source.name,
            "description": description_or_name(source, notes),
            "parameters": flatten(input, notes)?,
        },
    }))
}
