//! Everything that descends from this process, found and ended without a namespace's help.
//!
//! The keeper is a subreaper: whatever loses its parent below it becomes its child, however it was daemonised. So when
//! it has no children left, nothing is left.

use super::sys::{self, Reaped};
use crate::ended::Survivor;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::fs;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// More survivors than this are counted, not named.
pub(super) const NAMED: usize = 100;

/// A name is cut to this many bytes.
const LONGEST_NAME: usize = 120;

/// Descendants at one moment, the nearest first.
pub(super) fn descendants() -> Vec<u32> {
    let mut found = children(std::process::id());
    let mut at = 0;
    while at < found.len() && found.len() < 100_000 {
        let more = children(found[at]);
        found.extend(more);
        at += 1;
    }
    found
}

/// The children of this process.
pub(super) fn children_of_this() -> Vec<u32> {
    children(std::process::id())
}

fn children(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect()
}

/// What a process is called, for a person; none for one that has ended and only waits to be taken note of.
pub(super) fn name_of(pid: u32) -> Option<String> {
    let mut line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    // In the middle of becoming another program a process has no command line for a moment.
    for _ in 0..3 {
        if !line.is_empty() || has_ended(pid) {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
        line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    }
    let shown: Vec<u8> = match line.is_empty() {
        true => {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let (head, tail) = stat.rsplit_once(')')?;
            if tail.trim_start().starts_with(['Z', 'X']) {
                return None;
            }
            head.split_once('(')?.1.as_bytes().to_vec()
        }
        false => line,
    };
    let text = String::from_utf8_lossy(&shown);
    let text: String = text
        .trim_end_matches('\0')
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    Some(cut(text))
}

fn has_ended(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_none_or(|(_, tail)| tail.trim_start().starts_with(['Z', 'X']))
}

fn cut(mut text: String) -> String {
    if text.len() > LONGEST_NAME {
        text.truncate(text.floor_char_boundary(LONGEST_NAME));
        text.push('…');
    }
    text
}

/// Those of the processes that live, by name; and how many they are.
pub(super) fn survivors(pids: &[u32]) -> (Vec<Survivor>, u64) {
    let mut named = Vec::new();
    let mut count = 0;
    for pid in pids {
        if let Some(name) = name_of(*pid) {
            count += 1;
            if named.len() < NAMED {
                named.push(Survivor { pid: *pid, name, remains: false });
            }
        }
    }
    (named, count)
}

/// Asks each process to end. A number that has passed to somebody else in between is not hit: what is signalled is
/// looked at once more through a handle.
pub(super) fn ask_to_end(pids: &[u32]) {
    for pid in pids {
        let Some(pid) = i32::try_from(*pid).ok().and_then(Pid::from_raw) else { continue };
        let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { continue };
        if is_descendant(pid.as_raw_nonzero().get().unsigned_abs()) {
            let _ = pidfd_send_signal(&handle, Signal::TERM);
        }
    }
}

fn is_descendant(pid: u32) -> bool {
    let own = std::process::id();
    let mut pid = pid;
    for _ in 0..100_000 {
        match parent(pid) {
            Some(parent) if parent == own => return true,
            Some(parent) if parent > 1 => pid = parent,
            _ => return false,
        }
    }
    false
}

fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// Ends all children, and those that become children when their parents end, until none is left or time is up.
/// Whether none is left; `status` is told of each that ended.
pub(super) fn end_all(signals: &OwnedFd, limit: Duration, mut status: impl FnMut(i32, i32)) -> bool {
    let until = Instant::now() + limit;
    loop {
        // Children only: until it is reaped, a child's number is its own.
        for pid in children(std::process::id()) {
            if let Ok(pid) = i32::try_from(pid) {
                sys::kill(pid, libc::SIGKILL);
            }
        }
        if !reap_all(&mut status) {
            return true;
        }
        if Instant::now() > until {
            return false;
        }
        wait_for_signal(signals, Duration::from_millis(2));
    }
}

/// Takes the end of every child that has ended; whether there are more children.
pub(super) fn reap_all(mut status: impl FnMut(i32, i32)) -> bool {
    loop {
        match sys::reap() {
            Reaped::Child(pid, how) => status(pid, how),
            Reaped::NoneYet => return true,
            Reaped::NoChildren => return false,
        }
    }
}

/// Waits for a signal, not longer than this.
pub(super) fn wait_for_signal(signals: &OwnedFd, limit: Duration) {
    let timeout = Timespec {
        tv_sec: i64::try_from(limit.as_secs()).unwrap_or(1),
        tv_nsec: limit.subsec_nanos().into(),
    };
    let _ = poll(&mut [PollFd::new(signals, PollFlags::IN)], Some(&timeout));
    sys::take_signals(signals, 0);
}
