//! Where each command of a line runs if all before it went well, for messages and for refusals before the line runs. Nothing
//! is allowed because of it.

use super::places::{self, Moves};
use super::reader::{Script, Simple};
use super::word::{Part, Word};
use std::collections::HashMap;

/// What is told so far of the folder and of variables.
#[derive(Debug, Clone, Default)]
pub(super) struct Told {
    /// The folder from the workspace root, of each shell within the line; none if it is not known.
    folders: HashMap<Vec<usize>, Option<String>>,
    /// Variables that the line sets; none where the value is not known.
    values: HashMap<String, Option<String>>,
    has_no_values: bool,
    /// The shell of the command at hand.
    scope: Vec<usize>,
}

impl Told {
    pub(super) fn in_folder(folder: Option<String>) -> Told {
        Told { folders: HashMap::from([(Vec::new(), folder)]), ..Told::default() }
    }

    /// The folder of the command at hand.
    pub(super) fn folder(&self) -> Option<&str> {
        (0..=self.scope.len()).rev().find_map(|end| self.folders.get(&self.scope[..end]))?.as_deref()
    }

    /// The path of a file of the command at hand.
    pub(super) fn path(&self, name: &str) -> Option<String> {
        match name.starts_with('/') {
            true => Some(places::join("", name)),
            false => Some(places::join(self.folder()?, name)),
        }
    }

    /// Looks at the commands of a text: where some set variables by themselves, no value is told.
    pub(super) fn visit(&mut self, script: &Script) {
        const SETTING: [&str; 7] = ["read", "mapfile", "readarray", "eval", "source", ".", "getopts"];
        let sets = |simple: &Simple| {
            simple.words.first().is_some_and(|word| SETTING.iter().any(|name| word.is_bare(name)))
        };
        self.has_no_values |= script.commands.iter().any(sets);
    }

    /// Goes to the next command.
    pub(super) fn at(&mut self, simple: &Simple) {
        // A shell within another begins where that is.
        for end in 1..=simple.scope.len() {
            if !self.folders.contains_key(&simple.scope[..end]) {
                let around = self.folders.get(&simple.scope[..end - 1]).cloned().flatten();
                self.folders.insert(simple.scope[..end].to_vec(), around);
            }
        }
        self.scope.clone_from(&simple.scope);
    }

    /// Takes note of what a command changes for those after it.
    pub(super) fn after(&mut self, simple: &Simple) {
        for assignment in simple.assignments.iter().filter(|_| simple.words.is_empty()) {
            let value = match assignment.values.as_slice() {
                [word] if !simple.is_repeated && simple.scope.is_empty() => self.word(word).literal(),
                _ => None,
            };
            self.values.insert(assignment.name.clone(), value);
        }
        let resolved =
            Simple { words: simple.words.iter().map(|word| self.word(word)).collect(), ..simple.clone() };
        let folder = match places::folder(&resolved) {
            Moves::Nowhere => return,
            Moves::To(folder) => self.path(&folder),
            Moves::Somewhere => None,
        };
        self.folders.insert(self.scope.clone(), folder);
    }

    /// The word with the values of variables that are told.
    pub(super) fn word(&self, word: &Word) -> Word {
        let part = |part: &Part| match part {
            Part::Value { shown, quoting, .. } => {
                let name = shown.trim_start_matches('$').trim_matches(['{', '}']);
                match self
                    .values
                    .get(name)
                    .cloned()
                    .flatten()
                    .filter(|value| is_plain(value) && !self.has_no_values)
                {
                    Some(value) => Part::Text(value, *quoting),
                    None => part.clone(),
                }
            }
            other => other.clone(),
        };
        Word { parts: word.parts.iter().map(part).collect(), start: word.start }
    }
}

/// Whether a value is one word, in quotes or without.
fn is_plain(value: &str) -> bool {
    !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte))
}
