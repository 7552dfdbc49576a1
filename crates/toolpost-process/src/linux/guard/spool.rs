//! Writes down what is at a path before the command changes it, into a file that was opened outside of the sandbox.
//!
//! What cannot be written does not stop the command: the records then say that they are not whole. A path is recorded once,
//! even if that failed: later it is not any more as it was.

use super::seen::{Id, Last, Seen, id};
use crate::kept::{Entry, Kind, LARGEST_FILE, MOST_BYTES, MOST_PATHS, Stamp};
use crate::linux::{Roots, sys};
use rustix::fs::{CWD, FileType, Mode, OFlags, Stat};
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Files up to this size are written with their record in one piece, in bytes.
const SMALL: u64 = 256 * 1024;

/// What is copied at a time where the kernel cannot do it alone.
const PIECE: usize = 256 * 1024;

/// Largest file of which a copy is made when the command has changed it, in bytes.
const LARGEST_COPY: u64 = 64 * 1024;

/// Maximum number of bytes of such copies.
const MOST_COPIED: u64 = 4 << 20;

/// Maximum number of such copies.
const MOST_COPIES: usize = 256;
/// Maximum number of dependency folders to name.
const MOST_LEFT_OUT: usize = 16;

/// How much of a path is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Depth {
    /// The mode of a file.
    Mode,
    Whole,
}

/// What is at a path.
pub(super) enum Found<'a> {
    Nothing,
    /// Something; a file or link can be opened or read by this.
    Object {
        stat: &'a Stat,
        open: &'a dyn Fn() -> rustix::io::Result<OwnedFd>,
        text: Vec<u8>,
    },
}

/// What is known of a recorded path.
#[derive(Debug, Clone, Copy)]
struct Known {
    depth: Depth,
    /// Whether a file was there.
    was_file: bool,
}

/// The file of the records.
pub(in crate::linux) struct Spool {
    file: File,
    at: u64,
    /// The recorded paths.
    known: HashMap<Vec<u8>, Known>,
    /// What becomes of them.
    pub(super) seen: Seen,
    /// Files of which the last copy is what the command has left, with the path of that copy.
    copies: HashMap<Id, Vec<u8>>,
    copied: (usize, u64),
    /// Files that could not be copied yet.
    to_copy: Vec<Id>,
    /// Files that got a further name from the command, with the path under which each was there before.
    linked: HashMap<(u64, u64), Vec<Vec<u8>>>,
    /// Dependency folders in which something was changed.
    left_out: BTreeSet<Vec<u8>>,
    /// How much content may still be kept.
    left: u64,
    is_whole: bool,
    is_cut: bool,
    /// Whether nothing more can be written: what was written of a record could not be taken back.
    is_over: bool,
}

impl Spool {
    pub(in crate::linux) fn new(file: OwnedFd) -> Spool {
        // Each piece goes to its own place, also where the file was opened for appending.
        let is_ready = rustix::fs::fcntl_getfl(&file)
            .and_then(|flags| rustix::fs::fcntl_setfl(&file, flags.difference(OFlags::APPEND)));
        let file = File::from(file);
        let size = file.metadata().map(|metadata| metadata.len());
        let mut spool = Spool {
            at: size.as_ref().map_or(0, |size| *size),
            file,
            known: HashMap::new(),
            seen: Seen::default(),
            copies: HashMap::new(),
            copied: (0, 0),
            to_copy: Vec::new(),
            linked: HashMap::new(),
            left_out: BTreeSet::new(),
            left: MOST_BYTES,
            is_whole: is_ready.is_ok() && size.is_ok(),
            is_cut: false,
            is_over: false,
        };
        spool.write(&Entry::new(Kind::Begin, b""));
        spool
    }

    /// Writes down what the command has left, and that it has ended.
    pub(in crate::linux) fn finish(&mut self) {
        self.look();
        self.write_left();
        self.write(&Entry { mode: u32::from(self.is_whole), ..Entry::new(Kind::End, b"") });
    }

