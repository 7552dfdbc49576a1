//! What the index keeps between runs, below the user's cache directory: a file for each key, and packs of many that are
//! small. It may be deleted at any time, and shared by processes: each file is written beside its place and moved there
//! whole, and what is read back is checked by the index itself.

#![expect(clippy::disallowed_methods, reason = "the cache lies outside every workspace")]

mod packs;

use packs::Packs;
use rustix::fs::OFlags;
use sha2::{Digest, Sha256};
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};
use toolpost_code::files::Cache;
use toolpost_core::text::hex;

/// Changes with every change of what is kept: files of another version are never read.
const VERSION: &str = concat!("v2-", env!("CARGO_PKG_VERSION"));
/// Bytes that all files may have together, and how many are left after the oldest were deleted.
const MOST_BYTES: u64 = 2 << 30;
const KEPT_BYTES: u64 = MOST_BYTES / 4 * 3;
/// How the names of what is gathered begin, which is in no file of its own.
const GATHERED: &str = "facts-";
/// Bytes that say whose a file is.
const HEAD: usize = 32;
/// Bytes of one file that are read.
const LARGEST: u64 = 1 << 30;
/// After so many new bytes of this process the size is looked at.
const LOOK_AFTER: u64 = 64 << 20;
/// How often the size is looked at by all processes together.
const LOOK_EVERY: Duration = Duration::from_secs(24 * 60 * 60);
/// A file that was not finished for so long never will be; folders of other versions go too.
const GIVEN_UP: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The cache of one version of the program.
pub(super) struct DiskCache {
    above: PathBuf,
    folder: PathBuf,
    packs: Packs,
    written: AtomicU64,
    made: AtomicU64,
}

impl DiskCache {
    pub(super) fn new(above: PathBuf) -> DiskCache {
        let folder = above.join(VERSION);
        let packs = Packs::open(folder.join("packs"));
        let cache = DiskCache { above, folder, packs, written: AtomicU64::new(0), made: AtomicU64::new(0) };
        if cache.is_due() {
            cache.tidy();
        }
        cache
    }

    /// Two levels, so that no folder gets too many names.
    fn path(&self, key: &str) -> PathBuf {
        let hash = hex(&Sha256::digest(key.as_bytes())[..16]);
        self.folder.join(&hash[..2]).join(&hash[2..])
    }

    fn write(&self, path: &Path, head: &[u8], bytes: &[u8]) -> std::io::Result<()> {
        let folder = path.parent().unwrap_or(path);
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        write_whole(path, &format!("{}-{number}", std::process::id()), &[head, bytes])
    }

    fn mark(&self) -> PathBuf {
        self.folder.join("looked-at")
    }

    fn is_due(&self) -> bool {
        let looked = fs::metadata(self.mark()).and_then(|found| found.modified());
        self.folder.exists() && looked.is_ok_and(|at| age(at) > LOOK_EVERY)
    }

    /// Deletes the oldest files where there is too much, and what other versions left behind.
    fn tidy(&self) {
        self.written.store(0, Ordering::Relaxed);
        let _ = self.write(&self.mark(), b"", b"");
        for entry in fs::read_dir(&self.above).into_iter().flatten().flatten() {
            let is_other =
                entry.file_name() != VERSION && entry.file_name().to_string_lossy().starts_with('v');
            let is_old = modified(&entry).is_some_and(|at| age(at) > GIVEN_UP);
            if is_other && is_old && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        let mut files: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for folder in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            for entry in fs::read_dir(folder.path()).into_iter().flatten().flatten() {
                let (Ok(found), Some(at)) = (entry.metadata(), modified(&entry)) else { continue };
                let is_unfinished = entry.file_name().to_string_lossy().starts_with("new-");
                if is_unfinished && age(at) > GIVEN_UP {
                    let _ = fs::remove_file(entry.path());
                    continue;
                }
                files.push((at, found.len(), entry.path()));
            }
        }
        let mut total: u64 = files.iter().map(|(_, size, _)| size).sum();
        if total <= MOST_BYTES {
            return;
        }
        files.sort_unstable();
        for (_, size, path) in files {
            if total <= KEPT_BYTES {
                break;
            }
            if fs::remove_file(path).is_ok() {
                total -= size;
            }
        }
    }
}

/// Writes a file beside its place, under a name that no other process takes, and moves it there.
fn write_whole(path: &Path, mark: &str, parts: &[&[u8]]) -> std::io::Result<()> {
    let beside = path.with_file_name(format!("new-{mark}"));
    let mut options = OpenOptions::new();
    let written = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&beside)
        .and_then(|mut file| parts.iter().try_for_each(|part| file.write_all(part)))
        .and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

/// What a file begins with: whose it is, so that one under the name of another is not taken for it.
fn head_of(key: &str) -> [u8; HEAD] {
    Sha256::digest(key.as_bytes()).into()
}

