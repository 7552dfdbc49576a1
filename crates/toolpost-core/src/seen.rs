//! What the model has been shown in this run, so that the same text is not paid for twice.
//!
//! Only a kernel, which owns the transcript, knows this; it puts a [`Seen`] into the context's
//! [`Extra`](crate::Extra). Elsewhere there is none, and everything is shown.

use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// A ledger of shown texts, by file and range.
#[derive(Debug, Default)]
pub struct Seen(Mutex<HashMap<(String, String), [u8; 32]>>);

impl Seen {
    /// An empty ledger.
    pub fn new() -> Seen {
        Seen::default()
    }

    /// Whether exactly this text was the last one shown for this range of this file. Notes it down either way.
    pub fn is_unchanged(&self, file: &str, range: &str, text: &[u8]) -> bool {
        let hash: [u8; 32] = Sha256::digest(text).into();
        let mut shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shown.insert((file.to_owned(), range.to_owned()), hash) == Some(hash)
    }

    /// Forgets a file, because the transcript no longer holds what was shown of it.
    pub fn forget(&self, file: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|(name, _), _| name != file);
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
}
