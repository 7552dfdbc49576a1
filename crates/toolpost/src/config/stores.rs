//! The stores that workspaces have by default, in the user's data directory. Beside each is a file with the roots of its
//! workspace, so that the stores of workspaces that are gone can be told from the others.

#![expect(clippy::disallowed_methods, reason = "stores lie outside every workspace")]

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use toolpost_store::StoreUrl;

/// The ending of the file with the roots.
const ROOTS: &str = "roots";

/// The folder of the default stores.
pub(super) fn folder(data: &Path) -> PathBuf {
    data.join("stores")
}

/// Writes down whose store this is, unless that is written down. Without it the store is never removed.
pub(super) fn note_roots(store: &Path, roots: &[String]) {
    let path = store.with_extension(ROOTS);
    if path.exists() {
        return;
    }
    let Some(folder) = store.parent() else { return };
    let written = DirBuilder::new().recursive(true).mode(0o700).create(folder).and_then(|()| {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        file.write_all(serde_json::json!(roots).to_string().as_bytes())
    });
    if written.is_err() {
        let _ = fs::remove_file(path);
    }
}

/// What was removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Removed {
    pub(crate) stores: u64,
    pub(crate) bytes: u64,
}

/// Removes the default stores of workspaces none of whose roots is there any more, if nothing was written to them for this
/// long: a root may be on a disk that is not there today.
pub(super) fn remove_abandoned(data: &Path, own: Option<&Path>, idle: Duration) -> Removed {
    let mut removed = Removed::default();
    for entry in fs::read_dir(folder(data)).into_iter().flatten().flatten() {
        let path = entry.path();
        let store = path.with_extension("db");
        if path.extension().is_none_or(|ending| ending != ROOTS) || Some(store.as_path()) == own {
            continue;
        }
        let roots = fs::read(&path).ok().and_then(|text| serde_json::from_slice::<Vec<PathBuf>>(&text).ok());
        let is_gone = |root: &PathBuf| matches!(root.try_exists(), Ok(false));
        if !roots.is_some_and(|roots| !roots.is_empty() && roots.iter().all(is_gone)) {
            continue;
        }
        let files = StoreUrl::Sqlite(store).files();
        let now = SystemTime::now();
        let is_idle = |file: &PathBuf| {
            let modified = fs::symlink_metadata(file).and_then(|about| about.modified());
            modified.map_or(true, |at| now.duration_since(at).is_ok_and(|age| age > idle))
        };
        if !files.iter().all(is_idle) {
            continue;
        }
        removed.bytes += files.iter().map(|file| size(file)).sum::<u64>();
        for file in files {
            let _ = match file.is_dir() {
                true => fs::remove_dir_all(&file),
                false => fs::remove_file(&file),
            };
        }
        // Last: what could not be removed is tried again.
        if fs::remove_file(&path).is_ok() {
            removed.stores += 1;
        }
    }
    removed
}

/// Bytes of a file, or of all files in a folder.
fn size(path: &Path) -> u64 {
    let Ok(about) = fs::symlink_metadata(path) else { return 0 };
    match about.is_dir() {
        true => fs::read_dir(path).into_iter().flatten().flatten().map(|entry| size(&entry.path())).sum(),
        false => about.len(),
    }
}
