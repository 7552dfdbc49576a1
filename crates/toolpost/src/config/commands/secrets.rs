//! What in a folder of programs holds secrets by its name: `PATH` may name any folder.

#![expect(clippy::disallowed_methods, reason = "folders of programs lie outside every workspace")]

use std::fs;
use std::path::{Path, PathBuf};
use toolpost_core::Capability;
use toolpost_core::policy::is_protected;

/// Maximum number of files to look at. Folders that come after are hidden whole.
const MOST_ENTRIES: usize = 5_000;

/// Files and folders that commands may not see; none if the folder itself cannot be looked through, or lies in something
/// that holds secrets.
pub(super) fn within(folder: &Path) -> Option<Vec<PathBuf>> {
    if is_secret(folder) {
        return None;
    }
    let mut hidden = Vec::new();
    let mut todo = vec![folder.to_owned()];
    let mut looked_at = 0;
    let mut next = 0;
    while let Some(at) = todo.get(next).cloned() {
        next += 1;
        let mut entries = Vec::new();
        let listed = fs::read_dir(&at).and_then(|listing| {
            for entry in listing.take(MOST_ENTRIES + 1 - looked_at) {
                let entry = entry?;
                entries.push((entry.path(), entry.file_type()?.is_dir()));
            }
            Ok(())
        });
        looked_at += entries.len();
        if listed.is_err() || looked_at > MOST_ENTRIES {
            if next == 1 {
                return None;
            }
            looked_at = MOST_ENTRIES;
            hidden.push(at);
            continue;
        }
        for (path, is_folder) in entries {
            if is_secret(&path) {
                hidden.push(path);
            } else if is_folder {
                todo.push(path);
            }
        }
    }
    Some(hidden)
}

fn is_secret(path: &Path) -> bool {
    is_protected(Capability::Read, &path.to_string_lossy())
}
