//! What a running call has said that it would do, and what it has done.

use super::LARGEST;
use crate::files::hash;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::Arc;
use toolpost_core::store::{Correction, Held};
use toolpost_core::text::{Spliced, Splicer, hex};
use toolpost_core::workspace::{After, Before, PendingKind};
use toolpost_core::{Code, ToolError};

/// Bytes of contents that a call keeps in memory to know their hashes; one alone may be larger.
const MOST_BYTES: usize = 32 << 20;

/// Bytes that are read at once.
const PIECE: usize = 256 << 10;

/// What was there before a change, read.
pub(super) enum Content {
    File { hash: String, bytes: Spliced, mode: u32 },
    Other(Held),
}

impl Content {
    /// The bytes, by their hash.
    pub(super) fn bytes(self) -> Option<(String, Spliced)> {
        match self {
            Content::File { hash, bytes, .. } => Some((hash, bytes)),
            Content::Other(_) => None,
        }
    }
}

/// Reads what was there. What it has in common with the new content takes no room of its own.
pub(super) fn content_of(before: Before, planned: Option<&Arc<[u8]>>) -> Result<Content, ToolError> {
    Ok(match before {
        Before::Absent => Content::Other(Held::Absent),
        Before::File(file) if file.stat.size > LARGEST => {
            Content::Other(Held::TooLarge { size: file.stat.size })
        }
        Before::File(file) => {
            let size = usize::try_from(file.stat.size).unwrap_or_default();
            let splicer = Splicer::new(planned.map(Arc::clone).unwrap_or_default(), size);
            let (hash, bytes) = read(file.reader.take(LARGEST + 1), splicer).map_err(|error| {
                let name = &file.stat.name;
                let message = format!("cannot read `{name}` to keep it for an undo: {error}");
                ToolError::new(Code::ReadError, message).with("path", name.as_str())
            })?;
            match bytes.len() as u64 > LARGEST {
                true => Content::Other(Held::TooLarge { size: bytes.len() as u64 }),
                false => Content::File { hash, bytes, mode: file.stat.mode & 0o7777 },
            }
        }
        Before::Folder { mode } => Content::Other(Held::Folder { mode: Some(mode & 0o7777) }),
        Before::Link(Some(text)) => Content::Other(Held::Link { text }),
        _ => Content::Other(Held::Unknown),
    })
}

