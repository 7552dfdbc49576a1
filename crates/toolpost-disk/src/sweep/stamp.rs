//! What tells a changed file or folder from an unchanged one: which it is, its size, and the times of its last change.

use crate::git;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Stat, fstatfs, statat};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use toolpost_core::workspace::{FileStamp, IgnoreFiles, OuterRules};

/// After so long another change gets another time, on every file system.
const SETTLED: Duration = Duration::from_secs(2);

/// File systems whose folders get a new time with every change of their names: ext2 to ext4, XFS, Btrfs, tmpfs, F2FS,
/// overlayfs, ZFS, bcachefs.
const KEEPS_TIMES: [u64; 8] =
    [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0xf2f5_2010, 0x794c_7630, 0x2fc1_2fc1, 0xca45_1a4e];

/// What the system tells of a file or folder. The time of a change cannot be set by programs, unlike that of writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Raw {
    device: u64,
    number: u64,
    size: u64,
    changed: i64,
    modified: i64,
}

/// A file that rules were read from, by its name below the folder or its absolute path; none if it was not there, or may
/// change without showing it.
pub(super) struct Ruled {
    pub(super) name: String,
    pub(super) raw: Option<Raw>,
    pub(super) is_settled: bool,
}

/// When a sweep began.
pub(super) struct Clock(i64);

impl Clock {
    pub(super) fn now() -> Clock {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Clock(i64::try_from(now.as_nanos()).unwrap_or(i64::MAX))
    }

    /// A clock at which everything that has happened so far is settled.
    #[cfg(test)]
    pub(super) fn later() -> Clock {
        Clock(Clock::now().0.saturating_add(3_600_000_000_000))
    }

    pub(super) fn is_settled(&self, raw: &Raw) -> bool {
        let settled = i64::try_from(SETTLED.as_nanos()).unwrap_or(i64::MAX);
        raw.changed < self.0.saturating_sub(settled)
    }

    pub(super) fn stamp(&self, stat: &Stat) -> FileStamp {
        let raw = Raw::of(stat);
        let mut hash = DefaultHasher::new();
        // Numbers of devices change between starts of the system.
        (raw.number, raw.changed, raw.modified).hash(&mut hash);
        FileStamp { size: raw.size, mark: hash.finish(), is_settled: self.is_settled(&raw) }
    }

    /// The stamp of a regular file in a folder.
    pub(super) fn file(&self, folder: &OwnedFd, name: &str) -> Option<FileStamp> {
        let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        (FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile).then(|| self.stamp(&stat))
    }
}

impl Raw {
    pub(super) fn of(stat: &Stat) -> Raw {
        let nanoseconds = |seconds: i64, rest: u64| {
            seconds.saturating_mul(1_000_000_000).saturating_add(i64::try_from(rest).unwrap_or_default())
        };
        Raw {
            device: stat.st_dev,
            number: stat.st_ino,
            size: u64::try_from(stat.st_size).unwrap_or_default(),
            changed: nanoseconds(stat.st_ctime, stat.st_ctime_nsec),
            modified: nanoseconds(stat.st_mtime, stat.st_mtime_nsec),
        }
    }
}

impl Ruled {
    pub(super) fn of(clock: &Clock, folder: &OwnedFd, name: &str) -> Ruled {
        let raw = Ruled::look(folder, name);
        let is_settled = raw.is_none_or(|raw| clock.is_settled(&raw));
        Ruled { name: name.to_owned(), raw, is_settled }
    }

    fn look(folder: &OwnedFd, name: &str) -> Option<Raw> {
        statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok().map(|stat| Raw::of(&stat))
    }

    /// Whether the file is what it was.
    pub(super) fn is_same(&self, folder: &OwnedFd) -> bool {
        self.is_settled && self.raw == Ruled::look(folder, &self.name)
    }
}

/// Whether rules were read from the same files.
pub(super) fn all_same(old: &[Ruled], new: &[Ruled]) -> bool {
    old.len() == new.len()
        && old.iter().zip(new).all(|(old, new)| old.is_settled && old.name == new.name && old.raw == new.raw)
}

/// Whether a folder of this file system shows by its times that names in it have changed.
pub(super) fn keeps_times(folder: impl AsFd) -> bool {
    #[expect(clippy::cast_sign_loss, reason = "a number of 32 bits without a sign")]
    fstatfs(folder).is_ok_and(|system| KEEPS_TIMES.contains(&(system.f_type as u64 & 0xffff_ffff)))
}

/// A number of rules from outside.
pub(super) fn of_outer(outer: &OuterRules) -> u64 {
    let mut hash = DefaultHasher::new();
    outer.excludes.hash(&mut hash);
    for (folder, files) in &outer.above {
        let IgnoreFiles { ignore, gitignore, repository } = files;
        (folder, ignore, gitignore).hash(&mut hash);
        if let Some(repository) = repository {
            repository.exclude.hash(&mut hash);
            let index = git::repository(Path::new(folder)).map(|found| found.own.join("index"));
            let stat = index.and_then(|path| rustix::fs::stat(path).ok());
            stat.map(|stat| Raw::of(&stat)).hash(&mut hash);
        }
    }
    hash.finish()
}
