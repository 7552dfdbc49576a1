//! Descriptions as models get them: `${workspace}`, `${directory}` and `${cwd}` filled in, a user's own text in place of ours.
//!
//! Reading override files is the host's work; this module only knows their text.

use super::Definition;
use crate::workspace::Workspace;
use std::collections::BTreeMap;

/// What stands for the names in descriptions, and which descriptions are replaced.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Texts {
    workspace: String,
    directory: String,
    overrides: BTreeMap<String, String>,
}

impl Texts {
    /// Names for this workspace: all its roots, and the folder the session stands in, which has two names.
    pub fn new(workspace: &dyn Workspace, cwd: &str) -> Texts {
        Texts {
            workspace: workspace.roots().join(", "),
            directory: cwd.to_owned(),
            overrides: BTreeMap::new(),
        }
    }

    /// Replaces the description of a tool.
    #[must_use]
    pub fn with_override(mut self, tool: impl Into<String>, text: impl Into<String>) -> Texts {
        self.overrides.insert(tool.into(), text.into());
        self
    }

    /// The names of the tools whose description is replaced.
    pub fn overridden(&self) -> impl Iterator<Item = &str> {
        self.overrides.keys().map(String::as_str)
    }

    /// Puts the texts into a definition. What a user wrote is filled in like our own.
    pub(crate) fn apply(&self, definition: &mut Definition) {
        let text = self.overrides.get(&definition.spec.name).unwrap_or(&definition.spec.description);
        definition.spec.description = self.fill(text.trim());
    }

    fn fill(&self, text: &str) -> String {
        // One pass, so that a folder named `${cwd}` is not filled in again.
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            let (before, after) = rest.split_at(start);
            filled.push_str(before);
            let names = [
                ("${workspace}", &self.workspace),
                ("${directory}", &self.directory),
                ("${cwd}", &self.directory),
            ];
            match names.into_iter().find(|(name, value)| after.starts_with(name) && !value.is_empty()) {
                Some((name, value)) => {
                    filled.push_str(value);
                    rest = &after[name.len()..];
                }
                None => {
                    filled.push_str("${");
                    rest = &after[2..];
                }
            }
        }
        filled.push_str(rest);
        filled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_filled_in_once() {
        let texts = Texts { workspace: "/w/${cwd}".into(), directory: "/w/sub".into(), ..Texts::default() };
        assert_eq!(texts.fill("in ${workspace}, ${cwd} ${other} $"), "in /w/${cwd}, /w/sub ${other} $");
        assert_eq!(texts.fill("${directory}"), "/w/sub");
        assert_eq!(Texts::default().fill("${cwd}"), "${cwd}");
    }
}