/// Reads and hashes all that there is, in one pass.
fn read(mut from: impl Read, mut splicer: Splicer) -> io::Result<(String, Spliced)> {
    let mut hash = Sha256::new();
    // One byte more, so that the end of a small file is seen at once.
    let mut piece = vec![0; PIECE.min(splicer.size() + 1)];
    loop {
        match from.read(&mut piece) {
            Ok(0) => return Ok((hex(&hash.finalize()), splicer.end())),
            Ok(count) => {
                hash.update(&piece[..count]);
                splicer.take(&piece[..count]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

pub(super) fn held(content: &Content) -> Held {
    match content {
        Content::File { hash, bytes, mode } => {
            Held::File { hash: hash.clone(), size: bytes.len() as u64, mode: Some(*mode) }
        }
        Content::Other(held) => held.clone(),
    }
}

/// One name that a call changes.
struct Change {
    before: Held,
    planned: Held,
    /// The bytes of both, where there is room for them.
    old: Option<Spliced>,
    content: Option<Arc<[u8]>>,
    /// What is there, where the call has told.
    made: Option<(Held, Option<Arc<[u8]>>)>,
}

impl Change {
    /// The SHA-256 of the planned bytes, where they are the ones looked for.
    fn planned_hash(&self, is_same: impl FnOnce(&Arc<[u8]>) -> bool) -> Option<String> {
        match (&self.planned, &self.content) {
            (Held::File { hash, .. }, Some(planned)) if is_same(planned) => Some(hash.clone()),
            _ => None,
        }
    }
}

/// What a change is to leave.
#[derive(Clone, Copy)]
pub(super) struct New<'a> {
    /// The new content with its SHA-256, where it is known.
    pub(super) content: Option<&'a (String, Arc<[u8]>)>,
    /// The mode that a new file is expected to get.
    pub(super) mode: Option<u32>,
}

/// A call that has not ended.
#[derive(Default)]
pub(super) struct OpenCall {
    changes: BTreeMap<String, Change>,
    /// What a name gets from another one.
    moved: BTreeMap<String, Held>,
    /// Bytes of contents in memory.
    bytes: usize,
}

impl OpenCall {
    /// What the name will hold.
    pub(super) fn plan(
        &mut self,
        name: &str,
        kind: &PendingKind,
        before: &Held,
        old: Option<&(String, Spliced)>,
        new: New<'_>,
    ) -> Held {
        let New { content, mode: new_mode } = new;
        let mode = |of: &Held| match of {
            Held::File { mode, .. } => *mode,
            _ => None,
        };
        let file = |mode: Option<u32>| {
            let (hash, bytes) = content?;
            Some(Held::File { hash: hash.clone(), size: bytes.len() as u64, mode })
        };
        let planned = match kind {
            PendingKind::Write => {
                let moved = self.moved.get(name).cloned();
                let mode = moved.as_ref().map_or_else(|| mode(before).or(new_mode), mode);
                file(mode).or(moved).unwrap_or(Held::Unknown)
            }
            PendingKind::Rename { to } => {
                self.moved.insert(to.clone(), file(mode(before)).unwrap_or_else(|| before.clone()));
                Held::Absent
            }
            PendingKind::Remove => Held::Absent,
            PendingKind::CreateFolder => match before {
                Held::Folder { .. } => before.clone(),
                _ => Held::Folder { mode: None },
            },
            _ => Held::Unknown,
        };
        if !self.changes.contains_key(name) {
            let content = content.filter(|_| matches!(planned, Held::File { .. }));
            let content = self.with_room(content, |content| content.len());
            let old = self.with_room(old, Spliced::own_len);
            let change =
                Change { before: before.clone(), planned: planned.clone(), old, content, made: None };
            self.changes.insert(name.to_owned(), change);
        }
        planned
    }

    fn with_room<T: Clone>(&mut self, of: Option<&(String, T)>, room: impl Fn(&T) -> usize) -> Option<T> {
        let (_, bytes) = of.filter(|_| self.bytes < MOST_BYTES)?;
        self.bytes += room(bytes);
        Some(bytes.clone())
    }

    /// The SHA-256 of what a name held or is to hold, where it is this content.
    pub(super) fn hash_of(&self, name: &str, content: &[u8]) -> Option<String> {
        let change = self.changes.get(name)?;
        let is_old = change.old.as_ref().is_some_and(|old| old.is(content));
        match &change.before {
            Held::File { hash, .. } if is_old => Some(hash.clone()),
            _ => change.planned_hash(|planned| **planned == *content),
        }
    }

    /// Something was made of a name.
    pub(super) fn made(&mut self, name: &str, after: After) {
        let moved = self.moved.get(name).cloned();
        let Some(change) = self.changes.get_mut(name) else { return };
        change.made = Some(match after {
            After::Absent => (Held::Absent, None),
            After::AsBefore => (change.before.clone(), None),
            After::File { content, mode: found } => {
                let known =
                    change.planned_hash(|planned| Arc::ptr_eq(planned, &content) || **planned == *content);
                let hash = known.unwrap_or_else(|| hash(&content));
                let mode = match (&change.planned, &change.before) {
                    (Held::File { mode, .. }, _) | (_, Held::File { mode, .. }) => *mode,
                    _ => None,
                };
                // The mode of a new file is only expected until it is there.
                let is_new = change.before == Held::Absent && moved.is_none();
                let mode = if is_new { found.or(mode) } else { mode };
                let made = Held::File { hash, size: content.len() as u64, mode };
                let content = (made != change.planned).then_some(content);
                (made, content)
            }
            After::Folder => (Held::Folder { mode: None }, None),
            After::Moved { .. } => match &change.planned {
                Held::Unknown => (moved.unwrap_or(Held::Unknown), None),
                planned => (planned.clone(), None),
            },
            _ => (Held::Unknown, None),
        });
    }

    /// What differs from the plan.
    pub(super) fn corrections(self, is_success: bool) -> Vec<Correction> {
        let is_changed = |change: &Change| match &change.made {
            Some((made, _)) => *made != change.before,
            None => is_success && change.planned != change.before,
        };
        let is_folder = |change: &Change| matches!(change.planned, Held::Folder { .. });
        let has_more = self.changes.values().any(|change| !is_folder(change) && is_changed(change));
        let mut corrections = Vec::new();
        for (name, change) in self.changes {
            // A folder that was made for a file is not told by itself.
            let is_implied = is_folder(&change) && change.made.is_none() && has_more;
            if !is_changed(&change) && !is_implied {
                corrections.push(Correction { name, after: None, content: None });
            } else if let Some((made, content)) = change.made.filter(|(made, _)| *made != change.planned) {
                corrections.push(Correction { name, after: Some(made), content });
            }
        }
        corrections
    }
}

#[cfg(test)]
mod tests {
    use super::{Splicer, read};
    use crate::files::hash;
    use std::sync::Arc;

    #[test]
    fn a_file_is_read_whole_whatever_size_was_expected() {
        for size in [0, 3, 5, 9] {
            let splicer = Splicer::new(Arc::from(&b"byte"[..]), size);
            let (of, bytes) = read(&b"bytes"[..], splicer).expect("memory is read");
            assert!(bytes.is(b"bytes"), "{size}");
            assert_eq!(of, hash(b"bytes"));
        }
    }
}
