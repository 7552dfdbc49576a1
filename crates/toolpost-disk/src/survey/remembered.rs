//! What surveys have seen of each folder, for the next one.
//!
//! A folder is listed again unless its device, inode, times, mode and owner are what they were. A change of its entries
//! changes its `ctime`, which no program can set. File systems take that time from a clock that stands still for some
//! milliseconds, so that a change right after a listing may leave the time as it was: a listing is kept only where the
//! folder had been at rest for a while. File systems whose times are made elsewhere, such as NFS and FUSE, are listed
//! every time.

use super::walk::{self, Found, Stopped};
use crate::roots::Roots;
use rustix::fd::AsFd;
use rustix::fs::{Stat, fstatfs};
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use toolpost_core::workspace::{Kind, Mark, Owner, Surveyor};

/// Bytes that are remembered. Folders beyond that are listed every time.
const MOST_BYTES: usize = 64 << 20;

/// Bytes that a folder and an entry that is not free take beside their names.
const FOLDER: usize = size_of::<Child>() + 32;
const ENTRY: usize = size_of::<Entry>() + 32;

/// How long a folder must have been at rest when it was listed: many ticks of the kernel's clock.
const REST: Duration = Duration::from_millis(100);

/// The same where times have whole seconds only, or two of them.
const COARSE_REST: Duration = Duration::from_secs(3);

/// File systems that set `ctime` themselves at every change: ext2 to ext4, xfs, btrfs, tmpfs, overlay, f2fs, zfs, bcachefs.
const LOCAL: [u64; 8] =
    [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0xf2f5_2010, 0x2fc1_2fc1, 0xca45_1a4e];

/// The memory of one workspace.
#[derive(Debug, Default)]
pub(crate) struct Remembered(pub(super) Mutex<Memory>);

/// What is remembered of the roots.
#[derive(Debug)]
pub(super) struct Memory {
    /// Whose marks are remembered.
    identity: String,
    /// Counts the identities.
    pub(super) generation: u64,
    /// One for each root.
    pub(super) roots: Vec<Folder>,
    /// What the last walk has found of repositories.
    repositories: BTreeSet<PathBuf>,
    /// Bytes of all folders.
    bytes: usize,
    /// Whether the times of a device can be relied on.
    local: HashMap<u64, bool>,
    /// How long a folder must have been at rest when it was listed.
    pub(super) rest: Duration,
    /// How many folders were listed so far.
    pub(super) listed: u64,
    /// Whether no folder counts as one of dependencies.
    pub(super) has_no_dependencies: bool,
}

impl Default for Memory {
    fn default() -> Memory {
        Memory {
            identity: String::new(),
            generation: 0,
            roots: Vec::new(),
            repositories: BTreeSet::new(),
            bytes: 0,
            local: HashMap::new(),
            rest: REST,
            listed: 0,
            has_no_dependencies: false,
        }
    }
}

/// What is remembered of a folder.
#[derive(Debug, Default)]
pub(super) struct Folder {
    /// What it was when it was listed; none: it is to be listed again.
    pub(super) key: Option<Key>,
    /// Under which identity it was marked.
    pub(super) generation: u64,
    /// Where it lay when it was marked.
    pub(super) place: Place,
    /// Whether it holds the marker that makes a folder of its name one of dependencies.
    pub(super) has_marker: bool,
    /// All entries: a byte for the kind, the name, and a NUL.
    pub(super) entries: Vec<u8>,
    /// Entries other than folders that are not free, links in a folder that is not, and links under whose names a pattern
    /// could go on.
    pub(super) marked: Vec<Entry>,
    /// The folders in it.
    pub(super) folders: Vec<Child>,
    /// What it holds of a repository.
    pub(super) git: Git,
    /// Bytes that it takes, without the folders in it.
    bytes: usize,
}

/// An entry that is not a folder.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: Box<[u8]>,
    pub(super) kind: Kind,
    pub(super) mark: Mark,
    /// Whether it is a link under whose name a pattern could go on.
    pub(super) goes_on: bool,
    /// For a link outside of dependency folders: the rows of the list whose names it leads through, one bit each.
    pub(super) leads: u8,
    /// For such a link: whether it leads out of its root, so that where it ends is looked at each time.
    pub(super) goes_out: bool,
}

/// Where a folder lies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// Whether it is a dependency folder or lies in one.
    pub(super) region: Owner,
    /// Whose its names are. The user's everywhere, if no folder counts as one of dependencies.
    pub(super) owner: Owner,
}

/// A folder in a folder.
#[derive(Debug)]
pub(super) struct Child {
    pub(super) name: Box<[u8]>,
    pub(super) mark: Mark,
    pub(super) folder: Folder,
}

/// What a folder holds of a repository.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Git {
    /// An entry `.git`.
    pub(super) has_git: bool,
    /// What the folder of a repository has: `HEAD`, a file `config`, and the folders `objects` and `refs`.
    pub(super) has_head: bool,
    pub(super) has_config: bool,
    pub(super) has_objects: bool,
    pub(super) has_refs: bool,
}

