//! The files of a tree as the program sees them, by the sweep of its disk; and a cache of files.

use anyhow::Result;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use toolpost_code::files::{Cache, Files};
use toolpost_code::language::Language;
use toolpost_code::languages;
use toolpost_code::world::Stamp;
use toolpost_core::workspace::{FileStamp, Select, SweepMemory};
use toolpost_core::{Workspace as _, WorkspacePath};
use toolpost_disk::Disk;

pub(super) struct Tree {
    disk: Disk,
    folder: PathBuf,
    languages: Vec<&'static dyn Language>,
    memory: Mutex<SweepMemory>,
}

impl Tree {
    pub(super) fn open(folder: &Path) -> Result<Tree> {
        let disk = Disk::open([folder])?;
        let (languages, memory) = (languages::all(), Mutex::default());
        Ok(Tree { disk, folder: folder.to_owned(), languages, memory })
    }
}

impl Select for Tree {
    fn wants(&self, name: &str) -> bool {
        let last = name.rsplit('/').next().unwrap_or(name);
        languages::of_path(&self.languages, name).is_some()
            || self.languages.iter().any(|language| language.manifests().contains(&last))
    }

    fn admits(&self, _: &str) -> bool {
        true
    }
}

fn taken(stamp: FileStamp) -> Stamp {
    Stamp { size: stamp.size, mark: if stamp.is_settled { stamp.mark } else { Stamp::UNSETTLED } }
}

impl Files for Tree {
    fn sweep(&self) -> io::Result<Vec<(String, Stamp)>> {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        match self.disk.sweep(self, &mut memory) {
            Ok(Some(found)) => Ok(found.into_iter().map(|(name, stamp)| (name, taken(stamp))).collect()),
            Ok(None) => Err(io::Error::other("the disk has no sweep")),
            Err(error) => Err(io::Error::other(error.message().to_owned())),
        }
    }

    fn stamp(&self, path: &str) -> Option<Stamp> {
        let stat = self.disk.stat(&WorkspacePath::new(path)).ok()?;
        Some(Stamp { size: stat.size, mark: Stamp::UNSETTLED })
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        std::fs::read(self.folder.join(path))
    }
}

/// One file for each key, as in the program.
pub(super) struct Kept(pub(super) PathBuf);

impl Cache for Kept {
    fn get(&self, key: &str) -> Option<Vec<u8>> {
        std::fs::read(self.0.join(key)).ok()
    }

    fn put(&self, key: &str, bytes: &[u8]) {
        let beside = self.0.join(format!("{key}.new"));
        if std::fs::write(&beside, bytes).is_ok() {
            let _ = std::fs::rename(beside, self.0.join(key));
        }
    }
}
