//! macOS and Windows: a command in a group of its own, which is ended as a whole. There is no sandbox: a command that
//! wants one is refused. What left the group is not found, and processor time and memory are not measured.
//!
//! What differs between the two is in `macos` and `windows`.

use crate::command::{Command, Limits, Output, Stdin};
use crate::ended::{Ended, Why};
use crate::error::Error;
use crate::sandbox::{Layer, Need};
use std::io;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Child;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

#[cfg(unix)]
use crate::macos as system;
#[cfg(windows)]
use crate::windows as system;

use system::Group;
pub(crate) use system::{Receiver, Sender};

/// What is left when the program has ended by itself gets this long to end politely.
const GRACE_AFTER_END: Duration = Duration::from_millis(150);

/// How often the group is looked at while it is ending.
const LOOK: Duration = Duration::from_millis(10);

/// What a started command is reached by.
pub(crate) struct Started {
    pub(crate) control: Control,
    pub(crate) stdin: Option<Sender>,
    pub(crate) stdout: Receiver,
    pub(crate) stderr: Option<Receiver>,
}

/// The line to the task that keeps a command. When it is dropped, the command is ended.
#[derive(Debug)]
pub(crate) struct Control {
    asking: mpsc::UnboundedSender<()>,
    ended: watch::Receiver<Option<Ended>>,
}

/// Asks for the end of a command. It does not keep the line open.
#[derive(Debug, Clone)]
pub(crate) struct Ender(mpsc::WeakUnboundedSender<()>);

impl Ender {
    pub(crate) fn end(&self) {
        if let Some(asking) = self.0.upgrade() {
            // Without a listener the command has ended.
            let _ = asking.send(());
        }
    }
}

impl Control {
    pub(crate) fn end(&self) {
        self.ender().end();
    }

    pub(crate) fn ender(&self) -> Ender {
        Ender(self.asking.downgrade())
    }

    /// Can be dropped and called again: nothing is lost in between.
    pub(crate) async fn wait(&mut self) -> Result<Ended, Error> {
        let gone = || Error::launcher("the runtime that kept the command is gone, and the command with it");
        let ended = self.ended.wait_for(Option::is_some).await.map_err(|_| gone())?;
        ended.clone().ok_or_else(gone)
    }
}

/// What there is instead of layers.
pub(crate) fn layers() -> Vec<Layer> {
    vec![
        Layer {
            name: system::GROUP,
            does: "ends what a command started, as far as it stayed in it",
            need: Need::Commands,
            state: Ok("part of the system".into()),
        },
        Layer {
            name: "sandbox",
            does: "holds commands to what the policy allows",
            need: Need::Sandbox,
            state: Err(NO_SANDBOX.into()),
        },
    ]
}

/// No sandbox closes a name.
#[cfg(not(target_os = "linux"))]
pub(crate) fn closed_names(_: &crate::Sandbox, names: &[(std::path::PathBuf, crate::NewName)]) -> Vec<bool> {
    vec![false; names.len()]
}

const NO_SANDBOX: &str = "there is no sandbox on this system yet";

/// Starts a command in a group of its own.
pub(crate) fn start(command: Command) -> Result<Started, Error> {
    if command.sandbox.is_some() {
        return Err(Error::SandboxUnavailable { layer: "sandbox".into(), why: NO_SANDBOX.into() });
    }
    let failed =
        |error: io::Error| Error::launcher(format!("the command's pipes could not be made: {error}"));
    let mut program = tokio::process::Command::new(&command.program);
    program.args(&command.args).current_dir(&command.folder).env_clear().envs(command.environment);
    let stdin = match command.stdin {
        Stdin::Closed => {
            program.stdin(Stdio::null());
            None
        }
        Stdin::Bytes(_) | Stdin::Open => {
            let (read, write) = io::pipe().map_err(failed)?;
            program.stdin(read);
            Some(system::sender(write).map_err(failed)?)
        }
    };
    let (from_stdout, stdout) = io::pipe().map_err(failed)?;
    let stderr = match command.output {
        Output::Together => {
            program.stderr(stdout.try_clone().map_err(failed)?);
            None
        }
        Output::Apart => {
            let (read, write) = io::pipe().map_err(failed)?;
            program.stderr(write);
            Some(system::receiver(read).map_err(failed)?)
        }
    };
    program.stdout(stdout);
    let stdout = system::receiver(from_stdout).map_err(failed)?;
    let not_run = |source: io::Error| Error::NotRun {
        what: format!("`{}` cannot be run", command.program.to_string_lossy()),
        source,
    };
    let (child, group) = Group::start(program, &command.limits).map_err(not_run)?;
    let (asking, asked) = mpsc::unbounded_channel();
    let (report, ended) = watch::channel(None);
    tokio::spawn(keep(child, group, command.limits, asked, report));
    Ok(Started { control: Control { asking, ended }, stdin, stdout, stderr })
}

/// Keeps a command to its end. If the runtime ends first, the group is ended with this.
async fn keep(
    mut child: Child,
    group: Group,
    limits: Limits,
    mut asked: mpsc::UnboundedReceiver<()>,
    report: watch::Sender<Option<Ended>>,
) {
    let started = Instant::now();
    let wall = async {
        match limits.wall {
            Some(limit) => tokio::time::sleep(limit).await,
            None => std::future::pending().await,
        }
    };
    let (why, by_itself) = tokio::select! {
        status = child.wait() => (Why::Exited, Some(status)),
        // Said, or nobody is there any more to say it.
        _ = asked.recv() => (Why::Asked, None),
        () = wall => (Why::TimedOut, None),
    };
    let grace = if by_itself.is_some() { GRACE_AFTER_END } else { limits.grace };
    let hard_at = Instant::now() + grace;
    if by_itself.is_none() || !group.is_empty() {
        group.ask();
    }
    let status = match by_itself {
        Some(status) => status,
        None => match tokio::time::timeout_at(hard_at, child.wait()).await {
            Ok(status) => status,
            Err(_) => {
                group.end();
                child.wait().await
            }
        },
    };
    while !group.is_empty() && Instant::now() < hard_at {
        tokio::time::sleep(LOOK).await;
    }
    group.end();
    let ended = Ended {
        exit: system::exit(status),
        why,
        survivors: Vec::new(),
        survivor_count: 0,
        wall: started.elapsed(),
        cpu: Duration::ZERO,
        peak_memory: 0,
        memory_exceeded: None,
        refused: Vec::new(),
        refused_links: Vec::new(),
        written: Vec::new(),
        appeared: Vec::new(),
    };
    // Nobody need be waiting.
    let _ = report.send(Some(ended));
}

#[cfg(test)]
mod tests;
