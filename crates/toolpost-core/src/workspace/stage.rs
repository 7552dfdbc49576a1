//! A change of several files in two parts: all new contents made first, then only names change hands.

use super::Written;
use crate::error::ToolError;

/// The new content of one file, whole and safe on disk under a name of its own, not yet to be seen.
///
/// Implemented by workspaces; called by tools that change several files, all or none. What was placed and not kept is
/// taken back when this is dropped; nothing is left behind but by the end of the process, and then under a name that
/// begins with `.toolpost-`.
pub trait Staged: Send {
    /// Takes over the name of the file. The old content, if there was one, waits to be taken back.
    ///
    /// Refused where the file is not what it was when the new content was made.
    fn place(&mut self) -> Result<Written, ToolError>;

    /// Puts back what was there, the very file; one that is new goes.
    fn take_back(&mut self) -> Result<(), ToolError>;

    /// Makes the change of the name durable and lets the old content go.
    fn keep(&mut self) -> Result<(), ToolError>;
}
