//! Every file below a folder handed to a visitor, for tools that search: in no order, on several threads where the
//! workspace can, opened only if the visitor wants to.
//!
//! What is searched for, and what is shown of it, is the visitor's business. A warm list of names, or an index of
//! contents, belongs behind [`Workspace::scan`](super::Workspace::scan): it may propose fewer candidates, and everything it proposes is
//! opened and confirmed as here before the visitor sees it.

use super::{File, Kind, Stat};
use crate::error::ToolError;

/// Which files are candidates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScanOptions {
    /// Also names that begin with a dot.
    pub hidden: bool,
    /// Also what the ignore files leave out.
    pub no_ignore: bool,
}

/// Who is shown the files. Implemented by tools that search; called by a scan, from any thread.
pub trait Visit: Send + Sync {
    /// Whether to give up. Asked before each folder and every few files; a visitor that reads long files asks itself.
    fn should_stop(&self) -> bool;

    /// Whether the file of this display name is of interest. Asked before it is looked at.
    fn wants(&self, name: &str) -> bool;

    /// Whether the file or folder of this display name may be shown. A workspace that judges answers this for the
    /// visitor, which is told by [`Visit::held_back`].
    fn admits(&self, _name: &str) -> bool {
        true
    }

    /// Something was held back, and why.
    fn held_back(&self, refusal: &ToolError);

    /// What one thread needs; made once on each.
    fn worker(&self) -> Box<dyn Worker + '_>;
}

/// One thread's part of a visit.
pub trait Worker {
    /// Looks at one file.
    fn visit(&mut self, candidate: &mut dyn Candidate);
}

/// A file that a scan came upon. Nothing of it is read before it is asked for.
pub trait Candidate {
    /// Display name.
    fn name(&self) -> &str;

    /// A file or a link.
    fn kind(&self) -> Kind;

    /// What it is now, links followed. `FILE_NOT_FOUND` if it is gone, or no longer what it was.
    fn stat(&mut self) -> Result<Stat, ToolError>;

    /// Opens it.
    fn open(&mut self) -> Result<File, ToolError>;

    /// Says that the answer shows something of it: it counts as a file that the call has touched.
    fn show(&mut self) {}
}

/// What a scan did not hand over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scanned {
    /// Folders that could not be read (to their end), a few by name.
    pub unreadable: Vec<String>,
    /// Entries whose names are not UTF-8.
    pub not_utf8: u64,
    /// Whether the visitor gave up.
    pub stopped: bool,
}

impl Scanned {
    /// How many folders are named.
    const MOST_NAMED: usize = 1_000;

    /// Notes a folder that cannot be read, as far as so many are named.
    pub fn unreadable(&mut self, name: &str) {
        if self.unreadable.len() < Scanned::MOST_NAMED {
            self.unreadable.push(name.to_owned());
        }
    }
}
