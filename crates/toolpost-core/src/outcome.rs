//! What a call gives back: the tool's own `Output`, and the `Outcome` that leaves the executor.

use crate::error::ToolError;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolpost_schema::Repair;

/// What a tool returns when it worked.
#[derive(Debug, Clone, PartialEq)]
pub struct Output<D = ()> {
    /// A few words for a person: the file's name, the command.
    pub title: String,
    /// The text for the model.
    pub text: String,
    /// The same for a program.
    pub data: D,
    /// Images and other files that are not text.
    pub attachments: Vec<Attachment>,
    /// How the tool itself cut the text, if it did; otherwise the executor cuts what is over the budget.
    pub truncated: Option<Truncation>,
}

impl<D> Output<D> {
    /// An output of text and data.
    pub fn new(title: impl Into<String>, text: impl Into<String>, data: D) -> Output<D> {
        Output { title: title.into(), text: text.into(), data, attachments: Vec::new(), truncated: None }
    }

    /// Adds an attachment.
    #[must_use]
    pub fn attach(mut self, attachment: Attachment) -> Output<D> {
        self.attachments.push(attachment);
        self
    }

    pub(crate) fn map_data<E>(self, change: impl FnOnce(D) -> E) -> Output<E> {
        Output {
            title: self.title,
            text: self.text,
            data: change(self.data),
            attachments: self.attachments,
            truncated: self.truncated,
        }
    }
}

impl Output<Value> {
    /// The same with its data as the text, where it has none of its own: every way in gives the model the text.
    pub(crate) fn with_data_as_text(mut self) -> Output<Value> {
        if self.text.is_empty() && !self.data.is_null() {
            self.text = self.data.to_string();
        }
        self
    }
}

impl Output<()> {
    /// An output that is only text.
    pub fn text(text: impl Into<String>) -> Output<()> {
        Output::new("", text, ())
    }
}

impl<D: Serialize> Output<D> {
    /// An output that is only data; the model gets it as JSON.
    pub fn data(data: D) -> Output<D> {
        Output::new("", "", data)
    }
}

/// A file that comes with the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attachment {
    /// `image/png`, `application/pdf`.
    pub media_type: String,
    /// A name to show or save it under.
    pub filename: String,
    /// Its bytes in base64, or where they can be read.
    #[serde(flatten)]
    pub content: AttachmentContent,
}

/// Where an attachment's bytes are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AttachmentContent {
    /// Here, in base64.
    Data(String),
    /// Under a handle that `read` opens.
    Handle(String),
}

/// A finished call: what every way in (library, command line, MCP, kernel) passes on.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The tool's canonical name, or the name asked for where there is no such tool.
    pub tool: String,
    /// The id of the call; `spill:ID` is the handle of its whole output.
    pub call_id: String,
    /// What the tool returned, or why it failed.
    pub result: Result<Output<Value>, ToolError>,
    /// How the call went.
    pub metadata: Metadata,
}

impl Outcome {
    /// Whether the call worked.
    pub fn is_success(&self) -> bool {
        self.result.is_ok()
    }

    /// The outcome as plain text, for hosts that know nothing else: the output, its data as JSON where it has no text,
    /// or `Error: <message>`; then how the arguments were read, where that differs from what was given.
    pub fn to_text(&self) -> String {
        let mut text = match &self.result {
            Ok(output) if output.text.is_empty() && !output.data.is_null() => output.data.to_string(),
            Ok(output) => output.text.clone(),
            Err(error) => format!("Error: {}", error.message()),
        };
        if let Some(note) = self.repair_note() {
            text = format!("{}\n{note}", text.trim_end_matches('\n'));
        }
        text
    }

    /// How the arguments were read, where that differs from what was given; one line for the model.
    pub fn repair_note(&self) -> Option<String> {
        const MOST: usize = 5;
        let repairs = &self.metadata.repairs;
        let sentences: Vec<String> = repairs.iter().take(MOST).map(Repair::sentence).collect();
        let more = match repairs.len().saturating_sub(MOST) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        (!sentences.is_empty()).then(|| format!("(note: {}{more})", sentences.join("; ")))
    }

    /// The envelope of `toolpost call --json`.
    pub fn to_json(&self) -> Value {
        match &self.result {
            Ok(output) => json!({
                "success": true,
                "tool": self.tool,
                "callId": self.call_id,
                "title": output.title,
                "output": output.text,
                "data": if output.data.is_null() { json!({}) } else { output.data.clone() },
                "attachments": output.attachments,
                "metadata": self.metadata,
            }),
            Err(error) => json!({
                "success": false,
                "tool": self.tool,
                "callId": self.call_id,
                "error": error,
                "metadata": self.metadata,
            }),
        }
    }

    /// The exit status of the command line for this outcome.
    pub fn exit_status(&self) -> u8 {
        self.result.as_ref().map_or_else(|error| error.code().exit_status(), |_| 0)
    }
}

/// How a call went.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Metadata {
    /// How long the tool ran, in milliseconds; waiting for an answer does not count.
    pub execution_time_ms: f64,
    /// Bytes read from the workspace.
    #[serde(skip_serializing_if = "is_zero")]
    pub bytes_read: u64,
    /// Bytes written to the workspace.
    #[serde(skip_serializing_if = "is_zero")]
    pub bytes_written: u64,
    /// Files opened or written, by their display names; the first thousand.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files_accessed: Vec<String>,
    /// What was mended in the arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<Repair>,
    /// Attempts made, where there was more than one.
    #[serde(skip_serializing_if = "is_at_most_one")]
    pub attempts: u32,
    /// Set when the text was cut to the output budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<Truncation>,
    /// What a dry run would have changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<DryRun>,
    /// `false` where what the call has changed is not kept, so that it cannot be undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<bool>,
    /// Folders in which the call has changed something that an undo does not cover, such as `node_modules`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_undone: Vec<String>,
    /// Whether the call was made in another session, from which this one was forked: it is counted there.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub forked: bool,
}

impl Metadata {
    /// Applies `change` to what was taken from the arguments or names a file.
    pub(crate) fn map_text(mut self, change: &dyn Fn(&str) -> String) -> Metadata {
        self.repairs = self.repairs.into_iter().map(|repair| repair.map_text(change)).collect();
        self.files_accessed.iter_mut().for_each(|name| *name = change(name));
        self.not_undone.iter_mut().for_each(|name| *name = change(name));
        for planned in self.dry_run.iter_mut().flat_map(|dry_run| &mut dry_run.changes) {
            planned.path = change(&planned.path);
        }
        self
    }
}

/// How a text was cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Truncation {
    /// Bytes of the whole text.
    pub total_bytes: u64,
    /// Lines of the whole text.
    pub total_lines: u64,
    /// Bytes that are shown.
    pub shown_bytes: u64,
    /// Where the whole can be read, if it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handle: Option<String>,
    /// Bytes under the handle; fewer than `total_bytes` where the spill's own limit was reached.
    pub kept_bytes: u64,
}

/// What a dry run found out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DryRun {
    /// The files that the call would change; nothing was.
    pub changes: Vec<PlannedChange>,
}

/// One file that a call would change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedChange {
    /// The file's display name.
    pub path: String,
    /// `create`, `change` or `delete`.
    pub kind: String,
    /// Size before, if it exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_before: Option<u64>,
    /// Size after, if it will exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_after: Option<u64>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn is_at_most_one(number: &u32) -> bool {
    *number <= 1
}
