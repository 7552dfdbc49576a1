//! A server that has been greeted: how it is reached, and in which revision it is spoken to.

use crate::fault::Fault;
use crate::http::Http;
use crate::identity::with_meta;
use crate::pipe::Pipe;
use crate::running::Running;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Notify;
use toolpost_mcp::Revision;

/// The way to a server.
#[derive(Clone)]
pub(crate) enum Link {
    Pipe(Arc<Pipe>),
    Http(Arc<Http>),
}

impl Link {
    pub(crate) async fn request(
        &self,
        method: &str,
        params: Map<String, Value>,
        running: Option<Arc<Running>>,
    ) -> Result<Value, Fault> {
        match self {
            Link::Pipe(pipe) => Box::pin(pipe.request(method, params, running)).await,
            Link::Http(http) => Box::pin(http.request(method, params, running)).await,
        }
    }

    pub(crate) fn notify(&self, method: &str, params: &Value) {
        match self {
            Link::Pipe(pipe) => pipe.notify(method, params),
            Link::Http(http) => http.notify(method, params),
        }
    }

    /// From now on it is spoken to in this revision.
    pub(crate) fn greeted(&self, revision: Revision) {
        match self {
            // On a pipe, every message says all there is to say.
            Link::Pipe(_) => {}
            Link::Http(http) => http.greeted(revision),
        }
    }

    pub(crate) fn why_gone(&self) -> Option<String> {
        match self {
            Link::Pipe(pipe) => pipe.why_gone(),
            Link::Http(http) => http.why_gone(),
        }
    }

    pub(crate) fn close(&self, why: &str) {
        match self {
            Link::Pipe(pipe) => pipe.close(why),
            Link::Http(http) => http.close(why),
        }
    }

    /// A reason, with what the server said that may explain it.
    pub(crate) fn explained(&self, why: &str) -> String {
        match self {
            Link::Pipe(pipe) => pipe.complaint().added_to(why),
            Link::Http(_) => why.to_owned(),
        }
    }
}

/// A server that has been greeted. Dropped, it is left.
pub(crate) struct Connection {
    pub(crate) link: Link,
    pub(crate) revision: Revision,
    /// What it calls its version.
    pub(crate) version: String,
    /// What it wants a model to know of its tools; often nothing.
    pub(crate) instructions: String,
    /// Whether it has resources.
    pub(crate) has_resources: bool,
    /// Whether it tells of changes of its tools.
    pub(crate) tells_changes: bool,
    pub(crate) since: Instant,
    /// Wakes whoever looks after its list.
    pub(crate) changed: Arc<Notify>,
}

impl Connection {
    pub(crate) async fn request(
        &self,
        method: &str,
        params: Map<String, Value>,
        running: Option<Arc<Running>>,
    ) -> Result<Value, Fault> {
        self.link.request(method, with_meta(self.revision, params), running).await
    }

    /// Whether requests repeat some of their arguments as headers.
    pub(crate) fn mirrors_headers(&self) -> bool {
        self.revision.is_modern() && matches!(self.link, Link::Http(_))
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.link.why_gone().is_none()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.link.close("it was not needed any more");
        self.changed.notify_one();
    }
}
