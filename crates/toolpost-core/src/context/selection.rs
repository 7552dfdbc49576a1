//! The tools that a session restricts itself to, of all there are.

use crate::registry::Snapshot;
use toolpost_text::wildcard::name_matches;

/// The tools that a session restricts itself to: names in any spelling, and patterns with `*` for tools that come later. It
/// grants nothing: the policy decides about each of them as always.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    by: String,
    tools: Vec<String>,
}

impl Selection {
    /// These tools and no others. `by` says for messages who selects them: `--pack mine`.
    pub fn new(by: impl Into<String>, tools: impl IntoIterator<Item = String>) -> Selection {
        Selection { by: by.into(), tools: tools.into_iter().collect() }
    }

    /// With these tools too.
    #[must_use]
    pub fn and(mut self, tools: impl IntoIterator<Item = String>) -> Selection {
        self.tools.extend(tools);
        self
    }

    /// Who selects.
    pub fn by(&self) -> &str {
        &self.by
    }

    /// Whether it has the tool of this canonical name.
    pub fn has(&self, snapshot: &Snapshot, tool: &str) -> bool {
        self.tools.iter().any(|name| {
            name == tool
                || name_matches(name, tool)
                || snapshot.meant(name).is_some_and(|entry| entry.name() == tool)
        })
    }
}
