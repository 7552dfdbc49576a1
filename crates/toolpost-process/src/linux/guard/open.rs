//! Opening: a file may be created, and a link at the end of its path leads on.

use super::caller::{self, Caller, Place, kind};
use super::names::Making;
use super::{Ending, Guard};
use crate::linux::sys::notify::Asked;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

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
            return Err(Errno::INVAL);
        }
        if flags.contains(OFlags::TMPFILE) {
            // A file without a name. It gets one by a link, which is judged.
            let folder = caller.whole(folder, path)?;
            let mode = self.mode(caller, mode)?;
            return Ok(Ending::Descriptor(rustix::fs::openat(&folder, ".", ours, mode)?, closes));
        }
        let mut place = caller.place(folder, path)?;
        if place.has_slash {
            return Err(Errno::ISDIR);
        }
        for _ in 0..caller::MOST_LINKS {
            let stat = place.stat()?;
            let is_link = stat.as_ref().is_some_and(|stat| kind(stat) == FileType::Symlink);
            if !is_link || flags.intersects(OFlags::NOFOLLOW | OFlags::EXCL) {
                return self.open_last(asked, &place, stat.as_ref().map(kind), flags, mode);
            }
            if place.has_magic_links()? {
                // It leads to what is open already: nothing is created.
                let flags = (ours | OFlags::NONBLOCK).difference(OFlags::CREATE);
                let name = OsStr::from_bytes(&place.name);
                let opened = rustix::fs::openat(&place.parent, name, flags, Mode::empty())?;
                return self.hand_over(opened, flags, closes);
            }
            place = caller.place_from(place.parent.as_fd(), &place.link_target()?)?;
        }
        Err(Errno::LOOP)
    }

    /// Opens a name that is no link, or whose link is not followed.
    fn open_last(
        &mut self,
        asked: &Asked,
        place: &Place,
        found: Option<FileType>,
        flags: OFlags,
        mode: u64,
    ) -> Result<Ending, Errno> {
        let is_read = !flags.intersects(OFlags::WRONLY | OFlags::RDWR | OFlags::TRUNC);
        match found {
            Some(_) if is_read => (),
            _ => self.check(asked, place, Making::File)?,
        }
        let closes = flags.contains(OFlags::CLOEXEC);
        let ours = flags | OFlags::NOCTTY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let may_wait = !flags.contains(OFlags::NONBLOCK);
        if found == Some(FileType::Fifo) && may_wait && !flags.contains(OFlags::RDWR) {
            return self.openers.start(self.listener.as_fd(), asked.id, place, flags);
        }
        let mode = self.mode(Caller::new(asked.pid), mode)?;
        let written = place.written();
        let name = OsStr::from_bytes(&written);
        let opened = match rustix::fs::openat(&place.parent, name, ours | OFlags::NONBLOCK, mode) {
            // Somebody holds a lease on it and must be waited for.
            Err(Errno::AGAIN) if may_wait => {
                return self.openers.start(self.listener.as_fd(), asked.id, place, flags);
            }
            Err(Errno::ROFS) => {
                self.refuse(place.path());
                return Err(Errno::ROFS);
            }
            opened => opened?,
        };
        if found.is_none() {
            self.remember(place);
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
}
