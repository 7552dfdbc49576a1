//! The files of a project by name, and their texts within bounds.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::Read;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use toolpost_core::host::HeldBack;
use toolpost_core::workspace::{Kind, WorkspacePath};
use toolpost_core::{Context, ToolError};
use toolpost_walk::{WalkOptions, walk};

/// Maximum number of files and folders that are looked at.
const MOST_ENTRIES: usize = 60_000;
/// Bytes of one file that are read.
pub(super) const MOST_BYTES: u64 = 512 * 1024;

/// Folders that no person writes in, whether git ignores them or not.
const LEFT_OUT: [&str; 18] = [
    ".git",
    ".hg",
    ".svn",
    ".jj",
    "node_modules",
    "bower_components",
    ".venv",
    "venv",
    ".tox",
    ".nox",
    "__pycache__",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".gradle",
    ".idea",
    ".terraform",
    ".next",
];

/// Folders of code that others have written, or that tests take as their material.
const FOREIGN: [&str; 21] = [
    "vendor",
    "vendored",
    "deps",
    "pods",
    "carthage",
    "submodules",
    "subprojects",
    "dist",
    "_build",
    "generated",
    "third_party",
    "third-party",
    "thirdparty",
    "external",
    "extern",
    "testdata",
    "fixtures",
    "__fixtures__",
    "test-fixtures",
    "snapshots",
    "__snapshots__",
];

/// What lies below a folder.
pub(super) struct Tree {
    ctx: Context,
    /// Display name of the folder.
    pub(super) root: String,
    /// Display names of its files, in order.
    pub(super) files: Vec<String>,
    known: HashSet<String>,
    folders: BTreeSet<String>,
    held_back: HeldBack,
    left_out: u64,
    /// Whether time ran out before the end.
    pub(super) partial: bool,
    /// What `.gitattributes` says others or programs have written.
    attributed: GlobSet,
}

impl Tree {
    /// Looks at all names below a folder. Blocks like the workspace.
    pub(super) fn survey(ctx: &Context, path: &WorkspacePath) -> Result<Tree, ToolError> {
        let options = WalkOptions {
            hidden: true,
            ignore: LEFT_OUT.iter().map(|name| format!("{name}/")).collect(),
            limit: MOST_ENTRIES,
            ..WalkOptions::default()
        };
        let root = ctx.workspace().stat(path)?.name;
        let held_back = ctx.held_back();
        // What was found must still be read before the time is over.
        let reserve = ctx.time_left().map(|left| left / 2);
        let is_late = || ctx.time_left() < reserve;
        let should_stop = || is_late() || ctx.cancel().is_cancelled();
        // A walk may ask more than once about a name, which counts once.
        let judged: Mutex<HashMap<String, bool>> = Mutex::default();
        let is_held_back = |name: &str| {
            let mut judged = judged.lock().unwrap_or_else(PoisonError::into_inner);
            match judged.get(name) {
                Some(is_held_back) => *is_held_back,
                None => {
                    let is_held_back = held_back.holds(name);
                    judged.insert(name.to_owned(), is_held_back);
                    is_held_back
                }
            }
        };
        let walked = walk(ctx.workspace().as_ref(), path, &options, &should_stop, &is_held_back)?;
        if walked.stopped && !is_late() {
            ctx.checkpoint()?;
        }
        let names = |kind: Kind| {
            walked.found.iter().filter(move |found| found.kind == kind).map(|found| found.name.clone())
        };
        let files: Vec<String> = names(Kind::File).collect();
        let mut tree = Tree {
            attributed: GlobSet::empty(),
            root,
            known: files.iter().cloned().collect(),
            folders: names(Kind::Folder).collect(),
            files,
            ctx: ctx.clone(),
            left_out: walked.left_out,
            partial: walked.stopped || walked.left_out > 0,
            held_back,
        };
        let text =
            tree.has("", ".gitattributes").then(|| tree.text(&tree.inside("", ".gitattributes"))).flatten();
        tree.attributed = text.map_or_else(GlobSet::empty, |text| attributed(&text));
        Ok(tree)
    }

