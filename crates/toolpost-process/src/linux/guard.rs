//! Performs the calls by which a confined command creates names, after judging each name.
//!
//! What exists is locked by mounts. What does not exist yet cannot be mounted over. So the kernel holds every call that
//! would create a name, and this process performs it: it copies the arguments once, resolves the folder to a
//! descriptor, judges the folder's path with the last name, and makes the call relative to that descriptor, without
//! following a last link. What was judged is what is done, so there is no race. What cannot be resolved is refused.
//!
//! This process has no more rights than the command: the same mounts, user, rights mask and Landlock rules, and no
//! capabilities. It performs one call after the other, so a folder cannot move while a name in it is judged. What could
//! block (a pipe without a reader) is opened by a process of its own.

mod caller;
mod names;
mod openers;

use self::caller::{Caller, Place, kind};
use self::names::{Making, Names};
use self::openers::Openers;
use super::sys::notify::{self, Asked, Said};
use super::wire::View;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// Names reported at most.
const MOST_REPORTED: usize = 20;

/// Folders remembered at most for the look after the command.
const MOST_FOLDERS: usize = 20_000;

/// Entries of a moved folder looked at at most.
const MOST_MOVED: usize = 500_000;

/// The bits of a mode that a command may give. Programs that run as somebody else are not for it to create.
const RIGHTS: u32 = 0o1777;

/// Performs the creating calls of one command.
pub(super) struct Guard {
    listener: OwnedFd,
    names: Names,
    openers: Openers,
    /// Whether some process of the command has changed its rights mask: then each caller is asked for its own.
    has_own_masks: bool,
    mask: Option<Mode>,
    refused: Vec<Vec<u8>>,
    folders: HashSet<Vec<u8>>,
}

/// How a call ends.
enum Ending {
    Said(Said),
    /// With a descriptor; `true` if it closes on exec.
    Descriptor(OwnedFd, bool),
    /// An opener answers.
    Later,
}

impl From<Said> for Ending {
    fn from(said: Said) -> Ending {
        Ending::Said(said)
    }
}

/// The result of a call that only succeeds or fails.
fn done(result: Result<(), Errno>) -> Result<Ending, Errno> {
    result.map(|()| Said::Done(0).into())
}

/// What gets another name.
enum Source {
    Object(OwnedFd),
    Named(Place),
}

/// A call by its arguments, whatever its spelling.
enum Call {
    Open { folder: i32, path: u64, flags: u64, mode: u64 },
    MakeFolder { folder: i32, path: u64, mode: u64 },
    MakeNode { folder: i32, path: u64, mode: u64, device: u64 },
    Symlink { target: u64, folder: i32, path: u64 },
    Link { from: (i32, u64), to: (i32, u64), flags: u64 },
    Rename { from: (i32, u64), to: (i32, u64), flags: u64 },
    Bind { socket: i32, address: u64, length: u64 },
    Umask,
}

impl Call {
    fn of(asked: &Asked) -> Option<Call> {
        const HERE: i32 = libc::AT_FDCWD;
        let [a, b, c, d, e, _] = asked.args;
        // Descriptors are 32 bits wide; the kernel ignores the rest of the register too.
        let fd = |register: u64| register as u32 as i32;
        Some(match i64::from(asked.number) {
            libc::SYS_openat => Call::Open { folder: fd(a), path: b, flags: c, mode: d },
            libc::SYS_mkdirat => Call::MakeFolder { folder: fd(a), path: b, mode: c },
            libc::SYS_mknodat => Call::MakeNode { folder: fd(a), path: b, mode: c, device: d },
            libc::SYS_symlinkat => Call::Symlink { target: a, folder: fd(b), path: c },
            libc::SYS_linkat => Call::Link { from: (fd(a), b), to: (fd(c), d), flags: e },
            libc::SYS_renameat => Call::Rename { from: (fd(a), b), to: (fd(c), d), flags: 0 },
            libc::SYS_renameat2 => Call::Rename { from: (fd(a), b), to: (fd(c), d), flags: e },
            libc::SYS_bind => Call::Bind { socket: fd(a), address: b, length: c },
            libc::SYS_umask => Call::Umask,
            #[cfg(target_arch = "x86_64")]
            libc::SYS_open => Call::Open { folder: HERE, path: a, flags: b, mode: c },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_creat => {
                let flags = (libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC) as u64;
                Call::Open { folder: HERE, path: a, flags, mode: b }
            }
            #[cfg(target_arch = "x86_64")]
            libc::SYS_mkdir => Call::MakeFolder { folder: HERE, path: a, mode: b },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_mknod => Call::MakeNode { folder: HERE, path: a, mode: b, device: c },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_symlink => Call::Symlink { target: a, folder: HERE, path: b },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_link => Call::Link { from: (HERE, a), to: (HERE, b), flags: 0 },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_rename => Call::Rename { from: (HERE, a), to: (HERE, b), flags: 0 },
            _ => return None,
        })
    }
}

