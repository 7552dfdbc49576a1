//! What is about to change is written down first, where somebody wants to be able to take it back.

use super::Guard;
use super::caller::{Place, kind, path_of};
use super::seen::id;
use super::spool::{Depth, Found, Spool, is_file};
use crate::linux::filter;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

/// How deep a moved folder may be, as for the judgement of its names.
const DEEPEST: usize = 200;

const READ: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

impl Guard {
    /// Whether changes are recorded at all.
    pub(super) fn keeps(&self) -> bool {
        self.spool.is_some()
    }

    /// Says that the command has ended.
    pub(in crate::linux) fn finish(&mut self) {
        if let Some(spool) = &mut self.spool {
            spool.finish();
        }
    }

    /// The path of a place, if it is recorded. If it lies in a dependency folder, that is recorded instead.
    fn kept_path(&mut self, place: &Place) -> Option<Vec<u8>> {
        if !self.keeps() || matches!(place.name.as_slice(), b"." | b"..") || is_gone(place) {
            return None;
        }
        let path = place.path();
        if self.names.is_kept(&path) {
            return Some(path);
        }
        if let (Some(folder), Some(spool)) = (self.names.left_out(&path), &mut self.spool) {
            spool.leave_out(folder);
        }
        None
    }

    /// Before something new gets this name.
    pub(super) fn keep_new(&mut self, place: &Place) {
        let Some(path) = self.kept_path(place) else { return };
        let Some(spool) = &mut self.spool else { return };
        if !spool.knows(&path, Depth::Whole) && matches!(place.stat(), Ok(None)) {
            spool.keep(&path, &Found::Nothing, Depth::Whole);
        }
    }

    /// Before what has this name is removed or replaced.
    pub(super) fn keep(&mut self, place: &Place) {
        let Some(path) = self.kept_path(place) else { return };
        let Some(spool) = &mut self.spool else { return };
        if !spool.knows(&path, Depth::Whole) {
            keep_at(spool, place.parent.as_fd(), &place.name, &path);
        } else if let Ok(Some(stat)) = place.stat()
            && !kind(&stat).is_dir()
        {
            spool.look();
            spool.seen.replaces(&path, &stat);
        }
    }

    /// After something new has got this name.
    pub(super) fn keep_placed(&mut self, place: &Place) {
        let Some(path) = self.kept_path(place) else { return };
        let found = place.stat().ok().flatten().filter(|stat| !kind(stat).is_dir());
        let Some(spool) = &mut self.spool else { return };
        if found.as_ref().is_some_and(|stat| kind(stat) == FileType::Symlink)
            && let Ok(text) = text_of_link(place.parent.as_fd(), OsStr::from_bytes(&place.name))
        {
            spool.seen.placed_link(path.clone(), text);
        }
        spool.seen.placed(path, found.as_ref());
    }

    /// After what had this name was removed.
    pub(super) fn keep_removed(&mut self, place: &Place) {
        if let Some(path) = self.kept_path(place)
            && let Some(spool) = &mut self.spool
        {
            spool.seen.removed(path);
        }
    }

    /// After something has moved, with everything in it, or two have changed places.
    pub(super) fn keep_arrived(&mut self, source: &Place, target: &Place, exchanges: bool) {
        let paths = (source.path(), target.path());
        let Some(spool) = &mut self.spool else { return };
        spool.seen.moved(&paths.0, &paths.1, exchanges);
        let moves = if exchanges { vec![(target, source), (source, target)] } else { vec![(source, target)] };
        for (from, place) in moves {
            let is_only = !self.names.is_kept(&from.path()) && self.names.is_kept(&place.path());
            let Some(spool) = &mut self.spool else { return };
            // Nothing is put back there, so that what arrives is not taken away either.
            if is_only {
                spool.seen.only_here(place.path());
            }
            if spool.seen.is_only_here(&place.path()) {
                continue;
            }
            self.keep_placed(place);
            if let Ok(Some(stat)) = place.stat()
                && let Some(spool) = &mut self.spool
            {
                spool.copy_left(id(&stat));
            }
        }
    }

    /// Before the command gets a descriptor of a file that it may write by it.
    pub(super) fn keep_opened(&mut self, place: &Place, opened: &OwnedFd, flags: OFlags) {
        if let Some(path) = self.kept_path(place) {
            self.note_opened(path, opened, flags);
        }
    }

