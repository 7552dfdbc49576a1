//! The versions of files that sessions have seen, so that nothing is overwritten that somebody has changed since, and a change
//! that was made for an old version can be merged with the new one.
//!
//! Here is only the interface; `toolpost-store` keeps the versions. Unlike [`Seen`](crate::host::Seen), which belongs to a
//! transcript, this is known of every session.

use crate::context::Context;
use crate::workspace::WorkspacePath;
use sha2::{Digest, Sha256};
use std::fmt;
use std::io::Read as _;
use std::str::FromStr;
use std::sync::Arc;
use toolpost_text::hex;

/// Larger files are recognised by their size and time.
const LARGEST_HASHED: u64 = 64 << 20;

/// Who has seen a version: a session, or the run of one agent in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Viewer<'a> {
    /// The session.
    pub session: &'a str,
    /// The agent's run; empty outside of one.
    pub activation: &'a str,
}

/// What a version of a file is recognised by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileMark {
    /// The SHA-256 of all its bytes, in hexadecimal digits.
    Hash(String),
    /// Of a file that was not read to its end: its size, and when it was last changed.
    Stamp {
        /// In bytes.
        size: u64,
        /// In milliseconds since 1970.
        modified_ms: i64,
    },
}

impl fmt::Display for FileMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileMark::Hash(hash) => f.write_str(hash),
            FileMark::Stamp { size, modified_ms } => write!(f, "{size}@{modified_ms}"),
        }
    }
}

impl FromStr for FileMark {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<FileMark, Self::Err> {
        match text.split_once('@') {
            Some((size, modified)) => {
                Ok(FileMark::Stamp { size: size.parse()?, modified_ms: modified.parse()? })
            }
            None => Ok(FileMark::Hash(text.to_owned())),
        }
    }
}

/// One version of a file, as a session has seen it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownVersion {
    /// What it is recognised by.
    pub mark: FileMark,
    /// Its bytes; none where they are too many, or not kept any more.
    pub content: Option<Arc<[u8]>>,
}

/// Keeps, for each session, the last version that it has seen of each file. Implemented by `toolpost-store`; called through the
/// context of a running call.
pub trait KnownFiles: Send + Sync {
    /// Bytes of the largest file whose content is kept.
    fn largest(&self) -> u64;

    /// Keeps what a session has seen of a file, in place of what it has seen of it before. Never waits.
    fn note(&self, viewer: Viewer<'_>, name: &str, version: KnownVersion);

    /// What a session has last seen of a file. `now` is what is there: where the session knows it as that, nobody looks further.
    /// Blocks.
    fn known(&self, viewer: Viewer<'_>, name: &str, now: Option<&FileMark>) -> Option<KnownVersion>;

    /// Forgets a file that the session has removed. Never waits.
    fn forget(&self, viewer: Viewer<'_>, name: &str);
}

impl Context {
    fn known_files(&self) -> Option<(&dyn KnownFiles, Viewer<'_>)> {
        let ids = self.ids();
        let activation = ids.activation.as_deref().unwrap_or_default();
        self.known_files_of_host().map(|files| (files, Viewer { session: &ids.session, activation }))
    }

    /// Whether it is known what this session has seen of files.
    pub fn keeps_versions(&self) -> bool {
        self.known_files().is_some()
    }

    /// Bytes of the largest file of which the content is kept with its version; 0 where nothing is kept.
    pub fn largest_version(&self) -> u64 {
        self.known_files().map_or(0, |(files, _)| files.largest())
    }

    /// The version of a file that this session has last seen, where `now` is there. None in a dry run for what the dry run
    /// itself has changed. Blocks.
    pub fn known_version(&self, name: &str, now: Option<&FileMark>) -> Option<KnownVersion> {
        let overlay = self.running().overlay.as_ref();
        if overlay.is_some_and(|overlay| overlay.touched_since(0).iter().any(|touched| touched.path == name))
        {
            return None;
        }
        let (files, viewer) = self.known_files()?;
        files.known(viewer, name, now)
    }

    /// Notes that this session has seen this version of a file. What is only tried is not noted.
    pub fn note_version(&self, name: &str, mark: FileMark, content: Option<Arc<[u8]>>) {
        if let Some((files, viewer)) = self.known_files().filter(|_| !self.is_dry_run()) {
            let content = content.filter(|content| content.len() as u64 <= files.largest());
            files.note(viewer, name, KnownVersion { mark, content });
        }
    }

    /// Notes that this session has removed a file.
    pub fn forget_version(&self, name: &str) {
        if let Some((files, viewer)) = self.known_files().filter(|_| !self.is_dry_run()) {
            files.forget(viewer, name);
        }
    }

    /// Whether a file is still the version that this session has seen, also where this call may not read it. Blocks.
    pub fn is_still(&self, name: &str, known: &KnownVersion) -> bool {
        let Ok(mut file) = self.host_workspace().open(&WorkspacePath::new(name)) else { return false };
        let FileMark::Hash(hash) = &known.mark else {
            let (size, modified_ms) = (file.stat.size, file.stat.modified_ms);
            return known.mark == FileMark::Stamp { size, modified_ms };
        };
        if file.stat.size > LARGEST_HASHED {
            return false;
        }
        let (mut hasher, mut chunk) = (Sha256::new(), vec![0; 64 << 10]);
        loop {
            match file.reader.read(&mut chunk) {
                Ok(0) => return hex(&hasher.finalize()) == *hash,
                Ok(count) => hasher.update(&chunk[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
            if self.checkpoint().is_err() {
                return false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_as_it_was_written() {
        for mark in [
            FileMark::Hash("ab12".to_owned()),
            FileMark::Stamp { size: 7, modified_ms: -3 },
            FileMark::Stamp { size: 0, modified_ms: 1_700_000_000_000 },
        ] {
            assert_eq!(mark.to_string().parse::<FileMark>().unwrap(), mark);
        }
        assert!("7@x".parse::<FileMark>().is_err());
    }
}