    pub(super) fn knows(&self, path: &[u8], depth: Depth) -> bool {
        self.known.get(path).is_some_and(|known| known.depth >= depth)
    }

    /// Looks at what was closed, and copies small files that the command has changed: if somebody else changes them later
    /// while it runs, the two can still be told apart.
    pub(in crate::linux) fn look(&mut self) {
        let mut closed = std::mem::take(&mut self.to_copy);
        closed.extend(self.seen.look());
        for id in closed {
            self.copy_left(id);
        }
    }

    /// Takes note that the command may write a file.
    pub(super) fn opened(&mut self, path: Vec<u8>, file: &OwnedFd, id: Id, counts: bool) {
        self.copies.remove(&id);
        self.seen.opened(path, file, id, counts);
    }

    /// Copies a file that the command has changed and closed.
    pub(super) fn copy_left(&mut self, of: Id) {
        let Some(path) = self.seen.closed_path(of).map(<[u8]>::to_vec) else { return };
        let (count, bytes) = self.copied;
        if count >= MOST_COPIES || bytes >= MOST_COPIED || self.is_over {
            return;
        }
        // What was not there before is removed by an undo, or is a conflict: the content does not matter.
        if !self.known.get(&path).is_some_and(|known| known.was_file) {
            return;
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let Ok(file) = rustix::fs::openat(CWD, OsStr::from_bytes(&path), flags, Mode::empty()) else {
            return;
        };
        let Ok(stat) = rustix::fs::fstat(&file) else { return };
        let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
        if id(&stat) != of || size > LARGEST_COPY {
            return;
        }
        match sys::has_writer(file.as_fd()) {
            Ok(false) => (),
            // The close that was taken for the command's was somebody else's, or is reported before it is over.
            Ok(true) => return self.to_copy.push(of),
            Err(_) => return,
        }
        // A close is reported before the file has no writer any more, so that now all are: if the first was somebody
        // else's, there is one more.
        let closed = self.seen.look();
        self.to_copy.extend(closed.into_iter().filter(|id| *id != of));
        if self.seen.closed_path(of) != Some(path.as_slice()) {
            return;
        }
        let file = File::from(file);
        let mut content = Vec::new();
        let read = (&file).take(LARGEST_COPY + 1).read_to_end(&mut content);
        let is_same = rustix::fs::fstat(&file).is_ok_and(|now| stamp(&now) == stamp(&stat));
        if read.is_err() || content.len() as u64 != size || !is_same {
            return;
        }
        let entry = Entry { mode: stat.st_mode & 0o7777, ..Entry::new(Kind::Copy, &path) };
        let (mut whole, sum) = entry.encode(size);
        whole.extend_from_slice(&content);
        whole.extend_from_slice(&sum);
        match self.file.write_all_at(&whole, self.at) {
            Ok(()) => self.at += whole.len() as u64,
            Err(_) => return self.take_back(),
        }
        self.copied = (count + 1, bytes + size);
        self.copies.insert(of, path);
    }

    /// Writes down what is at each path, all together.
    fn write_left(&mut self) {
        if self.is_over {
            return;
        }
        // No link is followed: below one there is nothing, as for those who compare.
        let roots = Roots::open(&[PathBuf::from("/")]);
        let copied: HashMap<&[u8], Id> =
            self.copies.iter().map(|(id, path)| (path.as_slice(), *id)).collect();
        let mut all = Vec::new();
        for path in self.known.keys() {
            let Ok(found) = roots.find(Path::new(OsStr::from_bytes(path))) else { continue };
            let stat = found.as_ref().map(|found| found.stat());
            let last = self.seen.last(path, stat);
            let mut entry = match (last, &found) {
                (Last::OfAnother, _) => Entry::new(Kind::LeftByAnother, path),
                (Last::AsFound, _) => Entry::new(Kind::LeftAsFound, path),
                (Last::Nothing, _) | (_, None) => Entry::new(Kind::LeftNothing, path),
                (Last::OfCommand, Some(found)) => {
                    let Ok(text) = found.text() else { continue };
                    let stat = found.stat();
                    let bytes = u64::try_from(stat.st_size).unwrap_or(0);
                    let is_link = FileType::from_raw_mode(stat.st_mode) == FileType::Symlink;
                    if is_link && self.seen.is_other_link(path, &text) {
                        Entry::new(Kind::LeftByAnother, path)
                    } else {
                        let left = Entry::new(Kind::Left, path);
                        Entry { mode: stat.st_mode, bytes, stamp: stamp(stat), text, ..left }
                    }
                }
            };
            let is_copied = copied.get(path.as_slice()).is_some_and(|of| self.seen.is_placed(path, *of));
            entry.has_copy = is_copied && !self.seen.is_mixed(path);
            let (bytes, sum) = entry.encode(0);
            all.extend_from_slice(&bytes);
            all.extend_from_slice(&sum);
        }
        match self.file.write_all_at(&all, self.at) {
            Ok(()) => self.at += all.len() as u64,
            Err(_) => self.take_back(),
        }
    }

    /// Whether there is no room for another path.
    pub(super) fn is_full(&self) -> bool {
        self.is_cut
    }

    /// Takes note that something in a dependency folder is about to change.
    pub(super) fn leave_out(&mut self, folder: Vec<u8>) {
        if self.left_out.len() < MOST_LEFT_OUT && !self.left_out.contains(&folder) {
            self.write(&Entry::new(Kind::LeftOut, &folder));
            self.left_out.insert(folder);
        }
    }

    /// Takes note that something could not be looked at.
    pub(super) fn miss(&mut self) {
        self.is_whole = false;
    }

    /// Records a path, unless it is recorded.
    pub(super) fn keep(&mut self, path: &[u8], found: &Found<'_>, depth: Depth) {
        if self.knows(path, depth) || !self.has_room(path) {
            return;
        }
        let depth = match found {
            Found::Object { stat, .. } if is_file(stat) => depth,
            _ => Depth::Whole,
        };
        let was_file = matches!(found, Found::Object { stat, .. } if is_file(stat));
        if let (Found::Object { stat, .. }, false) = (found, self.known.contains_key(path)) {
            self.seen.found(path, stat);
        }
        self.known.insert(path.to_vec(), Known { depth, was_file });
        match found {
            Found::Nothing => self.write(&Entry::new(Kind::Absent, path)),
            Found::Object { stat, open, text } => self.keep_object(path, stat, *open, text, depth),
        }
    }

    fn has_room(&mut self, path: &[u8]) -> bool {
        if self.known.len() < MOST_PATHS || self.known.contains_key(path) {
            return true;
        }
        if !self.is_cut {
            self.is_cut = true;
            self.write(&Entry::new(Kind::Cut, b""));
        }
        false
    }

    fn keep_object(
        &mut self,
        path: &[u8],
        stat: &Stat,
        open: &dyn Fn() -> rustix::io::Result<OwnedFd>,
        text: &[u8],
        depth: Depth,
    ) {
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile if depth == Depth::Mode => Kind::Mode,
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Folder,
            FileType::Symlink => Kind::Link,
            _ => Kind::Other,
        };
        let bytes = u64::try_from(stat.st_size).unwrap_or(0);
        let mut entry = Entry {
            mode: stat.st_mode & 0o7777,
            bytes,
            stamp: stamp(stat),
            text: text.to_vec(),
            ..Entry::new(kind, path)
        };
        if kind != Kind::File {
            return self.write(&entry);
        }
        if bytes <= LARGEST_FILE && bytes <= self.left && !self.is_over {
            let copied =
                open().map_err(io::Error::from).and_then(|file| self.write_file(&entry, file, bytes));
            match copied {
                Ok(()) => return,
                // Nobody can read it. That it is not kept is said of this file alone.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => (),
                Err(_) => self.take_back(),
            }
        }
        entry.kind = Kind::NotKept;
        self.write(&entry);
    }