    /// The same for what was opened by whatever name it has.
    pub(super) fn keep_opened_again(&mut self, opened: &OwnedFd, flags: OFlags) {
        let stat = rustix::fs::fstat(opened).ok();
        let path = stat.and_then(|stat| named(opened, &stat)).filter(|path| self.names.is_kept(path));
        if let Some(path) = path {
            self.note_opened(path, opened, flags);
        }
    }

    fn note_opened(&mut self, path: Vec<u8>, opened: &OwnedFd, flags: OFlags) {
        let Some(stat) = rustix::fs::fstat(opened).ok().filter(is_file) else { return };
        if let Some(spool) = &mut self.spool {
            let counts = flags.intersects(OFlags::WRONLY | OFlags::RDWR);
            spool.opened(path, opened, id(&stat), counts);
        }
    }

    /// Where a process of its own opens a file for the command.
    pub(super) fn keep_opened_elsewhere(&mut self, place: &Place) {
        if let Ok(Some(stat)) = place.stat()
            && let Some(spool) = &mut self.spool
        {
            spool.seen.opened_elsewhere(id(&stat));
        }
    }

    /// Before a file of this name, which is there, is opened for writing.
    pub(super) fn keep_written(&mut self, place: &Place, stat: &Stat) {
        if !self.keeps() || !is_file(stat) {
            return;
        }
        self.keep(place);
        let open = || rustix::fs::openat(&place.parent, OsStr::from_bytes(&place.name), READ, Mode::empty());
        self.keep_linked(stat, &open, Depth::Whole);
    }

    /// The same for what is held open, by whatever name it has.
    pub(super) fn keep_object(&mut self, object: &OwnedFd, stat: &Stat, depth: Depth) {
        if !self.keeps() {
            return;
        }
        let open =
            || rustix::fs::open(of_descriptor(object), READ.difference(OFlags::NOFOLLOW), Mode::empty());
        if let Some(path) = named(object, stat).filter(|path| self.names.is_kept(path))
            && let Some(spool) = &mut self.spool
        {
            spool.keep(&path, &Found::Object { stat, open: &open, text: Vec::new() }, depth);
        }
        self.keep_linked(stat, &open, depth);
    }

    /// Before the mode of what is held open is changed.
    pub(super) fn keep_mode(&mut self, object: &OwnedFd, stat: &Stat, mode: u32) {
        // What cannot be read any more afterwards must be read now.
        let depth = if mode & filter::OWNER_READS == 0 { Depth::Whole } else { Depth::Mode };
        self.keep_object(object, stat, depth);
    }

    /// A file that got further names from the command is changed under all of them.
    fn keep_linked(&mut self, stat: &Stat, open: &dyn Fn() -> rustix::io::Result<OwnedFd>, depth: Depth) {
        let Some(spool) = self.spool.as_mut().filter(|spool| spool.has_linked()) else { return };
        for path in spool.other_paths(stat) {
            spool.keep(&path, &Found::Object { stat, open, text: Vec::new() }, depth);
        }
    }

    /// Takes note that what has this name has got another one.
    pub(super) fn note_linked(&mut self, source: BorrowedFd<'_>, stat: &Stat) {
        let path = named(source, stat).filter(|path| self.names.is_kept(path));
        if let (Some(spool), Some(path)) = (&mut self.spool, path) {
            spool.linked(path, stat);
        }
    }

    /// Before something moves, with everything in it, and before two change places.
    pub(super) fn keep_moved(&mut self, source: &Place, target: &Place, exchanges: bool) {
        if !self.keeps() || is_gone(source) || is_gone(target) {
            return;
        }
        let is_folder = |place: &Place| matches!(place.stat(), Ok(Some(stat)) if kind(&stat).is_dir());
        let moves_folder = is_folder(source) || exchanges && is_folder(target);
        if !moves_folder {
            self.keep(source);
            self.keep(target);
            let moves =
                if exchanges { vec![(source, target), (target, source)] } else { vec![(source, target)] };
            for (from, to) in moves {
                if let (Some(spool), Ok(Some(stat))) = (&mut self.spool, from.stat()) {
                    spool.seen.moves(&from.path(), to.path(), &stat);
                }
            }
            return;
        }
        self.keep_tree(source);
        match exchanges {
            true => self.keep_tree(target),
            false => self.keep(target),
        }
        self.keep_arrivals(source, target);
        if exchanges {
            self.keep_arrivals(target, source);
        }
    }

