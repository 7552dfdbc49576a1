//! What a process gives up, for itself and all it will start, right before it becomes the command's program.

use super::filter::Watch;
use super::sys::notify;
use super::wire::{Reply, View};
use super::{filter, post, sys};
use rustix::fs::{CWD, Mode, OFlags};
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

/// New privileges and files beyond the view. The first process of the namespace gives these up for itself as well,
/// since it creates files in the command's place.
pub(super) fn restrict(view: &View) -> Result<(), Reply> {
    sys::no_new_privileges().map_err(layer("no new privileges"))?;
    landlock(view).map_err(layer("landlock"))
}

/// Capabilities, and system calls that no command needs. The guard gets the calls that create names over `guard`.
pub(super) fn confine(view: &View, guard: &OwnedFd) -> Result<(), Reply> {
    sys::drop_capabilities().map_err(layer("capabilities"))?;
    let watch = match is_watched(view) {
        false => Watch::Nothing,
        true if view.keeps => Watch::Changes,
        true if has_removable(view) => Watch::NamesAndRemoval,
        true => Watch::Names,
    };
    let listener = notify::install_filter(&filter::instructions(watch), watch != Watch::Nothing)
        .map_err(layer("system call filter"))?;
    if let Some(listener) = listener {
        post::send(guard, b"listener", &[listener.as_fd()]).map_err(layer("system call filter"))?;
    }
    Ok(())
}

/// Whether names may be created at all outside of the temporary folders.
pub(super) fn is_watched(view: &View) -> bool {
    !view.writable.is_empty() || !view.reserved.is_empty()
}

/// Whether there are hidden files that the command may remove. In a dry run nothing is removed.
pub(super) fn has_removable(view: &View) -> bool {
    view.scratch.is_empty() && !view.writable.is_empty() && !view.dependencies.removable.is_empty()
}

fn layer(name: &'static str) -> impl Fn(io::Error) -> Reply {
    move |error| Reply::no_sandbox(name, &error)
}

// What Landlock tells apart, by the version that brought it.
const EXECUTE: u64 = 1;
const WRITE_FILE: u64 = 1 << 1;
const READ: u64 = 0b1100;
const FIRST: u64 = (1 << 13) - 1;
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;
const IOCTL: u64 = 1 << 15;
/// Abstract sockets and signals stay inside.
const SCOPES: u64 = 0b11;

/// Everything visible may be read and run; only what is writable may be changed. The mounts say the same: two walls.
pub(super) fn landlock(view: &View) -> io::Result<()> {
    let version = sys::landlock_version()?;
    let mut all = FIRST;
    for (since, access) in [(2, REFER), (3, TRUNCATE), (5, IOCTL)] {
        if version >= since {
            all |= access;
        }
    }
    let scoped = if version >= 6 { SCOPES } else { 0 };
    let rules = sys::landlock_rules(&sys::Handled { files: all, network: 0, scoped }, version)?;
    let allow = |path: &[u8], access: u64| -> io::Result<()> {
        let place = match rustix::fs::openat(
            CWD,
            OsStr::from_bytes(path),
            OFlags::PATH | OFlags::CLOEXEC,
            Mode::empty(),
        ) {
            Ok(place) => place,
            Err(rustix::io::Errno::NOENT) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let is_folder = rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(&place)?.st_mode).is_dir();
        // Of a file there is no inside.
        let of_files = EXECUTE | WRITE_FILE | 1 << 2 | TRUNCATE | IOCTL;
        let access = if is_folder { access } else { access & of_files };
        sys::landlock_allow(&rules, access & all, place.as_fd())
    };
    allow(b"/", EXECUTE | READ)?;
    for path in [b"/tmp".as_slice(), b"/dev/shm", &view.home] {
        if !path.is_empty() {
            allow(path, all)?;
        }
    }
    allow(b"/dev", READ | WRITE_FILE | TRUNCATE | IOCTL)?;
    for path in &view.writable {
        allow(path, all)?;
    }
    sys::landlock_restrict(&rules)
}
