//! A folder that keeps outputs too long for a model, each under a handle that `read` opens.
//!
//! Spill files belong to one session, are readable by the user alone (0600), bounded in size, and collected by age
//! and by total size.

#![expect(clippy::disallowed_methods, reason = "spill files lie outside every workspace")]

use sha2::{Digest, Sha256};
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};
use toolpost_core::host::{HANDLE_PREFIX, Redactor, Spill, SpillFile};
use toolpost_core::text::hex;
use toolpost_core::workspace::{File, Kind, Stat};
use toolpost_core::{Code, ToolError};

/// What a spill folder may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpillLimits {
    /// Bytes of one output; what is beyond is not kept, and that is said.
    pub per_call: u64,
    /// Bytes in all; the oldest go first.
    pub total: u64,
    /// How long an output is kept.
    pub age: Duration,
}

impl Default for SpillLimits {
    fn default() -> SpillLimits {
        SpillLimits { per_call: 16 << 30, total: 16 << 30, age: Duration::from_secs(7 * 24 * 3600) }
    }
}

/// A folder of spilled outputs. All its methods block. A clone is the same folder.
#[derive(Debug, Clone)]
pub struct SpillFolder(Arc<Kept>);

#[derive(Debug)]
struct Kept {
    directory: PathBuf,
    limits: SpillLimits,
    collected: Mutex<Option<Instant>>,
}

impl SpillFolder {
    /// Spills into `directory`, which is made when it is first needed.
    pub fn new(directory: impl Into<PathBuf>, limits: SpillLimits) -> SpillFolder {
        SpillFolder(Arc::new(Kept { directory: directory.into(), limits, collected: Mutex::new(None) }))
    }

    fn write(&self, path: &Path, text: &str, redactor: &Redactor) -> io::Result<u64> {
        let file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        let mut writer = redactor.writer(Capped {
            inner: io::BufWriter::new(file),
            left: self.0.limits.per_call,
            kept: 0,
        });
        writer.write_all(text.as_bytes())?;
        Ok(writer.finish()?.kept)
    }

    /// Removes what is too old, then the oldest until the rest fits. Returns how many outputs went.
    pub fn collect(&self) -> usize {
        let mut kept: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        let mut removed = 0;
        let now = SystemTime::now();
        for folder in listed(&self.0.directory) {
            for path in listed(&folder) {
                let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
                let modified = metadata.modified().unwrap_or(now);
                if now.duration_since(modified).unwrap_or_default() > self.0.limits.age {
                    removed += usize::from(fs::remove_file(&path).is_ok());
                } else {
                    kept.push((modified, metadata.len(), path));
                }
            }
            // Fails while outputs are left in it, as it should.
            let _ = fs::remove_dir(&folder);
        }
        kept.sort();
        let mut total: u64 = kept.iter().map(|(_, size, _)| size).sum();
        for (_, size, path) in kept {
            if total <= self.0.limits.total {
                break;
            }
            removed += usize::from(fs::remove_file(&path).is_ok());
            total -= size;
        }
        removed
    }

    fn collect_now_and_then(&self) {
        let mut collected = self.0.collected.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if collected.is_none_or(|at| at.elapsed() > Duration::from_secs(600)) {
            *collected = Some(Instant::now());
            drop(collected);
            self.collect();
        }
    }

    /// A session's id may be any text, so its folder is named by a hash.
    fn folder(&self, session: &str) -> PathBuf {
        let hash = Sha256::digest(session.as_bytes());
        let name = hex(&hash[..12]);
        self.0.directory.join(name)
    }
}

impl Spill for SpillFolder {
    fn keep(&self, session: &str, call: &str, text: &str, redactor: &Redactor) -> io::Result<(String, u64)> {
        self.collect_now_and_then();
        let folder = self.folder(session);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let path = folder.join(file_name(call).ok_or(io::ErrorKind::InvalidInput)?);
        let written = self.write(&path, text, redactor);
        if written.is_err() {
            // Half an output under a handle that promises the whole would mislead.
            let _ = fs::remove_file(&path);
        }
        Ok((format!("{HANDLE_PREFIX}{call}"), written?))
    }

    fn file(&self, session: &str, call: &str, threshold: usize) -> io::Result<Box<dyn SpillFile>> {
        let path = self.folder(session).join(file_name(call).ok_or(io::ErrorKind::InvalidInput)?);
        let handle = format!("{HANDLE_PREFIX}{call}");
        let spill = self.clone();
        Ok(Box::new(Coming { spill, path, handle, threshold, pending: Vec::new(), file: None }))
    }

    fn open(&self, session: &str, handle: &str) -> Result<File, ToolError> {
        let call = handle.strip_prefix(HANDLE_PREFIX).unwrap_or(handle);
        let unknown = || {
            ToolError::new(
                Code::FileNotFound,
                format!(
                    "no output is kept under `{handle}` in this session; handles are collected after {} days and \
                     do not cross sessions: run the call again",
                    self.0.limits.age.as_secs() / 86_400
                ),
            )
        };
        let path = self.folder(session).join(file_name(call).ok_or_else(unknown)?);
        let file = fs::OpenOptions::new()
            .read(true)
            .custom_flags((rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits() as i32)
            .open(&path)
            .map_err(|_| unknown())?;
        let metadata = file.metadata().map_err(|_| unknown())?;
        let stat = Stat {
            name: format!("{HANDLE_PREFIX}{call}"),
            kind: if metadata.is_file() { Kind::File } else { Kind::Special },
            size: metadata.len(),
            modified_ms: millis(metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH)),
            mode: metadata.permissions().mode() & 0o7777,
            has_other_names: false,
        };
        Ok(File { stat, reader: Box::new(file) })
    }
}

