//! The files of a workspace as the index sees them: those in known languages that the policy lets everybody read, each opened
//! through the workspace.

use super::ignored::Ignored;
use crate::calendar;
use std::collections::BTreeSet;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::{Mutex, PoisonError};
use toolpost_code::files::Files;
use toolpost_code::language::Language;
use toolpost_code::languages;
use toolpost_code::unread::{Sort, sort_of};
use toolpost_code::world::Stamp;
use toolpost_core::workspace::{
    Candidate, FileStamp, Kind, ScanOptions, Select, Stat, SweepMemory, Visit, Worker,
};
use toolpost_core::{Capability, Policy, ToolError, Workspace, WorkspacePath};

/// Bytes of one file that are read; the index takes less.
const LARGEST: u64 = 16 << 20;
/// A file that has changed so many milliseconds ago may change again without its time telling.
const TOO_NEW: i64 = 2_000;
/// Folders of what others have written and a tool has put there, whether git ignores them or not.
const LEFT_OUT: [&str; 5] = ["node_modules", "bower_components", "__pycache__", "site-packages", "venv"];
/// Folders with a dot in front that have code of people. In others tools keep what they need.
const DOTTED: [&str; 14] = [
    ".storybook",
    ".github",
    ".gitlab",
    ".circleci",
    ".husky",
    ".vitepress",
    ".vuepress",
    ".dumi",
    ".devcontainer",
    ".config",
    ".changeset",
    ".buildkite",
    ".ci",
    ".docs",
];
/// Maximum number of hidden names that are counted.
const MOST_HIDDEN: usize = 10_000;
/// The tool by whose rules a file may be read or not.
const READER: &str = "read";

/// The files of one workspace.
pub(super) struct WorkspaceFiles {
    workspace: Arc<dyn Workspace>,
    policy: Policy,
    languages: Vec<&'static dyn Language>,
    /// What the last sweep left for the next.
    memory: Mutex<SweepMemory>,
    /// What sweeps came upon and had to leave out: files of known languages, and folders.
    hidden: Mutex<BTreeSet<String>>,
    ignored: Ignored,
}

impl WorkspaceFiles {
    pub(super) fn new(workspace: Arc<dyn Workspace>, policy: Policy) -> WorkspaceFiles {
        WorkspaceFiles {
            workspace,
            policy,
            languages: languages::all(),
            memory: Mutex::default(),
            hidden: Mutex::default(),
            ignored: Ignored::default(),
        }
    }

    /// What the policy keeps out of the index, as far as it is still there.
    pub(super) fn hidden(&self) -> Vec<String> {
        let hidden = self.hidden.lock().unwrap_or_else(PoisonError::into_inner);
        let is_there = |name: &&String| self.workspace.stat(&WorkspacePath::new(name.as_str())).is_ok();
        hidden.iter().filter(is_there).cloned().collect()
    }

    /// Files and folders with code that ignore files keep out of the index.
    pub(super) fn ignored(&self) -> Vec<String> {
        self.ignored.present(self.workspace.as_ref(), self)
    }

    /// Whether a file is in a known language, by its name.
    pub(super) fn is_code(&self, name: &str) -> bool {
        languages::of_path(&self.languages, name).is_some()
    }

    /// Whether a file is in a language that is known by its name, read or not. What the policy hides of others is missing in
    /// no answer.
    fn is_of_language(&self, name: &str) -> bool {
        let last = name.rsplit('/').next().unwrap_or(name);
        self.languages.iter().any(|language| language.manifests().contains(&last))
            || self.is_code(name)
            || matches!(sort_of(name), Some(Sort::Language(_) | Sort::Page(_)))
    }

    /// Whether something that is not code has this name.
    fn is_other_file(&self, name: &str, is_counted: bool) -> bool {
        !is_counted
            && sort_of(name).is_some()
            && self.workspace.stat(&WorkspacePath::new(name)).is_ok_and(|stat| stat.kind == Kind::File)
    }

    /// Whether a folder has what others have written, or has a name with a dot in front.
    pub(super) fn is_foreign(&self, name: &str) -> bool {
        let last = name.rsplit('/').next().unwrap_or(name);
        LEFT_OUT.contains(&last) || last.starts_with('.')
    }

    /// Whether the index may look at a file or into a folder.
    fn takes(&self, name: &str) -> bool {
        if LEFT_OUT.contains(&name.rsplit('/').next().unwrap_or(name)) {
            return false;
        }
        self.ignored.remove(name);
        let is_hidden = self.is_hidden(name);
        if is_hidden && !self.is_other_file(name, self.is_of_language(name)) {
            let mut hidden = self.hidden.lock().unwrap_or_else(PoisonError::into_inner);
            if hidden.len() < MOST_HIDDEN {
                hidden.insert(name.to_owned());
            }
        }
        !is_hidden
    }

    fn is_hidden(&self, name: &str) -> bool {
        !self.policy.allows_path(READER, Capability::Read, name)
    }

