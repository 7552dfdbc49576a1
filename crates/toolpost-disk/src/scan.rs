//! The quick scan: one thread a core, each folder opened once beneath its root, its files by their last name.
//!
//! A folder's handle is got by one `openat2` that follows no link, so what it holds needs no second look at its name,
//! and a name of one part opened beneath it, links refused, cannot lead anywhere else.
//!
//! A warm list of the tree would take the place of reading folders here; candidates stay what they are.

mod candidate;
pub(crate) mod folder;
mod queue;

use self::folder::{Found, OpenFolder};
use self::queue::{Queue, Work};
use super::outer::{self, Excludes};
use super::roots::{Failure, Roots};
use candidate::{FileCandidate, LinkCandidate};
use rustix::fs::OFlags;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use toolpost_core::workspace::implement::place::Place;
use toolpost_core::workspace::{Kind, ScanOptions, Scanned, Visit, Worker};
use toolpost_walk::{Rules, Verdict};

/// More threads gain nothing: they wait for the same disk and the same queue.
const MOST_THREADS: usize = 12;
/// Files of a larger folder are shared out among the threads, so many at a time.
const BATCH: usize = 64;
/// So many are visited before a thread looks at the clock, and whether others have nothing to do.
const STRETCH: usize = 32;

/// Hands every file below a place to the visitor. Blocking.
pub(super) fn scan(
    roots: &Roots,
    place: &Place,
    options: ScanOptions,
    excludes: &Excludes,
    visit: &dyn Visit,
) -> Result<Scanned, Failure> {
    let place = roots.resolve(place)?.place;
    // What is there is found out before any thread starts, and refused as by every other operation.
    let first = OpenFolder::open(roots, place.root, &place.parts.join("/"))?;
    let rules = match options.no_ignore {
        true => Arc::new(Rules::default()),
        false => rules(roots, &place, excludes),
    };
    let scan = Scan {
        roots,
        root: place.root,
        options,
        visit,
        queue: Queue::default(),
        stopped: AtomicBool::new(false),
        not_utf8: AtomicU64::new(0),
        unreadable: Mutex::default(),
    };
    let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get().min(MOST_THREADS));
    scan.queue.push(Work::Folder { below: first.below.clone(), rules });
    drop(first);
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| scan.work());
        }
        scan.work();
    });
    let mut scanned = scan.unreadable.into_inner().unwrap_or_else(PoisonError::into_inner);
    scanned.not_utf8 = scan.not_utf8.into_inner();
    scanned.stopped = scan.stopped.into_inner();
    Ok(scanned)
}

/// The rules that hold above and in the folders down to the place, not yet those of its own files.
fn rules(roots: &Roots, place: &Place, excludes: &Excludes) -> Arc<Rules> {
    let root = &roots.names[place.root].path;
    // Where the root's own repository lies elsewhere, reading the root finds that out again.
    let (mut rules, _) = Rules::outside(outer::rules(root, excludes));
    for known in 0..place.parts.len() {
        let below = place.parts[..known].join("/");
        if let Ok(folder) = OpenFolder::open(roots, place.root, &below) {
            rules = rules.below(&folder.absolute, folder.ignore_files(None));
        }
    }
    rules
}

struct Scan<'a> {
    roots: &'a Roots,
    root: usize,
    options: ScanOptions,
    visit: &'a dyn Visit,
    queue: Queue,
    stopped: AtomicBool,
    not_utf8: AtomicU64,
    unreadable: Mutex<Scanned>,
}

