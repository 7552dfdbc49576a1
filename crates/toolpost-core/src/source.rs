//! Where tools come from that are not built in: servers that are started when somebody needs them, folders of plugins.
//! Core knows only that a name may be theirs.

use crate::access::Access;
use crate::error::ToolError;
use crate::future::BoxFuture;
use crate::tool::Spec;
use serde_json::Value;

/// What a tool could turn out to be, as far as that is known before its server has started.
#[derive(Debug, Clone)]
pub struct Expected {
    /// Its canonical name and what it requires. Where any tool of a server is meant, the name ends in `*`.
    pub spec: Spec,
    /// What every call of it touches.
    pub accesses: Vec<Access>,
    /// What a person should know who is asked about a call.
    pub facts: Vec<String>,
}

/// The call that reads a resource of another server.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceCall {
    /// The tool that reads it.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
}

/// A resource of another server, as a list shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedResource {
    /// The tool that reads it: who may not call it is not shown the resource.
    pub tool: String,
    /// What its server says of it, under the address by which it can be read here.
    pub about: Value,
}

/// Says of a tool that could come whether its server is worth starting.
pub type IsWanted<'a> = dyn Fn(&Expected) -> bool + Send + Sync + 'a;

/// Where tools come from that may not be there yet. A registry has any number of sources; each has its own place in the
/// list of tools and its own limit on what is listed, see [`Draft::arrange`](crate::registry::Draft::arrange).
///
/// Implemented for the servers of other programs, among others; called by the executor for a name that no tool has, and by whoever lists tools.
/// An implementation registers what it finds, and never takes longer than its servers may take to start.
///
/// ```
/// use serde_json::json;
/// use std::sync::{Arc, Weak};
/// use toolpost_core::{Context, Executor, Output, Registry, Spec, ToolError, dynamic};
/// use toolpost_core::host::BoxFuture;
/// use toolpost_core::registry::ToolSource;
///
/// /// One tool that is made when somebody calls it.
/// struct Late(Weak<Registry>);
///
/// impl ToolSource for Late {
///     fn name(&self) -> &str {
///         "late tools"
///     }
///
///     fn may_have(&self, name: &str) -> bool {
///         name == "late"
///     }
///
///     fn ready<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<(), ToolError>> {
///         Box::pin(async move {
///             let Some(registry) = self.0.upgrade() else { return Ok(()) };
///             registry.register(dynamic(Spec::new("late", "1.0.0", "Comes late."), json!({"type": "object"}), |_, _| async {
///                 Ok(Output::new("late", "here I am", json!(null)))
///             }))
///         })
///     }
///
///     fn all_ready(&self) -> BoxFuture<'_, Vec<(String, ToolError)>> {
///         Box::pin(async move { self.ready("late").await.err().map(|why| ("late".to_owned(), why)).into_iter().collect() })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let registry = Arc::new(Registry::new());
/// registry.add_source(Arc::new(Late(Arc::downgrade(&registry)))).unwrap();
/// let session = Context::in_memory().with_tools(registry);
/// assert_eq!(Executor::new().call(&session, "late", json!({})).await.to_text(), "here I am");
/// # }
/// ```
pub trait ToolSource: Send + Sync {
    /// Its name, for messages; a registry has one source of a name.
    fn name(&self) -> &str;

    /// Whether a tool of this name may come from here. Does no I/O.
    fn may_have(&self, name: &str) -> bool;

    /// Everything that a tool of this name could turn out to be, the most powerful first; nothing where that is not
    /// known. Does no I/O. A call that would be denied whatever its tool is denied before a server is started.
    fn expected(&self, _name: &str) -> Vec<Expected> {
        Vec::new()
    }

    /// Waits until the server of this name has registered its tools, or says why it cannot.
    fn ready<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<(), ToolError>>;

    /// Waits until every server has registered its tools or failed, side by side; those that failed, by name.
    fn all_ready(&self) -> BoxFuture<'_, Vec<(String, ToolError)>>;

    /// The same for the servers of which some tool could be wanted. The others are not started; each is named, with that reason.
    fn wanted_ready<'a>(&'a self, _is_wanted: &'a IsWanted<'a>) -> BoxFuture<'a, Vec<(String, ToolError)>> {
        self.all_ready()
    }

    /// Whether the tools of every server are registered, be it as they were in an earlier run: then nobody need wait to
    /// list them. Does no I/O.
    fn has_lists(&self) -> bool {
        false
    }

    /// The call that reads the resource of this address, if a server here has it; an error where several have. No server
    /// is started.
    fn resource<'a>(&'a self, _address: &'a str) -> BoxFuture<'a, Result<Option<ResourceCall>, ToolError>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// The resources of the servers that have started. A server that does not answer soon has none.
    fn resources(&self) -> BoxFuture<'_, Vec<ListedResource>> {
        Box::pin(std::future::ready(Vec::new()))
    }

    /// Looks again for what it offers, and registers the difference.
    fn reload(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        Box::pin(std::future::ready(Ok(())))
    }
}