    fn write(&mut self, entry: &Entry) {
        if self.is_over {
            return;
        }
        let (mut bytes, sum) = entry.encode(0);
        bytes.extend_from_slice(&sum);
        match self.file.write_all_at(&bytes, self.at) {
            Ok(()) => self.at += bytes.len() as u64,
            Err(_) => self.take_back(),
        }
    }

    /// Takes back what was written of a record that could not be written whole. Nothing may follow it: the content of a file
    /// would be read as records.
    fn take_back(&mut self) {
        self.is_whole = false;
        self.is_over = self.file.set_len(self.at).is_err();
    }

    fn write_file(&mut self, entry: &Entry, source: OwnedFd, bytes: u64) -> io::Result<()> {
        let mut source = File::from(source);
        if bytes <= SMALL {
            let mut content = Vec::with_capacity(usize::try_from(bytes).unwrap_or(0));
            (&mut source).take(bytes).read_to_end(&mut content)?;
            let (mut whole, sum) = entry.encode(content.len() as u64);
            whole.extend_from_slice(&content);
            whole.extend_from_slice(&sum);
            self.file.write_all_at(&whole, self.at)?;
            self.at += whole.len() as u64;
            self.left -= content.len() as u64;
            return Ok(());
        }
        // The head comes last: without it there is no record.
        let start = self.at + entry.encode(0).0.len() as u64;
        let length = self.copy(&mut source, start, bytes)?;
        let (head, sum) = entry.encode(length);
        self.file.write_all_at(&sum, start + length)?;
        self.file.write_all_at(&head, self.at)?;
        self.at = start + length + sum.len() as u64;
        self.left -= length;
        Ok(())
    }