impl Scan<'_> {
    fn work(&self) {
        // Also where a visitor panics, the others must not wait for it.
        let _ends = self.queue.end_on_panic();
        let mut worker = self.visit.worker();
        let mut buffer = Vec::with_capacity(folder::BUFFER);
        let mut name = String::new();
        while let Some(work) = self.queue.next() {
            if self.should_stop() {
                self.queue.end();
                return;
            }
            match work {
                Work::Folder { below, rules } => {
                    self.folder(&below, &rules, &mut buffer, &mut |folder, found| {
                        self.file(worker.as_mut(), folder, found, &mut name);
                    })
                }
                Work::Files { folder, files } => {
                    for (index, found) in files.iter().enumerate() {
                        if index % STRETCH == 0 && self.should_stop() {
                            break;
                        }
                        self.file(worker.as_mut(), &folder, found, &mut name);
                    }
                }
            }
            self.queue.done();
        }
    }

    fn should_stop(&self) -> bool {
        if self.stopped.load(Ordering::Relaxed) {
            return true;
        }
        let stop = self.visit.should_stop();
        if stop {
            self.stopped.store(true, Ordering::Relaxed);
        }
        stop
    }

    /// Reads a folder: its folders go to the queue, its files are visited, by others too where there are many.
    fn folder(
        &self,
        below: &str,
        above: &Arc<Rules>,
        buffer: &mut Vec<u8>,
        visit: &mut dyn FnMut(&OpenFolder, &Found),
    ) {
        let folder = match OpenFolder::open(self.roots, self.root, below) {
            Ok(folder) => Arc::new(folder),
            // Gone, or a link by now.
            Err(Failure::Loop | Failure::Changed | Failure::NotAFolder) => return,
            Err(Failure::System(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR)) => return,
            Err(_) => return self.unreadable(&OpenFolder::display(self.roots, self.root, below)),
        };
        let mut rules: Option<Arc<Rules>> = None;
        let mut path = folder.absolute_prefix();
        let prefix = path.len();
        let read = folder.read(buffer, &mut |entries, all| {
            let rules = rules.get_or_insert_with(|| match self.options.no_ignore {
                true => Arc::clone(above),
                false => above.below(&folder.absolute, folder.ignore_files(all.then_some(&*entries))),
            });
            let mut folders = Vec::new();
            entries.retain(|found| {
                if found.name.starts_with('.')
                    && (!self.options.hidden || found.name == ".git" && !self.options.no_ignore)
                {
                    return false;
                }
                if !found.exact {
                    self.not_utf8.fetch_add(1, Ordering::Relaxed);
                    return false;
                }
                if found.kind == Kind::Special {
                    return false;
                }
                path.truncate(prefix);
                path.push_str(&found.name);
                let is_folder = found.kind == Kind::Folder;
                let verdict = rules.judge(&path, is_folder);
                if verdict == Verdict::LeftOut || !is_folder {
                    return verdict != Verdict::LeftOut;
                }
                if self.visit.admits(&format!("{}{}", folder.prefix, found.name)) {
                    let rules = match verdict {
                        Verdict::OnlyTracked => rules.only_tracked(),
                        _ => Arc::clone(rules),
                    };
                    folders.push(Work::Folder { below: folder.below(&found.name), rules });
                }
                false
            });
            self.queue.extend(folders);
            while !entries.is_empty() && !self.should_stop() {
                if entries.len() > BATCH && self.queue.is_hungry() {
                    let files = entries.split_off(entries.len() - BATCH);
                    self.queue.push(Work::Files { folder: Arc::clone(&folder), files });
                    continue;
                }
                for found in entries.drain(..entries.len().min(STRETCH)) {
                    visit(&folder, &found);
                }
            }
            !self.stopped.load(Ordering::Relaxed)
        });
        if read.is_err() {
            self.unreadable(folder.prefix.trim_end_matches('/'));
        }
    }

    fn file(&self, worker: &mut dyn Worker, folder: &OpenFolder, found: &Found, name: &mut String) {
        name.clear();
        name.push_str(&folder.prefix);
        name.push_str(&found.name);
        if !self.visit.wants(name) || !self.visit.admits(name) {
            return;
        }
        match found.kind {
            Kind::Link => worker.visit(&mut LinkCandidate::new(self.roots, self.root, folder, found, name)),
            _ => worker.visit(&mut FileCandidate::new(folder, found, name)),
        }
    }

    fn unreadable(&self, name: &str) {
        self.unreadable.lock().unwrap_or_else(PoisonError::into_inner).unreadable(name);
    }
}

/// How a folder is opened to be read.
const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NONBLOCK).union(OFlags::NOFOLLOW);
