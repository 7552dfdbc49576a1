//! Files that a command may remove although they are hidden from it.
//!
//! A hidden file is covered by a mount, and nothing covered can be removed where it is seen so. The keeper sees the files as
//! they are. It removes the very files that it was told of when the command started, wherever they have moved, and no
//! other.

use super::confine::has_removable;
use super::wire::{Removal, View};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The files, by where they were, with their device and number.
#[derive(Default)]
pub(super) struct Removable(HashMap<Vec<u8>, (u64, u64)>);

impl Removable {
    pub(super) fn new(view: &View) -> Removable {
        if !has_removable(view) {
            return Removable::default();
        }
        let known = |path: &std::path::PathBuf| {
            let stat = rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
            Some((path.as_os_str().as_bytes().to_vec(), identity(&stat)))
        };
        Removable(view.dependencies.removable.iter().filter_map(known).collect())
    }

    /// Removes a file by where it is now.
    pub(super) fn remove(&mut self, Removal { known, path, .. }: &Removal) -> Result<(), Errno> {
        let wanted = *self.0.get(known).ok_or(Errno::BUSY)?;
        let path = Path::new(OsStr::from_bytes(path));
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Err(Errno::BUSY) };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // The command sees no link on the way, since its path was resolved. One that has come since leads elsewhere.
        let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let folder = rustix::fs::openat2(CWD, folder, flags, Mode::empty(), resolve)?;
        let stat = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if identity(&stat) != wanted {
            return Err(Errno::BUSY);
        }
        rustix::fs::unlinkat(&folder, name, AtFlags::empty())?;
        self.0.remove(known);
        Ok(())
    }
}

fn identity(stat: &Stat) -> (u64, u64) {
    (stat.st_dev, stat.st_ino)
}
