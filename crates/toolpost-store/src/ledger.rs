//! What the sessions of this process have seen of files: in memory at once, and in the store a moment later.
//!
//! A read waits for nothing here. What was seen in the last moment before a process is killed may be lost.

mod memory;

use crate::store::now_ms;
use memory::Memory;
use std::collections::HashMap;
use std::mem::take;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::oneshot;
use toolpost_core::host::{BoxFuture, FileMark, KnownFiles, KnownVersion, Viewer};
use toolpost_core::store::{KnownFile, Store};

/// Bytes of the largest file whose content is kept.
const LARGEST: u64 = 250_000;
/// The longest time that something waits to be written where nobody asks for it.
const DELAY: Duration = Duration::from_millis(500);
/// Maximum number of bytes of contents that wait; with more, only the marks of further files are written.
const MOST_WAITING: usize = 32 << 20;
/// With so many, what waits is written at once.
const MANY_WAITING: usize = 8 << 20;

/// Whether the content of a file may be written into the store, by its name and its bytes.
pub type MayKeep = Box<dyn Fn(&str, &[u8]) -> bool + Send + Sync>;

/// Knows what sessions have seen of the files of one workspace.
pub struct FileLedger {
    memory: Mutex<Memory>,
    kept: Option<Kept>,
}

/// What is kept after the process.
struct Kept {
    store: Arc<dyn Store>,
    workspace: String,
    waiting: Arc<Waiting>,
    may_keep: Arc<MayKeep>,
    /// Empty until something was seen; none where the thread could not be started.
    thread: OnceLock<Option<JoinHandle<()>>>,
}

/// What waits to be written, and who waits for it.
#[derive(Default)]
struct Waiting {
    heap: Mutex<Heap>,
    is_due: Condvar,
}

#[derive(Default)]
struct Heap {
    files: HashMap<(String, String, String), KnownFile>,
    bytes: usize,
    waiting: Vec<oneshot::Sender<()>>,
    is_over: bool,
    is_left: bool,
}

impl Waiting {
    fn heap(&self) -> MutexGuard<'_, Heap> {
        self.heap.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for something, and then for what comes with it. None where nothing more can come.
    fn take(&self) -> Option<Heap> {
        let is_quiet = |heap: &mut Heap| heap.waiting.is_empty() && !heap.is_over;
        let heap = self.is_due.wait_while(self.heap(), |heap| is_quiet(heap) && heap.files.is_empty());
        let heap = heap.unwrap_or_else(PoisonError::into_inner);
        let heap =
            self.is_due.wait_timeout_while(heap, DELAY, |heap| is_quiet(heap) && heap.bytes < MANY_WAITING);
        let (mut heap, _) = heap.unwrap_or_else(PoisonError::into_inner);
        let is_over = heap.is_over;
        let taken =
            Heap { files: take(&mut heap.files), waiting: take(&mut heap.waiting), ..Heap::default() };
        heap.bytes = 0;
        (!is_over || !taken.files.is_empty() || !taken.waiting.is_empty()).then_some(taken)
    }
}

impl FileLedger {
    /// A ledger that ends with its process.
    pub fn in_memory() -> FileLedger {
        FileLedger { memory: Mutex::default(), kept: None }
    }

    /// A ledger of the workspace whose root has this canonical path, kept in a store. Of a file that `may_keep` refuses, only
    /// the hash is kept there.
    pub fn new(store: Arc<dyn Store>, workspace: impl Into<String>, may_keep: MayKeep) -> FileLedger {
        let kept = Kept {
            store,
            workspace: workspace.into(),
            waiting: Arc::default(),
            may_keep: Arc::new(may_keep),
            thread: OnceLock::new(),
        };
        FileLedger { memory: Mutex::default(), kept: Some(kept) }
    }

    /// Waits until everything that was seen so far is in the store, or could not be written.
    pub fn commit(&self) -> BoxFuture<'static, ()> {
        let Some(kept) = self.kept.as_ref().filter(|kept| kept.thread.get().is_some()) else {
            return Box::pin(async {});
        };
        let (answer, done) = oneshot::channel();
        let mut heap = kept.waiting.heap();
        if !heap.is_left {
            heap.waiting.push(answer);
        }
        drop(heap);
        kept.waiting.is_due.notify_one();
        Box::pin(async {
            let _ = done.await;
        })
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn start(&self) -> Option<JoinHandle<()>> {
        let (store, waiting) = (Arc::clone(&self.store), Arc::clone(&self.waiting));
        let may_keep = Arc::clone(&self.may_keep);
        let thread = std::thread::Builder::new().name("toolpost-seen".to_owned());
        thread.spawn(move || serve(&*store, &waiting, &may_keep)).ok()
    }

    fn add(&self, viewer: Viewer<'_>, name: &str, at_us: u64, version: Option<KnownVersion>) {
        if self.thread.get_or_init(|| self.start()).is_none() {
            return;
        }
        let mut file = KnownFile {
            workspace: self.workspace.clone(),
            session: viewer.session.to_owned(),
            activation: viewer.activation.to_owned(),
            name: name.to_owned(),
            at_us,
            version,
        };
        let key = (file.session.clone(), file.activation.clone(), file.name.clone());
        let mut heap = self.waiting.heap();
        if let Some(version) = &mut file.version
            && heap.bytes > MOST_WAITING
        {
            version.content = None;
        }
        let size = |file: &KnownFile| -> usize {
            let version = file.version.as_ref();
            version.and_then(|version| version.content.as_ref()).map_or(0, |content| content.len())
        };
        let bytes = size(&file);
        let is_first = heap.files.is_empty();
        let before = heap.files.insert(key, file).as_ref().map_or(0, size);
        heap.bytes = heap.bytes + bytes - before;
        let is_due = is_first || heap.bytes >= MANY_WAITING;
        drop(heap);
        if is_due {
            self.waiting.is_due.notify_one();
        }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.waiting.heap().is_over = true;
        self.waiting.is_due.notify_one();
        if let Some(thread) = self.thread.take().flatten() {
            let _ = thread.join();
        }
    }
}

