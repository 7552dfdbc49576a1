//! A program that is given bytes and gives back others, confined: it changes no file and reaches no network.
//!
//! What it says is taken only if it ends well, in time and within bounds. Why not is told; nothing else fails for it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use toolpost_core::host::blocking;
use toolpost_process::StartCheck;
use toolpost_process::{Capture, Command, Ended, Exit, Limits, Output, PipeReceiver, Sandbox, Stdin, Why};

/// A program and how it is started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Helper {
    /// The program: a path, or a name that is looked for along the `PATH` of its environment.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its environment.
    pub environment: Vec<(String, String)>,
    /// Files and folders that it may read beside the system's own.
    pub readable: Vec<PathBuf>,
    /// Folders of programs that it may read too. As root it reads there what everybody may.
    pub programs: Vec<PathBuf>,
    /// What of these it may not see.
    pub hidden: Vec<PathBuf>,
    /// Runs before every start.
    pub check: StartCheck,
}

/// How much it may take and give.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) time: Duration,
    /// Bytes of memory.
    pub(super) memory: u64,
    /// Bytes of output; more is left out.
    pub(super) output: usize,
}

/// What it said.
pub(super) struct Said {
    pub(super) bytes: Vec<u8>,
    /// Whether there was more than the bounds allow.
    pub(super) is_cut: bool,
}

impl Helper {
    /// Hands the bytes over and takes what comes back; or why nothing did.
    pub(super) async fn run(
        &self,
        folder: &Path,
        sandbox: Sandbox,
        bytes: Vec<u8>,
        bounds: Bounds,
    ) -> Result<Said, String> {
        if !self.check.is_empty() {
            let check = self.check.clone();
            blocking(move || check.run())
                .await
                .unwrap_or_else(|_| Err("its files could not be checked".into()))?;
        }
        let limits = Limits {
            wall: Some(bounds.time),
            cpu: Some(bounds.time),
            memory: Some(bounds.memory),
            grace: Duration::from_millis(100),
            ..Limits::default()
        };
        let mut sandbox = sandbox;
        sandbox.readable.extend(self.readable.iter().cloned());
        sandbox.programs.extend(self.programs.iter().cloned());
        sandbox.hidden.extend(self.hidden.iter().cloned());
        let command = self
            .environment
            .iter()
            .fold(Command::new(&self.program, folder).args(&self.args), |command, (name, value)| {
                command.variable(name, value)
            });
        let command =
            command.stdin(Stdin::Bytes(bytes)).output(Output::Apart).limits(limits).sandbox(sandbox);
        let mut running = command.start().map_err(|error| error.to_string())?;
        let stdout = running.take_stdout();
        let mut errors = Capture::new(4096, 0);
        let (said, ended) = tokio::join!(take(stdout, bounds.output), running.collect(&mut errors, |_| ()));
        let (errors, _, _) = errors.finish();
        let ended = ended.map_err(|error| error.to_string())?;
        // One that is cut ends by the closed pipe, in whatever way it takes that.
        if !said.is_cut {
            judge(&ended, &errors.head, bounds.time)?;
        }
        Ok(said)
    }
}

/// Reads as much as is allowed. What is not read is not waited for: its writer is ended by the closed pipe.
async fn take(stdout: Option<PipeReceiver>, most: usize) -> Said {
    let mut bytes = Vec::new();
    if let Some(stdout) = stdout {
        // What cannot be read has ended.
        let _ = stdout.take(most as u64 + 1).read_to_end(&mut bytes).await;
    }
    let is_cut = bytes.len() > most;
    bytes.truncate(most);
    Said { bytes, is_cut }
}

fn judge(ended: &Ended, errors: &[u8], time: Duration) -> Result<(), String> {
    let first = String::from_utf8_lossy(errors);
    let first = first.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    let first: String = first.chars().filter(|letter| !letter.is_control()).take(300).collect();
    let said = if first.is_empty() { String::new() } else { format!(": {first}") };
    match (ended.why, ended.exit) {
        (Why::TimedOut, _) => Err(format!("it took longer than {} s", time.as_secs())),
        (Why::Asked, _) => Err("it was ended".to_owned()),
        (Why::Exited, Exit::Code(0)) => Ok(()),
        (Why::Exited, Exit::Code(code)) => Err(format!("it ended with code {code}{said}")),
        (Why::Exited, Exit::Signal(signal)) => Err(format!("it was ended by signal {signal}{said}")),
    }
}
