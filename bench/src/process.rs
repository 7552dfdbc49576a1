//! One child process from before the fork to after the wait.

use anyhow::{Result, bail};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Runs a command to its end; how long it took, and the most memory it had, in KiB. It must end with one of `codes`.
pub(crate) fn run(name: &str, command: &mut Command, codes: &[i32]) -> Result<(Duration, u64)> {
    let started = Instant::now();
    let child = command.spawn()?;
    let (status, peak_kib) = wait(child)?;
    let time = started.elapsed();
    if !libc::WIFEXITED(status) || !codes.contains(&libc::WEXITSTATUS(status)) {
        bail!("`{name}` ended with wait status {status}");
    }
    Ok((time, peak_kib))
}

/// Waits for a child; its wait status, and the most memory it had, in KiB.
fn wait(child: Child) -> Result<(i32, u64)> {
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
    Ok((status, u64::try_from(usage.ru_maxrss).unwrap_or_default()))
}
