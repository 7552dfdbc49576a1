//! Tools that are prompts: what an agent file or a file of its own says of one.

use serde::Serialize;
use serde_json::Value;

/// A tool that is a prompt with gaps, answered by a child agent. Agent files and plugins define them.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptToolDef {
    /// The tool's name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// The model that answers; otherwise that of its agent.
    pub model: Option<String>,
    /// Its arguments, in order.
    pub parameters: Vec<PromptParameter>,
    /// JSON schema of its answer, where that is data.
    pub result_schema: Option<Value>,
    /// The prompt; `{{name}}` is replaced by the argument of that name.
    pub prompt: String,
    /// What the script model answers.
    pub script: Option<Value>,
}

/// An argument of a prompt tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptParameter {
    /// Its name.
    pub name: String,
    /// `string`, `number`, `integer`, `boolean`, `object` or `array`.
    pub kind: String,
    /// JSON schema of the items of an array, where the file says what they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<Value>,
    /// What it is, for the model.
    pub description: String,
    /// Whether a call must have it.
    pub is_required: bool,
}
