//! What is known of a call before it runs, beside the decision: for checks and explanations. Looks at files, and changes
//! nothing.

use super::decide::{Consent, asking};
use super::guard::CallGuard;
use super::run::{Frame, overlay, running};
use super::steps;
use super::{Call, Executor};
use crate::access::{Access, Resource, ResourceKind};
use crate::capability::{Capabilities, Capability};
use crate::context::Context;
use crate::error::{Code, ToolError};
use crate::policy::{Effect, Explanation, Foreseen, Policy, Request};
use crate::registry::Entry;
use crate::spill::HANDLE_PREFIX;
use crate::workspace::{Bound, Kind, Workspace, WorkspacePath};
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

impl Executor {
    /// How one access of a tool would be decided, rule by rule, where no whole call is known. Files are judged by where their
    /// names lead, too.
    pub fn explain_access(&self, ctx: &Context, tool: &str, access: Access) -> Explanation {
        let mut access = access;
        if let Resource::Path(path) = &mut access.resource
            && let Ok(name) = ctx.host_workspace().name(&WorkspacePath::new(path.as_str()))
        {
            *path = name;
        }
        let accesses = [access];
        let sources = ctx.tools().sources_of(tool);
        let expected = sources.iter().flat_map(|source| source.expected(tool)).next();
        let snapshot = ctx.tools().snapshot();
        let policy = self.policy_for(ctx);
        let policy = match expected.filter(|_| snapshot.get(tool).is_none()) {
            Some(expected) => policy.with_names(&snapshot.names().with(&expected.spec)),
            None => policy,
        };
        let policy = steps::knowing_git_now(ctx, &policy, &accesses);
        let explanation = policy.explain(&Request { tool, accesses: &accesses });
        let granted = [accesses[0].action].into_iter().collect();
        let judged = judged_files(ctx, tool, granted, &policy, Vec::new(), &accesses);
        match (explanation.is_allowed(), judged) {
            (true, Err(refusal)) => explanation.refused(refusal.message()),
            _ => explanation,
        }
    }
}

/// What is foreseen of a call. An error where it will be refused although the policy allows it; one that is denied, or that a
/// person is asked about first, does not get so far.
pub(super) fn foreseen(
    executor: &Executor,
    ctx: &Context,
    entry: &Arc<Entry>,
    policy: &Policy,
    arguments: &Value,
    accesses: &[Access],
    effect: Effect,
) -> Result<Foreseen, ToolError> {
    let spec = entry.spec();
    let consented = match effect {
        Effect::Ask => asking(policy, entry.name(), accesses),
        Effect::Allow | Effect::Deny => Vec::new(),
    };
    let granted = spec.required.union(spec.optional.intersection(policy.granted()));
    let judged = match spec.about {
        // The sandbox judges the files of commands.
        Some(ResourceKind::Command) => Ok(()),
        _ => judged_files(ctx, entry.name(), granted, policy, consented.clone(), accesses),
    };
    let consent = Consent { granted, policy: policy.clone(), accesses: consented };
    let held = ctx.running().held.clone();
    let frame = Frame {
        consent: &consent,
        limit: Duration::ZERO,
        overlay: None,
        usage: Arc::default(),
        held,
        journal: None,
    };
    // What a tool calls is explained by the same executor.
    let call = Call::new(entry.name(), Value::Null);
    let id = toolpost_text::id::new_shared_id(ctx.clock().now_ms());
    let ctx = &executor.derive(ctx, &ctx.tools().snapshot(), &call, None, id);
    let inside = running(ctx, entry, frame);
    let foreseen = || catch_unwind(AssertUnwindSafe(|| entry.tool().foreseen(&inside, policy, arguments)));
    let foreseen = judged.and_then(|()| {
        foreseen().unwrap_or_else(|payload| {
            Err(super::run::crashed(ctx.known_as(entry.name()), &super::payload_message(&*payload)))
        })
    });
    match effect {
        Effect::Ask | Effect::Deny => Ok(foreseen.unwrap_or_default()),
        Effect::Allow => foreseen,
    }
}

/// Judges the files of accesses by where their names lead, as a running call would be judged.
fn judged_files(
    ctx: &Context,
    tool: &str,
    granted: Capabilities,
    policy: &Policy,
    consented: Vec<Access>,
    accesses: &[Access],
) -> Result<(), ToolError> {
    let guard = CallGuard {
        tool: tool.into(),
        granted,
        policy: policy.clone(),
        consented,
        ended: Arc::new(AtomicBool::new(false)),
    };
    // What is written is thrown away.
    let workspace = Bound::new(overlay(ctx), Arc::new(guard), Arc::default(), None);
    for access in accesses {
        let Resource::Path(path) = &access.resource else { continue };
        if path.starts_with(HANDLE_PREFIX) {
            continue;
        }
        let path = WorkspacePath::new(path.as_str());
        let judged = match access.action {
            Capability::Read => read(&workspace, &path),
            Capability::Write => written(&workspace, &path),
            _ => Ok(()),
        };
        // A file that is missing, or is a folder, is no matter of the policy.
        judged.or_else(|why| if is_by_policy(why.code()) { Err(why) } else { Ok(()) })?;
    }
    Ok(())
}

fn read(workspace: &dyn Workspace, path: &WorkspacePath) -> Result<(), ToolError> {
    match workspace.stat(path)?.kind {
        Kind::Folder => workspace.entries(path).map(drop),
        _ => workspace.open(path).map(drop),
    }
}

fn written(workspace: &dyn Workspace, path: &WorkspacePath) -> Result<(), ToolError> {
    match workspace.stat(path) {
        Ok(stat) if stat.kind == Kind::Folder => Ok(()),
        Ok(_) => workspace.write(path, b"").map(drop),
        Err(why) if is_by_policy(why.code()) => Err(why),
        Err(_) => workspace.write(path, b"").map(drop),
    }
}

fn is_by_policy(code: Code) -> bool {
    matches!(code, Code::PermissionDenied | Code::ProtectedFile | Code::PathEscape | Code::Untrusted)
}
