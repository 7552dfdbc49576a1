//! What `mcp install` has written into files of other programs, so that `mcp uninstall` can take exactly that back: kept in
//! the user's data directory. Only what was replaced is kept of a file, not the file.

use crate::config::env::Environment;
use crate::config::private;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toolpost_core::{Code, ToolError};

/// The file in the data directory.
const NAME: &str = "installed.json";

/// Maximum size of it.
const LARGEST: usize = 4 << 20;

/// Changes of one file that are remembered at most; older ones are forgotten.
const MOST: usize = 20;

/// One change of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Change {
    /// SHA-256 of the file after it.
    after: String,
    /// Where the texts differ, in bytes.
    start: usize,
    /// Bytes that were put there.
    added: usize,
    /// What they replaced.
    removed: String,
    /// Whether the file did not exist.
    #[serde(default)]
    was_absent: bool,
    /// Folders that were made for it, the innermost first.
    #[serde(default)]
    folders: Vec<String>,
}

/// The changes of every file, by its path.
pub(super) struct Records {
    path: Option<PathBuf>,
    all: BTreeMap<String, Vec<Change>>,
}

/// A file as it was before it was changed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Earlier {
    /// Its bytes; none if it did not exist.
    pub(super) bytes: Option<Vec<u8>>,
    /// Folders that were made for it, the innermost first.
    pub(super) folders: Vec<String>,
}

impl Records {
    pub(super) fn read(environment: &Environment) -> Result<Records, ToolError> {
        let path = environment.data_directory.as_ref().map(|data| data.join(NAME));
        let Some(file) = &path else { return Ok(Records { path, all: BTreeMap::new() }) };
        let failed = |why: String| {
            let message = format!(
                "`{}` {why}; it says what `mcp install` has written, remove it to forget that",
                file.display()
            );
            ToolError::new(Code::ReadError, message)
        };
        let all = match private::read(file, LARGEST).map_err(failed)? {
            None => BTreeMap::new(),
            Some(found) => serde_json::from_slice(&found.bytes)
                .map_err(|error| failed(format!("is not understood: {error}")))?,
        };
        Ok(Records { path, all })
    }

    /// Remembers a change, with the folders that are made for the file.
    pub(super) fn add(&mut self, file: &Path, before: Option<&[u8]>, after: &[u8], folders: Vec<String>) {
        let changes = self.all.entry(file.display().to_string()).or_default();
        changes.push(Change::between(before, after, folders));
        if changes.len() > MOST {
            changes.remove(0);
        }
    }

    /// The file as it was before the changes that nobody has changed since; none where there is no such change. What is
    /// remembered of the file is forgotten.
    pub(super) fn take(&mut self, file: &Path, now: &[u8]) -> Option<Earlier> {
        let mut changes = self.all.remove(&file.display().to_string())?;
        let mut earlier = None;
        let mut bytes = now.to_vec();
        while let Some(change) = changes.pop().filter(|change| change.after == hash(&bytes)) {
            let before = change.undone(&bytes)?;
            let is_first = change.was_absent;
            earlier = Some(Earlier { bytes: (!is_first).then(|| before.clone()), folders: change.folders });
            if is_first {
                break;
            }
            bytes = before;
        }
        earlier
    }

    /// Writes them down. Without a data directory nothing is kept.
    pub(super) fn keep(&self) -> Result<(), ToolError> {
        let Some(path) = &self.path else { return Ok(()) };
        let text = serde_json::to_vec_pretty(&self.all).unwrap_or_default();
        private::locked(path, || private::replace(path, &text)).map_err(|error| {
            let message = format!(
                "`{}` cannot be written: {error}; check the owner and mode of its folder",
                path.display()
            );
            ToolError::new(Code::WriteError, message)
        })
    }
}

impl Change {
    fn between(before: Option<&[u8]>, after: &[u8], folders: Vec<String>) -> Change {
        let old = String::from_utf8_lossy(before.unwrap_or_default());
        let new = String::from_utf8_lossy(after);
        let is_border = |start: usize| old.is_char_boundary(start) && new.is_char_boundary(start);
        let same = |(one, other): &(u8, u8)| one == other;
        let mut start = old.bytes().zip(new.bytes()).take_while(same).count();
        while !is_border(start) {
            start -= 1;
        }
        let (old_rest, new_rest) = (&old[start..], &new[start..]);
        let mut end = old_rest.bytes().rev().zip(new_rest.bytes().rev()).take_while(same).count();
        while !old_rest.is_char_boundary(old_rest.len() - end)
            || !new_rest.is_char_boundary(new_rest.len() - end)
        {
            end -= 1;
        }
        Change {
            after: hash(after),
            start,
            added: new_rest.len() - end,
            removed: old_rest[..old_rest.len() - end].to_owned(),
            was_absent: before.is_none(),
            folders,
        }
    }

    fn undone(&self, after: &[u8]) -> Option<Vec<u8>> {
        let head = after.get(..self.start)?;
        let tail = after.get(self.start.checked_add(self.added)?..)?;
        Some([head, self.removed.as_bytes(), tail].concat())
    }
}

fn hash(bytes: &[u8]) -> String {
    toolpost_core::text::hex(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records() -> Records {
        Records { path: None, all: BTreeMap::new() }
    }

    #[test]
    fn changes_are_taken_back_as_far_as_nobody_has_changed_the_file() {
        let file = Path::new("/f");
        let texts = ["{}", "{\"ä\": 1}", "{\"ö\": 1, \"ä\": 2}", ""];
        for before in [None, Some("x"), Some("{\"ü\": 1}"), Some("")] {
            let mut records = records();
            let mut last = before;
            for text in texts {
                records.add(file, last.map(str::as_bytes), text.as_bytes(), Vec::new());
                last = Some(text);
            }
            let earlier = records.take(file, b"").unwrap();
            assert_eq!(earlier.bytes.as_deref(), before.map(str::as_bytes));
            assert_eq!(records.take(file, b""), None, "it is forgotten");
        }
        let mut records = records();
        records.add(file, Some(b"a"), b"ab", Vec::new());
        records.add(file, Some(b"abX"), b"abXc", Vec::new());
        assert_eq!(records.take(file, b"abXc").unwrap().bytes.unwrap(), b"abX", "X is somebody else's");
        records.add(file, Some(b"a"), b"ab", Vec::new());
        assert_eq!(records.take(file, b"abX"), None);
    }
}
