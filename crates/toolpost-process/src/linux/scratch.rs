//! Folders for dry runs: where one can be, and its end, whatever a command has put into it.

use crate::error::Error;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, XattrFlags};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const PREFIX: &str = "toolpost-dry-";

/// What is older was left behind by a process that was killed: no command runs that long.
const LEFT_BEHIND: Duration = Duration::from_secs(24 * 60 * 60);

/// The file system of an overlay, which cannot take another one's changes.
const OVERLAY: i64 = 0x794c_7630;

/// Makes a folder in the first base that will do, and says whether all names of files that have several are in it.
pub(crate) fn new_scratch(bases: &[PathBuf], roots: &[PathBuf]) -> Result<(PathBuf, bool), Error> {
    let mut why = Vec::new();
    for base in bases {
        match try_in(base, roots) {
            Ok(folder) => {
                let has_all_names = super::shared_files::copy(&folder, roots);
                return Ok((folder, has_all_names));
            }
            Err(error) => why.push(format!("`{}`: {error}", base.display())),
        }
    }
    Err(Error::SandboxUnavailable {
        layer: "throw-away overlay".into(),
        why: format!("no folder can take the changes of a dry run ({})", why.join("; ")),
    })
}

fn try_in(base: &Path, roots: &[PathBuf]) -> io::Result<PathBuf> {
    let check = |base: &Path| match roots.iter().any(|root| base.starts_with(root)) {
        true => Err(io::Error::other("it lies in the workspace")),
        false => Ok(()),
    };
    // Once by its name, so that nothing is made in the workspace, and once by where that led.
    check(base)?;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(base)?;
    let base = base.canonicalize()?;
    check(&base)?;
    sweep(&base);
    let folder = make_fresh(&base)?;
    if let Err(error) = try_out(&folder) {
        remove_scratch(&folder);
        return Err(error);
    }
    Ok(folder)
}

fn make_fresh(base: &Path) -> io::Result<PathBuf> {
    loop {
        let mut random = [0; 8];
        rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
        let folder = base.join(format!("{PREFIX}{:016x}", u64::from_ne_bytes(random)));
        match fs::DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (),
            Err(error) => return Err(error),
        }
    }
}

/// Whether the disk can take the changes of an overlay: it must keep notes on folders, and be no overlay itself.
fn try_out(folder: &Path) -> io::Result<()> {
    if rustix::fs::statfs(folder)?.f_type as i64 == OVERLAY {
        return Err(io::Error::other("it lies on an overlay itself"));
    }
    rustix::fs::setxattr(folder, "user.overlay.toolpost", b"y", XattrFlags::empty())?;
    Ok(())
}

/// Removes what killed processes of this user have left.
fn sweep(base: &Path) {
    let own = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        let Ok(metadata) = entry.metadata() else { continue };
        let age =
            metadata.modified().ok().and_then(|modified| SystemTime::now().duration_since(modified).ok());
        if is_ours && metadata.is_dir() && metadata.uid() == own && age.is_some_and(|age| age > LEFT_BEHIND) {
            remove_scratch(&entry.path());
        }
    }
}

/// Removes a folder with all that is in it. What cannot be removed now is swept later.
///
/// Folders are moved up to the top before they are emptied, so that neither depth nor the length of paths matters.
pub(crate) fn remove_scratch(folder: &Path) {
    let Ok(top) = open_folder(CWD, folder) else { return };
    let mut next = 0_u64;
    let mut waiting = VecDeque::from([None]);
    while let Some(name) = waiting.pop_front() {
        let opened = match &name {
            None => open_folder(CWD, folder),
            Some(name) => open_folder(&top, name),
        };
        if let Ok(opened) = opened {
            for child in names_in(&opened) {
                empty_one(&opened, &child, &top, &mut next, &mut waiting);
            }
        }
        if let Some(name) = &name {
            let _ = rustix::fs::unlinkat(&top, name.as_str(), AtFlags::REMOVEDIR);
        }
    }
    let _ = fs::remove_dir(folder);
}

/// Removes a file; moves a folder to the top, to be emptied in its turn.
fn empty_one(
    parent: &OwnedFd,
    child: &std::ffi::CStr,
    top: &OwnedFd,
    next: &mut u64,
    waiting: &mut VecDeque<Option<String>>,
) {
    let is_folder = rustix::fs::statat(parent, child, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_dir());
    if !is_folder {
        let _ = rustix::fs::unlinkat(parent, child, AtFlags::empty());
        return;
    }
    // Moving and listing it needs rights that the command may have taken away.
    let _ = rustix::fs::chmodat(parent, child, Mode::RWXU, AtFlags::empty());
    loop {
        let name = format!(".{next}");
        *next += 1;
        match rustix::fs::renameat_with(parent, child, top, name.as_str(), RenameFlags::NOREPLACE) {
            Ok(()) => return waiting.push_back(Some(name)),
            // Left by a removal that was interrupted: it has its turn as well.
            Err(Errno::EXIST) => (),
            Err(_) => return,
        }
    }
}

fn open_folder(at: impl std::os::fd::AsFd, path: impl rustix::path::Arg) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(at, path, flags, Mode::empty())
}

/// The names in a folder, without itself and the one above.
pub(super) fn names_in(folder: &OwnedFd) -> Vec<std::ffi::CString> {
    let Ok(mut entries) = rustix::fs::Dir::read_from(folder) else { return Vec::new() };
    let mut names = Vec::new();
    while let Some(Ok(entry)) = entries.read() {
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            names.push(entry.file_name().to_owned());
        }
    }
    names
}
