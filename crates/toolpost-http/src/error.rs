//! The error of this crate.

use std::fmt;

/// Why a request or a body could not be sent or read.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

/// What a caller can act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The URL or a header is invalid: the request was never sent.
    Invalid,
    /// There is no connection: the request was never sent.
    Unreachable,
    /// The connection was lost. The other side may have received the request.
    Interrupted,
    /// A time-out of the request has passed.
    TimedOut,
    /// More was sent than the caller accepts.
    TooLarge,
    /// The caller has cancelled the request.
    Cancelled,
}

impl Error {
    /// An error with a message for people: what happened, with which value, and what to do next.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error { kind, message: message.into() }
    }

    /// What a caller can act on.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
