//! Fingerprints of files and links, read without following links, blocking, or unbounded memory.

#![expect(clippy::disallowed_methods, reason = "looks at what configuration starts, before any tool runs")]

use super::{Files, shown};
use rustix::fs::OFlags;
use sha2::{Digest, Sha256};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

/// Maximum number of bytes of one covered file.
const LARGEST: u64 = 128 << 20;
/// Maximum number of bytes of all covered files of one program.
const LARGEST_TOGETHER: u64 = 256 << 20;
/// Maximum number of covered files of one program.
const MOST_FILES: usize = 500;
/// Maximum number of links on the way to one file, as in the kernel.
const MOST_LINKS: usize = 40;

/// What has been found so far.
pub(super) struct Fingerprints<'a> {
    roots: &'a [PathBuf],
    pub(super) files: Files,
    bytes: u64,
    problem: Option<String>,
}

impl<'a> Fingerprints<'a> {
    /// `roots` are canonical.
    pub(super) fn new(roots: &'a [PathBuf]) -> Fingerprints<'a> {
        Fingerprints { roots, files: Files::new(), bytes: 0, problem: None }
    }

    pub(super) fn is_inside(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| path.starts_with(root))
    }

    /// Covers what a path leads to, if that is a file of the workspace, and the workspace's links on the way.
    pub(super) fn add(&mut self, path: &Path) -> Result<(), String> {
        let real = self.resolve(path);
        if let Some(problem) = self.problem.take() {
            return Err(problem);
        }
        let Some(real) = real.filter(|real| self.is_inside(real)) else { return Ok(()) };
        let name = shown(&real, self.roots)?;
        if self.files.contains_key(&name) {
            return Ok(());
        }
        let Ok(found) = fs::symlink_metadata(&real) else { return Ok(()) };
        if found.is_dir() {
            return Ok(());
        }
        let print = if found.is_file() { self.content(&real, &name)? } else { "special".to_owned() };
        self.record(name, print)
    }

    /// Where a path leads, as the kernel would follow it; none if nothing is there. Links of the workspace are covered.
    pub(super) fn resolve(&mut self, path: &Path) -> Option<PathBuf> {
        let mut left: VecDeque<OsString> = parts(path).collect();
        let mut at = PathBuf::from("/");
        let mut links = 0;
        while let Some(part) = left.pop_front() {
            if part == ".." {
                at.pop();
                continue;
            }
            let next = at.join(&part);
            if !fs::symlink_metadata(&next).ok()?.is_symlink() {
                at = next;
                continue;
            }
            links += 1;
            if links > MOST_LINKS {
                return None;
            }
            let target = fs::read_link(&next).ok()?;
            if self.is_inside(&next) {
                let print = format!("link {}", hash(target.as_os_str().as_encoded_bytes()));
                let recorded = shown(&next, self.roots).and_then(|name| self.record(name, print));
                self.problem = self.problem.take().or(recorded.err());
            }
            if target.is_absolute() {
                at = PathBuf::from("/");
            }
            for part in parts(&target).collect::<Vec<_>>().into_iter().rev() {
                left.push_front(part);
            }
        }
        Some(at)
    }

    fn record(&mut self, name: String, print: String) -> Result<(), String> {
        self.files.insert(name, print);
        match self.files.len() > MOST_FILES {
            true => Err(format!(
                "its command line names more than {MOST_FILES} files of the workspace, which cannot all be covered; \
                 name fewer"
            )),
            false => Ok(()),
        }
    }

    fn content(&mut self, path: &Path, name: &str) -> Result<String, String> {
        let refused = |why: String| format!("`{name}`, which it is started with, {why}");
        let unreadable = |error: std::io::Error| {
            refused(format!("cannot be read, so it cannot be covered: {error}; check its owner and mode"))
        };
        // What was a file a moment ago may be a FIFO now.
        let flags = (OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW).bits();
        let file = OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(path);
        let file = file.map_err(unreadable)?;
        let found = file.metadata().map_err(unreadable)?;
        if !found.is_file() {
            return Ok("special".to_owned());
        }
        let room = LARGEST.min(LARGEST_TOGETHER.saturating_sub(self.bytes));
        let too_large = || {
            refused(format!(
                "is too large to be covered: of one file at most {} MiB are read, and {} MiB of all; keep large \
                 programs outside of the workspace, and large data out of the command line",
                LARGEST >> 20,
                LARGEST_TOGETHER >> 20
            ))
        };
        if found.len() > room {
            return Err(too_large());
        }
        let mut digest = Sha256::new();
        let mut piece = vec![0; 1 << 16];
        let mut taken = 0;
        let mut file = file.take(room + 1);
        loop {
            let count = file.read(&mut piece).map_err(unreadable)?;
            if count == 0 {
                break;
            }
            taken += count as u64;
            digest.update(&piece[..count]);
        }
        if taken > room {
            return Err(too_large());
        }
        self.bytes += taken;
        Ok(toolpost_core::text::hex(&digest.finalize()))
    }
}

/// The names of a path, without its beginning and without `.`.
fn parts(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}

fn hash(bytes: &[u8]) -> String {
    toolpost_core::text::hex(&Sha256::digest(bytes))
}
