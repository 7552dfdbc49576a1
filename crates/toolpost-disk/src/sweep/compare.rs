//! Known folders and their files looked at again, on all processors. A folder is opened by its last name beneath the one
//! above it, which is open already: that is several times quicker than by its path.

use super::fan_out::fan_out;
use super::memory::Known;
use super::stamp::{Clock, Raw};
use crate::roots::beneath;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, ResolveFlags, fstat, openat};
use toolpost_core::workspace::FileStamp;

/// Folders that one thread takes at a time.
const PIECE: usize = 64;

/// What became of a folder.
pub(super) enum Look {
    /// It has the same names, and the rules are the same; the stamps of its files.
    Same(Vec<Option<FileStamp>>),
    /// Something else is in it, or may be.
    Changed,
    /// It is not there.
    Gone,
}

/// Looks at folders, each of which comes before those below it.
pub(super) fn compare(root: &OwnedFd, folders: &[&Known], clock: &Clock) -> Vec<Look> {
    let pieces: Vec<&[&Known]> = folders.chunks(PIECE).collect();
    let look = |(): &mut (), piece: &&[&Known]| Way { root, open: Vec::new() }.piece(piece, clock);
    fan_out(&pieces, 1, || (), look).into_iter().flatten().collect()
}

/// The open folders on the way to the current one.
struct Way<'a> {
    root: &'a OwnedFd,
    open: Vec<(&'a str, OwnedFd)>,
}

impl<'a> Way<'a> {
    fn piece(mut self, folders: &[&'a Known], clock: &Clock) -> Vec<Look> {
        folders.iter().map(|known| self.look(known, clock)).collect()
    }

    fn look(&mut self, known: &'a Known, clock: &Clock) -> Look {
        let Some(handle) = self.enter(&known.below) else { return Look::Gone };
        let Ok(stat) = fstat(handle) else { return Look::Gone };
        let is_same =
            known.raw == Some(Raw::of(&stat)) && known.ruled.iter().all(|ruled| ruled.is_same(handle));
        match is_same {
            true => Look::Same(known.files.iter().map(|name| clock.file(handle, name)).collect()),
            false => Look::Changed,
        }
    }

    fn enter(&mut self, below: &'a str) -> Option<&OwnedFd> {
        const FLAGS: OFlags =
            OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
        let (above, last) = below.rsplit_once('/').unwrap_or(("", below));
        while self.open.last().is_some_and(|(open, _)| *open != above || below.is_empty()) {
            self.open.pop();
        }
        let handle = match self.open.last() {
            // A name of one part, links refused, leads to an entry of the folder and nowhere else.
            Some((_, folder)) => openat(folder, last, FLAGS, Mode::empty()).ok()?,
            None => {
                let path = if below.is_empty() { "." } else { below };
                beneath(self.root, path, FLAGS, ResolveFlags::NO_SYMLINKS).ok()?
            }
        };
        self.open.push((below, handle));
        self.open.last().map(|(_, handle)| handle)
    }
}
