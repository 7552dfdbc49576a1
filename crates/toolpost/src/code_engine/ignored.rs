//! What ignore files keep out of the index: files in known languages, and folders that have such. Folders of dependencies
//! and of caches do not count, since nobody takes them for the code of the workspace.

use super::files::WorkspaceFiles;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use toolpost_core::workspace::Kind;
use toolpost_core::{Workspace, WorkspacePath};

/// Maximum number of names that are remembered.
const MOST: usize = 1_000;
/// Maximum number of entries of an ignored folder that are looked at, and how deep.
const MOST_ENTRIES: usize = 400;
const DEEPEST: usize = 3;
/// The file that marks a folder as one of a cache.
const CACHE_MARK: &str = "CACHEDIR.TAG";

/// Names that ignore files leave out.
#[derive(Default)]
pub(super) struct Ignored {
    names: Mutex<BTreeSet<String>>,
    /// Folders that were looked into: when they were written last, and whether they have code.
    looked: Mutex<BTreeMap<String, (i64, bool)>>,
}

impl Ignored {
    pub(super) fn add(&self, name: &str) {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if names.len() < MOST && !names.contains(name) {
            names.insert(name.to_owned());
        }
    }

    /// A name that is not left out any more.
    pub(super) fn remove(&self, name: &str) {
        self.names.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
    }

    /// The files and folders with code that are still there.
    pub(super) fn present(&self, workspace: &dyn Workspace, files: &WorkspaceFiles) -> Vec<String> {
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        let mut has_code = |name: &String| {
            let Ok(stat) = workspace.stat(&WorkspacePath::new(name.as_str())) else { return false };
            if stat.kind != Kind::Folder {
                return stat.kind == Kind::File && files.is_code(name);
            }
            match looked.get(name) {
                // Code that was there may have gone from a folder below, and is looked for again.
                Some((modified, false))
                    if *modified == stat.modified_ms && modified_long_ago(stat.modified_ms) =>
                {
                    false
                }
                _ => {
                    let found = holds_code(workspace, files, name);
                    looked.insert(name.clone(), (stat.modified_ms, found));
                    found
                }
            }
        };
        names.into_iter().filter(|name| has_code(name)).collect()
    }
}

/// Whether code in a folder would show by its time of writing: it was written before this second.
fn modified_long_ago(modified: i64) -> bool {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_millis()).unwrap_or(i64::MAX).saturating_sub(modified) > 2_000
}

/// Whether one of the first entries of a folder is a file in a known language.
fn holds_code(workspace: &dyn Workspace, files: &WorkspaceFiles, name: &str) -> bool {
    let mut open = vec![(name.to_owned(), 0)];
    let mut seen = 0;
    while let Some((folder, depth)) = open.pop() {
        let Ok(entries) = workspace.entries(&WorkspacePath::new(folder.as_str())) else { continue };
        let (mut below, mut has_code) = (Vec::new(), false);
        for entry in entries.flatten() {
            seen += 1;
            if entry.name == CACHE_MARK {
                has_code = false;
                below.clear();
                break;
            }
            let path = format!("{folder}/{}", entry.name);
            match entry.kind {
                Kind::File => has_code |= files.is_code(&path),
                Kind::Folder if depth < DEEPEST && !files.is_foreign(&path) => below.push((path, depth + 1)),
                _ => {}
            }
            if seen > MOST_ENTRIES {
                break;
            }
        }
        if has_code {
            return true;
        }
        if seen > MOST_ENTRIES {
            return false;
        }
        open.extend(below);
    }
    false
}
