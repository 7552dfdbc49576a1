//! Changing: write, remove, rename, make folders; always inside a folder handle that was opened beneath a root.
//!
//! A file's content is never changed in place. The new content is made whole beside it and takes over the name.

use super::keep;
use super::look::word;
use super::roots::{Failure, Resolved, Roots, beneath, steady};
use crate::workspace::Written;
use crate::workspace::place::Place;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, ResolveFlags, Stat};
use rustix::fs::{fsync, mkdirat, openat, renameat, renameat_with, statat, unlinkat};
use rustix::io::Errno;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Write as _;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

pub(super) fn write(roots: &Roots, place: &Place, content: &[u8]) -> Result<Written, Failure> {
    steady(|| write_once(roots, place, content))
}

fn write_once(roots: &Roots, place: &Place, content: &[u8]) -> Result<Written, Failure> {
    let Resolved { place, missing } = roots.resolve(place)?;
    let Some((above, name)) = place.split() else { return Err(Failure::NotAFile("a folder")) };
    let folder = make(roots, &above, missing.saturating_sub(1))?;
    let replaced = found(&folder, name)?;
    if let Some(stat) = &replaced {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => keep::writable(&folder, name, stat)?,
            FileType::Symlink => return Err(Failure::Changed),
            other => return Err(Failure::NotAFile(word(other))),
        }
    }
    let mut temporary = Temporary::create(&folder, replaced.is_some())?;
    temporary.file.write_all(content).map_err(system)?;
    if let Some(stat) = &replaced {
        keep::attributes(&folder, name, stat, &temporary.file)?;
    }
    temporary.file.sync_all().map_err(system)?;
    renameat(&folder, temporary.name.as_str(), &folder, name)?;
    temporary.done = true;
    settle(&folder)?;
    Ok(Written {
        name: place.display(&roots.names),
        created: replaced.is_none(),
        bytes: u64::try_from(content.len()).unwrap_or(u64::MAX),
    })
}

pub(super) fn remove(roots: &Roots, place: &Place) -> Result<(), Failure> {
    steady(|| {
        let (folder, name) = parent(roots, place)?;
        let stat = found(&folder, name)?.ok_or(Failure::System(Errno::NOENT))?;
        if roots.is_root(&stat) {
            return Err(root_stays());
        }
        let flags = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => AtFlags::REMOVEDIR,
            _ => AtFlags::empty(),
        };
        match unlinkat(&folder, name, flags) {
            Err(Errno::ISDIR | Errno::NOTDIR) => return Err(Failure::Changed),
            other => other?,
        }
        settle(&folder)
    })
}

pub(super) fn rename(roots: &Roots, from: &Place, to: &Place) -> Result<(), Failure> {
    steady(|| rename_once(roots, from, to))
}

fn rename_once(roots: &Roots, from: &Place, to: &Place) -> Result<(), Failure> {
    let (from_folder, from_name) = parent(roots, from)?;
    let moved = found(&from_folder, from_name)?.ok_or(Failure::System(Errno::NOENT))?;
    let Some((above, to_name)) = to.split() else { return Err(root_stays()) };
    let Resolved { place, missing } = roots.resolve(&above)?;
    if roots.is_root(&moved) {
        return Err(root_stays());
    }
    let to_folder = make(roots, &place, missing)?;
    let is_folder = FileType::from_raw_mode(moved.st_mode) == FileType::Directory;
    match found(&to_folder, to_name)? {
        None => match renameat_with(&from_folder, from_name, &to_folder, to_name, RenameFlags::NOREPLACE) {
            Err(Errno::EXIST) => return Err(Failure::Changed),
            Err(Errno::INVAL) if !is_folder => renameat(&from_folder, from_name, &to_folder, to_name)?,
            other => other.map_err(other_filesystem)?,
        },
        Some(stat) if same(&stat, &moved) => {
            let folders = (rustix::fs::fstat(&from_folder)?, rustix::fs::fstat(&to_folder)?);
            if from_name == to_name && same(&folders.0, &folders.1) {
                return Ok(());
            }
            // Two names of one file: rename would leave both.
            unlinkat(&from_folder, from_name, AtFlags::empty())?;
        }
        Some(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => {
            return Err(Failure::System(Errno::ISDIR));
        }
        Some(_) if is_folder => return Err(Failure::System(Errno::INVAL)),
        Some(_) => renameat(&from_folder, from_name, &to_folder, to_name).map_err(other_filesystem)?,
    }
    settle(&to_folder)?;
    settle(&from_folder)
}

pub(super) fn create_folder(roots: &Roots, place: &Place) -> Result<(), Failure> {
    steady(|| {
        let Resolved { place, missing } = roots.resolve(place)?;
        make(roots, &place, missing).map(drop)
    })
}

/// Opens the folder above, following links, and gives the last name as it is.
fn parent<'a>(roots: &Roots, place: &'a Place) -> Result<(OwnedFd, &'a str), Failure> {
    let Some((above, _)) = place.split() else { return Err(root_stays()) };
    let name = place.parts.last().ok_or_else(root_stays)?;
    let Resolved { place, missing } = roots.resolve(&above)?;
    if missing > 0 {
        return Err(Failure::System(Errno::NOENT));
    }
    Ok((folder(roots.open_exact(&place, FOLDER))?, name))
}

