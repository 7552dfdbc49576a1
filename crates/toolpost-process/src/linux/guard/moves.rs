//! What exists gets another name: links and renames.

use super::caller::{Caller, Place, kind, path_of};
use super::names::{Making, Names};
use super::{Ending, Guard};
use crate::linux::sys::notify::{Asked, Said};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

/// Maximum number of entries of a moved folder to look at.
const MOST_MOVED: usize = 200_000;

/// How many names to try for what cannot have its old one back.
const MOST_NAMES: usize = 16;

/// How deep a moved folder may be.
const DEEPEST: usize = 200;

/// Largest file that is compared with the one that it is to replace, in bytes.
const LARGEST_COMPARED: usize = 1 << 20;

/// What gets another name.
enum Source {
    Object(OwnedFd),
    Named(Place),
}

impl Guard {
    /// Gives a file a second name.
    pub(super) fn link(
        &mut self,
        asked: &Asked,
        from: (i32, u64),
        to: (i32, u64),
        flags: u64,
    ) -> Result<Ending, Errno> {
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
        // A symbolic link can have a second name too.
        let stat = match &source {
            Source::Object(object) => Some(rustix::fs::fstat(object)?),
            Source::Named(source) => source.stat()?,
        };
        let is_link = stat.is_none_or(|stat| kind(&stat) == FileType::Symlink);
        let making = if is_link { Making::Link } else { Making::File };
        self.check(asked, &place, making)?;
        let text = match (is_link, &source) {
            (false, _) => None,
            (true, Source::Object(object)) => {
                Some(rustix::fs::readlinkat(object, "", Vec::new())?.into_bytes())
            }
            (true, Source::Named(source)) => Some(source.link_target()?),
        };
        if let Some(text) = &text {
            self.check_led(&place.path(), text)?;
        }
        self.keep_new(&place);
        if self.keeps() {
            self.note_source(&source);
        }
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
        match text {
            Some(text) => self.made_link(&place, &text, result),
            None => self.made(&place, making, result),
        }
    }

    /// Takes note of a file that gets a second name: what is changed under it is changed under both.
    fn note_source(&mut self, source: &Source) {
        let held = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = match source {
            Source::Object(object) => object.try_clone().ok(),
            Source::Named(place) => {
                rustix::fs::openat(&place.parent, OsStr::from_bytes(&place.name), held, Mode::empty()).ok()
            }
        };
        if let Some(object) = opened
            && let Ok(stat) = rustix::fs::fstat(&object)
        {
            self.note_linked(object.as_fd(), &stat);
        }
    }

    /// Moves a file or folder, or exchanges two.
    pub(super) fn rename(
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
        if flags.is_empty() && self.changes_nothing(&source, &target) {
            self.keep(&source);
            rustix::fs::unlinkat(&source.parent, OsStr::from_bytes(&source.name), AtFlags::empty())?;
            self.keep_removed(&source);
            return Ok(Said::Done(0).into());
        }
        self.check_move(asked, &source, &target)?;
        if flags.contains(RenameFlags::EXCHANGE) {
            self.check_move(asked, &target, &source)?;
        }
        self.keep_moved(&source, &target, flags.contains(RenameFlags::EXCHANGE));
        let (old, new) = (source.written(), target.written());
        let result = rustix::fs::renameat_with(
            &source.parent,
            OsStr::from_bytes(&old),
            &target.parent,
            OsStr::from_bytes(&new),
            flags,
        );
        result?;
        // Another command, with a guard of its own, may have created names in a moved folder meanwhile.
        let exchanges = flags.contains(RenameFlags::EXCHANGE);
        let is_right = self.check_arrived(asked, &source, &target)
            && (!exchanges || self.check_arrived(asked, &target, &source));
        if !is_right {
            take_back(&source, &target, if exchanges { flags } else { RenameFlags::NOREPLACE });
            return Err(Errno::ACCESS);
        }
        if exchanges {
            self.names.exchanged(&source.path(), &target.path());
            self.remember(&source);
        } else {
            self.names.moved(&source.path(), &target.path());
        }
        self.keep_arrived(&source, &target, exchanges);
        self.remember(&target);
        self.note_written(&target);
        Ok(Said::Done(0).into())
    }

    /// Whether a file that may not be replaced would get the content that it has. `git branch -d` writes the configuration
    /// anew even where nothing is to be changed; then the file is left alone, and the caller is told that all went well.
    fn changes_nothing(&self, source: &Place, target: &Place) -> bool {
        let (path, other) = (target.path(), source.path());
        let is_locked = self.names.marked_above(&path) == Some(path.as_slice());
        let is_held = self.names.holds_marked(&other) || self.names.is_closed(&other, Making::File);
        if !is_locked || is_held || source.has_slash || target.has_slash {
            return false;
        }
        let content = |place: &Place| -> Option<(u32, Vec<u8>)> {
            let flags =
                OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
            let stat = place.stat().ok()?.filter(|stat| kind(stat) == FileType::RegularFile)?;
            let length = usize::try_from(stat.st_size).ok().filter(|size| *size <= LARGEST_COMPARED)?;
            let file =
                rustix::fs::openat(&place.parent, OsStr::from_bytes(&place.name), flags, Mode::empty())
                    .ok()?;
            let mut bytes = Vec::with_capacity(length);
            std::fs::File::from(file).take(LARGEST_COMPARED as u64 + 1).read_to_end(&mut bytes).ok()?;
            Some((stat.st_mode, bytes))
        };
        content(source).is_some_and(|new| content(target) == Some(new))
    }

