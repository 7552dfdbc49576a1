//! What lies under a folder, depth first, leaving out what `.gitignore` leaves out.
//!
//! The walk goes through the workspace it is given and never by path. It is bounded: whatever a folder holds, no
//! more names are kept than the caller asked for; the rest is counted. What is shown how is the caller's business.

mod folder;
mod ignored;

pub(crate) use self::folder::chunk;
pub(crate) use self::ignored::{files_of, rules_above};

use self::folder::{Pending, Reading};
use self::ignored::Ignored;
use toolpost_core::ToolError;
use toolpost_core::workspace::implement::refusal;
use toolpost_core::workspace::{Kind, Workspace, WorkspacePath};

/// How to walk.
#[derive(Debug, Clone)]
pub struct WalkOptions {
    /// Show names that begin with a dot.
    pub hidden: bool,
    /// Show what `.gitignore`, `.ignore`, `.rgignore` and `.git/info/exclude` leave out.
    pub no_ignore: bool,
    /// How many levels to go down; 1 is the folder's own entries. `None`: all.
    pub max_depth: Option<usize>,
    /// More patterns to leave out, as in a `.gitignore` of the folder where the walk begins.
    pub ignore: Vec<String>,
    /// How many entries to keep.
    pub limit: usize,
}

impl Default for WalkOptions {
    fn default() -> WalkOptions {
        WalkOptions { hidden: false, no_ignore: false, max_depth: None, ignore: Vec::new(), limit: 1000 }
    }
}

/// One entry that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Display name, which opens the entry again.
    pub name: String,
    /// What it is; links are not followed.
    pub kind: Kind,
    /// 1 for entries of the folder where the walk began.
    pub depth: usize,
}

/// How many entries of one folder were not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Display name of the folder.
    pub folder: String,
    /// Entries of its own that were seen and not kept.
    pub entries: u64,
}

/// What a walk found, and what it did not show.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Walk {
    /// The entries in order: by name, byte by byte, each folder followed by what is in it.
    pub found: Vec<Found>,
    /// Entries that were seen and not kept because the limit was reached; what lies under them was not looked at.
    pub left_out: u64,
    /// The same by folder, in the order of the walk.
    pub left_out_by_folder: Vec<LeftOut>,
    /// Folders that were found and could not be read (to their end).
    pub unreadable: Vec<String>,
    /// Entries whose names are not UTF-8 and so cannot be opened; they are not among the found.
    pub not_utf8: u64,
    /// Entries that the caller's filter held back.
    pub held_back: u64,
    /// Whether the caller stopped the walk before its end.
    pub stopped: bool,
}

/// Walks the folder `from`. Blocks like the workspace.
///
/// `should_stop` is asked at least every thousand entries; once it says yes, the walk returns what it has.
/// An entry for which `hold_back` says yes, given its display name, is counted and not shown, nor entered.
///
/// ```
/// use toolpost_core::workspace::{Memory, WorkspacePath};
/// use toolpost_walk::{WalkOptions, walk};
///
/// let memory = Memory::from_fixture("//- .gitignore\n/target\n//- src/main.rs\n//- target/debug/main\n");
/// let found = walk(&memory, &WorkspacePath::root(), &WalkOptions::default(), &|| false, &|_| false).unwrap();
/// let names: Vec<&str> = found.found.iter().map(|found| found.name.as_str()).collect();
/// assert_eq!(names, ["src", "src/main.rs"]);
/// ```
pub fn walk(
    workspace: &dyn Workspace,
    from: &WorkspacePath,
    options: &WalkOptions,
    should_stop: &(dyn Fn() -> bool + Send + Sync),
    hold_back: &(dyn Fn(&str) -> bool + Send + Sync),
) -> Result<Walk, ToolError> {
    let start = workspace.stat(from)?;
    if start.kind != Kind::Folder {
        return Err(refusal::not_a_folder(&start.name));
    }
    let mut walk = Walk::default();
    let mut ignored = Ignored::new(workspace, &start.name, options)?;
    let mut reading =
        Reading { workspace, options, should_stop, hold_back, walk: &mut walk, ignored: &mut ignored };
    // The first folder's refusal is the walk's; those further down are counted.
    let first = reading.folder(&start.name, 1, options.limit)?;
    let mut open: Vec<Pending> = vec![first];
    while let Some(folder) = open.last_mut() {
        let Some(entry) = folder.entries.pop_front() else {
            ignored.leave();
            open.pop();
            continue;
        };
        let depth = folder.depth;
        let name = format!("{}{}", folder.prefix, entry.name);
        walk.found.push(Found { name: name.clone(), kind: entry.kind, depth });
        let deep_enough = options.max_depth.is_some_and(|most| depth >= most);
        let remaining = options.limit.saturating_sub(walk.found.len());
        if entry.kind != Kind::Folder || deep_enough || walk.stopped {
            continue;
        }
        let mut reading =
            Reading { workspace, options, should_stop, hold_back, walk: &mut walk, ignored: &mut ignored };
        match reading.folder(&name, depth + 1, remaining) {
            Ok(pending) => open.push(pending),
            Err(_) => {
                ignored.leave();
                walk.unreadable.push(name);
            }
        }
        trim(&mut open, remaining, &mut walk);
    }
    let counted: Vec<LeftOut> =
        walk.left_out_by_folder.drain(..).filter(|left_out| left_out.entries > 0).collect();
    walk.left_out = counted.iter().map(|left_out| left_out.entries).sum();
    walk.left_out_by_folder = counted;
    Ok(walk)
}

/// Drops waiting entries that can no longer be shown, the outermost first, since they would come last: so no more
/// names are ever held than the limit, however deep the tree.
fn trim(open: &mut [Pending], remaining: usize, walk: &mut Walk) {
    let waiting: usize = open.iter().map(|folder| folder.entries.len()).sum();
    let mut excess = waiting.saturating_sub(remaining);
    for folder in open {
        let dropped = excess.min(folder.entries.len());
        folder.entries.truncate(folder.entries.len() - dropped);
        walk.left_out_by_folder[folder.counted].entries += dropped as u64;
        excess -= dropped;
        if excess == 0 {
            return;
        }
    }
}
