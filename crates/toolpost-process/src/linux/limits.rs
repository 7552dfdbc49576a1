//! Limits on all processes of a command together: their number and their memory.
//!
//! The limits that a process inherits count for each process, and the one on processes does not hold for root. These are
//! kept by the first process of the command's namespace: the kernel bounds the numbers of processes there, and memory is
//! looked at several times a second.

use super::sys;
use std::fs;
use std::time::{Duration, Instant};

/// Between two looks.
const PERIOD: Duration = Duration::from_millis(100);

/// The kernel takes no smaller limit on the numbers of processes.
const SMALLEST: u64 = 302;

/// Watches what a command uses.
pub(super) struct Limits {
    processes: u64,
    memory: u64,
    next: Instant,
    /// The limit on memory, once a process was ended for it.
    pub(super) exceeded: Option<u64>,
}

impl Limits {
    /// Limits the namespace of which this is the first process. Zero processes are no limit.
    pub(super) fn new(processes: u64) -> Limits {
        if processes > 0 {
            // Kernels before 6.14 have no such limit by namespace; there the look below ends what is too much.
            let _ = fs::write("/proc/sys/kernel/pid_max", (processes + 1).max(SMALLEST).to_string());
        }
        Limits { processes, memory: share_of_memory(), next: Instant::now() + PERIOD, exceeded: None }
    }

    /// When the next look is due.
    pub(super) fn next(&self) -> Instant {
        self.next
    }

    /// Looks, if it is time: ends the largest process if all use too much memory, and all if there are too many.
    pub(super) fn look(&mut self) {
        let now = Instant::now();
        if now < self.next {
            return;
        }
        let processes = used();
        // With many processes the look itself takes time.
        self.next = now + PERIOD.max(now.elapsed() * 10);
        if self.processes > 0 && processes.len() as u64 > self.processes.max(SMALLEST) {
            sys::kill(-1, libc::SIGKILL);
            return;
        }
        let all: u64 = processes.iter().map(|(_, bytes)| bytes).sum();
        if all > self.memory
            && let Some((pid, _)) = processes.iter().max_by_key(|(_, bytes)| bytes)
        {
            sys::kill(*pid, libc::SIGKILL);
            self.exceeded = Some(self.memory);
            self.next = now + PERIOD / 10;
        }
    }
}

/// Three fifths of the machine's memory; temporary files may take another quarter.
fn share_of_memory() -> u64 {
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kilobytes = total.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kilobytes.map_or(u64::MAX, |kilobytes| kilobytes / 5 * 3 * 1024)
}

/// The processes of the namespace but this one, with the memory that each has for itself.
fn used() -> Vec<(i32, u64)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let page = rustix::param::page_size() as u64;
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| *pid != 1)
        .filter_map(|pid| {
            let statm = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
            let mut pages = statm.split(' ').skip(1).map(|pages| pages.parse::<u64>().unwrap_or(0));
            let (resident, shared) = (pages.next()?, pages.next()?);
            Some((pid, resident.saturating_sub(shared) * page))
        })
        .collect()
}
