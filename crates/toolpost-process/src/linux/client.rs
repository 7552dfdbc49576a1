//! This process's side: starts the launcher, hands it commands, hears how they end.

use super::wire::{Reply, Request, View};
use super::{guard, post};
use crate::command::{Command, Output, Stdin};
use crate::ended::Ended;
use crate::error::Error;
use crate::launcher;
use crate::sandbox::{HomeFolder, NewName, Sandbox};
use rustix::fs::{MemfdFlags, OFlags, memfd_create};
use rustix::pipe::{PipeFlags, pipe_with};
use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

/// The socket of the launcher that runs.
static LAUNCHER: Mutex<Option<OwnedFd>> = Mutex::new(None);

/// The two kinds of pipe ends that this process holds.
pub(crate) use pipe::{Receiver, Sender};

/// What a started command is reached by.
pub(crate) struct Started {
    pub(crate) control: Control,
    pub(crate) stdin: Option<pipe::Sender>,
    pub(crate) stdout: pipe::Receiver,
    pub(crate) stderr: Option<pipe::Receiver>,
}

/// The line to a command's keeper. When it is dropped, or this process dies, the keeper ends the command.
#[derive(Debug)]
pub(crate) struct Control {
    line: UnixStream,
    /// The same line, for those who may ask for the end. They do not keep it open.
    asking: Arc<std::os::unix::net::UnixStream>,
    heard: Vec<u8>,
}

/// Asks a keeper to end its command.
#[derive(Debug, Clone)]
pub(crate) struct Ender(Weak<std::os::unix::net::UnixStream>);

impl Ender {
    pub(crate) fn end(&self) {
        if let Some(line) = self.0.upgrade() {
            // A keeper that is gone has ended its command.
            let _ = (&*line).write(b"end");
        }
    }
}

impl Control {
    pub(crate) fn end(&self) {
        self.ender().end();
    }

    pub(crate) fn ender(&self) -> Ender {
        Ender(Arc::downgrade(&self.asking))
    }

    /// Can be dropped and called again: nothing is lost in between.
    pub(crate) async fn wait(&mut self) -> Result<Ended, Error> {
        let reply = loop {
            if let Some(reply) = post::unframed(&self.heard) {
                break reply;
            }
            if self.line.read_buf(&mut self.heard).await.unwrap_or(0) == 0 {
                return Err(Error::launcher(
                    "the process that kept the command was killed; everything it kept has been ended with it",
                ));
            }
        };
        match Reply::decode(reply) {
            Ok(Reply::Ended(ended)) => Ok(ended),
            Ok(Reply::NotRun { what, errno }) => {
                Err(Error::NotRun { what, source: io::Error::from_raw_os_error(errno) })
            }
            Ok(Reply::NoSandbox { layer, why }) => Err(Error::SandboxUnavailable { layer, why }),
            Ok(Reply::Remove(_)) | Err(_) => {
                Err(Error::launcher("the process that controls the command sent an invalid message"))
            }
        }
    }
}

/// The program that runs now.
pub(crate) fn this_program() -> PathBuf {
    PathBuf::from("/proc/self/exe")
}

/// Hands a command to the launcher.
pub(crate) fn start(command: Command) -> Result<Started, Error> {
    let failed =
        |error: io::Error| Error::launcher(format!("the command's pipes could not be made: {error}"));
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().map_err(failed)?;
    ours.set_nonblocking(true).map_err(failed)?;
    let asking = Arc::new(ours.try_clone().map_err(failed)?);
    let line = UnixStream::from_std(ours).map_err(failed)?;
    let pipe = || pipe_with(PipeFlags::CLOEXEC).map_err(|error| failed(error.into()));
    let (stdin, to_stdin) = match command.stdin {
        Stdin::Closed => (null().map_err(failed)?, None),
        Stdin::Bytes(_) | Stdin::Open => {
            let (read, write) = pipe()?;
            (read, Some(write))
        }
    };
    let (from_stdout, stdout) = pipe()?;
    // Room for a burst: the command need not wait for this process to be scheduled.
    let _ = rustix::pipe::fcntl_setpipe_size(&stdout, 256 * 1024);
    let (from_stderr, stderr) = match command.output {
        Output::Together => (None, stdout.try_clone().map_err(failed)?),
        Output::Apart => {
            let (read, write) = pipe()?;
            (Some(read), write)
        }
    };
    let body = memfd_create("command", MemfdFlags::CLOEXEC).map_err(|error| failed(error.into()))?;
    write_all(&body, &request(&command).encode()).map_err(failed)?;
    let mut fds = vec![body.as_fd(), theirs.as_fd(), stdin.as_fd(), stdout.as_fd(), stderr.as_fd()];
    if let Some(spool) = spool(&command) {
        fds.push(spool.as_fd());
    }
    hand_over(&fds)?;
    let receiver = |fd: OwnedFd| pipe::Receiver::from_owned_fd(nonblocking(fd)?);
    Ok(Started {
        control: Control { line, asking, heard: Vec::new() },
        stdin: to_stdin
            .map(|fd| pipe::Sender::from_owned_fd(nonblocking(fd)?))
            .transpose()
            .map_err(failed)?,
        stdout: receiver(from_stdout).map_err(failed)?,
        stderr: from_stderr.map(receiver).transpose().map_err(failed)?,
    })
}