fn serve(store: &dyn Store, waiting: &Waiting, may_keep: &MayKeep) {
    while let Some(heap) = waiting.take() {
        let mut files: Vec<KnownFile> = heap.files.into_values().collect();
        for file in &mut files {
            if let Some(version) = &mut file.version
                && version.content.as_ref().is_some_and(|content| !may_keep(&file.name, content))
            {
                version.content = None;
            }
        }
        // What cannot be written is known in this process all the same. The store may be busy, so it is tried once more.
        if !files.is_empty() && store.keep_known(files.clone()).is_err() {
            let _ = store.keep_known(files);
        }
        for answer in heap.waiting {
            let _ = answer.send(());
        }
    }
    let mut heap = waiting.heap();
    heap.is_left = true;
    heap.waiting.clear();
}

fn now_us() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or_else(|_| now_ms().saturating_mul(1_000))
}

impl KnownFiles for FileLedger {
    fn largest(&self) -> u64 {
        LARGEST
    }

    fn note(&self, viewer: Viewer<'_>, name: &str, version: KnownVersion) {
        let at_us = now_us();
        let is_new = self.memory().note(viewer, name, at_us, version.clone());
        if let Some(kept) = self.kept.as_ref().filter(|_| is_new) {
            kept.add(viewer, name, at_us, Some(version));
        }
    }

    fn known(&self, viewer: Viewer<'_>, name: &str, now: Option<&FileMark>) -> Option<KnownVersion> {
        let own = self.memory().get(viewer, name);
        let is_as_known = own
            .as_ref()
            .is_some_and(|(_, version)| version.as_ref().is_some_and(|version| Some(&version.mark) == now));
        let Some(kept) = self.kept.as_ref().filter(|_| !is_as_known) else { return own?.1 };
        // Another process may have seen more of the same session, or this one may hold only the mark any more.
        let stored = kept.store.known_file(&kept.workspace, viewer, name).ok().flatten();
        match (own, stored) {
            (Some((at_us, own)), Some(stored)) if stored.at_us <= at_us => {
                let own = own?;
                let stored = stored.version.filter(|stored| own.content.is_none() && stored.mark == own.mark);
                Some(stored.unwrap_or(own))
            }
            (own, None) => own?.1,
            (_, Some(stored)) => stored.version,
        }
    }

    fn forget(&self, viewer: Viewer<'_>, name: &str) {
        let at_us = now_us();
        self.memory().forget(viewer, name, at_us);
        if let Some(kept) = &self.kept {
            kept.add(viewer, name, at_us, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIEWER: Viewer<'static> = Viewer { session: "s", activation: "" };

    fn version(text: &str) -> KnownVersion {
        KnownVersion {
            mark: FileMark::Hash(crate::files::hash(text.as_bytes())),
            content: Some(text.as_bytes().into()),
        }
    }

    fn ledger(store: &Arc<dyn Store>) -> FileLedger {
        let may_keep: MayKeep = Box::new(|name, content| name != ".env" && content != b"secret\n");
        FileLedger::new(Arc::clone(store), "/repo", may_keep)
    }

    #[test]
    fn what_was_seen_is_known_to_the_next_process() {
        let store = crate::open(&crate::StoreUrl::Memory).unwrap();
        let first = ledger(&store);
        first.note(VIEWER, "a", version("one\n"));
        first.note(VIEWER, "a", version("two\n"));
        first.note(VIEWER, "b", version("b\n"));
        first.note(VIEWER, ".env", version("x\n"));
        first.note(VIEWER, "c", version("secret\n"));
        first.forget(VIEWER, "b");
        assert_eq!(first.known(VIEWER, "a", None), Some(version("two\n")));
        drop(first);
        let next = ledger(&store);
        assert_eq!(next.known(VIEWER, "a", None), Some(version("two\n")));
        assert_eq!(next.known(VIEWER, "b", None), None);
        for (name, text) in [(".env", "x\n"), ("c", "secret\n")] {
            let known = next.known(VIEWER, name, None).unwrap();
            assert_eq!(known, KnownVersion { content: None, ..version(text) }, "only its hash");
            assert_eq!(store.content(&crate::files::hash(text.as_bytes())).unwrap(), None);
        }
        let other = Viewer { session: "s", activation: "run" };
        assert_eq!(next.known(other, "a", None), None);
        assert_eq!(store.content(&crate::files::hash(b"two\n")).unwrap().as_deref(), Some(&b"two\n"[..]));
        // What two processes of a session have seen: the later one holds.
        let beside = ledger(&store);
        beside.note(VIEWER, "a", version("three\n"));
        drop(beside);
        next.note(VIEWER, "d", version("d\n"));
        assert_eq!(next.known(VIEWER, "a", None), Some(version("three\n")));
    }

    #[test]
    fn nothing_waits_for_a_store_that_fails() {
        let url = crate::StoreUrl::Sqlite("/proc/none/store.db".into());
        let store = crate::open_when_used(&url);
        let ledger = ledger(&store);
        ledger.note(VIEWER, "a", version("one\n"));
        assert_eq!(ledger.known(VIEWER, "a", None), Some(version("one\n")));
        assert_eq!(ledger.known(VIEWER, "b", None), None);
    }
}
