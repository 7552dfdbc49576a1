//! Known folders and their files looked at again, on all processors. A folder is opened by its last name beneath the one
//! above it, which is open already: that is several times quicker than by its path.

use super::memory::Known;
use super::stamp::{Clock, Raw};
use crate::roots::beneath;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, ResolveFlags, fstat, openat};
use std::sync::atomic::{AtomicUsize, Ordering};
use toolpost_core::workspace::FileStamp;

/// Folders that one thread takes at a time.
const PIECE: usize = 64;
/// More threads gain nothing.
const MOST_THREADS: usize = 12;

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
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done: Vec<(usize, Vec<Look>)> = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(piece) = pieces.get(index) else { return done };
            done.push((index, Way { root, open: Vec::new() }.piece(piece, clock)));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get().min(MOST_THREADS));
    let mut all = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(pieces.len())).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        for other in others {
            match other.join() {
                Ok(done) => all.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    all.sort_unstable_by_key(|(index, _)| *index);
    all.into_iter().flat_map(|(_, looks)| looks).collect()
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