    /// Of a file or folder, the part of its name below the folder of the survey.
    pub(super) fn below<'a>(&self, name: &'a str) -> &'a str {
        match self.root.as_str() {
            "." => name,
            root => name.strip_prefix(root).map_or(name, |rest| rest.trim_start_matches('/')),
        }
    }

    /// The display name of a file below a folder of the survey; an empty folder is the root.
    pub(super) fn inside(&self, folder: &str, name: &str) -> String {
        match (folder, self.root.as_str()) {
            ("", ".") | (".", _) => name.to_owned(),
            ("", root) => format!("{root}/{name}"),
            (folder, _) => format!("{folder}/{name}"),
        }
    }

    /// Whether there is such a file.
    pub(super) fn has(&self, folder: &str, name: &str) -> bool {
        self.known.contains(&self.inside(folder, name))
    }

    /// The first of these files that a folder has.
    pub(super) fn first_of<'a>(&self, folder: &str, names: &[&'a str]) -> Option<&'a str> {
        names.iter().find(|name| self.has(folder, name)).copied()
    }

    /// The first of these names under which a folder has a link to a file that may be shown.
    pub(super) fn first_linked<'a>(&self, folder: &str, names: &[&'a str]) -> Option<&'a str> {
        let leads_to_file = |name: &&&str| {
            let stat = self.ctx.workspace().stat(&WorkspacePath::new(self.inside(folder, name)));
            stat.is_ok_and(|stat| stat.kind == Kind::File && self.ctx.withheld(&stat.name).is_none())
        };
        names.iter().find(leads_to_file).copied()
    }

    /// The files below a folder.
    pub(super) fn below_folder<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a str> {
        let start = match (folder, self.root.as_str()) {
            ("" | ".", ".") => String::new(),
            ("", root) => format!("{root}/"),
            (folder, _) => format!("{folder}/"),
        };
        self.files.iter().map(String::as_str).filter(move |file| file.starts_with(&start))
    }

    /// The folders directly below the folder of the survey, those left out that begin with a dot or in which nothing may
    /// be shown.
    pub(super) fn top_folders(&self) -> impl Iterator<Item = &str> {
        self.folders.iter().map(String::as_str).filter(|name| {
            let below = self.below(name);
            !below.contains('/') && !below.starts_with('.') && self.below_folder(name).next().is_some()
        })
    }

    /// Whether a file is not the project's own code: others have written it, or tests use it as material.
    pub(super) fn is_foreign(&self, name: &str) -> bool {
        let below = self.below(name);
        let is_of_tool = below.ends_with(".min.js") || below.ends_with(".min.css");
        is_of_tool
            || self.attributed.is_match(below)
            || below.rsplit_once('/').is_some_and(|(folders, _)| {
                folders.split('/').any(|part| FOREIGN.contains(&part.to_ascii_lowercase().as_str()))
            })
    }

    /// Whether the name of a file, or of a folder around it, begins with a dot: settings of tools and what tools keep.
    pub(super) fn is_hidden(&self, name: &str) -> bool {
        self.below(name).split('/').any(|part| part.starts_with('.'))
    }

    /// The text of a file: of a large one the beginning, of one that is not UTF-8 what can be read. None where it cannot be
    /// opened, or is no text.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.text_within(name, MOST_BYTES)
    }

    /// The same with another bound.
    pub(super) fn text_within(&self, name: &str, most: u64) -> Option<String> {
        let file = self.ctx.workspace().open(&WorkspacePath::new(name)).ok()?;
        let mut bytes = Vec::new();
        file.reader.take(most).read_to_end(&mut bytes).ok()?;
        if bytes.contains(&0) {
            return None;
        }
        let text = String::from_utf8_lossy(&bytes);
        Some(text.trim_start_matches('\u{feff}').to_owned())
    }

    /// Whether there is time for more.
    pub(super) fn has_time(&self) -> bool {
        let is_over = |left: Duration| left < Duration::from_millis(500);
        !self.ctx.cancel().is_cancelled() && !self.ctx.time_left().is_some_and(is_over)
    }

    /// Files and folders that the policy holds back.
    pub(super) fn total_held_back(&self) -> u64 {
        self.held_back.total()
    }

    /// What a model should know beside the answer, in parentheses, or nothing.
    pub(super) fn note(&self) -> String {
        let mut notes = Vec::new();
        if self.left_out > 0 {
            notes.push(format!("the project has more than {MOST_ENTRIES} files; the rest is not counted"));
        } else if self.partial {
            notes.push("out of time: this is only a part; name a smaller path".to_owned());
        }
        notes.extend(self.held_back.note());
        match notes.is_empty() {
            true => String::new(),
            false => format!("({})", notes.join("; ")),
        }
    }
}

/// The patterns of `.gitattributes` for what others or programs have written.
fn attributed(text: &str) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let Some(pattern) = words.next() else { continue };
        let is_foreign = words.any(|word| {
            let (name, value) = word.split_once('=').unwrap_or((word, "true"));
            matches!(name, "linguist-vendored" | "linguist-generated") && value == "true"
        });
        if !is_foreign {
            continue;
        }
        // Without a slash inside, a pattern means names at any depth; one that means a folder means what is in it.
        let plain = pattern.trim_start_matches('/').trim_end_matches('/');
        let start = if plain.contains('/') || pattern.starts_with('/') { "" } else { "**/" };
        for pattern in [format!("{start}{plain}"), format!("{start}{plain}/**")] {
            if let Ok(glob) = GlobBuilder::new(&pattern).literal_separator(true).build() {
                set.add(glob);
            }
        }
    }
    set.build().unwrap_or_default()
}