    /// Records what moves, with everything in it.
    fn keep_tree(&mut self, place: &Place) {
        let (path, mut spool) = (place.path(), self.spool.take());
        if let Some(spool) = &mut spool {
            let names = &self.names;
            let mut keep = |spool: &mut Spool, folder: BorrowedFd<'_>, name: &[u8], path: &[u8]| {
                let is_kept = names.is_kept(path);
                if is_kept {
                    keep_at(spool, folder, name, path);
                }
                is_kept
            };
            each(spool, place.parent.as_fd(), &place.name, &path, 0, &mut keep);
        }
        self.spool = spool;
    }

    /// Records what is at the paths to which everything in a folder moves: nothing, as a rule.
    fn keep_arrivals(&mut self, source: &Place, target: &Place) {
        let (from, to, mut spool) = (source.path(), target.path(), self.spool.take());
        if let Some(spool) = &mut spool {
            let names = &self.names;
            let mut keep = |spool: &mut Spool, folder: BorrowedFd<'_>, name: &[u8], path: &[u8]| {
                let arrives = [to.as_slice(), &path[from.len()..]].concat();
                let is_kept = names.is_kept(&arrives);
                if is_kept {
                    keep_at(spool, CWD, &arrives, &arrives);
                    let name = OsStr::from_bytes(name);
                    if let Ok(stat) = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                        spool.seen.arrives(path, arrives, &stat);
                    }
                }
                // Inside of a dependency folder nothing is kept, wherever that comes to lie.
                is_kept || names.is_kept(path)
            };
            each(spool, source.parent.as_fd(), &source.name, &from, 0, &mut keep);
        }
        self.spool = spool;
    }
}

/// Records what has a name in a folder.
fn keep_at(spool: &mut Spool, folder: BorrowedFd<'_>, name: &[u8], path: &[u8]) {
    if spool.knows(path, Depth::Whole) {
        return;
    }
    let name = OsStr::from_bytes(name);
    let stat = match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT | Errno::NOTDIR) => return spool.keep(path, &Found::Nothing, Depth::Whole),
        Err(_) => return spool.miss(),
    };
    let text = match kind(&stat) {
        FileType::Symlink => text_of_link(folder, name),
        _ => Ok(Vec::new()),
    };
    let Ok(text) = text else { return spool.miss() };
    let open = || rustix::fs::openat(folder, name, READ, Mode::empty());
    spool.keep(path, &Found::Object { stat: &stat, open: &open, text }, Depth::Whole);
}

fn text_of_link(folder: BorrowedFd<'_>, name: &OsStr) -> rustix::io::Result<Vec<u8>> {
    rustix::fs::readlinkat(folder, name, Vec::new()).map(std::ffi::CString::into_bytes)
}

/// Records something by its folder, its name in it and its path; whether to look inside.
type Keep<'a> = dyn FnMut(&mut Spool, BorrowedFd<'_>, &[u8], &[u8]) -> bool + 'a;

/// Calls `keep` for what has a name in a folder and, while it says so, for everything inside.
fn each(
    spool: &mut Spool,
    folder: BorrowedFd<'_>,
    name: &[u8],
    path: &[u8],
    depth: usize,
    keep: &mut Keep<'_>,
) {
    if !keep(spool, folder, name, path) || spool.is_full() {
        return;
    }
    if depth > DEEPEST {
        return spool.miss();
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let inner = match rustix::fs::openat(folder, OsStr::from_bytes(name), flags, Mode::empty()) {
        Ok(inner) => inner,
        Err(Errno::NOTDIR | Errno::NOENT | Errno::LOOP) => return,
        Err(_) => return spool.miss(),
    };
    let Ok(listing) = Dir::read_from(&inner) else { return spool.miss() };
    for entry in listing {
        let Ok(entry) = entry else { return spool.miss() };
        let name = entry.file_name().to_bytes();
        if !matches!(name, b"." | b"..") {
            each(spool, inner.as_fd(), name, &[path, b"/", name].concat(), depth + 1, keep);
        }
    }
}

/// Whether the folder of a place has no name any more. Its path is then one that something else may have.
fn is_gone(place: &Place) -> bool {
    place.folder.ends_with(b" (deleted)")
        && rustix::fs::fstat(&place.parent).is_ok_and(|stat| stat.st_nlink == 0)
}

/// The path of what is held open, if that is what is there.
fn named(object: impl AsFd, stat: &Stat) -> Option<Vec<u8>> {
    let path = path_of(object.as_fd()).ok()?;
    let there = rustix::fs::statat(CWD, OsStr::from_bytes(&path), AtFlags::SYMLINK_NOFOLLOW).ok()?;
    ((there.st_dev, there.st_ino) == (stat.st_dev, stat.st_ino)).then_some(path)
}

fn of_descriptor(object: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", object.as_raw_fd())
}
