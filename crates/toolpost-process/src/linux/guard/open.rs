//! Opening: a file may be created, and a link at the end of its path leads on.

use super::caller::{self, Caller, Place, kind};
use super::names::Making;
use super::spool::Depth;
use super::{Ending, Guard, done};
use crate::linux::sys::notify::{Asked, Said};
use rustix::fs::{FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

/// Whether such an opened file can be changed, or is by being opened.
fn is_writing(flags: OFlags) -> bool {
    flags.intersects(OFlags::WRONLY | OFlags::RDWR | OFlags::TRUNC)
}

impl Guard {
    /// Opens a path that the caller may create.
    pub(super) fn open(
        &mut self,
        asked: &Asked,
        folder: i32,
        path: &[u8],
        flags: OFlags,
        mode: u64,
    ) -> Result<Ending, Errno> {
        let caller = Caller::new(asked.pid);
        let closes = flags.contains(OFlags::CLOEXEC);
        let ours = flags | OFlags::NOCTTY | OFlags::CLOEXEC;
        if flags.contains(OFlags::PATH) {
            // Such a descriptor neither creates nor writes, whatever the other flags, and the flags cannot change.
            return Ok(Said::GoOn.into());
        }
        if flags.contains(OFlags::TMPFILE) {
            // A file without a name. It gets one by a link, which is judged.
            let folder = caller.whole(folder, path)?;
            let mode = self.mode(caller, mode)?;
            return Ok(Ending::Descriptor(rustix::fs::openat(&folder, ".", ours, mode)?, closes));
        }
        let mut place = caller.place(folder, path)?;
        if place.has_slash && flags.contains(OFlags::CREATE) {
            return Err(Errno::ISDIR);
        }
        for _ in 0..caller::MOST_LINKS {
            let stat = place.stat()?;
            let is_link = stat.as_ref().is_some_and(|stat| kind(stat) == FileType::Symlink);
            let stays = flags.contains(OFlags::NOFOLLOW) || flags.contains(OFlags::CREATE | OFlags::EXCL);
            if !is_link || stays {
                return self.open_last(asked, &place, stat.as_ref(), flags, mode);
            }
            if place.has_magic_links()? {
                // It leads to what is open already: nothing is created.
                let flags = (ours | OFlags::NONBLOCK).difference(OFlags::CREATE);
                let opened = match is_writing(flags) {
                    true => self.open_again(&place, flags)?,
                    false => {
                        let name = OsStr::from_bytes(&place.name);
                        rustix::fs::openat(&place.parent, name, flags, Mode::empty())?
                    }
                };
                return self.hand_over(opened, flags, closes);
            }
            place = caller.place_from(place.parent.as_fd(), &place.link_target()?)?;
        }
        Err(Errno::LOOP)
    }

    /// Opens for writing what is open already, and records it first.
    fn open_again(&mut self, place: &Place, flags: OFlags) -> Result<OwnedFd, Errno> {
        let name = OsStr::from_bytes(&place.name);
        let held = rustix::fs::openat(&place.parent, name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        let stat = rustix::fs::fstat(&held)?;
        if kind(&stat) == FileType::RegularFile {
            if self.is_another_name(&stat) {
                return Err(self.refuse(caller::path_of(held.as_fd())?));
            }
            if self.keeps() {
                self.keep_object(&held, &stat, Depth::Whole);
            }
        }
        // The descriptor may be another by now: what was recorded is what is opened.
        let opened = rustix::fs::open(format!("/proc/self/fd/{}", held.as_raw_fd()), flags, Mode::empty())?;
        self.keep_opened_again(&opened, flags);
        Ok(opened)
    }

    /// Opens a name that is no link, or whose link is not followed.
    fn open_last(
        &mut self,
        asked: &Asked,
        place: &Place,
        stat: Option<&Stat>,
        flags: OFlags,
        mode: u64,
    ) -> Result<Ending, Errno> {
        let found = stat.map(kind);
        let is_read = !is_writing(flags);
        match found {
            None if !flags.contains(OFlags::CREATE) => return Err(Errno::NOENT),
            Some(_) if is_read => (),
            _ => self.check(asked, place, Making::File)?,
        }
        // A program that runs as somebody else keeps its rights when it is changed through a mapping.
        let runs_as_another = stat.is_some_and(|stat| stat.st_mode & 0o6000 != 0);
        if runs_as_another && found == Some(FileType::RegularFile) && !is_read {
            return Err(self.refuse(place.path()));
        }
        if !is_read && stat.is_some_and(|stat| self.is_another_name(stat)) {
            return Err(self.refuse(place.path()));
        }
        let closes = flags.contains(OFlags::CLOEXEC);
        let ours = flags | OFlags::NOCTTY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let may_wait = !flags.contains(OFlags::NONBLOCK);
        if found == Some(FileType::Fifo) && may_wait && !flags.contains(OFlags::RDWR) {
            return self.openers.start(self.listener.as_fd(), asked.id, place, flags);
        }
        let mode = self.mode(Caller::new(asked.pid), mode)?;
        match stat {
            None => self.keep_new(place),
            Some(stat) if !is_read && !flags.contains(OFlags::CREATE | OFlags::EXCL) => {
                self.keep_written(place, stat);
            }
            Some(_) => (),
        }
        let written = place.written();
        let name = OsStr::from_bytes(&written);
        let opened = match rustix::fs::openat(&place.parent, name, ours | OFlags::NONBLOCK, mode) {
            // Somebody holds a lease on it and must be waited for.
            Err(Errno::AGAIN) if may_wait => {
                self.keep_opened_elsewhere(place);
                return self.openers.start(self.listener.as_fd(), asked.id, place, flags);
            }
            Err(Errno::ROFS) => {
                self.refuse(place.path());
                return Err(Errno::ROFS);
            }
            opened => opened?,
        };
        if found.is_none() {
            self.confirm(place, Making::File)?;
            self.remember(place);
        }
        if !is_read || found.is_none() {
            self.note_written(place);
            self.keep_opened(place, &opened, flags);
        }
        self.hand_over(opened, flags, closes)
    }

    /// The descriptor as it was asked for: we never wait, the caller may.
    fn hand_over(&self, opened: OwnedFd, flags: OFlags, closes: bool) -> Result<Ending, Errno> {
        if !flags.contains(OFlags::NONBLOCK) {
            let now = rustix::fs::fcntl_getfl(&opened)?;
            rustix::fs::fcntl_setfl(&opened, now.difference(OFlags::NONBLOCK))?;
        }
        Ok(Ending::Descriptor(opened, closes))
    }

    /// Cuts a file to a length.
    pub(super) fn truncate(&mut self, asked: &Asked, path: &[u8], length: u64) -> Result<Ending, Errno> {
        match self.open(asked, libc::AT_FDCWD, path, OFlags::WRONLY | OFlags::NONBLOCK, 0)? {
            Ending::Descriptor(file, _) => done(rustix::fs::ftruncate(&file, length)),
            other => Ok(other),
        }
    }
}