/// Sends the descriptors to the launcher, which is started if none runs or the one that ran was killed.
fn hand_over(fds: &[std::os::fd::BorrowedFd<'_>]) -> Result<(), Error> {
    let mut launcher = LAUNCHER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(socket) = launcher.as_ref()
        && post::send(socket, b"run", fds).is_ok()
    {
        return Ok(());
    }
    let socket = start_launcher()?;
    post::send(&socket, b"run", fds)
        .map_err(|error| Error::launcher(format!("the launcher does not answer: {error}")))?;
    *launcher = Some(socket);
    Ok(())
}

fn start_launcher() -> Result<OwnedFd, Error> {
    let Some(program) = launcher::program() else {
        return Err(Error::SandboxUnavailable { layer: "launcher".into(), why: launcher::MISSING.into() });
    };
    let failed = |error: io::Error| {
        Error::launcher(format!("the launcher `{}` could not be started: {error}", program.display()))
    };
    let (ours, theirs) = post::pair().map_err(failed)?;
    let mut child = std::process::Command::new(&program)
        .arg0(launcher::NAME)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(theirs))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    // It ends when its socket closes, with this process at the latest; somebody must take note of that.
    let _ =
        std::thread::Builder::new().name("launcher".into()).stack_size(64 * 1024).spawn(move || child.wait());
    Ok(ours)
}

fn request(command: &Command) -> Request {
    let milliseconds = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX).max(1);
    let bytes = |text: &OsStr| text.as_bytes().to_vec();
    Request {
        argv: [&command.program].into_iter().chain(&command.args).map(|text| bytes(text)).collect(),
        environment: command
            .environment
            .iter()
            .map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat())
            .collect(),
        folder: command.folder.clone().into_os_string().into_vec(),
        wall_ms: command.limits.wall.map_or(0, milliseconds),
        grace_ms: milliseconds(command.limits.grace),
        cpu_s: command.limits.cpu.map_or(0, |limit| limit.as_secs().max(1)),
        processes: command.limits.processes.unwrap_or(0),
        memory: command.limits.memory.unwrap_or(0),
        view: command.sandbox.as_ref().map(|sandbox| view(command, sandbox)),
    }
}

/// Where what a command changes is recorded. What a dry run changes is thrown away.
fn spool(command: &Command) -> Option<&Arc<std::fs::File>> {
    let is_kept = command.sandbox.as_ref().is_some_and(|sandbox| sandbox.scratch.is_none());
    command.spool.as_ref().filter(|_| is_kept)
}

fn view(command: &Command, sandbox: &Sandbox) -> View {
    let home = command.environment.iter().find(|(name, _)| name == "HOME");
    View {
        home: home.map(|(_, value)| value.as_bytes().to_vec()).unwrap_or_default(),
        keeps: spool(command).is_some(),
        ..view_of(sandbox)
    }
}

/// What follows from the sandbox alone.
fn view_of(sandbox: &Sandbox) -> View {
    let paths = |list: &[PathBuf]| -> Vec<Vec<u8>> {
        list.iter().map(|path: &PathBuf| Path::as_os_str(path).as_bytes().to_vec()).collect()
    };
    View {
        writable: paths(&sandbox.writable),
        readable: paths(&sandbox.readable),
        programs: paths(&sandbox.programs),
        locked: paths(&sandbox.locked),
        hidden: paths(&sandbox.hidden),
        reserved: sandbox.reserved.iter().map(|pattern| pattern.as_bytes().to_vec()).collect(),
        rules: sandbox.rules.clone(),
        aliases: sandbox
            .aliases
            .iter()
            .map(|(folder, name)| {
                (folder.as_os_str().as_bytes().to_vec(), name.as_os_str().as_bytes().to_vec())
            })
            .collect(),
        fixed: paths(&sandbox.fixed),
        dependencies: sandbox.dependencies.clone(),
        scratch: sandbox
            .scratch
            .as_ref()
            .map(|path| path.as_os_str().as_bytes().to_vec())
            .unwrap_or_default(),
        network: sandbox.network,
        only_caches: sandbox.home == HomeFolder::Caches,
        ..View::default()
    }
}

/// Which of these names a command in the sandbox could not create.
pub(crate) fn closed_names(sandbox: &Sandbox, names: &[(PathBuf, NewName)]) -> Vec<bool> {
    guard::closed_names(&view_of(sandbox), names)
}

fn null() -> io::Result<OwnedFd> {
    Ok(rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, rustix::fs::Mode::empty())?)
}

fn nonblocking(fd: OwnedFd) -> io::Result<OwnedFd> {
    rustix::io::ioctl_fionbio(&fd, true)?;
    Ok(fd)
}

fn write_all(fd: &OwnedFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = rustix::io::write(fd, bytes)?;
        bytes = &bytes[count..];
    }
    Ok(())
}
