//! A file's name as an argument: the spelling, not yet judged.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// A path as a caller wrote it: absolute, or from the workspace root.
///
/// The type says *this argument is a path of the workspace*: the default accesses of a tool are computed from the
/// arguments of this type, and only a [`Workspace`](crate::Workspace) turns it into an open file, refusing what
/// would leave the roots.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WorkspacePath(String);

impl WorkspacePath {
    /// The keyword that marks path arguments in a schema; it is not shown to models.
    pub const SCHEMA_MARK: &'static str = toolpost_schema::PATH_MARK;

    /// A path from its spelling.
    pub fn new(spelling: impl Into<String>) -> WorkspacePath {
        WorkspacePath(spelling.into())
    }

    /// The root of the workspace.
    pub fn root() -> WorkspacePath {
        WorkspacePath(".".to_owned())
    }

    /// As the caller wrote it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path of an entry of this folder.
    #[must_use]
    pub fn join(&self, name: &str) -> WorkspacePath {
        match self.0.as_str() {
            "." | "" => WorkspacePath(name.to_owned()),
            folder => WorkspacePath(format!("{}/{name}", folder.trim_end_matches('/'))),
        }
    }
}

impl fmt::Display for WorkspacePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for WorkspacePath {
    fn from(spelling: &str) -> WorkspacePath {
        WorkspacePath::new(spelling)
    }
}

impl JsonSchema for WorkspacePath {
    fn schema_name() -> Cow<'static, str> {
        "WorkspacePath".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut schema = Schema::default();
        schema.insert("type".to_owned(), "string".into());
        schema.insert(WorkspacePath::SCHEMA_MARK.to_owned(), true.into());
        schema
    }

    fn inline_schema() -> bool {
        true
    }
}