impl Git {
    /// Whether the folder is a repository, or was one before something of it was taken away: what is left must not lose
    /// its protection, since it may be put together again.
    pub(super) fn is_repository(self) -> bool {
        let Git { has_head, has_config, has_objects, has_refs, .. } = self;
        (has_config && (has_head || has_objects || has_refs)) || (has_objects && has_refs)
    }
}

/// What tells that a folder is as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    device: u64,
    inode: u64,
    changed: (i64, i64),
    modified: (i64, i64),
    owner: (u32, u32, u32),
}

impl Key {
    pub(super) fn of(stat: &Stat) -> Key {
        Key {
            device: stat.st_dev,
            inode: stat.st_ino,
            changed: (stat.st_ctime, stat.st_ctime_nsec as i64),
            modified: (stat.st_mtime, stat.st_mtime_nsec as i64),
            owner: (stat.st_mode, stat.st_uid, stat.st_gid),
        }
    }

    /// Whether the folder had been at rest at this time, so that any later change shows in its key.
    pub(super) fn is_at_rest(&self, at: SystemTime, rest: Duration) -> bool {
        let (seconds, nanoseconds) = self.changed;
        let (Ok(seconds), Ok(nanoseconds)) = (u64::try_from(seconds), u32::try_from(nanoseconds)) else {
            return false;
        };
        let rest = if nanoseconds == 0 { COARSE_REST } else { rest };
        let changed = UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds));
        changed.and_then(|changed| at.duration_since(changed).ok()).is_some_and(|since| since > rest)
    }
}

impl Remembered {
    /// Goes through the roots with what is remembered.
    pub(super) fn walk(&self, roots: &Roots, surveyor: &dyn Surveyor) -> Result<Found, Stopped> {
        let mut memory = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sockets = if surveyor.hides_sockets() { "hidden" } else { "shown" };
        let identity = format!("sockets {sockets}\n{}", surveyor.identity());
        if memory.identity != identity {
            memory.identity = identity;
            memory.generation += 1;
        }
        memory.local.clear();
        memory.roots.resize_with(roots.names.len(), Folder::default);
        let mut found = walk::walk(roots, surveyor, &mut memory)?;
        let has_none = found.leads_into_dependencies();
        if has_none != memory.has_no_dependencies {
            memory.has_no_dependencies = has_none;
            found = walk::walk(roots, surveyor, &mut memory)?;
            // A link may have come meanwhile.
            if found.leads_into_dependencies() != has_none {
                return Err(Stopped::Replaced(PathBuf::from(&roots.names[0].path)));
            }
        }
        found.has_no_dependencies = has_none;
        memory.repositories = found.repositories.iter().cloned().collect();
        Ok(found)
    }

    /// The repositories that the last walk has found: their folders, and files that say where one is.
    pub(super) fn repositories(&self) -> BTreeSet<PathBuf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).repositories.clone()
    }
}

impl Memory {
    /// Keeps a listing where its folder can be compared and there is room. Without room nothing of the folder may be
    /// kept, not even what is in it.
    pub(super) fn keep(&mut self, handle: impl AsFd, folder: &mut Folder, key: Option<Key>) -> Kept {
        self.bytes -= folder.bytes;
        folder.bytes =
            folder.entries.capacity() + folder.folders.len() * FOLDER + folder.marked.len() * ENTRY;
        let has_room = self.bytes + folder.bytes <= MOST_BYTES;
        folder.key = key.filter(|key| has_room && self.is_local(handle, key));
        if folder.key.is_none() {
            folder.bytes -= std::mem::take(&mut folder.entries).capacity();
        }
        self.bytes += folder.bytes;
        if has_room { Kept::InMemory } else { Kept::ForNow }
    }

    fn is_local(&mut self, handle: impl AsFd, key: &Key) -> bool {
        *self.local.entry(key.device).or_insert_with(|| {
            fstatfs(handle).is_ok_and(|system| LOCAL.contains(&(system.f_type as u64 & 0xffff_ffff)))
        })
    }

    /// Takes a folder that is gone out of the account.
    pub(super) fn forget(&mut self, folder: &Folder) {
        self.bytes -= folder.bytes;
        for child in &folder.folders {
            self.forget(&child.folder);
        }
    }
}

/// How long what was found of a folder is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// Until it changes.
    InMemory,
    /// Until the survey has gone through it.
    ForNow,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_is_kept_only_of_a_folder_at_rest() {
        let key = |changed| Key { device: 1, inode: 2, changed, modified: (0, 0), owner: (0, 0, 0) };
        let at = UNIX_EPOCH + Duration::from_millis(100_000);
        for (changed, expected) in [
            ((99, 1), true),
            ((99, 899_000_000), true),
            ((99, 950_000_000), false),
            ((100, 0), false),
            ((99, 0), false),
            ((90, 0), true),
            ((101, 5), false),
            ((-1, 5), false),
        ] {
            assert_eq!(key(changed).is_at_rest(at, REST), expected, "{changed:?}");
        }
    }
}
