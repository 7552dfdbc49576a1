//! What language servers say of a file after a change. Core starts none and speaks to none.

use crate::context::Context;
use crate::future::BoxFuture;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;
use std::sync::Arc;

/// Finds the errors that a change has brought to a file. Implemented over language servers, and by fakes in tests; asked by
/// tools that change files, as a [`DiagnosticsService`] in the extras of their context.
///
/// An answer comes within a bound that the implementation sets, whatever a language server does. It changes no file.
pub trait Diagnostics: Send + Sync {
    /// Whether files of this name are looked at.
    fn covers(&self, name: &str) -> bool;

    /// The errors that a file has now and did not have before the change.
    fn diagnose<'a>(&'a self, ctx: &'a Context, change: &'a TextChange) -> BoxFuture<'a, Diagnosis>;
}

/// [`Diagnostics`] in the extras of a context.
#[derive(Clone)]
pub struct DiagnosticsService(pub Arc<dyn Diagnostics>);

impl fmt::Debug for DiagnosticsService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DiagnosticsService")
    }
}

/// A file that a tool has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextChange {
    /// Its display name.
    pub name: String,
    /// Its text before; none if it is new.
    pub before: Option<String>,
    /// Its text now.
    pub after: String,
}

/// What was found out about one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnosis {
    /// Who was asked.
    pub server: String,
    /// What it knows.
    pub errors: NewErrors,
}

/// The errors that a change has brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewErrors {
    /// These, in the order of their lines.
    Known(Vec<CodeError>),
    /// They were not known within the bound.
    Pending,
    /// They will not be known, for this reason.
    Unknown(String),
}

/// One error in a file. Lines and columns count from 1, columns in characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CodeError {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// The name that the server has for this kind of error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}
