//! Outputs too long for a model, kept whole under a handle that `read` opens.

use crate::error::ToolError;
use crate::workspace::File;
use std::io::{self, Write};
use toolpost_text::Redactor;

/// How handles begin.
pub const HANDLE_PREFIX: &str = "spill:";

/// Where outputs are kept: implemented in `toolpost-disk` by a folder, called by the executor and, through the
/// [`Context`](crate::Context), by tools whose output comes piece by piece.
///
/// What a session keeps is opened in that session only. All methods block.
pub trait Spill: Send + Sync {
    /// Keeps a text, without secrets. Returns its handle and how many bytes were kept.
    fn keep(&self, session: &str, call: &str, text: &str, redactor: &Redactor) -> io::Result<(String, u64)>;

    /// A writer for an output that comes piece by piece, with its secrets already taken out. Nothing is kept of an output
    /// of at most `threshold` bytes.
    fn file(&self, session: &str, call: &str, threshold: usize) -> io::Result<Box<dyn SpillFile>>;

    /// Opens a handle of this session.
    fn open(&self, session: &str, handle: &str) -> Result<File, ToolError>;
}

/// An output on its way to where it is kept. Dropped without [`SpillFile::keep`], it leaves nothing behind.
pub trait SpillFile: Write + Send {
    /// Keeps what was written. Returns its handle and how many bytes are under it; none if it stayed below the threshold.
    fn keep(self: Box<Self>) -> io::Result<Option<(String, u64)>>;
}
