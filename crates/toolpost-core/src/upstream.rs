//! Servers whose tools join the registry once they have started. Core knows only that a name may be theirs.

use crate::error::ToolError;
use crate::future::BoxFuture;

/// Where tools come from that are not there yet: servers that are started when somebody needs them.
///
/// Implemented by `toolpost-plugins`; called by the executor for a name that no tool has, and by whoever lists tools.
/// An implementation registers what it finds, and never takes longer than its servers may take to start.
pub trait Upstream: Send + Sync {
    /// Whether a tool of this name may come from here. Does no I/O.
    fn may_have(&self, name: &str) -> bool;

    /// Waits until the server of this name has registered its tools, or says why it cannot.
    fn ready<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<(), ToolError>>;

    /// Waits until every server has registered its tools or failed, side by side; those that failed, by name.
    fn all_ready(&self) -> BoxFuture<'_, Vec<(String, ToolError)>>;
}
