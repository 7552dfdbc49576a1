//! What this process knows itself: the last versions, of which the oldest go where there are too many.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use toolpost_core::host::{KnownVersion, Viewer};

/// Maximum number of files of one viewer, and of all.
const MOST_FILES: usize = 2_000;
const MOST_FILES_OF_ALL: usize = 20_000;
/// Maximum number of bytes of contents; past it only the marks of the oldest are known.
const MOST_BYTES: usize = 32 << 20;

#[derive(Default)]
pub(super) struct Memory {
    viewers: HashMap<Arc<str>, Files>,
    /// What was noted, the oldest first, by a number that grows.
    order: BTreeMap<u64, (Arc<str>, Arc<str>)>,
    /// The same of those whose content is here.
    with_content: BTreeMap<u64, (Arc<str>, Arc<str>)>,
    bytes: usize,
    next: u64,
}

#[derive(Default)]
struct Files {
    files: HashMap<Arc<str>, Entry>,
    order: BTreeMap<u64, Arc<str>>,
}

struct Entry {
    number: u64,
    at_us: u64,
    /// None where the file was removed.
    version: Option<KnownVersion>,
}

impl Entry {
    fn bytes(&self) -> usize {
        let content = self.version.as_ref().and_then(|version| version.content.as_ref());
        content.map_or(0, |content| content.len())
    }

    fn has_content(&self) -> bool {
        self.version.as_ref().is_some_and(|version| version.content.is_some())
    }
}

fn key(viewer: Viewer<'_>) -> Arc<str> {
    // A session has no NUL in its name.
    match viewer.activation {
        "" => viewer.session.into(),
        activation => format!("{}\0{activation}", viewer.session).into(),
    }
}

impl Memory {
    /// Notes a version. Returns whether it is another than the one that was known.
    pub(super) fn note(&mut self, viewer: Viewer<'_>, name: &str, at_us: u64, version: KnownVersion) -> bool {
        let viewer = key(viewer);
        let is_new = self.entry(&viewer, name).is_none_or(|entry| {
            let known = entry.version.as_ref();
            known.is_none_or(|known| {
                known.mark != version.mark || (known.content.is_none() && version.content.is_some())
            })
        });
        self.put(viewer, name, at_us, Some(version));
        is_new
    }

    pub(super) fn forget(&mut self, viewer: Viewer<'_>, name: &str, at_us: u64) {
        self.put(key(viewer), name, at_us, None);
    }

    /// When something was last noted of a file, and the version; none where it was removed.
    pub(super) fn get(&self, viewer: Viewer<'_>, name: &str) -> Option<(u64, Option<KnownVersion>)> {
        self.entry(&key(viewer), name).map(|entry| (entry.at_us, entry.version.clone()))
    }

    fn entry(&self, viewer: &str, name: &str) -> Option<&Entry> {
        self.viewers.get(viewer)?.files.get(name)
    }

    fn put(&mut self, viewer: Arc<str>, name: &str, at_us: u64, version: Option<KnownVersion>) {
        self.remove(&viewer, name);
        self.next += 1;
        let (number, name): (u64, Arc<str>) = (self.next, name.into());
        let entry = Entry { number, at_us, version };
        let place = (Arc::clone(&viewer), Arc::clone(&name));
        if entry.has_content() {
            self.bytes += entry.bytes();
            self.with_content.insert(number, place.clone());
        }
        self.order.insert(number, place);
        let files = self.viewers.entry(Arc::clone(&viewer)).or_default();
        files.order.insert(number, Arc::clone(&name));
        files.files.insert(name, entry);
        if files.files.len() > MOST_FILES
            && let Some(oldest) = files.order.values().next().cloned()
        {
            self.remove(&viewer, &oldest);
        }
        if self.order.len() > MOST_FILES_OF_ALL
            && let Some((viewer, name)) = self.order.values().next().cloned()
        {
            self.remove(&viewer, &name);
        }
        while self.bytes > MOST_BYTES
            && let Some((_, (viewer, name))) = self.with_content.pop_first()
        {
            let entry = self.viewers.get_mut(&viewer).and_then(|files| files.files.get_mut(&name));
            let Some(entry) = entry else { continue };
            self.bytes -= entry.bytes();
            if let Some(version) = &mut entry.version {
                version.content = None;
            }
        }
    }

    fn remove(&mut self, viewer: &str, name: &str) {
        let Some(files) = self.viewers.get_mut(viewer) else { return };
        let Some(entry) = files.files.remove(name) else { return };
        files.order.remove(&entry.number);
        if files.files.is_empty() {
            self.viewers.remove(viewer);
        }
        self.order.remove(&entry.number);
        if self.with_content.remove(&entry.number).is_some() {
            self.bytes -= entry.bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolpost_core::host::FileMark;

    fn version(number: usize, bytes: usize) -> KnownVersion {
        KnownVersion { mark: FileMark::Hash(number.to_string()), content: Some(vec![b'x'; bytes].into()) }
    }

    #[test]
    fn it_is_bounded_in_files_and_bytes() {
        let mut memory = Memory::default();
        let one = Viewer { session: "one", activation: "" };
        for number in 0..MOST_FILES + 10 {
            assert!(memory.note(one, &number.to_string(), 1, version(number, 20_000)));
        }
        assert!(memory.get(one, "9").is_none() && memory.get(one, "10").is_some());
        assert!(memory.bytes <= MOST_BYTES && memory.with_content.len() == MOST_BYTES / 20_000);
        let content_of = |memory: &Memory, name: &str| memory.get(one, name).unwrap().1.unwrap().content;
        assert!(content_of(&memory, "10").is_none() && content_of(&memory, "2009").is_some());
        for session in 0..MOST_FILES_OF_ALL {
            let session = session.to_string();
            memory.note(Viewer { session: &session, activation: "" }, "a", 1, version(1, 1));
        }
        assert_eq!((memory.order.len(), memory.get(one, "2009")), (MOST_FILES_OF_ALL, None));
        for session in 0..MOST_FILES_OF_ALL {
            memory.forget(Viewer { session: &session.to_string(), activation: "" }, "a", 2);
        }
        assert_eq!((memory.bytes, memory.with_content.len()), (0, 0));
    }

    #[test]
    fn what_is_known_already_is_not_new() {
        let mut memory = Memory::default();
        let (one, run) = (Viewer { session: "s", activation: "" }, Viewer { session: "s", activation: "r" });
        assert!(memory.note(one, "a", 1, version(1, 5)));
        assert!(!memory.note(one, "a", 2, version(1, 5)));
        assert!(memory.note(run, "a", 3, version(1, 5)));
        assert!(memory.note(one, "a", 4, version(2, 6)));
        assert_eq!((memory.bytes, memory.get(one, "a")), (11, Some((4, Some(version(2, 6))))));
        memory.forget(one, "a", 5);
        assert_eq!((memory.bytes, memory.get(one, "a")), (5, Some((5, None))));
        assert!(memory.note(one, "a", 6, version(2, 6)));
    }
}
