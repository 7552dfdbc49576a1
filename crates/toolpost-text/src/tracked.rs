//! The names in a repository's index: what git shows whatever its ignore files say.

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
            // An index does not say how long its hashes are; with the wrong length nothing adds up.
            let mut names = names(&bytes, 20).or_else(|| names(&bytes, 32)).unwrap_or_default();
            names.sort_unstable();
            names
        })
    }
}

/// The names of an index of version 2, 3 or 4; `None` where it cannot be read so.
fn names(bytes: &[u8], hash: usize) -> Option<Vec<Box<[u8]>>> {
    let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    if bytes.get(..4)? != b"DIRC" {
        return None;
    }
    let version = number(4)?;
    let count = number(8)?;
    let mut names: Vec<Box<[u8]>> = Vec::new();
    let mut last: Vec<u8> = Vec::new();
    let mut at = 12;
    for _ in 0..count {
        let start = at;
        at += 40 + hash;
        let flags = u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?);
        at += 2;
        if version >= 3 && flags & 0x4000 != 0 {
            at += 2;
        }
        if version >= 4 {
            let (strip, used) = offset(bytes.get(at..)?)?;
            at += used;
            last.truncate(last.len().checked_sub(strip)?);
        } else {
            last.clear();
        }
        let length = bytes.get(at..)?.iter().position(|byte| *byte == 0)?;
        last.extend_from_slice(&bytes[at..at + length]);
        at += length + 1;
        if version < 4 {
            at = start + (at - start).next_multiple_of(8);
        }
        let known = usize::from(flags & 0x0fff);
        if last.is_empty() || known != last.len().min(0x0fff) {
            return None;
        }
        names.push(last.as_slice().into());
    }
    Some(names)
}

/// The variable-length number of version 4, and how many bytes it has.
fn offset(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = usize::from(bytes.first()? & 0x7f);
    let mut used = 1;
    while bytes[used - 1] & 0x80 != 0 {
        let byte = *bytes.get(used)?;
        value = value.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
        used += 1;
    }
    Some((value, used))
}