fn modified(entry: &fs::DirEntry) -> Option<SystemTime> {
    entry.metadata().and_then(|found| found.modified()).ok()
}

fn age(at: SystemTime) -> Duration {
    SystemTime::now().duration_since(at).unwrap_or_default()
}

impl Cache for DiskCache {
    fn get(&self, key: &str) -> Option<Vec<u8>> {
        if let Some(bytes) = self.packs.get(&head_of(key)) {
            return Some(bytes);
        }
        if key.starts_with(GATHERED) {
            return None;
        }
        // Whatever lies there is not waited for: a pipe without a writer would never open.
        let flags = (OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW).bits().cast_signed();
        let file = OpenOptions::new().read(true).custom_flags(flags).open(self.path(key)).ok()?;
        let found = file.metadata().ok()?;
        if !found.is_file() || found.len() > LARGEST {
            return None;
        }
        let mut file = file.take(LARGEST);
        let mut head = [0; HEAD];
        file.read_exact(&mut head).ok()?;
        if head != head_of(key) {
            return None;
        }
        let mut bytes = Vec::with_capacity(usize::try_from(found.len()).unwrap_or_default());
        file.read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    fn put(&self, key: &str, bytes: &[u8]) {
        if self.write(&self.path(key), &head_of(key), bytes).is_err() {
            return;
        }
        self.count(bytes.len() as u64);
    }

    fn gather(&self, key: &str, bytes: &[u8]) {
        self.packs.put(head_of(key), bytes);
        self.count(bytes.len() as u64);
    }

    fn flush(&self) {
        self.packs.flush();
    }
}

impl DiskCache {
    /// Counts what was written, and tidies after much of it.
    fn count(&self, length: u64) {
        if self.written.fetch_add(length, Ordering::Relaxed) + length > LOOK_AFTER {
            self.tidy();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_got_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let cache = DiskCache::new(folder.path().join("code"));
        assert_eq!(cache.get("a"), None);
        cache.put("a", b"one");
        cache.put("../../b", b"two");
        assert_eq!((cache.get("a"), cache.get("../../b")), (Some(b"one".to_vec()), Some(b"two".to_vec())));
        cache.put("a", b"three");
        assert_eq!(cache.get("a"), Some(b"three".to_vec()));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        fs::remove_dir_all(folder.path().join("code")).unwrap();
        assert_eq!(cache.get("a"), None);
        cache.put("a", b"again");
        assert_eq!(cache.get("a"), Some(b"again".to_vec()));
    }

    #[test]
    fn what_is_no_file_is_not_waited_for() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let folder = tempfile::tempdir().unwrap();
        let cache = DiskCache::new(folder.path().to_owned());
        cache.put("a", b"one");
        let path = cache.path("a");
        let pipe = |path: &Path| mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).unwrap();
        fs::remove_file(&path).unwrap();
        pipe(&path);
        assert_eq!(cache.get("a"), None);
        cache.put("a", b"two");
        assert_eq!(cache.get("a"), Some(b"two".to_vec()));
        // A link, a folder, and pipes where folders and the mark belong.
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        assert_eq!(cache.get("a"), None);
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        cache.put("a", b"three");
        assert_eq!(cache.get("a"), None);
        fs::remove_dir_all(&cache.folder).unwrap();
        fs::create_dir(&cache.folder).unwrap();
        pipe(path.parent().unwrap());
        pipe(&cache.mark());
        cache.put("a", b"four");
        assert_eq!(cache.get("a"), None);
        cache.tidy();
        fs::remove_dir_all(&cache.folder).unwrap();
        pipe(&cache.folder);
        cache.put("a", b"five");
        assert_eq!(cache.get("a"), None);
        cache.tidy();
        drop(DiskCache::new(folder.path().to_owned()));
    }

    #[test]
    fn what_cannot_be_written_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("code"), "a file in the way").unwrap();
        let cache = DiskCache::new(folder.path().join("code"));
        cache.put("a", b"one");
        assert_eq!(cache.get("a"), None);
    }

    #[test]
    fn other_versions_and_unfinished_files_go() {
        let folder = tempfile::tempdir().unwrap();
        let cache = DiskCache::new(folder.path().to_owned());
        cache.put("a", b"one");
        let (other, unfinished) = (folder.path().join("v0-0.0.1"), cache.path("a").with_file_name("new-1-1"));
        fs::create_dir(&other).unwrap();
        fs::write(&unfinished, "half").unwrap();
        cache.tidy();
        assert!(other.exists() && unfinished.exists(), "they may still be in use");
        let long_ago = SystemTime::now() - GIVEN_UP - Duration::from_secs(60);
        let set = |path: &Path| fs::File::open(path).unwrap().set_modified(long_ago).unwrap();
        set(&other);
        set(&unfinished);
        cache.tidy();
        assert!(!other.exists() && !unfinished.exists());
        assert_eq!(cache.get("a"), Some(b"one".to_vec()));
    }
}
