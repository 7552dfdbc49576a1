//! How a command ended, and what it left behind.

use std::path::PathBuf;
use std::time::Duration;

/// The end of a command and of everything it started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// How the command itself ended.
    pub exit: Exit,
    /// Why it ended.
    pub why: Why,
    /// What was still running when the command had ended, or had to.
    pub survivors: Vec<Survivor>,
    /// How many there were; `survivors` names the first hundred.
    pub survivor_count: u64,
    /// From its start to its end, by the clock on the wall.
    pub wall: Duration,
    /// Processor time of all its processes that were waited for.
    pub cpu: Duration,
    /// The largest of its processes, in bytes of memory.
    pub peak_memory: u64,
    /// The limit on the memory of all its processes together, in bytes, if one of them was ended for it.
    pub memory_exceeded: Option<u64>,
    /// Names that it tried to create and may not, by absolute path; the first twenty.
    pub refused: Vec<PathBuf>,
    /// Those of `refused` that would have been symbolic links into dependency folders.
    pub refused_links: Vec<PathBuf>,
    /// Files of the workspace that it had created or opened for writing before the first of them, without those in `.git`;
    /// the first twenty that are still there.
    pub written: Vec<PathBuf>,
    /// Names that it may not create and that exist now in folders in which it created something, by absolute path; the
    /// first twenty. Somebody else may have created them meanwhile, so nothing is deleted.
    pub appeared: Vec<PathBuf>,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with a code.
    Code(i32),
    /// By a signal.
    Signal(i32),
}

impl Exit {
    /// The exit code, if it ended by itself.
    pub fn code(self) -> Option<i32> {
        match self {
            Exit::Code(code) => Some(code),
            Exit::Signal(_) => None,
        }
    }

    /// The signal, if one ended it.
    pub fn signal(self) -> Option<i32> {
        match self {
            Exit::Code(_) => None,
            Exit::Signal(signal) => Some(signal),
        }
    }
}

/// Why a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It came to its end.
    Exited,
    /// Its time was up.
    TimedOut,
    /// Its end was asked for, or whoever had started it went away.
    Asked,
}

/// A process that the command had started and that outlived it, or would have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survivor {
    /// Its number, as the command itself saw it.
    pub pid: u32,
    /// The beginning of its command line, or its name.
    pub name: String,
    /// Whether it was still there when everything had been done to end it.
    pub remains: bool,
}
