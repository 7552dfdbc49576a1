//! What is read of git's own files: where a repository is, and which programs its configuration names.
//!
//! Nothing of it is ever shown. A folder's word about where its repository is counts only where the repository says the
//! same: anybody can write such a word, and it must not open another repository of the machine.

pub(super) mod code;
pub(super) mod config;
mod pointer;
pub(super) mod script;
mod shell;
mod user;
pub(super) mod words;

pub use pointer::linked_repository;
pub(super) use pointer::{Repository, pointed_repository, repository};
pub use user::UserGit;

use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};
use std::io::Read;
use std::path::Path;

/// The bytes of a regular file that is not too large.
pub(super) fn read(path: &Path, largest: u64) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let handle = openat(CWD, path, flags, Mode::empty()).ok()?;
    let stat = fstat(&handle).ok()?;
    let is_small = u64::try_from(stat.st_size).is_ok_and(|size| size <= largest);
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || !is_small {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::from(handle).take(largest).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
