//! What is wrong with an agent file, where, and what it costs.

use super::node::At;
use serde::Serialize;
use std::fmt;

/// One thing that is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The field, such as `tools[2].parameters.text`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// What it costs.
    pub severity: Severity,
    /// What is wrong, and what to do.
    pub message: String,
}

/// What a problem costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Nothing: something is ignored.
    Warning,
    /// One part, which is left out.
    LeftOut,
    /// The agent.
    Broken,
}

impl Problem {
    /// A problem at a place.
    pub fn new(
        file: &str,
        at: At,
        field: Option<&str>,
        severity: Severity,
        message: impl Into<String>,
    ) -> Problem {
        let (line, column) = (at.line, at.column);
        let (file, field) = (file.to_owned(), field.map(str::to_owned));
        Problem { file, line, column, field, severity, message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)
    }
}