    /// Whether what has just moved here may be here, with everything inside.
    fn check_arrived(&mut self, asked: &Asked, source: &Place, place: &Place) -> bool {
        let Ok(folder) = path_of(place.parent.as_fd()) else { return false };
        let path = [folder.as_slice(), b"/", &place.name].concat();
        let Ok(Some(stat)) = place.stat() else { return true };
        let is_folder = kind(&stat) == FileType::Directory;
        if folder != place.folder {
            let making = match kind(&stat) {
                FileType::Symlink => Making::Link,
                FileType::Directory => Making::Filled,
                _ => Making::File,
            };
            if self.names.is_closed(&path, making) {
                return false;
            }
            if making == Making::Link {
                let text = place.link_target();
                return text.is_ok_and(|text| !self.leads_into_dependencies(&path, &text));
            }
        }
        if !is_folder || !self.names.must_look_inside(&source.path(), &path) {
            return true;
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let moved = rustix::fs::openat(&place.parent, OsStr::from_bytes(&place.name), flags, Mode::empty());
        let Ok(moved) = moved else { return false };
        let mut left = MOST_MOVED;
        Names::as_if_moved(self, (&source.path(), &path), |guard| {
            guard.check_inside(asked, moved, &path, &mut left, 0).is_ok()
        })
    }

    /// Judges the new name of what moves, and of everything inside it; what is locked or hidden stays where it is.
    fn check_move(&mut self, asked: &Asked, source: &Place, target: &Place) -> Result<(), Errno> {
        let path = source.path();
        // The files that keep a folder where it is say more than the folder.
        let to = target.path();
        let held: Vec<Vec<u8>> =
            self.names.held_by(&path, &to).take(super::MOST_REPORTED).map(<[u8]>::to_vec).collect();
        if !held.is_empty() {
            return Err(held.into_iter().map(|path| self.refuse(path)).last().unwrap_or(Errno::ACCESS));
        }
        if self.names.is_fixed(&path) || self.names.is_closed(&path, Making::Folder) {
            return Err(self.refuse(path));
        }
        let Some(stat) = source.stat()? else { return Err(Errno::NOENT) };
        let making = match kind(&stat) {
            FileType::Symlink => Making::Link,
            FileType::Directory => Making::Filled,
            _ => Making::File,
        };
        self.check(asked, target, making)?;
        if making == Making::Link {
            self.check_led(&target.path(), &source.link_target()?)?;
        }
        if kind(&stat) == FileType::Directory && self.names.must_look_inside(&source.path(), &target.path()) {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let name = OsStr::from_bytes(&source.name);
            let moved = rustix::fs::openat(&source.parent, name, flags, Mode::empty());
            // What cannot be looked into cannot be judged.
            let moved = moved.map_err(|_| self.refuse(target.path()))?;
            let mut left = MOST_MOVED;
            return Names::as_if_moved(self, (&source.path(), &target.path()), |guard| {
                guard.check_inside(asked, moved, &target.path(), &mut left, 0)
            });
        }
        Ok(())
    }

    fn check_inside(
        &mut self,
        asked: &Asked,
        folder: OwnedFd,
        path: &[u8],
        left: &mut usize,
        depth: usize,
    ) -> Result<(), Errno> {
        if depth > DEEPEST {
            return Err(self.refuse(path.to_vec()));
        }
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
            if kind == FileType::Symlink {
                let text = rustix::fs::readlinkat(listing.fd()?, entry.file_name(), Vec::new())?;
                self.check_led(&whole, text.as_bytes())?;
            }
            if kind == FileType::Directory {
                folders.push((entry.file_name().to_owned(), whole));
            }
        }
        for (name, whole) in folders {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let inner = rustix::fs::openat(listing.fd()?, &name, flags, Mode::empty());
            let inner = inner.map_err(|_| self.refuse(whole.clone()))?;
            self.check_inside(asked, inner, &whole, left, depth + 1)?;
        }
        Ok(())
    }
}

/// Moves back what may not be where it has been moved to. If its old name was given to something else meanwhile, it gets one
/// beside that.
fn take_back(source: &Place, target: &Place, flags: RenameFlags) {
    let back = |name: &[u8]| {
        let old = OsStr::from_bytes(&target.name);
        rustix::fs::renameat_with(&target.parent, old, &source.parent, OsStr::from_bytes(name), flags)
    };
    if back(&source.name) != Err(Errno::EXIST) {
        return;
    }
    for _ in 0..MOST_NAMES {
        // Nobody can have made all of these names before.
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let name = [&source.name, b".refused-".as_slice(), now.as_nanos().to_string().as_bytes()].concat();
        if back(&name) != Err(Errno::EXIST) {
            return;
        }
    }
}
