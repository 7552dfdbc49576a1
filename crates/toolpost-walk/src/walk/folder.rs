//! One folder of a walk: its entries filtered, the first so many kept in order, the rest counted.

use super::ignored::Ignored;
use super::{LeftOut, Walk, WalkOptions};
use std::collections::{BinaryHeap, VecDeque};
use toolpost_core::workspace::implement::prefix;
use toolpost_core::workspace::{Entries, Entry, Kind, Workspace, WorkspacePath};
use toolpost_core::{Code, ToolError};

/// How many entries are read before the caller is asked whether to stop.
const CHUNK: usize = 1000;

/// A folder whose entries wait to be shown.
pub(super) struct Pending {
    /// What the display names of its entries begin with.
    pub(super) prefix: String,
    /// The entries kept, in order.
    pub(super) entries: VecDeque<Entry>,
    /// How deep its entries are.
    pub(super) depth: usize,
    /// Where the walk counts what this folder leaves out.
    pub(super) counted: usize,
}

/// All that reading a folder needs.
pub(super) struct Reading<'a> {
    pub(super) workspace: &'a dyn Workspace,
    pub(super) options: &'a WalkOptions,
    pub(super) should_stop: &'a (dyn Fn() -> bool + Send + Sync),
    pub(super) hold_back: &'a (dyn Fn(&str) -> bool + Send + Sync),
    pub(super) walk: &'a mut Walk,
    pub(super) ignored: &'a mut Ignored,
}

impl Reading<'_> {
    /// Reads a folder and keeps the first `keep` of its entries. Enters the folder's ignore rules, also on error.
    pub(super) fn folder(&mut self, name: &str, depth: usize, keep: usize) -> Result<Pending, ToolError> {
        self.ignored.enter(name);
        if (self.should_stop)() {
            self.walk.stopped = true;
            return Ok(self.pending(name, depth, BinaryHeap::new(), 0));
        }
        let mut entries = self.workspace.entries(&WorkspacePath::new(name))?;
        let mut kept: BinaryHeap<Entry> = BinaryHeap::new();
        let mut left_out = 0;
        let mut first = true;
        loop {
            let chunk = chunk(&mut entries);
            if first {
                first = false;
                self.ignored.read(self.workspace, name, &chunk.entries, chunk.ended);
            }
            for entry in chunk.entries {
                if !self.is_shown(name, &entry) || self.leads_to_held_back(name, &entry) {
                    continue;
                }
                kept.push(entry);
                if kept.len() > keep {
                    kept.pop();
                    left_out += 1;
                }
            }
            if chunk.broken {
                self.walk.unreadable.push(name.to_owned());
            }
            if chunk.ended {
                break;
            }
            if (self.should_stop)() {
                self.walk.stopped = true;
                break;
            }
        }
        Ok(self.pending(name, depth, kept, left_out))
    }

    fn pending(&mut self, name: &str, depth: usize, kept: BinaryHeap<Entry>, left_out: u64) -> Pending {
        self.walk.left_out_by_folder.push(LeftOut { folder: name.to_owned(), entries: left_out });
        Pending {
            prefix: prefix(name),
            entries: kept.into_sorted_vec().into(),
            depth,
            counted: self.walk.left_out_by_folder.len() - 1,
        }
    }

    fn is_shown(&mut self, folder: &str, entry: &Entry) -> bool {
        if entry.name.starts_with('.') && !self.options.hidden {
            return false;
        }
        if entry.name == ".git" && !self.options.no_ignore {
            return false;
        }
        if !entry.exact {
            self.walk.not_utf8 += 1;
            return false;
        }
        let name = format!("{}{}", prefix(folder), entry.name);
        if self.ignored.leaves_out(&name, entry.kind == Kind::Folder) {
            return false;
        }
        if (self.hold_back)(&name) {
            self.walk.held_back += 1;
            return false;
        }
        true
    }
}

impl Reading<'_> {
    /// A link is held back with its target: its name alone would tell what is there.
    fn leads_to_held_back(&mut self, folder: &str, entry: &Entry) -> bool {
        if entry.kind != Kind::Link {
            return false;
        }
        let link = WorkspacePath::new(format!("{}{}", prefix(folder), entry.name));
        let is_held_back = match self.workspace.stat(&link) {
            Ok(stat) => (self.hold_back)(&stat.name),
            // A workspace that judges by itself names the target in its refusal.
            Err(error) => {
                matches!(error.code(), Code::PermissionDenied | Code::ProtectedFile)
                    && error.details().get("path").and_then(|path| path.as_str()).is_none_or(self.hold_back)
            }
        };
        self.walk.held_back += u64::from(is_held_back);
        is_held_back
    }
}

pub(crate) struct Chunk {
    pub(crate) entries: Vec<Entry>,
    pub(crate) ended: bool,
    pub(crate) broken: bool,
}

/// Takes the next entries.
pub(crate) fn chunk(entries: &mut Entries) -> Chunk {
    let mut taken = Vec::new();
    while taken.len() < CHUNK {
        match entries.next() {
            Some(Ok(entry)) => taken.push(entry),
            Some(Err(_)) => return Chunk { entries: taken, ended: true, broken: true },
            None => return Chunk { entries: taken, ended: true, broken: false },
        }
    }
    Chunk { entries: taken, ended: false, broken: false }
}
