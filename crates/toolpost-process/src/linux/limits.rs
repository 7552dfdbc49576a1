//! Limits on all processes of a command together: their number and their memory.
//!
//! The limits that a process inherits count for each process, and the one on processes does not hold for root. These are
//! kept by the first process of the command's namespace: the kernel bounds the numbers of processes there, and memory is
//! looked at several times a second.

use super::sys;
use std::fs;
use std::io;
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
        // What cannot be looked at cannot be kept to its limits.
        let Ok(processes) = used() else {
            sys::kill(-1, libc::SIGKILL);
            return;
        };
        // With many processes the look itself takes time.
        self.next = now + PERIOD.max(now.elapsed() * 10);
        if self.processes > 0 && processes.len() as u64 > self.processes.max(SMALLEST) {
            sys::kill(-1, libc::SIGKILL);
            return;
        }
        // What processes share is in the sum of each, so the exact look is needed only past the limit.
        if processes.iter().map(|(_, bytes)| bytes).sum::<u64>() <= self.memory {
            return;
        }
        let exact: Vec<(i32, u64)> =
            processes.iter().map(|(pid, bytes)| (*pid, share(*pid).unwrap_or(*bytes))).collect();
        let all: u64 = exact.iter().map(|(_, bytes)| bytes).sum();
        if all > self.memory
            && let Some((pid, _)) = exact.iter().max_by_key(|(_, bytes)| bytes)
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

/// The processes of the namespace but this one, with the memory that each has, shared or not.
fn used() -> io::Result<Vec<(i32, u64)>> {
    let page = rustix::param::page_size() as u64;
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        if pid == 1 {
            continue;
        }
        // A process may have ended meanwhile.
        let Ok(statm) = fs::read_to_string(format!("/proc/{pid}/statm")) else { continue };
        let resident = statm.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
        found.push((pid, resident.unwrap_or(0) * page));
    }
    Ok(found)
}

/// The share of a process in its anonymous and shared memory, in bytes: what several have counts once among them.
fn share(pid: i32) -> Option<u64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let field = |name: &str| -> Option<u64> {
        let value = rollup.lines().find_map(|line| line.strip_prefix(name))?;
        value.trim().strip_suffix(" kB")?.trim().parse().ok()
    };
    Some((field("Pss_Anon:")? + field("Pss_Shmem:")?) * 1024)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests set up the world by hand")]

    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    #[test]
    fn memory_that_two_processes_share_counts_once() {
        const BYTES: u64 = 64 << 20;
        let program = "import mmap, os, sys\n\
                       m = mmap.mmap(-1, 64 << 20)\n\
                       m.write(b'x' * (64 << 20))\n\
                       r, w = os.pipe()\n\
                       child = os.fork()\n\
                       if child == 0:\n\
                       \x20 m.seek(0); n = len(m.read()); os.write(w, b'.'); sys.stdin.read(); os._exit(0)\n\
                       os.read(r, 1)\n\
                       print(child, flush=True)\n\
                       sys.stdin.read()";
        let mut first = Command::new("python3")
            .args(["-c", program])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(first.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let shares = [first.id() as i32, line.trim().parse().unwrap()].map(|pid| share(pid).unwrap());
        drop(first.stdin.take());
        first.wait().unwrap();
        let all: u64 = shares.iter().sum();
        assert!(shares.iter().all(|share| *share >= BYTES / 2), "{shares:?}");
        // Each has some memory of its own besides.
        assert!(all < BYTES * 2, "{shares:?}");
    }
}