    /// Copies a file to a place in this one; how much of it there was.
    fn copy(&mut self, source: &mut File, start: u64, bytes: u64) -> io::Result<u64> {
        let mut done = 0;
        while done < bytes {
            let (mut from, mut to) = (done, start + done);
            let wanted = usize::try_from(bytes - done).unwrap_or(usize::MAX);
            let copied = rustix::fs::copy_file_range(
                source.as_fd(),
                Some(&mut from),
                self.file.as_fd(),
                Some(&mut to),
                wanted,
            );
            match copied {
                Ok(0) => break,
                Ok(count) => done += count as u64,
                // File systems differ in what they can; reading and writing is left.
                Err(_) => return self.copy_by_hand(source, start, done, bytes),
            }
        }
        Ok(done)
    }

    fn copy_by_hand(&mut self, source: &File, start: u64, mut done: u64, bytes: u64) -> io::Result<u64> {
        let mut piece = vec![0; PIECE];
        while done < bytes {
            let wanted = usize::try_from(bytes - done).unwrap_or(PIECE).min(PIECE);
            let count = source.read_at(&mut piece[..wanted], done)?;
            if count == 0 {
                break;
            }
            self.file.write_all_at(&piece[..count], start + done)?;
            done += count as u64;
        }
        Ok(done)
    }

    /// Takes note that a file which was there before gets a further name. What is done under that name is done to the
    /// file.
    pub(super) fn linked(&mut self, path: Vec<u8>, stat: &Stat) {
        if is_file(stat) && !self.knows(&path, Depth::Whole) && self.linked.len() < MOST_PATHS {
            self.linked.entry((stat.st_dev, stat.st_ino)).or_default().push(path);
        }
    }

    /// Whether the command has given any file a further name.
    pub(super) fn has_linked(&self) -> bool {
        !self.linked.is_empty()
    }

    /// The paths under which a file was there before it got the name by which it is changed now.
    pub(super) fn other_paths(&self, stat: &Stat) -> Vec<Vec<u8>> {
        self.linked.get(&(stat.st_dev, stat.st_ino)).cloned().unwrap_or_default()
    }
}

pub(super) fn is_file(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
}

/// What the kernel notes of every change.
pub(in crate::linux) fn stamp(stat: &Stat) -> Stamp {
    let nanoseconds = |count: u64| i64::try_from(count).unwrap_or(0);
    Stamp {
        inode: stat.st_ino,
        modified: (stat.st_mtime, nanoseconds(stat.st_mtime_nsec)),
        changed: (stat.st_ctime, nanoseconds(stat.st_ctime_nsec)),
    }
}
