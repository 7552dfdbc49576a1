//! One child process from before the fork to after the wait.

use crate::samples::Samples;
use anyhow::{Result, bail};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// What one run took.
#[derive(Clone, Copy)]
pub(crate) struct Ran {
    pub(crate) time: Duration,
    /// Of all its threads, in the program and in the kernel.
    pub(crate) cpu: Duration,
    /// The most memory it had.
    pub(crate) peak_kib: u64,
}

/// Several runs of the same.
#[derive(Default)]
pub(crate) struct Runs {
    pub(crate) times: Samples,
    pub(crate) cpu: Samples,
    pub(crate) peak_kib: u64,
}

impl Runs {
    pub(crate) fn add(&mut self, ran: Ran) {
        self.times.add(ran.time);
        self.cpu.add(ran.cpu);
        self.peak_kib = self.peak_kib.max(ran.peak_kib);
    }
}

/// Runs a command to its end, which must be one of `codes`.
pub(crate) fn run(name: &str, command: &mut Command, codes: &[i32]) -> Result<Ran> {
    let started = Instant::now();
    let child = command.spawn()?;
    let (status, cpu, peak_kib) = wait(child)?;
    let time = started.elapsed();
    if !libc::WIFEXITED(status) || !codes.contains(&libc::WEXITSTATUS(status)) {
        bail!("`{name}` ended with wait status {status}");
    }
    Ok(Ran { time, cpu, peak_kib })
}

/// Waits for a child; its wait status, its CPU time, and the most memory it had, in KiB.
pub(crate) fn wait(child: Child) -> Result<(i32, Duration, u64)> {
    let id = libc::pid_t::try_from(child.id())?;
    let mut status = 0;
    // SAFETY: a `rusage` is plain numbers, for which zero is a value; `wait4` writes only to the two places given.
    let (waited, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::wait4(id, &mut status, 0, &mut usage), usage)
    };
    if waited != id {
        return Err(std::io::Error::last_os_error().into());
    }
    let cpu = [usage.ru_utime, usage.ru_stime].into_iter().map(duration).sum();
    Ok((status, cpu, u64::try_from(usage.ru_maxrss).unwrap_or_default()))
}

fn duration(time: libc::timeval) -> Duration {
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::from_secs(seconds) + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or_default())
}
