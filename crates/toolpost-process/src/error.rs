//! Why a command could not be started.

use std::fmt;
use std::io;

/// Why a command could not be started or followed.
#[derive(Debug)]
pub enum Error {
    /// The program could not be run: not found, not executable, the folder is gone.
    NotRun {
        /// What was tried.
        what: String,
        /// What the system said.
        source: io::Error,
    },
    /// A layer of the sandbox cannot be had on this machine.
    SandboxUnavailable {
        /// The layer and what it would have done.
        layer: String,
        /// What the system said, and what can be done.
        why: String,
    },
    /// The launcher could not be started or is gone.
    Launcher {
        /// What happened, and what to do about it.
        why: String,
    },
}

impl Error {
    pub(crate) fn launcher(why: impl Into<String>) -> Error {
        Error::Launcher { why: why.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NotRun { what, source } => write!(f, "{what}: {source}"),
            Error::SandboxUnavailable { layer, why } => write!(f, "no sandbox here: {layer}: {why}"),
            Error::Launcher { why } => f.write_str(why),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::NotRun { source, .. } => Some(source),
            Error::SandboxUnavailable { .. } | Error::Launcher { .. } => None,
        }
    }
}
