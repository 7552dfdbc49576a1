//! The roots as they are open now. A root whose folder was deleted and made again, or replaced by another folder, is
//! opened again by the name that it had when it was opened first.
//!
//! A name that leads through a link now is not followed: the first opening has resolved all links, so there was none.

use super::roots::Roots;
use super::staging::Staging;
use super::survey::Remembered;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat2, statat};
use rustix::io::Errno;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use toolpost_core::workspace::implement::place::RootName;

/// Names that were looked at so recently are not looked at again only to read: one look serves a whole call.
const RECENT: Duration = Duration::from_millis(1);

/// The roots and what is known of them.
#[derive(Debug, Clone)]
pub(super) struct Now {
    pub(super) roots: Arc<Roots>,
    /// What surveys have seen, for the next one.
    pub(super) remembered: Arc<Remembered>,
}

/// Keeps the roots open.
#[derive(Debug)]
pub(super) struct Opened(Mutex<State>);

#[derive(Debug)]
struct State {
    now: Now,
    looked: Instant,
}

impl Opened {
    pub(super) fn new(roots: Roots) -> Opened {
        let now = Now { roots: Arc::new(roots), remembered: Arc::default() };
        Opened(Mutex::new(State { now, looked: Instant::now() }))
    }

    /// Writes temporary files down here from now on.
    pub(super) fn stage_with(&self, staging: Arc<Staging>) {
        let mut state = self.lock();
        let Roots { names, handles, .. } = &*state.now.roots;
        let roots = Roots { names: names.clone(), handles: handles.clone(), staging: Some(staging) };
        state.now.roots = Arc::new(roots);
    }

    /// The roots as their names were a moment ago.
    pub(super) fn lately(&self) -> Now {
        let mut state = self.lock();
        if state.looked.elapsed() > RECENT {
            state.look();
        }
        state.now.clone()
    }

    /// The roots as their names are.
    pub(super) fn now(&self) -> Now {
        let mut state = self.lock();
        state.look();
        state.now.clone()
    }

    /// The roots in place of these, if some of them had to be opened again.
    pub(super) fn instead_of(&self, roots: &Arc<Roots>) -> Option<Arc<Roots>> {
        let now = self.now().roots;
        (!Arc::ptr_eq(&now, roots)).then_some(now)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn look(&mut self) {
        let roots = &self.now.roots;
        let each = || roots.names.iter().zip(&roots.handles);
        if each().any(|(name, handle)| !is_open(name, handle)) {
            let mut handles = Vec::new();
            let mut is_changed = false;
            for (name, handle) in each() {
                let again = match is_open(name, handle) {
                    true => None,
                    // Where nothing can be opened, the old folder stays: its errors say what has become of it.
                    false => open(Path::new(&name.path)).ok(),
                };
                is_changed |= again.is_some();
                handles.push(again.map_or_else(|| Arc::clone(handle), Arc::new));
            }
            if is_changed {
                let roots = Roots { names: roots.names.clone(), handles, staging: roots.staging.clone() };
                self.now = Now { roots: Arc::new(roots), remembered: Arc::default() };
            }
        }
        self.looked = Instant::now();
    }
}

/// Opens the folder of a canonical path: no link is followed, so that the path still is canonical.
pub(super) fn open(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS)
}

/// Whether the name is that of the folder that is open.
fn is_open(name: &RootName, handle: &OwnedFd) -> bool {
    let named = statat(CWD, name.path.as_str(), AtFlags::SYMLINK_NOFOLLOW);
    match (named, fstat(handle)) {
        (Ok(named), Ok(open)) => (named.st_dev, named.st_ino) == (open.st_dev, open.st_ino),
        _ => false,
    }
}

/// What has become of the folder of a root, where its name is not that of the open folder.
pub(super) fn is_gone(name: &RootName, handle: &OwnedFd) -> Option<&'static str> {
    if is_open(name, handle) {
        return None;
    }
    let named = statat(CWD, name.path.as_str(), AtFlags::SYMLINK_NOFOLLOW);
    Some(match named.map(|named| FileType::from_raw_mode(named.st_mode)) {
        Err(Errno::NOENT | Errno::NOTDIR) => "was deleted; make it again, and it is used again",
        Err(_) => "cannot be reached any more",
        Ok(FileType::Symlink) => "was replaced by a link, which is not followed; put a folder there",
        Ok(FileType::Directory) => "was replaced, or a folder above it by a link; start again",
        Ok(_) => "was replaced by something that is not a folder; put a folder there",
    })
}