    fn is_known(&self, name: &str) -> bool {
        let last = name.rsplit('/').next().unwrap_or(name);
        languages::of_path(&self.languages, name).is_some()
            || sort_of(name).is_some()
            || self.languages.iter().any(|language| language.manifests().contains(&last))
    }
}

/// Whether a name that may begin with a dot is looked at: a file of code, or a folder in which people keep code.
fn is_looked_at(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or(name);
    !last.starts_with('.')
        || DOTTED.contains(&last)
        || languages::all().iter().any(|language| {
            let ending = last.trim_start_matches('.').rsplit_once('.').map(|(_, ending)| ending);
            ending.is_some_and(|ending| language.extensions().contains(&ending))
        })
}

impl Select for WorkspaceFiles {
    fn wants(&self, name: &str) -> bool {
        self.is_known(name)
    }

    fn admits(&self, name: &str) -> bool {
        self.takes(name)
    }

    fn looks_at_dotted(&self, name: &str) -> bool {
        is_looked_at(name)
    }

    fn left_out(&self, name: &str) {
        // What the policy hides is not said to be ignored.
        if !self.is_foreign(name) && !self.is_hidden(name) && !self.is_other_file(name, self.is_code(name)) {
            self.ignored.add(name);
        }
    }
}

impl Files for WorkspaceFiles {
    fn sweep(&self) -> io::Result<Vec<(String, Stamp)>> {
        let refused = |error: ToolError| io::Error::other(error.message().to_owned());
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = self.workspace.sweep(self, &mut memory).map_err(refused)? {
            return Ok(found.into_iter().map(|(name, stamp)| (name, taken(stamp))).collect());
        }
        drop(memory);
        let now = now_ms();
        let sweep = Sweep { files: self, now, found: Mutex::default() };
        let mut roots = vec![WorkspacePath::root()];
        roots.extend(self.workspace.roots().into_iter().skip(1).map(WorkspacePath::new));
        for root in &roots {
            let options = ScanOptions { hidden: true, ..ScanOptions::default() };
            toolpost_walk::scan(self.workspace.as_ref(), root, options, &sweep).map_err(refused)?;
        }
        let mut found = sweep.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        found.dedup_by(|a, b| a.0 == b.0);
        Ok(found)
    }

    fn stamp(&self, path: &str) -> Option<Stamp> {
        let stat = self.workspace.stat(&WorkspacePath::new(path)).ok()?;
        let is_seen = stat.kind == Kind::File && !self.is_hidden(&stat.name);
        is_seen.then(|| stamp_of(&stat, now_ms()))
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let refused = |error: ToolError| io::Error::other(error.message().to_owned());
        let file = self.workspace.open(&WorkspacePath::new(path)).map_err(refused)?;
        // A link may lead elsewhere by now.
        if self.is_hidden(&file.stat.name) {
            return Err(io::Error::from(io::ErrorKind::PermissionDenied));
        }
        let mut bytes = Vec::new();
        file.reader.take(LARGEST).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

fn now_ms() -> i64 {
    i64::try_from(calendar::now_ms()).unwrap_or(i64::MAX)
}

/// The stamp of a file in a workspace without sweeps, which tells no more than the time of writing.
fn stamp_of(stat: &Stat, now: i64) -> Stamp {
    let is_settled = now.saturating_sub(stat.modified_ms) >= TOO_NEW;
    taken(FileStamp { size: stat.size, mark: stat.modified_ms.cast_unsigned(), is_settled })
}

/// A file that may change without showing it is read again by the next sweep.
fn taken(stamp: FileStamp) -> Stamp {
    let mark = if stamp.is_settled && stamp.mark != Stamp::UNSETTLED { stamp.mark } else { Stamp::UNSETTLED };
    Stamp { size: stamp.size, mark }
}

struct Sweep<'a> {
    files: &'a WorkspaceFiles,
    now: i64,
    found: Mutex<Vec<(String, Stamp)>>,
}

impl Visit for Sweep<'_> {
    fn should_stop(&self) -> bool {
        false
    }

    fn wants(&self, name: &str) -> bool {
        is_looked_at(name) && self.files.is_known(name)
    }

    fn admits(&self, name: &str) -> bool {
        is_looked_at(name) && self.files.takes(name)
    }

    fn held_back(&self, _: &ToolError) {}

    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(SweepWorker(self))
    }
}

struct SweepWorker<'a>(&'a Sweep<'a>);

impl Worker for SweepWorker<'_> {
    /// Links are not followed: what they lead to inside is indexed under its own name.
    fn visit(&mut self, candidate: &mut dyn Candidate) {
        if candidate.kind() != Kind::File {
            return;
        }
        let Ok(stat) = candidate.stat() else { return };
        if stat.kind == Kind::File {
            let mut found = self.0.found.lock().unwrap_or_else(PoisonError::into_inner);
            found.push((candidate.name().to_owned(), stamp_of(&stat, self.0.now)));
        }
    }
}
