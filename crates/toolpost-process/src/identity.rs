//! Which process one is, in words that another process of the machine can check later: a number alone passes to others.
//!
//! Only Linux tells enough of a process. Elsewhere no process has an identity, and none is ended by it.

use std::fmt;
use std::io;
use std::str::FromStr;
use std::time::Duration;

/// A process of this machine, told from every other that had or will have its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Its number.
    pid: u32,
    /// When it was started, in clock ticks since the machine was.
    start: u64,
    /// The start of the machine.
    boot: String,
    /// The namespace in which the number counts.
    namespace: u64,
}

/// What became of a process that was to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It was ended, and is gone.
    Ended,
    /// It had ended before.
    Gone,
    /// It belongs to another machine, or to another container: nothing was done.
    Elsewhere,
}

impl Identity {
    /// This process; none where the system does not tell.
    pub fn own() -> Option<Identity> {
        system::identity(std::process::id())
    }

    /// Its number.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Ends the process at once and waits until it is gone. What it has started ends with it.
    pub fn end(&self, at_most: Duration) -> io::Result<Ending> {
        match Identity::own() {
            Some(own) if own.boot == self.boot && own.namespace == self.namespace => {
                system::end(self, at_most)
            }
            _ => Ok(Ending::Elsewhere),
        }
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Identity { pid, start, boot, namespace } = self;
        write!(f, "{pid}.{start}.{boot}.{namespace}")
    }
}

/// The text is not an identity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotAnIdentity;

impl FromStr for Identity {
    type Err = NotAnIdentity;

    fn from_str(text: &str) -> Result<Identity, NotAnIdentity> {
        let parts: Vec<&str> = text.split('.').collect();
        let [pid, start, boot, namespace] = parts.as_slice() else { return Err(NotAnIdentity) };
        let number = |text: &str| text.parse::<u64>().map_err(|_| NotAnIdentity);
        let pid = u32::try_from(number(pid)?).map_err(|_| NotAnIdentity)?;
        if boot.is_empty() {
            return Err(NotAnIdentity);
        }
        Ok(Identity { pid, start: number(start)?, boot: (*boot).to_owned(), namespace: number(namespace)? })
    }
}

#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "what the system tells of processes is in /proc")]
mod system {
    use super::{Ending, Identity};
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::Errno;
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
    use std::io;
    use std::os::unix::fs::MetadataExt;
    use std::time::Duration;

    pub(super) fn identity(pid: u32) -> Option<Identity> {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let namespace = std::fs::metadata("/proc/self/ns/pid").ok()?.ino();
        Some(Identity { pid, start: start(pid)?, boot: boot.trim().to_owned(), namespace })
    }

    /// The 22nd field; the second one is a name that may hold anything.
    fn start(pid: u32) -> Option<u64> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
    }

    pub(super) fn end(process: &Identity, at_most: Duration) -> io::Result<Ending> {
        let Some(pid) = i32::try_from(process.pid).ok().and_then(Pid::from_raw) else {
            return Ok(Ending::Gone);
        };
        let handle = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(handle) => handle,
            Err(Errno::SRCH) => return Ok(Ending::Gone),
            Err(errno) => return Err(errno.into()),
        };
        // The handle keeps to the process that has the number now. Whether that is the one that is meant, its start tells.
        if start(process.pid) != Some(process.start) {
            return Ok(Ending::Gone);
        }
        match pidfd_send_signal(&handle, Signal::KILL) {
            Ok(()) => {}
            Err(Errno::SRCH) => return Ok(Ending::Gone),
            Err(errno) => return Err(errno.into()),
        }
        let limit = Timespec {
            tv_sec: i64::try_from(at_most.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: at_most.subsec_nanos().into(),
        };
        match poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&limit)) {
            Ok(0) => Err(io::Error::new(io::ErrorKind::TimedOut, "it does not end")),
            Ok(_) => Ok(Ending::Ended),
            Err(errno) => Err(errno.into()),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::{Ending, Identity};
    use std::io;
    use std::time::Duration;

    pub(super) fn identity(_pid: u32) -> Option<Identity> {
        None
    }

    pub(super) fn end(_process: &Identity, _at_most: Duration) -> io::Result<Ending> {
        Ok(Ending::Elsewhere)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_read_as_it_is_written() {
        let own = Identity::own().unwrap();
        assert_eq!(own.to_string().parse(), Ok(own));
        for wrong in ["", "1", "1.2.3", "1.2..4", "x.2.b.4", "1.2.b.4.5", "99999999999.2.b.4"] {
            assert_eq!(wrong.parse::<Identity>(), Err(NotAnIdentity), "{wrong}");
        }
    }

    #[test]
    fn a_process_that_is_another_one_is_left_alone() {
        let own = Identity::own().unwrap();
        let limit = Duration::from_secs(1);
        let earlier = Identity { start: own.start - 1, ..own.clone() };
        assert_eq!(earlier.end(limit).unwrap(), Ending::Gone, "the number has passed to another process");
        let boot = Identity { boot: "another".to_owned(), ..own.clone() };
        assert_eq!(boot.end(limit).unwrap(), Ending::Elsewhere);
        let namespace = Identity { namespace: 1, ..own };
        assert_eq!(namespace.end(limit).unwrap(), Ending::Elsewhere);
    }
}
