//! macOS: a session of its own, whose process group is ended as a whole. Checked, never run there; its tests run on
//! Linux, where it is not used otherwise.

#![expect(unsafe_code, reason = "a session and limits must be set between fork and exec")]

use crate::command::Limits;
use crate::ended::Exit;
use rustix::process::{Pid, Resource, Rlimit, Signal};
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};

pub(crate) use pipe::{Receiver, Sender};

/// What holds a command together.
pub(crate) const GROUP: &str = "process group";

pub(crate) fn sender(pipe: PipeWriter) -> io::Result<Sender> {
    Sender::from_owned_fd(nonblocking(pipe.into())?)
}

pub(crate) fn receiver(pipe: PipeReader) -> io::Result<Receiver> {
    Receiver::from_owned_fd(nonblocking(pipe.into())?)
}

fn nonblocking(pipe: OwnedFd) -> io::Result<OwnedFd> {
    rustix::io::ioctl_fionbio(&pipe, true)?;
    Ok(pipe)
}

/// The processes of one command that did not leave. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Group(Pid);

impl Group {
    /// Starts a program as the first of a group.
    pub(crate) fn start(mut program: Command, limits: &Limits) -> io::Result<(Child, Group)> {
        let seconds = limits.cpu.map(|limit| limit.as_secs().max(1));
        let wanted = [
            (Resource::Cpu, seconds),
            (Resource::As, limits.memory),
            (Resource::Nproc, limits.processes),
            // A core file would put the memory of a command into the workspace.
            (Resource::Core, Some(0)),
        ];
        let prepare = move || {
            // A session of its own has no terminal.
            rustix::process::setsid()?;
            for (resource, value) in wanted {
                if let Some(value) = value {
                    limit(resource, value)?;
                }
            }
            Ok(())
        };
        // SAFETY: the closure makes system calls and nothing else: no lock, no memory.
        unsafe { program.pre_exec(prepare) };
        let child = program.spawn()?;
        let pid = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let pid = pid.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        Ok((child, Group(pid)))
    }

    /// Whether nobody is left. A number is not given away while a group of that name exists.
    pub(crate) fn is_empty(&self) -> bool {
        rustix::process::test_kill_process_group(self.0) == Err(rustix::io::Errno::SRCH)
    }

    /// Asks all to end.
    pub(crate) fn ask(&self) {
        let _ = rustix::process::kill_process_group(self.0, Signal::TERM);
    }

    /// Ends all.
    pub(crate) fn end(&self) {
        let _ = rustix::process::kill_process_group(self.0, Signal::KILL);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
    }
}

/// A limit above the hard one is brought down to it.
fn limit(resource: Resource, value: u64) -> io::Result<()> {
    let most = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX);
    let value = Some(value.min(most));
    Ok(rustix::process::setrlimit(resource, Rlimit { current: value, maximum: value })?)
}

/// How the program ended; what cannot be told counts as killed.
pub(crate) fn exit(status: io::Result<ExitStatus>) -> Exit {
    let killed = Exit::Signal(Signal::KILL.as_raw());
    let Ok(status) = status else { return killed };
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => killed,
    }
}
