//! Tools of servers that have yet to start: waited for before step 1, and found where they are held back from lists.

use super::{Executor, run};
use crate::context::Context;
use crate::error::ToolError;
use crate::registry::{Entry, Snapshot};
use crate::tool::Definition;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// A server that takes longer to start is spoken of.
const QUIET: Duration = Duration::from_millis(500);

impl Executor {
    /// The snapshot of a call: the one given, unless its tool is of a server that has yet to start. Then that is waited
    /// for, and where it fails the reason is the call's.
    pub(super) async fn awaited(
        &self,
        snapshot: Arc<Snapshot>,
        ctx: &Context,
        tool: &str,
    ) -> (Arc<Snapshot>, Option<ToolError>) {
        let Some(upstream) = self.inner.registry.upstream() else { return (snapshot, None) };
        if snapshot.find(tool, ctx.dialect()).is_ok() || !upstream.may_have(tool) {
            return (snapshot, None);
        }
        let mut ready = upstream.ready(tool);
        let mut patience = std::pin::pin!(tokio::time::sleep(QUIET));
        let mut is_told = false;
        let ready = loop {
            tokio::select! {
                biased;
                () = ctx.cancel().cancelled() => break Err(run::cancelled(tool)),
                ready = &mut ready => break ready,
                () = &mut patience, if !is_told => {
                    is_told = true;
                    ctx.progress(format!("waiting for the server of `{tool}` to start"), Value::Null);
                }
            }
        };
        match ready {
            Ok(()) => (self.inner.registry.snapshot(), None),
            Err(why) => (snapshot, Some(why)),
        }
    }

    /// See [`Context::unlisted`].
    pub(crate) async fn unlisted(&self, ctx: &Context) -> (Vec<Definition>, Vec<(String, ToolError)>) {
        let failed = match self.inner.registry.upstream() {
            Some(upstream) => upstream.all_ready().await,
            None => Vec::new(),
        };
        let listing = self.listing(ctx);
        let offer = |entry: &Arc<Entry>| listing.snapshot.offer(entry, ctx.dialect()).ok().flatten();
        (listing.held_back.iter().filter_map(offer).collect(), failed)
    }
}
