//! What the model has been shown in this run, so that the same text is not paid for twice, and nothing is overwritten that
//! it does not know.
//!
//! Only a kernel, which owns the transcript, knows this; it puts a [`Seen`] into the context's
//! [`Extra`](crate::host::Extra). Elsewhere there is none, and everything is shown.

use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A ledger of shown texts, by file and range, and of the state in which each file is known.
#[derive(Debug, Default)]
pub struct Seen {
    shown: Mutex<HashMap<(String, String), [u8; 32]>>,
    /// The hash of the content that the model knows, by file.
    known: Mutex<HashMap<String, String>>,
}

impl Seen {
    /// An empty ledger.
    pub fn new() -> Seen {
        Seen::default()
    }

    /// Whether exactly this text was the last one shown for this range of this file. Notes it down either way.
    pub fn is_unchanged(&self, file: &str, range: &str, text: &[u8]) -> bool {
        let hash: [u8; 32] = Sha256::digest(text).into();
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.insert((file.to_owned(), range.to_owned()), hash) == Some(hash)
    }

    /// Forgets a file, because the transcript no longer holds what was shown of it.
    pub fn forget(&self, file: &str) {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).retain(|(name, _), _| name != file);
        self.known().remove(file);
    }

    /// Forgets every file, because the transcript was shortened.
    pub fn forget_all(&self) {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.known().clear();
    }

    /// Notes that the model knows the whole file in the state of this hash: it has read it, or written it.
    pub fn knows(&self, file: &str, hash: &str) {
        self.known().insert(file.to_owned(), hash.to_ascii_lowercase());
    }

    /// Whether the model knows the file in any state.
    pub fn is_noted(&self, file: &str) -> bool {
        self.known().contains_key(file)
    }

    /// Whether the model knows the file in the state of this hash.
    pub fn is_known(&self, file: &str, hash: &str) -> bool {
        self.known().get(file).is_some_and(|known| known.eq_ignore_ascii_case(hash))
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_unchanged_only_when_it_was_the_last() {
        let seen = Seen::new();
        assert!(!seen.is_unchanged("a", "1+5", b"x"));
        assert!(seen.is_unchanged("a", "1+5", b"x"));
        assert!(!seen.is_unchanged("a", "1+9", b"x"));
        assert!(!seen.is_unchanged("a", "1+5", b"y"));
        seen.forget("a");
        assert!(!seen.is_unchanged("a", "1+5", b"y"));
    }

    #[test]
    fn a_file_is_known_in_one_state() {
        let seen = Seen::new();
        assert!(!seen.is_known("a", "12ab"));
        seen.knows("a", "12AB");
        assert!(seen.is_known("a", "12ab") && !seen.is_known("b", "12ab"));
        seen.knows("a", "34cd");
        assert!(!seen.is_known("a", "12ab"));
        seen.forget("a");
        assert!(!seen.is_known("a", "34cd"));
    }
}
