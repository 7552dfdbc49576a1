//! What the ignore files on the way leave out: deeper ones win over those above, `.ignore` over `.gitignore`.
//!
//! Patterns are read through the workspace. Only the folders on the way to the current one are held.

use super::WalkOptions;
use crate::error::{Code, ToolError};
use crate::workspace::memory::above;
use crate::workspace::{Entry, Workspace, WorkspacePath};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Larger ignore files are not read.
const LARGEST: u64 = 1024 * 1024;

/// The rules that hold in the current folder.
pub(super) struct Ignored {
    /// Of the call itself; they win over every file.
    own: Gitignore,
    /// One level for each folder on the way, the outermost first.
    levels: Vec<Level>,
    no_ignore: bool,
}

#[derive(Default)]
struct Level {
    /// `.ignore`, `.gitignore` and `.git/info/exclude`, in this order of strength.
    rules: [Option<Gitignore>; 3],
}

const FILES: [(&str, &str); 3] =
    [(".ignore", ".ignore"), (".gitignore", ".gitignore"), (".git", ".git/info/exclude")];

impl Ignored {
    /// The rules of the folders above the one where the walk begins, and of the call.
    pub(super) async fn new(
        workspace: &dyn Workspace,
        start: &str,
        options: &WalkOptions,
    ) -> Result<Ignored, ToolError> {
        let mut own = GitignoreBuilder::new(matched(start));
        for pattern in &options.ignore {
            own.add_line(None, pattern).map_err(|error| bad_pattern(pattern, &error))?;
        }
        let own = own.build().map_err(|error| bad_pattern(&options.ignore.join("`, `"), &error))?;
        let mut ignored = Ignored { own, levels: Vec::new(), no_ignore: options.no_ignore };
        if start == "." || start.starts_with('/') && workspace.roots().iter().any(|root| root == start) {
            return Ok(ignored);
        }
        // In another root, names above it are not ours to look at.
        let root = workspace.roots().into_iter().skip(1).find(|root| Path::new(start).starts_with(root));
        let mut way: Vec<&str> = above(start)
            .take_while(|name| root.as_ref().is_none_or(|root| Path::new(name).starts_with(root)))
            .collect();
        if root.is_none() {
            way.push(".");
        }
        for folder in way.into_iter().rev() {
            ignored.enter();
            ignored.read(workspace, folder, &[], false).await;
        }
        Ok(ignored)
    }

    /// Goes one folder down.
    pub(super) fn enter(&mut self) {
        self.levels.push(Level::default());
    }

    /// Goes one folder up.
    pub(super) fn leave(&mut self) {
        self.levels.pop();
    }

    /// Reads the ignore files of the current folder: those among its entries, or, where not all entries are known,
    /// those that can be opened.
    pub(super) async fn read(
        &mut self,
        workspace: &dyn Workspace,
        folder: &str,
        entries: &[Entry],
        all: bool,
    ) {
        if self.no_ignore {
            return;
        }
        for (index, (entry, file)) in FILES.into_iter().enumerate() {
            if all && !entries.iter().any(|found| found.name == entry) {
                continue;
            }
            let rules = rules(workspace, folder, file).await;
            if let Some(level) = self.levels.last_mut() {
                level.rules[index] = rules;
            }
        }
    }

    /// Whether an entry of the current folder is left out.
    pub(super) fn leaves_out(&self, name: &str, is_folder: bool) -> bool {
        let path = matched(name);
        if self.own.matched(&path, is_folder).is_ignore() {
            return true;
        }
        for strength in 0..FILES.len() {
            for level in self.levels.iter().rev() {
                let Some(rules) = &level.rules[strength] else { continue };
                match rules.matched(&path, is_folder) {
                    Match::None => {}
                    Match::Ignore(_) => return true,
                    Match::Whitelist(_) => return false,
                }
            }
        }
        false
    }
}

/// Patterns are matched against absolute paths, whatever root a display name belongs to.
fn matched(name: &str) -> PathBuf {
    match name {
        "." => PathBuf::from("/"),
        name => Path::new("/").join(name),
    }
}

async fn rules(workspace: &dyn Workspace, folder: &str, file: &str) -> Option<Gitignore> {
    let opened = workspace.open(&WorkspacePath::new(folder).join(file)).await.ok()?;
    if opened.stat.size > LARGEST {
        return None;
    }
    let read = tokio::task::spawn_blocking(move || {
        let mut bytes = Vec::new();
        opened.reader.take(LARGEST).read_to_end(&mut bytes).map(|_| bytes)
    });
    let bytes = read.await.ok()?.ok()?;
    let mut builder = GitignoreBuilder::new(matched(folder));
    for line in String::from_utf8_lossy(&bytes).trim_start_matches('\u{feff}').lines() {
        // A pattern that makes no sense leaves nothing out, as in git.
        let _ = builder.add_line(None, line);
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}

fn bad_pattern(pattern: &str, error: &ignore::Error) -> ToolError {
    ToolError::new(
        Code::ValidationError,
        format!("`ignore` has the pattern `{pattern}`: {error}; write it as in .gitignore"),
    )
}
