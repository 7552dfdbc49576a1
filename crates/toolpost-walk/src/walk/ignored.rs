//! The ignore rules on the way of a walk, read through the workspace.
//!
//! Only the folders on the way to the current one are held.

use super::WalkOptions;
use crate::rules::{Rules, Verdict, absolute};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use toolpost_core::workspace::implement::above;
use toolpost_core::workspace::{Entry, IgnoreFiles, Repository, Tracked, Workspace, WorkspacePath};
use toolpost_core::{Code, ToolError};

/// The rules that hold in the current folder.
pub(super) struct Ignored {
    root: String,
    /// Of the call itself; they win over every file.
    own: Gitignore,
    above: Arc<Rules>,
    /// What lies elsewhere of the repository that begins where the walk does.
    at_start: Option<Repository>,
    /// One for each folder on the way, the outermost first.
    levels: Vec<Arc<Rules>>,
    no_ignore: bool,
}

impl Ignored {
    /// The rules of the folders above the one where the walk begins, and of the call.
    pub(super) fn new(
        workspace: &dyn Workspace,
        start: &str,
        options: &WalkOptions,
    ) -> Result<Ignored, ToolError> {
        let root = workspace.root().to_owned();
        let mut own = GitignoreBuilder::new(absolute(&root, start));
        for pattern in &options.ignore {
            own.add_line(None, pattern).map_err(|error| bad_pattern(pattern, &error))?;
        }
        let own = own.build().map_err(|error| bad_pattern(&options.ignore.join("`, `"), &error))?;
        let (above, at_start) = match options.no_ignore {
            true => (Arc::new(Rules::default()), None),
            false => rules_above(workspace, start),
        };
        Ok(Ignored { root, own, above, at_start, levels: Vec::new(), no_ignore: options.no_ignore })
    }

    /// Goes down into the folder of this display name.
    pub(super) fn enter(&mut self, name: &str) {
        let rules = match self.levels.last() {
            None => Arc::clone(&self.above),
            Some(rules) => match rules.judge(&absolute(&self.root, name), true) {
                Verdict::OnlyTracked => rules.only_tracked(),
                Verdict::Shown | Verdict::LeftOut => Arc::clone(rules),
            },
        };
        self.levels.push(rules);
    }

    /// Goes one folder up.
    pub(super) fn leave(&mut self) {
        self.levels.pop();
    }

    /// Reads the ignore files of the current folder: those among its entries, or, where not all entries are known,
    /// those that can be opened.
    pub(super) fn read(&mut self, workspace: &dyn Workspace, folder: &str, entries: &[Entry], all: bool) {
        if self.no_ignore {
            return;
        }
        let mut files = files_of(workspace, folder, all.then_some(entries));
        if let Some(repository) = self.at_start.take() {
            files.repository = Some(repository);
        }
        if let Some(level) = self.levels.last_mut() {
            *level = level.below(&absolute(&self.root, folder), files);
        }
    }

    /// Whether an entry of the current folder is left out.
    pub(super) fn leaves_out(&self, name: &str, is_folder: bool) -> bool {
        let path = absolute(&self.root, name);
        self.own.matched(Path::new(&path), is_folder).is_ignore()
            || self.levels.last().is_some_and(|rules| rules.judge(&path, is_folder) == Verdict::LeftOut)
    }
}

/// The rules above a folder: those from outside of the workspace, and those of the folders from its root on. Where
/// the folder is the root itself, also what lies elsewhere of the repository that begins there.
pub(crate) fn rules_above(workspace: &dyn Workspace, start: &str) -> (Arc<Rules>, Option<Repository>) {
    let roots = workspace.roots();
    // In another root, names above it are not ours to look at.
    let root = roots.iter().skip(1).find(|root| Path::new(start).starts_with(root)).map(String::as_str);
    let (mut rules, mut at_root) =
        Rules::outside(workspace.outer_rules(root.unwrap_or_else(|| workspace.root())));
    if start == "." || Some(start) == root {
        return (rules, at_root);
    }
    let mut way: Vec<&str> =
        above(start).take_while(|name| root.is_none_or(|root| Path::new(name).starts_with(root))).collect();
    if root.is_none() {
        way.push(".");
    }
    for folder in way.into_iter().rev() {
        let mut files = files_of(workspace, folder, None);
        if let Some(repository) = at_root.take() {
            files.repository = Some(repository);
        }
        rules = rules.below(&absolute(workspace.root(), folder), files);
    }
    (rules, None)
}

/// The ignore files of a folder, where it has them; `known` are its entries, if all of them are.
pub(crate) fn files_of(workspace: &dyn Workspace, folder: &str, known: Option<&[Entry]>) -> IgnoreFiles {
    let may_have = |name: &str| known.is_none_or(|entries| entries.iter().any(|entry| entry.name == name));
    let mut files = IgnoreFiles::default();
    let mut for_tools = [None, None];
    for (content, name) in for_tools.iter_mut().zip([".ignore", ".rgignore"]) {
        if may_have(name) {
            *content = read(workspace, folder, name, IgnoreFiles::LARGEST);
        }
    }
    let [ignore, rgignore] = for_tools;
    files.ignore = IgnoreFiles::for_tools(ignore, rgignore);
    if may_have(".gitignore") {
        files.gitignore = read(workspace, folder, ".gitignore", IgnoreFiles::LARGEST);
    }
    if may_have(".git") && workspace.stat(&WorkspacePath::new(folder).join(".git")).is_ok() {
        let exclude = read(workspace, folder, ".git/info/exclude", IgnoreFiles::LARGEST);
        let index = read(workspace, folder, ".git/index", Tracked::LARGEST);
        let top = absolute(workspace.root(), folder);
        let tracked = index.map(|index| Tracked::new(&top, move || Some(index.clone())));
        files.repository = Some(Repository { exclude, tracked });
    }
    files
}

fn read(workspace: &dyn Workspace, folder: &str, file: &str, largest: u64) -> Option<Vec<u8>> {
    let opened = workspace.open(&WorkspacePath::new(folder).join(file)).ok()?;
    if opened.stat.size > largest {
        return None;
    }
    let mut bytes = Vec::new();
    opened.reader.take(largest).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn bad_pattern(pattern: &str, error: &ignore::Error) -> ToolError {
    ToolError::new(
        Code::ValidationError,
        format!("`ignore` has the pattern `{pattern}`: {error}; write it as in .gitignore"),
    )
}
