//! How tools reach the store: its methods block, so they run where blocking is allowed.

use std::sync::Arc;
use toolpost_core::host::in_pool;
use toolpost_core::store::Store;
use toolpost_core::tool::Annotations;
use toolpost_core::{Context, Spec, ToolError};

/// Does something with the store of the session.
pub(crate) async fn with_store<T: Send + 'static>(
    ctx: &Context,
    work: impl FnOnce(&dyn Store) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let store = Arc::clone(ctx.store()?);
    in_pool(move || work(&*store))
        .await
        .map_err(|error| ToolError::execution(format!("the store could not be asked: {error}")))?
}

/// Says of a tool that needs only `read` that it changes what the store keeps. Files stay as they are.
pub(crate) fn changes_store(mut spec: Spec) -> Spec {
    let idempotent = spec.facts.idempotent;
    spec.annotations =
        Some(Annotations { read_only: false, destructive: false, idempotent, open_world: false });
    spec.own_dry_run()
}