/// After so many bytes the room that is left is looked at again.
const LOOK_EVERY: u64 = 64 << 20;

/// So much of the disk is left to others.
const LEAVE_FREE: u64 = 2 << 30;

fn free_bytes(file: &fs::File) -> u64 {
    rustix::fs::fstatvfs(file).map_or(u64::MAX, |disk| disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// An output on its way to its file.
struct Coming {
    spill: SpillFolder,
    path: PathBuf,
    handle: String,
    threshold: usize,
    pending: Vec<u8>,
    file: Option<Capped<io::BufWriter<fs::File>>>,
}

impl SpillFile for Coming {
    fn keep(mut self: Box<Self>) -> io::Result<Option<(String, u64)>> {
        let Some(mut file) = self.file.take() else { return Ok(None) };
        if let Err(error) = file.flush() {
            let _ = fs::remove_file(&self.path);
            return Err(error);
        }
        Ok(Some((std::mem::take(&mut self.handle), file.kept)))
    }
}

impl Coming {
    fn begin(&mut self) -> io::Result<&mut Capped<io::BufWriter<fs::File>>> {
        self.spill.collect_now_and_then();
        if let Some(folder) = self.path.parent() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&self.path)?;
        let inner = io::BufWriter::with_capacity(256 * 1024, file);
        let file = self.file.insert(Capped { inner, left: self.spill.0.limits.per_call, kept: 0 });
        file.write_all(&std::mem::take(&mut self.pending))?;
        Ok(file)
    }
}

impl Write for Coming {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(file) = &mut self.file {
            let before = file.kept / LOOK_EVERY;
            let count = file.write(bytes)?;
            // The disk is for others too: what is kept of a flood ends before it is full.
            if file.kept / LOOK_EVERY > before && free_bytes(file.inner.get_ref()) < LEAVE_FREE {
                file.left = 0;
            }
            return Ok(count);
        }
        self.pending.extend_from_slice(bytes);
        if self.pending.len() > self.threshold {
            self.begin()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for Coming {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn listed(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default()
}

/// A call's id as a file name, if it is one.
fn file_name(call: &str) -> Option<&str> {
    let is_plain = (1..=64).contains(&call.len())
        && call.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    is_plain.then_some(call)
}

fn millis(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Passes on the first `left` bytes and swallows the rest.
struct Capped<W> {
    inner: W,
    left: u64,
    kept: u64,
}

impl<W: Write> Write for Capped<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        self.inner.write_all(&bytes[..taken])?;
        self.left -= taken as u64;
        self.kept += taken as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn spill(limits: SpillLimits) -> (tempfile::TempDir, SpillFolder) {
        let directory = tempfile::tempdir().unwrap();
        let spill = SpillFolder::new(directory.path().join("spill"), limits);
        (directory, spill)
    }

    #[test]
    fn an_output_is_kept_for_its_session_only_and_without_secrets() {
        let (_directory, spill) = spill(SpillLimits::default());
        let redactor = Redactor::new([("KEY", "hunter2hunter2")]);
        let (handle, kept) = spill.keep("one", "call1", "a hunter2hunter2 b", &redactor).unwrap();
        assert_eq!((handle.as_str(), kept), ("spill:call1", 18));
        let mut file = spill.open("one", &handle).unwrap();
        let mut text = String::new();
        file.reader.read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), file.stat.mode), ("a [redacted:KEY] b", 0o600));
        assert_eq!(spill.open("two", &handle).unwrap_err().code(), Code::FileNotFound);
        assert_eq!(spill.open("one", "spill:../one/call1").unwrap_err().code(), Code::FileNotFound);
        assert!(spill.keep("one", "../x", "", &redactor).is_err());
    }

    #[test]
    fn one_output_and_all_of_them_are_bounded() {
        let (_directory, spill) = spill(SpillLimits { per_call: 100, total: 250, ..SpillLimits::default() });
        for call in ["a", "b", "c", "d"] {
            let (_, kept) = spill.keep("s", call, &"x".repeat(1000), &Redactor::default()).unwrap();
            assert_eq!(kept, 100);
            std::thread::sleep(Duration::from_millis(15));
        }
        assert_eq!(spill.collect(), 2);
        assert!(spill.open("s", "spill:b").is_err());
        assert!(spill.open("s", "spill:c").is_ok());
    }

    #[test]
    fn an_output_is_kept_as_it_comes_and_only_if_it_is_long() {
        let (_directory, spill) = spill(SpillLimits { per_call: 100, ..SpillLimits::default() });
        let mut short = spill.file("s", "short", 10).unwrap();
        short.write_all(b"0123456789").unwrap();
        assert_eq!(short.keep().unwrap(), None);
        let mut long = spill.file("s", "long", 10).unwrap();
        for _ in 0..30 {
            long.write_all(b"01234").unwrap();
        }
        assert_eq!(long.keep().unwrap(), Some(("spill:long".to_owned(), 100)));
        assert_eq!(spill.open("s", "spill:long").unwrap().stat.size, 100);
        let mut dropped = spill.file("s", "dropped", 1).unwrap();
        dropped.write_all(b"012").unwrap();
        drop(dropped);
        assert!(spill.open("s", "spill:dropped").is_err());
        assert!(spill.file("s", "../x", 1).is_err());
    }

    #[test]
    fn old_outputs_are_collected() {
        let (_directory, spill) = spill(SpillLimits { age: Duration::ZERO, ..SpillLimits::default() });
        spill.keep("s", "a", "x", &Redactor::default()).unwrap();
        std::thread::sleep(Duration::from_millis(15));
        assert_eq!(spill.collect(), 1);
        assert!(spill.open("s", "spill:a").is_err());
    }
}
