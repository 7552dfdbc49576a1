//! The files that the rules look at, in memory: what git tracks or would track, or else whatever lies there.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::process;

/// Larger files are data, whose text is nobody's prose.
const LARGEST_TEXT: u64 = 1 << 20;

/// Every file of the repository, sorted by path.
pub(super) struct Tree {
    files: Vec<File>,
}

/// One file.
pub(super) struct File {
    /// From the root, with `/` between its parts.
    pub(super) path: String,
    /// Empty where the file is no text, or too large to be prose.
    pub(super) text: String,
}

impl File {
    /// The name without its folder.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Whether the whole file is there for tests only.
    pub(super) fn is_test(&self) -> bool {
        self.path.split('/').any(|part| part == "tests" || part == "tests.rs")
    }
}

impl Tree {
    pub(super) fn load(root: &Path) -> Result<Tree> {
        let mut paths = match tracked(root) {
            Some(paths) => paths,
            None => walk(root)?,
        };
        paths.sort();
        paths.dedup();
        let mut files = Vec::new();
        for path in paths {
            let place = root.join(&path);
            // A file may be deleted and still be tracked.
            let Ok(metadata) = fs::symlink_metadata(&place) else { continue };
            if !metadata.is_file() {
                continue;
            }
            let mut text = String::new();
            if metadata.len() <= LARGEST_TEXT {
                let bytes = fs::read(&place).with_context(|| format!("cannot read {path}"))?;
                text = String::from_utf8(bytes).unwrap_or_default();
            }
            files.push(File { path, text });
        }
        Ok(Tree { files })
    }

    /// A tree from one string, with a line `//- path` before each file.
    #[cfg(test)]
    pub(super) fn of(text: &str) -> Tree {
        let mut files: Vec<File> = Vec::new();
        for line in text.split_inclusive('\n') {
            match (line.strip_prefix("//- "), files.last_mut()) {
                (Some(path), _) => files.push(File { path: path.trim().to_owned(), text: String::new() }),
                (None, Some(file)) => file.text.push_str(line),
                (None, None) => {}
            }
        }
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Tree { files }
    }

    pub(super) fn files(&self) -> impl Iterator<Item = &File> {
        self.files.iter()
    }

    /// The Rust sources.
    pub(super) fn sources(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.path.ends_with(".rs"))
    }

    pub(super) fn file(&self, path: &str) -> Option<&File> {
        let index = self.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok()?;
        self.files.get(index)
    }

    /// Whether there is a file or a folder of this path; the empty path is the root.
    pub(super) fn has(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        path.is_empty() || self.files.iter().any(|file| file.path == path || file.path.starts_with(&folder))
    }
}

fn tracked(root: &Path) -> Option<Vec<String>> {
    let mut command = Command::new("git");
    command.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root);
    let listed = process::capture_quietly(&mut command)?;
    let paths: Vec<String> = listed.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect();
    // An archive unpacked inside another repository is not tracked by it.
    (!paths.is_empty()).then_some(paths)
}

fn walk(root: &Path) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    let mut open = vec![String::new()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(root.join(&folder)).with_context(|| format!("cannot list {folder}"))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            if !entry.file_type()?.is_dir() {
                paths.push(path);
            } else if !matches!(name.as_str(), "target" | ".git" | "node_modules") {
                open.push(path);
            }
        }
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_git_is_walked() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("src/deep")).unwrap();
        fs::create_dir_all(folder.path().join("target")).unwrap();
        fs::write(folder.path().join("src/deep/a.rs"), "//! Text.\n").unwrap();
        fs::write(folder.path().join("target/b.rs"), "built").unwrap();
        fs::write(folder.path().join("data"), [0xff, 0xfe]).unwrap();
        let tree = Tree::load(folder.path()).unwrap();
        let paths: Vec<_> = tree.files().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["data", "src/deep/a.rs"]);
        assert_eq!(tree.file("src/deep/a.rs").unwrap().text, "//! Text.\n");
        assert_eq!(tree.file("data").unwrap().text, "");
    }

    #[test]
    fn files_and_folders_are_found() {
        let tree = Tree::of("//- a/b.md\n//- c.md\n");
        assert!(tree.has("a") && tree.has("a/b.md") && tree.has(""));
        assert!(!tree.has("a/b") && !tree.has("b.md"));
    }
}
