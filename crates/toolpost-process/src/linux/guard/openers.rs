//! Opens what may block, in a process of its own for each.

use super::Ending;
use super::caller::Place;
use crate::linux::sys::notify::{self, Said};
use crate::linux::sys::{self, Fork};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;

/// Maximum number of callers that wait to open a pipe.
const MOST: usize = 64;

/// The processes that open something now.
#[derive(Default)]
pub(super) struct Openers {
    pids: Vec<i32>,
    /// The calls they work for, in the same order.
    calls: Vec<u64>,
}

impl Openers {
    pub(super) fn pids(&self) -> &[i32] {
        &self.pids
    }

    pub(super) fn forget(&mut self, pid: i32) {
        if let Some(at) = self.pids.iter().position(|known| *known == pid) {
            self.pids.swap_remove(at);
            self.calls.swap_remove(at);
        }
    }

    /// Opens what exists at the place, however long that takes, and answers the call.
    pub(super) fn start(
        &mut self,
        listener: BorrowedFd<'_>,
        id: u64,
        place: &Place,
        flags: OFlags,
    ) -> Result<Ending, Errno> {
        if self.pids.len() >= MOST {
            // Callers that were killed do not wait any more; nobody told their openers.
            for (pid, call) in self.pids.iter().zip(&self.calls) {
                if !notify::still_asks(listener, *call) {
                    sys::kill(*pid, libc::SIGKILL);
                }
            }
            return Err(Errno::AGAIN);
        }
        let held = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let object = rustix::fs::openat(&place.parent, OsStr::from_bytes(&place.name), held, Mode::empty())?;
        match sys::fork().map_err(|_| Errno::AGAIN)? {
            Fork::Parent(pid) => {
                self.pids.push(pid);
                self.calls.push(id);
                Ok(Ending::Later)
            }
            Fork::Child => {
                sys::default_signals();
                let path = format!("/proc/self/fd/{}", object.as_raw_fd());
                let ours = flags.difference(OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW)
                    | OFlags::NOCTTY
                    | OFlags::CLOEXEC;
                let result = rustix::fs::openat(CWD, path, ours, Mode::empty());
                let closes = flags.contains(OFlags::CLOEXEC);
                let failed = match result {
                    Ok(opened) => notify::answer_with(listener, id, opened.as_fd(), closes)
                        .err()
                        .map(|error| error.raw_os_error().unwrap_or(libc::EMFILE)),
                    Err(error) => Some(error.raw_os_error()),
                };
                if let Some(errno) = failed {
                    notify::answer(listener, id, Said::Failed(errno));
                }
                sys::exit(0)
            }
        }
    }
}