/// Opens a folder whose last `missing` names do not exist, making them one by one.
fn make(roots: &Roots, place: &Place, missing: usize) -> Result<OwnedFd, Failure> {
    let known = place.parts.len().saturating_sub(missing);
    let start = Place { root: place.root, parts: place.parts[..known].to_vec() };
    let mut handle = folder(roots.open_exact(&start, FOLDER))?;
    for part in &place.parts[known..] {
        match mkdirat(&handle, part.as_str(), Mode::from_raw_mode(0o777)) {
            Ok(()) => settle(&handle)?,
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
        let next = beneath(&handle, part, FOLDER, ResolveFlags::NO_SYMLINKS);
        handle = folder(next.map_err(|errno| match errno {
            Errno::LOOP => Failure::Changed,
            other => other.into(),
        }))?;
    }
    Ok(handle)
}

fn folder(opened: Result<OwnedFd, Failure>) -> Result<OwnedFd, Failure> {
    opened.map_err(|failure| match failure {
        Failure::System(Errno::NOTDIR) => Failure::NotAFolder,
        other => other,
    })
}

fn found(folder: &OwnedFd, name: &str) -> Result<Option<Stat>, Failure> {
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

fn same(left: &Stat, right: &Stat) -> bool {
    left.st_dev == right.st_dev && left.st_ino == right.st_ino
}

fn root_stays() -> Failure {
    Failure::System(Errno::BUSY)
}

fn other_filesystem(errno: Errno) -> Failure {
    match errno {
        Errno::XDEV => Failure::Refused(
            "the two names lie on different filesystems; write the new file, then remove the old".into(),
        ),
        other => other.into(),
    }
}

/// Makes the change of a name durable. Filesystems without sync of folders are taken at their word.
fn settle(folder: &OwnedFd) -> Result<(), Failure> {
    match fsync(folder) {
        Ok(()) | Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

pub(super) fn system(error: std::io::Error) -> Failure {
    Failure::System(Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

/// A file under a name nobody can guess, gone again unless it took over the name it was made for.
struct Temporary<'a> {
    folder: &'a OwnedFd,
    name: String,
    file: std::fs::File,
    done: bool,
}

impl<'a> Temporary<'a> {
    fn create(folder: &'a OwnedFd, private: bool) -> Result<Temporary<'a>, Failure> {
        // What replaces a file is nobody else's until it has that file's mode; a new file has the usual one.
        let mode = Mode::from_raw_mode(if private { 0o600 } else { 0o666 });
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        loop {
            let random = || RandomState::new().build_hasher().finish();
            let name = format!(".toolpost-{:016x}{:016x}", random(), random());
            match openat(folder, name.as_str(), flags, mode) {
                Ok(handle) => {
                    return Ok(Temporary { folder, name, file: std::fs::File::from(handle), done: false });
                }
                Err(Errno::EXIST | Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.done {
            let _ = unlinkat(self.folder, self.name.as_str(), AtFlags::empty());
        }
    }
}
