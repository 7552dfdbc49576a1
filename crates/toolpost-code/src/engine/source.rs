//! Files and cache together: where facts come from.

use std::sync::Arc;
use std::thread;

use sha2::{Digest as _, Sha256};

use super::STACK;
use crate::facts::{Facts, Name, decode, encode};
use crate::files::{Cache, Files};
use crate::language::Language;
use crate::languages;
use crate::world::{ContentHash, Loader};

/// The largest file that is understood, in bytes. What is larger was made by a program.
pub(super) const LARGEST: u64 = 4 << 20;

pub(super) struct Source {
    pub(super) files: Arc<dyn Files>,
    pub(super) cache: Arc<dyn Cache>,
    pub(super) languages: Vec<&'static dyn Language>,
}

pub(super) fn content_hash(bytes: &[u8]) -> ContentHash {
    let mut hash = ContentHash::default();
    hash.0.copy_from_slice(&Sha256::digest(bytes)[..16]);
    hash
}

impl Source {
    pub(super) fn new(
        files: Arc<dyn Files>,
        cache: Arc<dyn Cache>,
        languages: Vec<&'static dyn Language>,
    ) -> Source {
        Source { files, cache, languages }
    }

    pub(super) fn is_manifest(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.languages.iter().any(|language| language.manifests().contains(&name))
    }

    /// Facts depend on the content and, in some languages, on the name of the file.
    fn key(&self, path: &str, language: u8, content: ContentHash) -> String {
        use std::fmt::Write as _;
        let name = path.rsplit('/').next().unwrap_or(path);
        let mut key = format!("facts-{}-", self.languages[usize::from(language)].name());
        for byte in content.0 {
            let _ = write!(key, "{byte:02x}");
        }
        let _ = write!(key, "-{:08x}", Name::of(name).0 as u32);
        key
    }

    /// The facts of a content: those kept from an earlier run, or else new ones, and whether they are new.
    pub(super) fn facts_of(
        &self,
        parser: &mut tree_sitter::Parser,
        path: &str,
        language: u8,
        content: ContentHash,
        bytes: &[u8],
    ) -> (Facts, bool) {
        let key = self.key(path, language, content);
        if let Some(kept) = self.cache.get(&key)
            && let Ok(facts) = decode(&kept)
        {
            return (facts, false);
        }
        let facts = languages::extract_with(parser, self.languages[usize::from(language)], path, bytes);
        self.cache.gather(&key, &encode(&facts));
        (facts, true)
    }
}

impl Loader for Source {
    fn load(&self, path: &str, language: u8, content: ContentHash) -> Option<Facts> {
        let kept = self.cache.get(&self.key(path, language, content));
        if let Some(facts) = kept.and_then(|kept| decode(&kept).ok()) {
            return Some(facts);
        }
        let bytes = self.files.read(path).ok().filter(|bytes| bytes.len() as u64 <= LARGEST)?;
        let content = content_hash(&bytes);
        // The asking thread may have little stack left.
        thread::scope(|scope| {
            let work = || {
                let mut parser = tree_sitter::Parser::new();
                self.facts_of(&mut parser, path, language, content, &bytes).0
            };
            thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).ok()?.join().ok()
        })
    }
}
