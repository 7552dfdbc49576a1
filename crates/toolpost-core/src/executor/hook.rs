//! In-process hooks: before a call they may stop it or change its arguments, after it they look on.

use super::Executor;
use crate::context::Context;
use crate::error::{Code, ToolError};
use crate::event::EventKind;
use crate::future::BoxFuture;
use crate::outcome::Outcome;
use crate::registry::Entry;
use futures_util::FutureExt;
use serde_json::Value;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// Looks at every call. Implemented by hosts; called by the executor, before the policy decides and after the end.
///
/// A hook that panics before a call stops it: a guard that has crashed must not let calls through.
pub trait Hook: Send + Sync {
    /// Its name, for messages.
    fn name(&self) -> &str;

    /// Before the policy decides. Hooks are not run again on arguments that a hook changed.
    fn before<'a>(&'a self, ctx: &'a Context, tool: &'a str, arguments: &'a Value) -> BoxFuture<'a, Verdict> {
        let _ = (ctx, tool, arguments);
        Box::pin(std::future::ready(Verdict::Continue))
    }

    /// After everything; the outcome cannot be changed any more.
    fn after<'a>(&'a self, ctx: &'a Context, outcome: &'a Outcome) -> BoxFuture<'a, ()> {
        let _ = (ctx, outcome);
        Box::pin(std::future::ready(()))
    }
}

/// What a hook wants.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Nothing.
    Continue,
    /// The call must not run, for this reason.
    Block(String),
    /// The call runs with these arguments, after they are checked again.
    Replace(Value),
}

/// A hook that is a closure; see [`ExecutorBuilder::before`](super::ExecutorBuilder::before).
pub(super) struct Before<F> {
    pub(super) name: String,
    pub(super) look: F,
}

impl<F: Fn(&Context, &str, &Value) -> Verdict + Send + Sync> Hook for Before<F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn before<'a>(&'a self, ctx: &'a Context, tool: &'a str, arguments: &'a Value) -> BoxFuture<'a, Verdict> {
        Box::pin(std::future::ready((self.look)(ctx, tool, arguments)))
    }
}

/// The hooks of one moment; a call keeps those it began with.
pub(super) type Hooks = Vec<Arc<dyn Hook>>;

/// Arguments in the place of the caller's.
pub(super) struct Changed<'h> {
    pub(super) arguments: Value,
    /// The last hook that changed them.
    pub(super) by: &'h str,
}

impl Executor {
    /// Puts other hooks in the place of those there are. Calls in flight keep theirs.
    pub fn set_hooks(&self, hooks: Vec<Arc<dyn Hook>>) {
        self.inner.hooks.store(Arc::new(hooks));
    }

    /// Step 5. Returns changed arguments, if a hook changed them.
    pub(super) async fn before<'h>(
        &self,
        hooks: &'h Hooks,
        ctx: &Context,
        entry: &Entry,
        arguments: &Value,
    ) -> Result<Option<Changed<'h>>, ToolError> {
        let mut changed: Option<Changed<'h>> = None;
        for hook in hooks.iter() {
            let current = changed.as_ref().map_or(arguments, |changed| &changed.arguments);
            // Called inside the future, so that a crash before the first wait is caught too.
            let asked =
                AssertUnwindSafe(async { hook.before(ctx, entry.name(), current).await }).catch_unwind();
            let verdict = tokio::select! {
                biased;
                () = ctx.cancel().cancelled() => return Err(super::run::cancelled(ctx.known_as(entry.name()))),
                verdict = asked => verdict.unwrap_or_else(|_| Verdict::Block("the hook crashed".to_owned())),
            };
            match verdict {
                Verdict::Continue => {}
                Verdict::Replace(arguments) => {
                    note(ctx, hook.name(), "changed the arguments");
                    changed = Some(Changed { arguments, by: hook.name() });
                }
                Verdict::Block(why) => {
                    note(ctx, hook.name(), &format!("blocked the call: {why}"));
                    return Err(ToolError::new(
                        Code::PermissionDenied,
                        format!("hook `{}` blocked `{}`: {why}", hook.name(), ctx.known_as(entry.name())),
                    )
                    .with("hook", hook.name()));
                }
            }
        }
        Ok(changed)
    }

    /// The looking on of step 11.
    pub(super) async fn after(&self, hooks: &Hooks, ctx: &Context, outcome: &Outcome) {
        for hook in hooks.iter() {
            if AssertUnwindSafe(async { hook.after(ctx, outcome).await }).catch_unwind().await.is_err() {
                ctx.record(|| EventKind::Warning {
                    message: format!("hook `{}` crashed after `{}`", hook.name(), outcome.tool),
                });
            }
        }
    }
}

fn note(ctx: &Context, hook: &str, what: &str) {
    ctx.record(|| EventKind::HookIntervened { hook: hook.to_owned(), what: what.to_owned() });
}
