//! The names in a repository's index: what git shows whatever its ignore files say.

use crate::GitIndex;
use std::fmt;
use std::sync::OnceLock;

/// The files that a repository tracks, read when the first name is asked for: most walks never ask.
pub struct Tracked {
    /// The absolute path of the repository's top, with a `/` at its end.
    top: String,
    load: Box<dyn Fn() -> Option<Vec<u8>> + Send + Sync>,
    names: OnceLock<Vec<Box<[u8]>>>,
}

impl fmt::Debug for Tracked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tracked").field("top", &self.top).finish_non_exhaustive()
    }
}

impl Tracked {
    /// Larger indexes (some 700,000 files) are not read; then the ignore files alone decide.
    pub const LARGEST: u64 = 64 * 1024 * 1024;

    /// The files below `top`, an absolute path; `load` gives the bytes of the index.
    pub fn new(top: &str, load: impl Fn() -> Option<Vec<u8>> + Send + Sync + 'static) -> Tracked {
        let top = format!("{}/", top.trim_end_matches('/'));
        Tracked { top, load: Box::new(load), names: OnceLock::new() }
    }

    /// Whether the file of this absolute path is tracked.
    pub fn has(&self, path: &str) -> bool {
        let Some(name) = path.strip_prefix(&self.top) else { return false };
        self.names().binary_search_by(|known| known.as_ref().cmp(name.as_bytes())).is_ok()
    }

    /// Whether anything below the folder of this absolute path is tracked.
    pub fn has_below(&self, path: &str) -> bool {
        let Some(name) = path.strip_prefix(&self.top) else { return false };
        let prefix = format!("{name}/");
        let place = self.names().partition_point(|known| known.as_ref() < prefix.as_bytes());
        self.names().get(place).is_some_and(|known| known.starts_with(prefix.as_bytes()))
    }

    fn names(&self) -> &[Box<[u8]>] {
        self.names.get_or_init(|| {
            let bytes = (self.load)().unwrap_or_default();
            let index = GitIndex::read(&bytes).map(|index| index.entries).unwrap_or_default();
            let mut names: Vec<Box<[u8]>> = index.into_iter().map(|entry| entry.name).collect();
            names.sort_unstable();
            names
        })
    }
}
