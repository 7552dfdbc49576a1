//! Tells what a command leaves at a path from what somebody else makes of it while the command runs.
//!
//! The kernel reports every close of a file that was open for writing, but not whose it was. The guard opens every file
//! that the command writes, so it knows how many closes are the command's own: one more is somebody else's. Where a path
//! holds another file than the one that the command put there, somebody else has replaced it. What the command has found or
//! moved without writing it is told from what it was then by its number, its time and its size.

use super::caller::kind;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::fs::{FileType, Stat};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::mem::MaybeUninit;
use std::ops::Bound;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Maximum number of files to watch at a time. The kernel keeps about a KiB for each.
const MOST_WATCHED: usize = 8_192;

/// The device and number of a file.
pub(super) type Id = (u64, u64);

pub(super) fn id(stat: &Stat) -> Id {
    (stat.st_dev, stat.st_ino)
}

/// What the command has put at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Placed {
    Nothing,
    Object(Id),
    /// What came from where nothing is recorded. Nothing else holds it.
    Only,
}

/// What is known of a path when the command has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Last {
    /// What is there is what the command has left, as far as was seen.
    OfCommand,
    /// The command has removed what was there, whatever is there now.
    Nothing,
    /// Somebody else has changed it.
    OfAnother,
    /// The command has left what it found, whatever is there now: it was about to change it, and did not.
    AsFound,
}

/// What was at a path that the command has not written, when it was last seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rest {
    id: Id,
    modified: (i64, u64),
    size: i64,
    mode: u32,
    /// Whether the command has moved it there.
    is_moved: bool,
    /// Whether somebody else had changed it before.
    is_foreign: bool,
}

impl Rest {
    fn of(stat: &Stat, is_moved: bool) -> Rest {
        let modified = (stat.st_mtime, stat.st_mtime_nsec);
        Rest { id: id(stat), modified, size: stat.st_size, mode: stat.st_mode, is_moved, is_foreign: false }
    }

    /// Whether nobody has written it since. Its mode may have changed. The text of a link never changes, so its time
    /// says nothing: whoever copies a link with its times sets it afterwards.
    fn is(&self, stat: &Stat) -> bool {
        let now = Rest::of(stat, self.is_moved);
        let is_link = kind(stat) == FileType::Symlink;
        (now.id, now.size) == (self.id, self.size) && (is_link || now.modified == self.modified)
    }
}

/// A file that the command has opened for writing.
#[derive(Debug, Default)]
struct Written {
    /// None where the file is gone, or not watched any more.
    watch: Option<i32>,
    /// How often the command has opened it for writing.
    opens: u64,
    /// How often it was closed, by whomever.
    closes: u64,
    path: Vec<u8>,
    is_gone: bool,
    /// Where closes cannot be counted.
    is_uncounted: bool,
}

/// What was seen of the files of a command.
#[derive(Default)]
pub(super) struct Seen {
    inotify: Option<OwnedFd>,
    written: HashMap<Id, Written>,
    watches: HashMap<i32, Id>,
    /// The watches, the oldest first.
    order: VecDeque<i32>,
    placed: BTreeMap<Vec<u8>, Placed>,
    /// The texts of the links that the command has put at paths. The number of a link that was removed may be given to
    /// another one at once.
    links: HashMap<Vec<u8>, Vec<u8>>,
    /// What was there when the command came upon it, or has moved it there.
    rest: HashMap<Vec<u8>, Rest>,
    /// Paths to which the command is about to move what somebody else has changed.
    foreign: HashSet<Vec<u8>>,
    /// Paths at which the command has replaced what somebody else had changed: what it has left holds both.
    mixed: HashSet<Vec<u8>>,
    /// Paths from which the command has moved something away. What was below them it has taken along, also where it has made a
    /// folder of the same name since.
    emptied: HashSet<Vec<u8>>,
    /// Whether the kernel had more to report than it could.
    has_missed: bool,
    /// Whether anything came from where nothing is recorded.
    has_only: bool,
}

