//! What is at a path now, seen from outside of the sandbox. No link is followed: what a command made leads nowhere else.

use crate::kept::{Stamp, State};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// The roots of a command, held open.
pub(crate) struct Roots(Vec<(PathBuf, OwnedFd)>);

/// What has a name.
pub(crate) struct Found<'a> {
    root: &'a OwnedFd,
    path: PathBuf,
    stat: Stat,
}

impl Roots {
    /// Opens the roots. One that is not there holds nothing.
    pub(crate) fn open(roots: &[PathBuf]) -> Roots {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let open = |root: &PathBuf| Some((root.clone(), rustix::fs::open(root, flags, Mode::empty()).ok()?));
        Roots(roots.iter().filter_map(open).collect())
    }

    /// What is at a path; none if nothing is.
    pub(crate) fn find(&self, path: &Path) -> io::Result<Option<Found<'_>>> {
        let holds = self.0.iter().find_map(|(root, held)| Some((held, path.strip_prefix(root).ok()?)));
        let Some((root, rest)) = holds else { return Ok(None) };
        let path = if rest.as_os_str().is_empty() { PathBuf::from(".") } else { rest.to_owned() };
        let found = match open(root, &path, OFlags::PATH) {
            Ok(found) => found,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        Ok(Some(Found { root, path, stat: rustix::fs::fstat(&found)? }))
    }
}

impl Found<'_> {
    pub(crate) fn mode(&self) -> u32 {
        self.stat.st_mode & 0o7777
    }

    /// The size of a file.
    pub(crate) fn bytes(&self) -> Option<u64> {
        let is_file = FileType::from_raw_mode(self.stat.st_mode) == FileType::RegularFile;
        is_file.then(|| u64::try_from(self.stat.st_size).unwrap_or(0))
    }

    pub(crate) fn stat(&self) -> &Stat {
        &self.stat
    }

    /// The text of a symbolic link; nothing for all else.
    pub(crate) fn text(&self) -> io::Result<Vec<u8>> {
        if FileType::from_raw_mode(self.stat.st_mode) != FileType::Symlink {
            return Ok(Vec::new());
        }
        let link = open(self.root, &self.path, OFlags::PATH)?;
        Ok(rustix::fs::readlinkat(&link, "", Vec::new())?.into_bytes())
    }

    pub(crate) fn stamp(&self) -> Stamp {
        super::guard::stamp(&self.stat)
    }

    /// What it is, with the content of a file of at most this size.
    pub(crate) fn state(&self, most: u64) -> io::Result<State> {
        let mode = self.mode();
        Ok(match FileType::from_raw_mode(self.stat.st_mode) {
            FileType::RegularFile => match self.content(most)? {
                Some(content) => State::File { content, mode },
                None => State::NotKept { bytes: self.bytes().unwrap_or(0) },
            },
            FileType::Directory => State::Folder { mode },
            FileType::Symlink => State::Link(PathBuf::from(std::ffi::OsString::from_vec(self.text()?))),
            _ => State::Other,
        })
    }

    /// The bytes of a file; none if there are more, or nobody may read them.
    fn content(&self, most: u64) -> io::Result<Option<Vec<u8>>> {
        if self.bytes().is_none_or(|bytes| bytes > most) {
            return Ok(None);
        }
        let file = match open(self.root, &self.path, OFlags::RDONLY | OFlags::NONBLOCK) {
            Ok(file) => File::from(file),
            Err(Errno::ACCESS | Errno::PERM) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mut content = Vec::new();
        (&file).take(most.saturating_add(1)).read_to_end(&mut content)?;
        // What changes while it is read is neither the one nor the other.
        let read = super::guard::stamp(&rustix::fs::fstat(&file)?);
        if (read.inode, read.modified) != (self.stamp().inode, self.stamp().modified) {
            return Ok(None);
        }
        Ok(Some(content).filter(|content| content.len() as u64 <= most))
    }
}

fn open(root: &OwnedFd, path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    // A link at the end is what is meant.
    rustix::fs::openat2(root, path, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty(), resolve)
}
