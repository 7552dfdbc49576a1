//! Changing: write, remove, rename, make folders; always inside a folder handle that was opened beneath a root.
//!
//! A file's content is never changed in place. The new content is made whole beside it and takes over the name.

use super::roots::{Failure, Resolved, Roots, beneath, steady};
use super::stage::Stage;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, ResolveFlags, Stat};
use rustix::fs::{fsync, mkdirat, readlinkat, renameat, renameat_with, statat, unlinkat};
use rustix::io::Errno;
use toolpost_core::workspace::Written;
use toolpost_core::workspace::implement::place::Place;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Calls `ready` when the new content is safe and does not show yet.
pub(super) fn write(
    roots: &Roots,
    place: &Place,
    content: &[u8],
    ready: &mut dyn FnMut() -> Result<(), Failure>,
) -> Result<Written, Failure> {
    steady(|| write_once(roots, place, content, ready))
}

fn write_once(
    roots: &Roots,
    place: &Place,
    content: &[u8],
    ready: &mut dyn FnMut() -> Result<(), Failure>,
) -> Result<Written, Failure> {
    let stage = Stage::make(roots, place, content)?;
    ready()?;
    stage.replace()?;
    settle(&stage.folder)?;
    Ok(stage.written())
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

/// The text of a link that the place itself is.
pub(super) fn link(roots: &Roots, place: &Place) -> Result<Option<String>, Failure> {
    let (folder, name) = parent(roots, place)?;
    match readlinkat(&folder, name, Vec::new()) {
        Ok(text) => Ok(Some(text.to_string_lossy().into_owned())),
        Err(Errno::INVAL) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
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
pub(super) fn make(roots: &Roots, place: &Place, missing: usize) -> Result<OwnedFd, Failure> {
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

pub(super) fn found(folder: &OwnedFd, name: &str) -> Result<Option<Stat>, Failure> {
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

pub(super) fn same(left: &Stat, right: &Stat) -> bool {
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
pub(super) fn settle(folder: &OwnedFd) -> Result<(), Failure> {
    match fsync(folder) {
        Ok(()) | Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

pub(super) fn system(error: std::io::Error) -> Failure {
    Failure::System(Errno::from_io_error(&error).unwrap_or(Errno::IO))
}
