//! The user's own files, outside of every workspace: read without waiting or swelling, written whole and for their
//! owner alone.

#![expect(clippy::disallowed_methods, reason = "configuration lies outside every workspace")]

use rustix::fs::OFlags;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

/// The mode of every file that is made here.
const OWNER_ONLY: u32 = 0o600;

/// A file that was read.
pub(super) struct Bytes {
    pub(super) bytes: Vec<u8>,
    /// Whether others than its owner may change it, or another user owns it.
    pub(super) is_open_to_others: bool,
    /// Whether everybody may change it, not only a group, or another user owns it.
    pub(super) is_open_to_all: bool,
    /// Permission bits.
    pub(super) mode: u32,
    /// Whether it belongs to this user.
    pub(super) is_own: bool,
}

/// Whether a path, or what it leads to, belongs to another user; the administrator is one too.
pub(super) fn is_foreign(path: &Path) -> bool {
    let own = rustix::process::geteuid().as_raw();
    let is_foreign = |found: io::Result<fs::Metadata>| found.is_ok_and(|found| found.uid() != own);
    is_foreign(fs::symlink_metadata(path)) || is_foreign(fs::metadata(path))
}

/// Whether a path itself is a link.
pub(super) fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink())
}

/// The bytes of a regular file of at most `most` bytes; none if it does not exist. The error is a sentence that says
/// what to do.
pub(super) fn read(path: &Path, most: usize) -> Result<Option<Bytes>, String> {
    let unreadable = |error: io::Error| format!("cannot be read: {error}; check its owner and mode");
    let regular = |found: &fs::Metadata| match found.is_file() {
        true => Ok(()),
        false => Err(format!("is {}; put a regular file there", word(found.file_type()))),
    };
    // A device can act when it is merely opened, so what it is is asked before, and again of what was opened.
    match fs::metadata(path) {
        Ok(found) => regular(&found)?,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(unreadable(error)),
    }
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    let file =
        OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(path).map_err(unreadable)?;
    let found = file.metadata().map_err(unreadable)?;
    regular(&found)?;
    let mut bytes = Vec::new();
    if found.len() <= most as u64 {
        file.take(most as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    }
    if bytes.len() > most || found.len() > most as u64 {
        let length = found.len().max(bytes.len() as u64);
        return Err(format!("has {length} bytes; at most {most} are read, split or shorten it"));
    }
    let own = rustix::process::geteuid().as_raw();
    let is_foreign = found.uid() != own && found.uid() != 0;
    Ok(Some(Bytes {
        bytes,
        is_open_to_others: is_foreign || found.mode() & 0o022 != 0,
        is_open_to_all: is_foreign || found.mode() & 0o002 != 0,
        mode: found.mode() & 0o7777,
        is_own: found.uid() == own,
    }))
}

fn word(kind: fs::FileType) -> &'static str {
    match kind {
        kind if kind.is_dir() => "a folder",
        kind if kind.is_fifo() => "a named pipe (FIFO)",
        kind if kind.is_socket() => "a socket",
        kind if kind.is_char_device() => "a character device",
        kind if kind.is_block_device() => "a block device",
        _ => "no regular file",
    }
}

/// Writes a file with the folders above it, unless it exists. Says whether it did.
pub(super) fn write_new(path: &Path, content: &str) -> io::Result<bool> {
    make_folder_of(path)?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(OWNER_ONLY);
    match options.open(path) {
        Ok(mut file) => file.write_all(content.as_bytes()).and_then(|()| file.sync_all()).map(|()| true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// Puts `content` in place of the owner's file: whole or absent. To be called under [`locked`].
pub(super) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    make_folder_of(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.new"));
    // One that a killed process left behind; the caller holds the lock.
    let _ = fs::remove_file(&temporary);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(OWNER_ONLY);
    let mut file = options.open(&temporary)?;
    let written =
        file.write_all(content).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written?;
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::File::open(folder)?.sync_all()
}

/// Puts `content` in place of a file that another program keeps, or makes it: whole or absent, with the mode it had. The
/// file must still hold `before`. The error is a sentence.
pub(super) fn exchange(path: &Path, before: Option<&[u8]>, content: &[u8]) -> Result<(), String> {
    let failed =
        |error: io::Error| format!("cannot be written: {error}; check the owner and mode of its folder");
    make_folder_of(path).map_err(failed)?;
    let found = fs::symlink_metadata(path).ok();
    if let Some(found) = &found {
        let own = rustix::process::geteuid().as_raw();
        if !found.is_file() || found.uid() != own {
            return Err("belongs to another user; change its owner, or add the entry by hand".to_owned());
        }
    }
    let now = read(path, usize::MAX - 1)?.map(|file| file.bytes);
    if now.as_deref() != before {
        return Err("was changed by another program meanwhile; try again".to_owned());
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.{}.new", std::process::id()));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(OWNER_ONLY);
    let mut file = options.open(&temporary).map_err(failed)?;
    let mode = found.map(|found| fs::Permissions::from_mode(found.mode() & 0o777));
    let written = mode.map_or(Ok(()), |mode| file.set_permissions(mode)).and_then(|()| {
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    });
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written.map_err(failed)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)
}

/// Removes a file that still holds `before`, and then those of the folders, the innermost first, that are empty. The
/// error is a sentence.
pub(super) fn remove(path: &Path, before: &[u8], folders: &[String]) -> Result<(), String> {
    let now = read(path, usize::MAX - 1)?.map(|file| file.bytes);
    if now.as_deref() != Some(before) {
        return Err("was changed by another program meanwhile; try again".to_owned());
    }
    fs::remove_file(path)
        .map_err(|error| format!("cannot be removed: {error}; check the owner and mode of its folder"))?;
    for folder in folders {
        // One that holds something else by now stays.
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(())
}

/// Runs `change` while no other process of the user changes the file.
pub(super) fn locked<T>(path: &Path, change: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    make_folder_of(path)?;
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(OWNER_ONLY);
    let lock = options.open(path.with_extension("lock"))?;
    let until = Instant::now() + Duration::from_secs(5);
    loop {
        match lock.try_lock() {
            Ok(()) => return change(),
            Err(fs::TryLockError::WouldBlock) if Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(fs::TryLockError::WouldBlock) => {
                let message = "another toolpost has been changing it for 5 s; try again";
                return Err(io::Error::new(ErrorKind::WouldBlock, message));
            }
            Err(fs::TryLockError::Error(error)) => return Err(error),
        }
    }
}

fn make_folder_of(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700);
    path.parent().map_or(Ok(()), |folder| builder.create(folder))
}
