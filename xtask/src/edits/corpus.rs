//! The files that changed between two releases, as text.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Result;

/// Larger files are left out: models edit them too, but each case would cost much time.
const MAX_BYTES: u64 = 120_000;
const MIN_BYTES: u64 = 40;
/// Files with a longer line are machine-made.
const MAX_LINE: usize = 400;

/// A file that both releases have, with different text.
pub(super) struct Change {
    /// Where it comes from: `package/path`.
    pub(super) name: String,
    /// The ending of its name, which says the language.
    pub(super) extension: String,
    pub(super) before: String,
    pub(super) after: String,
}

/// Endings of names of source, configuration and prose.
const EXTENSIONS: [&str; 32] = [
    "rs", "py", "pyi", "js", "mjs", "cjs", "jsx", "ts", "mts", "tsx", "c", "h", "cc", "cpp", "hpp", "go",
    "swift", "java", "rb", "pl", "s", "css", "scss", "html", "md", "rst", "txt", "toml", "yml", "json", "sh",
    "cfg",
];

/// The changed files of two folders, in the order of their names.
pub(super) fn changes(package: &str, older: &Path, newer: &Path) -> Result<Vec<Change>> {
    let mut files = BTreeMap::new();
    collect(older, older, &mut files)?;
    let mut changes = Vec::new();
    for (path, extension) in files {
        let (Some(before), Some(after)) = (bytes(&older.join(&path))?, bytes(&newer.join(&path))?) else {
            continue;
        };
        if before == after {
            continue;
        }
        let (Some(before), Some(after)) = (text(before), text(after)) else { continue };
        changes.push(Change { name: format!("{package}/{path}"), extension, before, after });
    }
    Ok(changes)
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<String, String>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            collect(root, &path, files)?;
            continue;
        }
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        if !EXTENSIONS.contains(&extension) || path.to_string_lossy().contains(".min.") {
            continue;
        }
        if let Some(relative) = path.strip_prefix(root)?.to_str() {
            files.insert(relative.to_owned(), extension.to_owned());
        }
    }
    Ok(())
}

/// The content of a file of a useful size.
fn bytes(path: &Path) -> Result<Option<Vec<u8>>> {
    let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(None) };
    let is_useful = metadata.is_file() && (MIN_BYTES..=MAX_BYTES).contains(&metadata.len());
    Ok(if is_useful { Some(fs::read(path)?) } else { None })
}

/// The text of a file that people write; `None` for anything else.
fn text(bytes: Vec<u8>) -> Option<String> {
    // Other line endings and a BOM are noise, which the kinds add by themselves.
    let text = String::from_utf8(bytes).ok()?.replace("\r\n", "\n");
    let is_written =
        !text.contains(['\0', '\r', '\u{feff}']) && text.lines().all(|line| line.len() <= MAX_LINE);
    is_written.then_some(text)
}
