//! The temporary files of this process, written down outside of the workspace: what a process leaves that is killed is
//! removed by the next one.
//!
//! A file of the locks' folder has one record for each temporary file that may have a name: its device, number and path. Its
//! process holds the lock of it. A name is removed only if it still is that very file.

use super::lock::{create, open_folder};
use super::stage::{is_temporary, temporary_name};
use rustix::fd::OwnedFd;
use rustix::fs::{
    AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags, ResolveFlags, Stat, flock, fstat, openat,
    openat2, statat, unlinkat,
};
use rustix::io::Errno;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The beginning of the names of files with records.
const BEGINNING: &str = "staged-";

/// Maximum number of bytes of records to read.
const MOST_BYTES: u64 = 4 << 20;

/// The temporary files of one workspace in this process.
#[derive(Debug)]
pub(super) struct Staging {
    folder: PathBuf,
    own: Mutex<Own>,
}

#[derive(Debug, Default)]
struct Own {
    records: Option<Records>,
    /// Temporary files that may have a name.
    count: usize,
    /// Whether those of processes that were killed were looked for.
    has_looked: bool,
}

/// The file with records, locked.
#[derive(Debug)]
struct Records {
    folder: OwnedFd,
    name: String,
    file: File,
}

impl Drop for Records {
    fn drop(&mut self) {
        let _ = unlinkat(&self.folder, self.name.as_str(), AtFlags::empty());
    }
}

/// A temporary file that is written down until this is dropped.
#[derive(Debug)]
pub(super) struct Noted(Arc<Staging>);

impl Drop for Noted {
    fn drop(&mut self) {
        let mut own = self.0.own();
        own.count = own.count.saturating_sub(1);
        if own.count == 0
            && let Some(records) = &mut own.records
        {
            // What stays in it names files that are gone, and harms nobody.
            let _ = records.file.set_len(0).and_then(|()| records.file.seek(SeekFrom::Start(0)));
        }
    }
}

impl Staging {
    pub(super) fn new(folder: PathBuf) -> Staging {
        Staging { folder, own: Mutex::default() }
    }

    fn own(&self) -> std::sync::MutexGuard<'_, Own> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Before a file gets a temporary name in a folder. Where it cannot be written down, it is written all the same.
    pub(super) fn note(self: &Arc<Staging>, file: &File, folder: &Path, name: &str) -> Option<Noted> {
        let mut own = self.own();
        if !std::mem::replace(&mut own.has_looked, true) {
            self.remove_left();
        }
        if own.records.is_none() {
            own.records = self.begin().ok();
        }
        let about = fstat(file).ok()?;
        let path = folder.join(name);
        let record = format!("{} {} {}\0", about.st_dev, about.st_ino, path.display());
        own.records.as_mut()?.file.write_all(record.as_bytes()).ok()?;
        own.count += 1;
        Some(Noted(Arc::clone(self)))
    }

    fn begin(&self) -> Result<Records, Errno> {
        let folder = match open_folder(&self.folder) {
            Err(Errno::NOENT) => {
                create(&self.folder)?;
                open_folder(&self.folder)?
            }
            other => other?,
        };
        loop {
            let name = format!("{BEGINNING}{}", &temporary_name()[1..]);
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let file = openat(&folder, name.as_str(), flags, Mode::from_raw_mode(0o600))?;
            // Another process that looks for what was left may have it for a moment, and remove it.
            let is_held = flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
            if is_held && is_at(&folder, &name, &file) {
                return Ok(Records { folder, name, file: File::from(file) });
            }
        }
    }

    /// Removes the temporary files of processes that were killed. Returns how many there were.
    pub(super) fn remove_left(&self) -> usize {
        let Ok(folder) = open_folder(&self.folder) else { return 0 };
        let readable =
            openat(&folder, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        let Some(listing) = readable.ok().and_then(|readable| Dir::read_from(readable).ok()) else {
            return 0;
        };
        let mut removed = 0;
        for entry in listing.flatten() {
            let Ok(name) = entry.file_name().to_str() else { continue };
            if !name.starts_with(BEGINNING) {
                continue;
            }
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let Ok(file) = openat(&folder, name, flags, Mode::empty()) else { continue };
            // Its process lives.
            if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() || !is_at(&folder, name, &file)
            {
                continue;
            }
            let mut records = Vec::new();
            if File::from(file).take(MOST_BYTES).read_to_end(&mut records).is_err() {
                continue;
            }
            removed += records.split(|byte| *byte == 0).filter(|record| remove(record).is_some()).count();
            let _ = unlinkat(&folder, name, AtFlags::empty());
        }
        removed
    }
}

/// Removes the file of a record, if it is there and still that file.
fn remove(record: &[u8]) -> Option<()> {
    let mut parts = std::str::from_utf8(record).ok()?.splitn(3, ' ');
    let (device, number) = (parts.next()?.parse::<u64>().ok()?, parts.next()?.parse::<u64>().ok()?);
    let path = Path::new(parts.next()?);
    let name = path.file_name()?.to_str().filter(|name| is_temporary(name))?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let folder = openat2(CWD, path.parent()?, flags, Mode::empty(), resolve).ok()?;
    let stat = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    if !is_file || (stat.st_dev, stat.st_ino) != (device, number) {
        return None;
    }
    unlinkat(&folder, name, AtFlags::empty()).ok()
}

/// Whether the open file is the one of this name.
fn is_at(folder: &OwnedFd, name: &str, file: &OwnedFd) -> bool {
    let same = |one: Stat, other: Stat| (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino);
    match (fstat(file), statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)) {
        (Ok(one), Ok(other)) => same(one, other),
        _ => false,
    }
}
