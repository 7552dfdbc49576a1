//! What the visitor is handed: a file by its folder's handle, or a link by its place.

use super::folder::{Found, OpenFolder};
use crate::look::{self, READ, stat_from};
use crate::roots::{Failure, Roots, beneath};
use rustix::fs::{AtFlags, FileType, OFlags, ResolveFlags, fstat, statat};
use rustix::io::Errno;
use toolpost_core::workspace::implement::place::Place;
use toolpost_core::workspace::{Candidate, File, Kind, Stat};
use toolpost_core::{Code, ToolError};

/// A name that was a regular file when its folder was read.
pub(super) struct FileCandidate<'a> {
    folder: &'a OpenFolder,
    found: &'a Found,
    name: &'a str,
}

impl<'a> FileCandidate<'a> {
    pub(super) fn new(folder: &'a OpenFolder, found: &'a Found, name: &'a str) -> FileCandidate<'a> {
        FileCandidate { folder, found, name }
    }
}

impl Candidate for FileCandidate<'_> {
    fn name(&self) -> &str {
        self.name
    }

    fn kind(&self) -> Kind {
        Kind::File
    }

    fn stat(&mut self) -> Result<Stat, ToolError> {
        let stat = statat(&self.folder.handle, self.found.name.as_str(), AtFlags::SYMLINK_NOFOLLOW);
        let stat = stat.map_err(|errno| failed(self.name, errno.into()))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(stat_from(&stat, self.name.to_owned())),
            _ => Err(gone(self.name)),
        }
    }

    fn open(&mut self) -> Result<File, ToolError> {
        let flags = READ | OFlags::NOFOLLOW;
        let handle = beneath(&self.folder.handle, &self.found.name, flags, ResolveFlags::NO_SYMLINKS)
            .map_err(|errno| failed(self.name, errno.into()))?;
        let stat = fstat(&handle).map_err(|errno| failed(self.name, errno.into()))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {
                let stat = stat_from(&stat, self.name.to_owned());
                Ok(File { stat, reader: Box::new(std::fs::File::from(handle)) })
            }
            _ => Err(gone(self.name)),
        }
    }
}

/// A link; what it leads to is found out when it is asked for.
pub(super) struct LinkCandidate<'a> {
    roots: &'a Roots,
    place: Place,
    name: &'a str,
}

impl<'a> LinkCandidate<'a> {
    pub(super) fn new(
        roots: &'a Roots,
        root: usize,
        folder: &OpenFolder,
        found: &Found,
        name: &'a str,
    ) -> LinkCandidate<'a> {
        let parts = folder.below(&found.name).split('/').map(str::to_owned).collect();
        LinkCandidate { roots, place: Place { root, parts }, name }
    }
}

impl Candidate for LinkCandidate<'_> {
    fn name(&self) -> &str {
        self.name
    }

    fn kind(&self) -> Kind {
        Kind::Link
    }

    fn stat(&mut self) -> Result<Stat, ToolError> {
        look::stat(self.roots, &self.place).map_err(|failure| failed(self.name, failure))
    }

    fn open(&mut self) -> Result<File, ToolError> {
        look::open(self.roots, &self.place).map_err(|failure| failed(self.name, failure))
    }
}

fn gone(name: &str) -> ToolError {
    ToolError::new(Code::FileNotFound, format!("no file `{name}` any more")).with("path", name)
}

/// Short, since a search does not stop at one file: what cannot be opened is told apart from what is not there.
fn failed(name: &str, failure: Failure) -> ToolError {
    match failure {
        Failure::System(Errno::NOENT | Errno::NOTDIR | Errno::NXIO) => gone(name),
        Failure::System(errno) => {
            ToolError::new(Code::ReadError, format!("`{name}` could not be opened: {errno}"))
                .with("path", name)
        }
        _ => gone(name),
    }
}