impl Seen {
    /// Readable when a file was closed.
    pub(super) fn closes(&self) -> Option<BorrowedFd<'_>> {
        self.inotify.as_ref().map(AsFd::as_fd)
    }

    /// Before the command gets a descriptor by which it can write a file of this path.
    pub(super) fn opened(&mut self, path: Vec<u8>, file: &OwnedFd, id: Id, counts: bool) {
        self.placed.insert(path.clone(), Placed::Object(id));
        if !counts {
            return;
        }
        let watch = self.watch(file);
        let written = self.written.entry(id).or_default();
        if written.is_gone || (written.watch.is_some() && written.watch != watch) {
            // The number belongs to another file now.
            *written = Written::default();
        }
        // Closes that nobody saw leave the count wrong.
        written.is_uncounted |= watch.is_none() || (written.opens > 0 && written.watch.is_none());
        written.watch = watch;
        written.opens += 1;
        written.path = path;
        if let Some(watch) = watch
            && self.watches.insert(watch, id).is_none()
        {
            self.order.push_back(watch);
            self.drop_oldest();
        }
    }

    /// Where a file is opened by a process of its own, or in another way that is not counted.
    pub(super) fn opened_elsewhere(&mut self, id: Id) {
        self.written.entry(id).or_default().is_uncounted = true;
    }

    /// Before the command first changes what is at a path.
    pub(super) fn found(&mut self, path: &[u8], stat: &Stat) {
        if !kind(stat).is_dir() {
            self.rest.entry(path.to_vec()).or_insert(Rest::of(stat, false));
        }
    }

    /// Before the command moves something to a path, with the folder that it is in.
    pub(super) fn arrives(&mut self, from: &[u8], path: Vec<u8>, stat: &Stat) {
        if !kind(stat).is_dir() {
            let is_foreign = self.is_foreign(from, stat);
            self.rest.insert(path, Rest { is_foreign, ..Rest::of(stat, true) });
        }
    }

    /// Before the command moves a file.
    pub(super) fn moves(&mut self, from: &[u8], to: Vec<u8>, stat: &Stat) {
        match self.is_foreign(from, stat) {
            true => self.foreign.insert(to),
            false => self.foreign.remove(&to),
        };
    }

    /// Before the command replaces or removes what is at a path that it has changed before.
    pub(super) fn replaces(&mut self, path: &[u8], stat: &Stat) {
        if self.is_foreign(path, stat) {
            self.mixed.insert(path.to_vec());
        }
    }

    /// Whether what the command has left at a path holds what somebody else has changed.
    pub(super) fn is_mixed(&self, path: &[u8]) -> bool {
        self.mixed.contains(path)
    }

    /// Whether somebody else has changed what is at a path since the command came upon it, or has moved it there.
    fn is_foreign(&self, path: &[u8], stat: &Stat) -> bool {
        self.rest.contains_key(path) && self.last(path, Some(stat)) != Last::OfCommand
    }

    /// After the command has put something at a path; none for a folder.
    pub(super) fn placed(&mut self, path: Vec<u8>, stat: Option<&Stat>) {
        match stat {
            Some(stat) => {
                let is_foreign = self.foreign.remove(&path);
                self.rest.insert(path.clone(), Rest { is_foreign, ..Rest::of(stat, true) });
                self.placed.insert(path, Placed::Object(id(stat)));
            }
            None => drop(self.placed.remove(&path)),
        }
    }

    /// After the command has put a link with this text at a path.
    pub(super) fn placed_link(&mut self, path: Vec<u8>, text: Vec<u8>) {
        self.links.insert(path, text);
    }

    /// Whether the link at this path, which has this text, is another one than the command has put there.
    pub(super) fn is_other_link(&self, path: &[u8], text: &[u8]) -> bool {
        self.links.get(path).is_some_and(|known| known != text)
    }

    /// After the command has removed what was at a path.
    pub(super) fn removed(&mut self, path: Vec<u8>) {
        self.placed.insert(path, Placed::Nothing);
    }

    /// After something has come to a path from where nothing is recorded, with everything in it.
    pub(super) fn only_here(&mut self, path: Vec<u8>) {
        self.placed.insert(path, Placed::Only);
        self.has_only = true;
    }

    /// After something has moved, with everything in it.
    pub(super) fn moved(&mut self, source: &[u8], target: &[u8], exchanges: bool) {
        let (from_source, from_target) = (self.take(source), self.take(target));
        self.put(from_source, source, target);
        self.emptied.insert(source.to_vec());
        if exchanges {
            self.emptied.insert(target.to_vec());
            self.put(from_target, target, source);
        } else {
            self.removed(source.to_vec());
        }
    }

    /// Takes out what is known of a path and of those below it.
    fn take(&mut self, path: &[u8]) -> Vec<(Vec<u8>, Placed)> {
        let below = [path, b"/"].concat();
        let is_below = |known: &&Vec<u8>| known.starts_with(&below);
        let range = (Bound::Included(below.clone()), Bound::Unbounded);
        let inner = self.placed.range(range).map(|(known, _)| known).take_while(is_below).cloned();
        let all: Vec<Vec<u8>> = inner.chain([path.to_vec()]).collect();
        all.into_iter().filter_map(|path| self.placed.remove_entry(&path)).collect()
    }

    fn put(&mut self, all: Vec<(Vec<u8>, Placed)>, source: &[u8], target: &[u8]) {
        for (path, placed) in all {
            let path = [target, &path[source.len()..]].concat();
            if let Placed::Object(id) = placed
                && let Some(written) = self.written.get_mut(&id)
            {
                written.path.clone_from(&path);
            }
            self.placed.insert(path, placed);
        }
    }

    /// Takes note of what was closed. Returns the files that the command had open and has closed.
    pub(super) fn look(&mut self) -> Vec<Id> {
        let mut closed = Vec::new();
        let Some(inotify) = self.inotify.take() else { return closed };
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut events = Reader::new(&inotify, &mut buffer);
        // It does not block: an error is that there is no more.
        while let Ok(event) = events.next() {
            if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                self.has_missed = true;
            }
            let Some(id) = self.watches.get(&event.wd()).copied() else { continue };
            let Some(written) = self.written.get_mut(&id) else { continue };
            if event.events().contains(ReadFlags::IGNORED) {
                self.watches.remove(&event.wd());
                if written.watch == Some(event.wd()) {
                    (written.watch, written.is_gone) = (None, true);
                }
                continue;
            }
            written.closes += 1;
            if written.closes == written.opens {
                closed.push(id);
            }
        }
        self.inotify = Some(inotify);
        closed
    }

    /// The path of a file that the command has opened for writing, has closed, and that nobody else has changed.
    pub(super) fn closed_path(&self, id: Id) -> Option<&[u8]> {
        let written = self.written.get(&id)?;
        let is_exact = written.closes == written.opens && written.watch.is_some();
        let is_doubtful = written.is_uncounted || self.has_missed;
        (is_exact && !is_doubtful).then_some(written.path.as_slice())
    }

    /// What is known of a path at which this is, or nothing, when the command has ended.
    pub(super) fn last(&self, path: &[u8], found: Option<&Stat>) -> Last {
        if self.is_mixed(path) || (self.has_only && self.is_below_only(path)) {
            return Last::OfAnother;
        }
        let is_placed = match self.placed.get(path) {
            None | Some(Placed::Only) => false,
            Some(Placed::Nothing) => return Last::Nothing,
            Some(Placed::Object(placed)) if found.map(id) != Some(*placed) => return Last::OfAnother,
            Some(Placed::Object(_)) => true,
        };
        let rest = self.rest.get(path);
        let Some(stat) = found else {
            let is_own = rest.is_none_or(|rest| rest.is_moved) || self.is_below_removed(path);
            return if is_own { Last::OfCommand } else { Last::AsFound };
        };
        // A folder may have the number of a file that the command has written and removed.
        if kind(stat).is_dir() {
            return Last::OfCommand;
        }
        match self.written.get(&id(stat)) {
            Some(written) if written.is_uncounted => return Last::OfCommand,
            Some(written) if written.is_gone || self.has_missed => return Last::OfAnother,
            Some(written) if written.closes > written.opens => return Last::OfAnother,
            Some(_) => return Last::OfCommand,
            None => {}
        }
        match rest {
            Some(rest) if rest.is_foreign => Last::OfAnother,
            Some(rest) if rest.is(stat) => Last::OfCommand,
            Some(rest) if is_placed || rest.is_moved || rest.mode != stat.st_mode => Last::OfAnother,
            None if is_placed => Last::OfCommand,
            _ => Last::AsFound,
        }
    }

    /// Whether the command has removed or moved a folder above this path.
    fn is_below_removed(&self, path: &[u8]) -> bool {
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        ends.into_iter()
            .any(|end| self.placed.contains_key(&path[..end]) || self.emptied.contains(&path[..end]))
    }

    /// Whether what is at this path came from where nothing is recorded.
    pub(super) fn is_only_here(&self, path: &[u8]) -> bool {
        self.placed.get(path) == Some(&Placed::Only)
    }

    /// Whether this path, or one above it, came from where nothing is recorded.
    fn is_below_only(&self, path: &[u8]) -> bool {
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        ends.chain([path.len()]).any(|end| self.placed.get(&path[..end]) == Some(&Placed::Only))
    }

    /// Whether this file is what the command has last put at the path.
    pub(super) fn is_placed(&self, path: &[u8], id: Id) -> bool {
        self.placed.get(path) == Some(&Placed::Object(id))
    }

    /// Watches an open file; none where that is not possible.
    fn watch(&mut self, file: &OwnedFd) -> Option<i32> {
        if self.inotify.is_none() {
            self.inotify = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok();
        }
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        // There is a limit for each user.
        inotify::add_watch(self.inotify.as_ref()?, path, WatchFlags::CLOSE_WRITE).ok()
    }

    /// Files that are closed need not be watched for ever.
    fn drop_oldest(&mut self) {
        while self.order.len() > MOST_WATCHED {
            let Some(watch) = self.order.pop_front() else { return };
            let Some(id) = self.watches.remove(&watch) else { continue };
            if let Some(inotify) = &self.inotify {
                let _ = inotify::remove_watch(inotify, watch);
            }
            if let Some(written) = self.written.get_mut(&id)
                && written.watch == Some(watch)
            {
                written.watch = None;
            }
        }
    }
}
