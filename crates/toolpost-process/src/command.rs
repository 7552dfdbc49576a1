//! What is to be run, and within which limits.

use crate::error::Error;
use crate::running::Running;
use crate::sandbox::Sandbox;
use std::ffi::OsString;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A command to start. Its environment is empty until variables are given; nothing is inherited.
#[derive(Debug, Clone)]
pub struct Command {
    pub(crate) program: OsString,
    pub(crate) args: Vec<OsString>,
    pub(crate) folder: PathBuf,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) stdin: Stdin,
    pub(crate) output: Output,
    pub(crate) limits: Limits,
    pub(crate) sandbox: Option<Sandbox>,
    pub(crate) spool: Option<Arc<File>>,
}

/// What the command reads from its standard input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing: the end at once.
    #[default]
    Closed,
    /// These bytes, then the end.
    Bytes(Vec<u8>),
    /// What is written to [`Running::take_stdin`], until that is dropped.
    Open,
}

/// Where the command's two outputs go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Output {
    /// Into one pipe, in the order they were written.
    #[default]
    Together,
    /// Into a pipe each.
    Apart,
}

/// How long and how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// From start to end, by the clock on the wall; none: until it ends or is ended.
    pub wall: Option<Duration>,
    /// Processor time of each of its processes.
    pub cpu: Option<Duration>,
    /// Memory that each of its processes may have at once, in bytes of addresses.
    pub memory: Option<u64>,
    /// Between the polite and the hard end.
    pub grace: Duration,
    /// Processes of the user at once. The kernel does not count those of root.
    pub processes: Option<u64>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { wall: None, cpu: None, memory: None, grace: Duration::from_millis(500), processes: None }
    }
}

impl Command {
    /// A program, looked for along the command's own `PATH` if it has no `/`, started in a folder.
    pub fn new(program: impl Into<OsString>, folder: impl Into<PathBuf>) -> Command {
        Command {
            program: program.into(),
            args: Vec::new(),
            folder: folder.into(),
            environment: Vec::new(),
            stdin: Stdin::default(),
            output: Output::default(),
            limits: Limits::default(),
            sandbox: None,
            spool: None,
        }
    }

    /// With more arguments.
    #[must_use]
    pub fn args<T: Into<OsString>>(mut self, args: impl IntoIterator<Item = T>) -> Command {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// With a variable. Of two with one name the later counts.
    #[must_use]
    pub fn variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Command {
        let (name, value) = (name.into(), value.into());
        self.environment.retain(|(known, _)| *known != name);
        self.environment.push((name, value));
        self
    }

    /// With something to read.
    #[must_use]
    pub fn stdin(mut self, stdin: Stdin) -> Command {
        self.stdin = stdin;
        self
    }

    /// With its outputs together or apart.
    #[must_use]
    pub fn output(mut self, output: Output) -> Command {
        self.output = output;
        self
    }

    /// Within limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Command {
        self.limits = limits;
        self
    }

    /// In a sandbox.
    #[must_use]
    pub fn sandbox(mut self, sandbox: Sandbox) -> Command {
        self.sandbox = Some(sandbox);
        self
    }

    /// With a file into which the guard of its sandbox writes what is about to change; [`crate::kept::read`] reads it when the
    /// command has ended. Without a sandbox, in a dry run, and on systems other than Linux nothing is written.
    ///
    /// No program of the user's should be able to write to the file: its content is what a change is taken back by.
    #[must_use]
    pub fn keep_in(mut self, spool: File) -> Command {
        self.spool = Some(Arc::new(spool));
        self
    }

    /// Starts it. Whether the program could be run is known when it has ended, from [`Running::wait`].
    ///
    /// Must be called inside a tokio runtime with I/O enabled.
    pub fn start(self) -> Result<Running, Error> {
        Running::start(self)
    }
}
