//! One open folder of a scan: its entries in pieces, and its ignore files.

use super::FOLDER;
use crate::look::{READ, kind};
use crate::outer;
use crate::roots::{Failure, Roots, beneath};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, RawDir, ResolveFlags, fstat, statat};
use rustix::io::Errno;
use std::borrow::Cow;
use std::io::Read;
use std::path::Path;
use toolpost_core::workspace::Kind;
use toolpost_core::workspace::{IgnoreFiles, Repository, Tracked};

/// Bytes of entries that the kernel hands over at once.
pub(crate) const BUFFER: usize = 32 * 1024;
/// How many entries are handed on at once; the rest of a larger folder is read afterwards.
const PIECE: usize = 4096;

/// A folder by its handle.
pub(crate) struct OpenFolder {
    pub(crate) handle: OwnedFd,
    /// Its path below the root; empty for the root.
    pub(crate) below: String,
    /// What the display names of its entries begin with.
    pub(crate) prefix: String,
    /// Its absolute path.
    pub(crate) absolute: String,
}

/// One entry.
pub(crate) struct Found {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) exact: bool,
}

impl OpenFolder {
    /// Opens a folder to which no link leads.
    pub(crate) fn open(roots: &Roots, root: usize, below: &str) -> Result<OpenFolder, Failure> {
        let path = if below.is_empty() { "." } else { below };
        let handle = beneath(&roots.handles[root], path, FOLDER, ResolveFlags::NO_SYMLINKS);
        let handle = handle.map_err(|errno| match errno {
            Errno::NOTDIR => Failure::NotAFolder,
            other => other.into(),
        })?;
        let top = roots.names[root].path.trim_end_matches('/');
        let absolute = match below {
            "" => roots.names[root].path.clone(),
            below => format!("{top}/{below}"),
        };
        let prefix = match (root, below) {
            (0, "") => String::new(),
            (0, below) => format!("{below}/"),
            _ => format!("{}/", absolute.trim_end_matches('/')),
        };
        Ok(OpenFolder { handle, below: below.to_owned(), prefix, absolute })
    }

    /// The display name of a folder that could not be opened.
    pub(crate) fn display(roots: &Roots, root: usize, below: &str) -> String {
        match root {
            0 => below.to_owned(),
            _ => format!("{}/{below}", roots.names[root].path.trim_end_matches('/')),
        }
    }

    /// The path of an entry below the root.
    pub(crate) fn below(&self, name: &str) -> String {
        if self.below.is_empty() { name.to_owned() } else { format!("{}/{name}", self.below) }
    }

    pub(crate) fn absolute_prefix(&self) -> String {
        format!("{}/", self.absolute.trim_end_matches('/'))
    }

    /// Hands the entries on in pieces, with whether a piece is all there is; until told to stop.
    pub(crate) fn read(
        &self,
        buffer: &mut Vec<u8>,
        take: &mut dyn FnMut(&mut Vec<Found>, bool) -> bool,
    ) -> Result<(), Errno> {
        let mut entries: Vec<Found> = Vec::new();
        let mut is_first = true;
        let mut listing = RawDir::new(self.handle.as_fd(), buffer.spare_capacity_mut());
        while let Some(entry) = listing.next() {
            let entry = entry?;
            if matches!(entry.file_name().to_bytes(), b"." | b"..") {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => statat(&self.handle, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)
                    .map_or(Kind::Special, |stat| kind(FileType::from_raw_mode(stat.st_mode))),
                known => kind(known),
            };
            let name = entry.file_name().to_string_lossy();
            let exact = matches!(name, Cow::Borrowed(_));
            entries.push(Found { name: name.into_owned(), kind, exact });
            if entries.len() >= PIECE {
                is_first = false;
                if !take(&mut entries, false) {
                    return Ok(());
                }
                entries.clear();
            }
        }
        take(&mut entries, is_first);
        Ok(())
    }

    /// The ignore files of the folder; `known` are its entries, if all of them are.
    pub(crate) fn ignore_files(&self, known: Option<&Vec<Found>>) -> IgnoreFiles {
        let find = |name: &str| known.and_then(|known| known.iter().find(|found| found.name == name));
        let may_have = |name: &str| known.is_none() || find(name).is_some();
        let mut files = IgnoreFiles::default();
        let read = |name: &str| may_have(name).then(|| self.bytes(name, IgnoreFiles::LARGEST)).flatten();
        files.ignore = IgnoreFiles::for_tools(read(".ignore"), read(".rgignore"));
        if may_have(".gitignore") {
            files.gitignore = self.bytes(".gitignore", IgnoreFiles::LARGEST);
        }
        if may_have(".git") {
            files.repository = self.repository();
        }
        files
    }

    fn repository(&self) -> Option<Repository> {
        let git = statat(&self.handle, ".git", AtFlags::SYMLINK_NOFOLLOW).ok()?;
        if FileType::from_raw_mode(git.st_mode) != FileType::Directory {
            return outer::repository(Path::new(&self.absolute));
        }
        let handle = self.handle.try_clone().ok()?;
        let load = move || bytes(&handle, ".git/index", Tracked::LARGEST);
        let tracked = Some(Tracked::new(&self.absolute, load));
        Some(Repository { exclude: self.bytes(".git/info/exclude", IgnoreFiles::LARGEST), tracked })
    }

    fn bytes(&self, name: &str, largest: u64) -> Option<Vec<u8>> {
        bytes(&self.handle, name, largest)
    }
}

/// The bytes of a regular file beneath a folder that is not too large.
fn bytes(folder: &OwnedFd, name: &str, largest: u64) -> Option<Vec<u8>> {
    let handle = beneath(folder, name, READ, ResolveFlags::NO_SYMLINKS).ok()?;
    let stat = fstat(&handle).ok()?;
    let is_small = u64::try_from(stat.st_size).is_ok_and(|size| size <= largest);
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || !is_small {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::from(handle).take(largest).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