impl Guard {
    pub(super) fn new(listener: OwnedFd, view: &View) -> Guard {
        notify::wake_in_step(listener.as_fd());
        Guard {
            listener,
            names: Names::new(view),
            openers: Openers::default(),
            has_own_masks: false,
            mask: None,
            refused: Vec::new(),
            folders: HashSet::new(),
        }
    }

    pub(super) fn listener(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// Processes of ours that are no part of the command.
    pub(super) fn openers(&self) -> &[i32] {
        self.openers.pids()
    }

    /// Takes note that one of our own processes has ended.
    pub(super) fn forget(&mut self, pid: i32) {
        self.openers.forget(pid);
    }

    /// Names that the command tried to create and may not.
    pub(super) fn refused(&self) -> Vec<PathBuf> {
        self.refused.iter().map(|path| PathBuf::from(OsString::from_vec(path.clone()))).collect()
    }

    /// Performs one call that waits.
    pub(super) fn answer_next(&mut self) {
        let Ok(asked) = notify::next_asked(self.listener()) else { return };
        let ending = match Call::of(&asked) {
            Some(call) => self.perform(&asked, call),
            None => Err(Errno::NOSYS),
        };
        let said = match ending {
            Ok(Ending::Later) => return,
            Ok(Ending::Said(said)) => said,
            Ok(Ending::Descriptor(fd, closes)) => {
                match notify::answer_with(self.listener(), asked.id, fd.as_fd(), closes) {
                    Ok(()) => return,
                    Err(error) => Said::Failed(error.raw_os_error().unwrap_or(libc::EMFILE)),
                }
            }
            Err(error) => Said::Failed(error.raw_os_error()),
        };
        notify::answer(self.listener(), asked.id, said);
    }

    fn perform(&mut self, asked: &Asked, call: Call) -> Result<Ending, Errno> {
        let caller = Caller::new(asked.pid);
        match call {
            Call::Open { folder, path, flags, mode } => {
                let path = caller.text(path)?;
                let flags = OFlags::from_bits_retain(flags as u32);
                self.open(asked, folder, &path, flags, mode)
            }
            Call::MakeFolder { folder, path, mode } => {
                let place = caller.place(folder, &caller.text(path)?)?;
                self.check(asked, &place, Making::Folder)?;
                let mode = self.mode(caller, mode)?;
                let written = place.written();
                self.made(&place, rustix::fs::mkdirat(&place.parent, OsStr::from_bytes(&written), mode))
            }
            Call::MakeNode { folder, path, mode, device } => {
                let place = caller.place(folder, &caller.text(path)?)?;
                self.check(asked, &place, Making::Other)?;
                let kind = match FileType::from_raw_mode(mode as u32) {
                    FileType::Unknown => FileType::RegularFile,
                    kind => kind,
                };
                let mode = self.mode(caller, mode)?;
                let written = place.written();
                let name = OsStr::from_bytes(&written);
                self.made(&place, rustix::fs::mknodat(&place.parent, name, kind, mode, device))
            }
            Call::Symlink { target, folder, path } => {
                let target = caller.text(target)?;
                let place = caller.place(folder, &caller.text(path)?)?;
                self.check(asked, &place, Making::Link)?;
                let (target, written) = (OsStr::from_bytes(&target), place.written());
                self.made(&place, rustix::fs::symlinkat(target, &place.parent, OsStr::from_bytes(&written)))
            }
            Call::Link { from, to, flags } => self.link(asked, from, to, flags),
            Call::Rename { from, to, flags } => self.rename(asked, from, to, flags),
            Call::Bind { socket, address, length } => self.bind(asked, socket, address, length),
            Call::Umask => {
                self.has_own_masks = true;
                Ok(Said::GoOn.into())
            }
        }
    }

    /// Refuses a closed name, and a call whose caller is gone: what was read was perhaps somebody else's.
    fn check(&mut self, asked: &Asked, place: &Place, making: Making) -> Result<(), Errno> {
        self.check_path(asked, place.path(), making)
    }

    fn check_path(&mut self, asked: &Asked, path: Vec<u8>, making: Making) -> Result<(), Errno> {
        if !notify::still_asks(self.listener(), asked.id) {
            return Err(Errno::SRCH);
        }
        if self.names.is_closed(&path, making) {
            return Err(self.refuse(path));
        }
        Ok(())
    }

    fn refuse(&mut self, path: Vec<u8>) -> Errno {
        if self.refused.len() < MOST_REPORTED && !self.refused.contains(&path) {
            self.refused.push(path);
        }
        Errno::ACCESS
    }

    /// Remembers the folder of a name that was created.
    fn made(&mut self, place: &Place, result: Result<(), Errno>) -> Result<Ending, Errno> {
        if result.is_ok() {
            self.remember(place);
        }
        done(result)
    }

    fn remember(&mut self, place: &Place) {
        let is_known = self.folders.contains(&place.folder);
        if !is_known && self.folders.len() < MOST_FOLDERS && self.names.concerns(&place.folder) {
            self.folders.insert(place.folder.clone());
        }
    }

    /// The mode of something new; the caller's mask becomes ours, so that default rights of folders hold as well.
    fn mode(&mut self, caller: Caller, mode: u64) -> Result<Mode, Errno> {
        if self.has_own_masks {
            let mask = caller.umask()?;
            if self.mask != Some(mask) {
                rustix::process::umask(mask);
                self.mask = Some(mask);
            }
        }
        Ok(Mode::from_raw_mode(mode as u32 & RIGHTS))
    }

    fn open(
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

    fn link(&mut self, asked: &Asked, from: (i32, u64), to: (i32, u64), flags: u64) -> Result<Ending, Errno> {
        const FOLLOW: u64 = libc::AT_SYMLINK_FOLLOW as u64;
        const EMPTY: u64 = libc::AT_EMPTY_PATH as u64;
        if flags & !(FOLLOW | EMPTY) != 0 {
            return Err(Errno::INVAL);
        }
        let caller = Caller::new(asked.pid);
        // As the kernel does: what is wrong with the source is reported before what is wrong with the target.
        let path = caller.text(from.1)?;
        let source = match path.as_slice() {
            [] if flags & EMPTY != 0 => Source::Object(caller.object(from.0)?),
            path if flags & FOLLOW != 0 => Source::Object(caller.whole(from.0, path)?),
            path => {
                let place = caller.place(from.0, path)?;
                place.must_be_there()?;
                Source::Named(place)
            }
        };
        let place = caller.place(to.0, &caller.text(to.1)?)?;
        self.check(asked, &place, Making::Other)?;
        let written = place.written();
        let name = OsStr::from_bytes(&written);
        let result = match source {
            // A file without a name has no other path than this one.
            Source::Object(object) => {
                let held = format!("/proc/self/fd/{}", object.as_raw_fd());
                rustix::fs::linkat(CWD, held, &place.parent, name, AtFlags::SYMLINK_FOLLOW)
            }
            Source::Named(source) => {
                let written = source.written();
                let old = OsStr::from_bytes(&written);
                rustix::fs::linkat(&source.parent, old, &place.parent, name, AtFlags::empty())
            }
        };
        self.made(&place, result)
    }

    fn rename(
        &mut self,
        asked: &Asked,
        from: (i32, u64),
        to: (i32, u64),
        flags: u64,
    ) -> Result<Ending, Errno> {
        let flags = RenameFlags::from_bits_retain(flags as u32);
        let both = RenameFlags::NOREPLACE | RenameFlags::EXCHANGE;
        // The two exclude each other. A whiteout, the third flag there is, would be a device.
        if !both.contains(flags) || flags == both {
            return Err(Errno::INVAL);
        }
        let caller = Caller::new(asked.pid);
        let source = caller.place(from.0, &caller.text(from.1)?)?;
        let target = caller.place(to.0, &caller.text(to.1)?)?;
        let is_dots = |place: &Place| matches!(place.name.as_slice(), b"." | b"..");
        if is_dots(&source) || is_dots(&target) {
            let exists = flags == RenameFlags::NOREPLACE && !is_dots(&source);
            return Err(if exists { Errno::EXIST } else { Errno::BUSY });
        }
        self.check_move(asked, &source, &target)?;
        if flags.contains(RenameFlags::EXCHANGE) {
            self.check_move(asked, &target, &source)?;
        }
        let (old, new) = (source.written(), target.written());
        let result = rustix::fs::renameat_with(
            &source.parent,
            OsStr::from_bytes(&old),
            &target.parent,
            OsStr::from_bytes(&new),
            flags,
        );
        if result.is_ok() && flags.contains(RenameFlags::EXCHANGE) {
            self.remember(&source);
        }
        self.made(&target, result)
    }

    /// Judges the new name of what moves, and of everything inside it; what is locked or hidden stays where it is.
    fn check_move(&mut self, asked: &Asked, source: &Place, target: &Place) -> Result<(), Errno> {
        let path = source.path();
        if self.names.holds_marked(&path) || self.names.is_closed(&path, Making::Folder) {
            return Err(self.refuse(path));
        }
        let Some(stat) = source.stat()? else { return Err(Errno::NOENT) };
        let making = match kind(&stat) {
            FileType::Symlink => Making::Link,
            FileType::Directory => Making::Other,
            _ => Making::File,
        };
        self.check(asked, target, making)?;
        if kind(&stat) == FileType::Directory && self.names.must_look_inside() {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let name = OsStr::from_bytes(&source.name);
            let moved = rustix::fs::openat(&source.parent, name, flags, Mode::empty());
            // What cannot be looked into cannot be judged.
            let moved = moved.map_err(|_| self.refuse(target.path()))?;
            let mut left = MOST_MOVED;
            return self.check_inside(asked, moved, &target.path(), &mut left);
        }
        Ok(())
    }

    fn check_inside(
        &mut self,
        asked: &Asked,
        folder: OwnedFd,
        path: &[u8],
        left: &mut usize,
    ) -> Result<(), Errno> {
        let mut listing = Dir::new(folder)?;
        let mut folders = Vec::new();
        while let Some(entry) = listing.read() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            let whole = [path, b"/", name].concat();
            *left = left.checked_sub(1).ok_or(Errno::ACCESS)?;
            let kind = match entry.file_type() {
                FileType::Unknown => {
                    let flags = AtFlags::SYMLINK_NOFOLLOW;
                    kind(&rustix::fs::statat(listing.fd()?, entry.file_name(), flags)?)
                }
                known => known,
            };
            let making = match kind {
                FileType::Symlink => Making::Link,
                FileType::Directory => Making::Folder,
                _ => Making::File,
            };
            self.check_path(asked, whole.clone(), making)?;
            if kind == FileType::Directory {
                folders.push((entry.file_name().to_owned(), whole));
            }
        }
        for (name, whole) in folders {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let inner = rustix::fs::openat(listing.fd()?, &name, flags, Mode::empty());
            let inner = inner.map_err(|_| self.refuse(whole.clone()))?;
            self.check_inside(asked, inner, &whole, left)?;
        }
        Ok(())
    }

    /// A socket of the file system is a name too.
    fn bind(&mut self, asked: &Asked, socket: i32, address: u64, length: u64) -> Result<Ending, Errno> {
        const FAMILY: usize = size_of::<libc::sa_family_t>();
        const LONGEST: usize = size_of::<libc::sockaddr_storage>();
        let caller = Caller::new(asked.pid);
        let length = usize::try_from(length as u32).unwrap_or(usize::MAX);
        if !(FAMILY..=LONGEST).contains(&length) {
            return Err(Errno::INVAL);
        }
        let address = caller.bytes(address, length)?;
        let socket = caller.descriptor(socket)?;
        let failed = |error: std::io::Error| Errno::from_io_error(&error).unwrap_or(Errno::INVAL);
        let (family, path) = address.split_at(FAMILY);
        let is_local = family == (libc::AF_UNIX as libc::sa_family_t).to_ne_bytes();
        let path = path.split(|byte| *byte == 0).next().unwrap_or_default();
        if !is_local || path.is_empty() {
            if !notify::still_asks(self.listener(), asked.id) {
                return Err(Errno::SRCH);
            }
            return done(notify::bind(socket.as_fd(), &address).map_err(failed));
        }
        let place = caller.place(libc::AT_FDCWD, path)?;
        self.check(asked, &place, Making::Other)?;
        self.mode(caller, 0)?;
        // The kernel takes a path only: the name alone, from the folder that was judged.
        let address = [family, &place.written(), &[0]].concat();
        rustix::process::fchdir(&place.parent)?;
        let bound = notify::bind(socket.as_fd(), &address).map_err(failed);
        rustix::process::chdir("/")?;
        self.made(&place, bound)
    }

    /// Closed names that now exist in folders in which the command created something. They were not there before: what
    /// was is locked or hidden.
    pub(super) fn appeared(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for folder in &self.folders {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
            let opened = rustix::fs::open(OsStr::from_bytes(folder), flags, Mode::empty());
            let Ok(listing) = opened.and_then(Dir::new) else { continue };
            for entry in listing.flatten() {
                let name = entry.file_name().to_bytes();
                let path = [folder, b"/".as_slice(), name].concat();
                let making = match entry.file_type() {
                    FileType::Directory => Making::Folder,
                    FileType::Symlink => Making::Link,
                    _ => Making::File,
                };
                let is_itself = matches!(name, b"." | b"..");
                if !is_itself && self.names.is_closed(&path, making) && !self.names.is_marked(&path) {
                    found.push(PathBuf::from(OsString::from_vec(path)));
                }
                if found.len() == MOST_REPORTED {
                    return found;
                }
            }
        }
        found.sort();
        found
    }
}
