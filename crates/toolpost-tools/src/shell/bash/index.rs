//! The files that git has in its index and has to look into to know whether they have changed.

use std::io::Read;
use std::path::{Path, PathBuf};
use toolpost_core::text::{GitIndex, IndexEntry};
use toolpost_core::{Context, WorkspacePath};

/// Maximum size of an index of git that is read.
const LARGEST_INDEX: u64 = 64 << 20;

/// The hidden files that git in the workspace root must read to know whether they have changed.
pub(super) fn unread_by_git(ctx: &Context, hidden: &[PathBuf]) -> Vec<PathBuf> {
    let workspace = ctx.workspace();
    let Ok(mut file) = workspace.open(&WorkspacePath::new(".git/index")) else { return Vec::new() };
    let mut bytes = Vec::new();
    if file.stat.size > LARGEST_INDEX || file.reader.read_to_end(&mut bytes).is_err() {
        return Vec::new();
    }
    let root = Path::new(workspace.root());
    let Some(index) = GitIndex::read(&bytes) else { return Vec::new() };
    let must_read = |path: &&PathBuf| {
        let Some(name) = path.strip_prefix(root).ok().and_then(Path::to_str) else { return false };
        let Some(entry) = index.entries.iter().find(|entry| *entry.name == *name.as_bytes()) else {
            return false;
        };
        let stat = ctx.seen_by_commands(name);
        stat.is_some_and(|stat| must_be_read(entry, stat.modified_ms, stat.size, file.stat.modified_ms))
    };
    hidden.iter().filter(must_read).cloned().collect()
}

/// Whether git must read the file: its size or time is not what it was, or it was changed in the second in which the index
/// was written, or later, so that the time tells nothing.
fn must_be_read(entry: &IndexEntry<'_>, modified_ms: i64, size: u64, index_modified_ms: i64) -> bool {
    is_unsettled((entry.modified(), entry.size()), modified_ms, size, index_modified_ms)
}

fn is_unsettled((modified, known): (u32, u32), modified_ms: i64, size: u64, index_modified_ms: i64) -> bool {
    let seconds = |milliseconds: i64| milliseconds.div_euclid(1_000);
    let modified = i64::from(modified);
    modified != seconds(modified_ms) || u64::from(known) != size || modified >= seconds(index_modified_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_have_changed_is_read() {
        for (modified_ms, size, index_ms, expected) in [
            (100_999, 5, 101_000, false),
            (101_000, 5, 200_000, true),
            (100_000, 6, 200_000, true),
            (100_000, 5, 100_999, true),
        ] {
            assert_eq!(is_unsettled((100, 5), modified_ms, size, index_ms), expected, "{modified_ms} {size}");
        }
    }
}
