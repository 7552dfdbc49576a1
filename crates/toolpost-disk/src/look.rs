//! Looking without changing: what a place is, its bytes, its entries.

use super::roots::{Failure, Roots, steady};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Dir, FileType, OFlags, fstat, statat};
use std::ffi::CStr;
use toolpost_core::workspace::implement::place::Place;
use toolpost_core::workspace::{Entries, Entry, File, Kind, Stat};
use toolpost_core::{Code, ToolError};

/// Opened without waiting for a writer and without becoming a terminal's process.
pub(super) const READ: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

pub(super) fn stat(roots: &Roots, place: &Place) -> Result<Stat, Failure> {
    let handle = roots.open(place, OFlags::PATH)?;
    stat_of(roots, place, &handle)
}

pub(super) fn open(roots: &Roots, place: &Place) -> Result<File, Failure> {
    let (handle, known, name) = steady(|| {
        // Not opened before it is known to be a file: to open a device can do something.
        regular(&roots.open(place, OFlags::PATH)?)?;
        let (handle, name) = roots.open_named(place, READ)?;
        let known = regular(&handle)?;
        Ok((handle, known, name))
    })?;
    let name = name.map_or_else(|| roots.name_of(&handle, place), Ok)?;
    let stat = stat_from(&known, name);
    Ok(File { stat, reader: Box::new(std::fs::File::from(handle)) })
}

pub(super) fn entries(roots: &Roots, place: &Place) -> Result<Entries, Failure> {
    let handle = roots.open(place, OFlags::PATH)?;
    if FileType::from_raw_mode(fstat(&handle)?.st_mode) != FileType::Directory {
        return Err(Failure::NotAFolder);
    }
    let handle = roots.open(place, READ | OFlags::DIRECTORY)?;
    Ok(Box::new(Listing { folder: Dir::new(handle)?, name: place.display(&roots.names), ended: false }))
}

/// Fails unless the handle is a regular file, with the word for what it is.
pub(super) fn regular(handle: &OwnedFd) -> Result<rustix::fs::Stat, Failure> {
    let known = fstat(handle)?;
    match FileType::from_raw_mode(known.st_mode) {
        FileType::RegularFile => Ok(known),
        other => Err(Failure::NotAFile(word(other))),
    }
}

pub(super) fn word(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => "a regular file",
        FileType::Directory => "a folder",
        FileType::Symlink => "a link",
        FileType::Fifo => "a named pipe (FIFO)",
        FileType::Socket => "a socket",
        FileType::CharacterDevice => "a character device",
        FileType::BlockDevice => "a block device",
        _ => "of an unknown kind",
    }
}

fn stat_of(roots: &Roots, place: &Place, handle: &OwnedFd) -> Result<Stat, Failure> {
    Ok(stat_from(&fstat(handle)?, roots.name_of(handle, place)?))
}

/// What the system tells of a file, under this name.
pub(super) fn stat_from(stat: &rustix::fs::Stat, name: String) -> Stat {
    let milliseconds = i64::try_from(stat.st_mtime_nsec).unwrap_or_default() / 1_000_000;
    let kind = kind(FileType::from_raw_mode(stat.st_mode));
    Stat {
        name,
        kind,
        size: u64::try_from(stat.st_size).unwrap_or_default(),
        modified_ms: stat.st_mtime.saturating_mul(1000).saturating_add(milliseconds),
        mode: stat.st_mode & 0o7777,
        has_other_names: kind == Kind::File && stat.st_nlink > 1,
    }
}

pub(super) fn kind(kind: FileType) -> Kind {
    match kind {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Folder,
        FileType::Symlink => Kind::Link,
        _ => Kind::Special,
    }
}

/// The entries of one open folder, as the kernel hands them out.
struct Listing {
    folder: Dir,
    name: String,
    ended: bool,
}

impl Listing {
    fn kind(&self, name: &CStr, known: FileType) -> Kind {
        if known != FileType::Unknown {
            return kind(known);
        }
        let stat = self.folder.fd().and_then(|folder| statat(folder, name, AtFlags::SYMLINK_NOFOLLOW));
        stat.map_or(Kind::Special, |stat| kind(FileType::from_raw_mode(stat.st_mode)))
    }
}

impl Iterator for Listing {
    type Item = Result<Entry, ToolError>;

    fn next(&mut self) -> Option<Result<Entry, ToolError>> {
        if self.ended {
            return None;
        }
        loop {
            match self.folder.read()? {
                Ok(entry) if matches!(entry.file_name().to_bytes(), b"." | b"..") => {}
                Ok(entry) => {
                    let kind = self.kind(entry.file_name(), entry.file_type());
                    let name = entry.file_name().to_string_lossy();
                    let exact = matches!(name, std::borrow::Cow::Borrowed(_));
                    return Some(Ok(Entry { name: name.into_owned(), kind, exact }));
                }
                Err(errno) => {
                    self.ended = true;
                    let message = format!("the folder `{}` could not be read to its end: {errno}", self.name);
                    return Some(Err(ToolError::new(Code::ReadError, message)));
                }
            }
        }
    }
}
