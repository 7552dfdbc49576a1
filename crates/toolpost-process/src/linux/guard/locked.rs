//! The files that are locked, by what they are and not by their names: a hard link is another name of the same file.
//!
//! They are looked for when a file with several names is about to be written, which is seldom.

use super::caller::kind;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Maximum number of files and folders to look at.
const MOST: usize = 20_000;

/// How deep folders are looked into.
const DEEPEST: usize = 32;

/// Locked files by device and number.
pub(super) struct Locked {
    files: HashSet<(u64, u64)>,
    /// Whether there are more than were looked at: then any file may be one of them.
    has_more: bool,
}

impl Locked {
    /// The files at these paths, and those in folders at them.
    pub(super) fn find<'a>(paths: impl Iterator<Item = &'a [u8]>) -> Locked {
        let mut locked = Locked { files: HashSet::new(), has_more: false };
        let mut left = MOST;
        for path in paths {
            let path = Path::new(OsStr::from_bytes(path));
            locked.add(CWD, path, &mut left, 0);
        }
        locked
    }

    pub(super) fn has(&self, stat: &Stat) -> bool {
        self.has_more || self.files.contains(&(stat.st_dev, stat.st_ino))
    }

    fn add(&mut self, folder: BorrowedFd<'_>, name: &Path, left: &mut usize, depth: usize) {
        // What is not there any more has no other name.
        let Ok(stat) = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) else { return };
        let Some(less) = left.checked_sub(1).filter(|_| depth < DEEPEST) else {
            self.has_more = true;
            return;
        };
        *left = less;
        if kind(&stat) != FileType::Directory {
            self.files.insert((stat.st_dev, stat.st_ino));
            return;
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // A hidden folder is an empty one here, and cannot be opened.
        let Ok(inside) = rustix::fs::openat(folder, name, flags, Mode::empty()) else { return };
        let Ok(listing) = Dir::read_from(&inside) else { return };
        for entry in listing.flatten() {
            let name = entry.file_name().to_bytes();
            if !matches!(name, b"." | b"..") {
                self.add(inside.as_fd(), Path::new(OsStr::from_bytes(name)), left, depth + 1);
            }
        }
    }
}
