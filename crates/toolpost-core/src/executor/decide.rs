//! Steps 6 and 7: what the policy says and, where it says *ask*, what the person says.

use super::Executor;
use super::call::Agreed;
use super::preview;
use super::run::cancelled;
use crate::access::{Access, Resource};
use crate::capability::{Capabilities, Capability};
use crate::confirm::{Answer, Question, Remember, Scope};
use crate::context::Context;
use crate::error::{Code, ToolError};
use crate::event::EventKind;
use crate::policy::{Effect, Layer, Policy, Request, Rule};
use crate::registry::Entry;
use crate::workspace::{Kind, WorkspacePath};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// What a call may do, once it is decided.
#[derive(Clone)]
pub(super) struct Consent {
    pub(super) granted: Capabilities,
    /// Each file is judged by it again, when it is opened.
    pub(super) policy: Policy,
    /// What a person has agreed to.
    pub(super) accesses: Vec<Access>,
}

/// Answers given while this executor lives: rules by session, and those that were saved.
#[derive(Default)]
pub(super) struct Remembered(RwLock<Rules>);

#[derive(Default)]
struct Rules {
    saved: Vec<Rule>,
    sessions: HashMap<String, Vec<Rule>>,
}

impl Remembered {
    /// The policy with what was answered; answers are kept by session.
    pub(super) fn add_to(&self, policy: &Policy, session: &str) -> Policy {
        let rules = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut policy = policy.clone();
        if !rules.saved.is_empty() {
            policy = policy.with_rules(Layer::Saved, rules.saved.clone());
        }
        if !rules.sessions.is_empty()
            && let Some(own) = rules.sessions.get(session)
        {
            policy = policy.with_rules(Layer::Session, own.clone());
        }
        policy
    }

    fn keep(&self, session: &str, scope: Scope, rules: &[Rule]) {
        let mut kept = self.0.write().unwrap_or_else(PoisonError::into_inner);
        match scope {
            Scope::Once => {}
            Scope::Session => kept.sessions.entry(session.to_owned()).or_default().extend_from_slice(rules),
            Scope::Project | Scope::User => kept.saved.extend_from_slice(rules),
        }
    }
}

/// What the policy says of a call, before anybody is asked.
pub(super) struct Decided {
    pub(super) effect: Effect,
    pub(super) consent: Consent,
}

/// Step 6: what the policy says of a call. Does no I/O.
pub(super) fn decided(
    ctx: &Context,
    policy: Policy,
    entry: &Entry,
    accesses: &[Access],
) -> Result<Decided, ToolError> {
    let request = Request { tool: entry.name(), accesses };
    let decision = policy.decide(&request);
    let effect = decision.effect();
    ctx.record(|| EventKind::CallDecided { effect: effect.to_string(), reason: decision.sentence() });
    if effect == Effect::Deny {
        return Err(denied(&policy, &request, ""));
    }
    let spec = entry.spec();
    let granted = spec.required.union(spec.optional.intersection(policy.granted()));
    Ok(Decided { effect, consent: Consent { granted, policy, accesses: Vec::new() } })
}

impl Executor {
    /// Step 7: what the call may do, once the person has agreed where asking is the decision.
    pub(super) async fn confirmed(
        &self,
        ctx: &Context,
        entry: &Arc<Entry>,
        accesses: &[Access],
        arguments: &Value,
        decided: Decided,
        agreed: Option<&Agreed>,
    ) -> Result<Consent, ToolError> {
        let Decided { effect, consent } = decided;
        if effect != Effect::Ask {
            return Ok(consent);
        }
        let request = Request { tool: entry.name(), accesses };
        let would = Consent { accesses: asking(&consent.policy, entry.name(), accesses), ..consent };
        let is_agreed = |agreed: &Agreed| {
            agreed.tool == entry.name() && would.accesses.iter().all(|one| agreed.accesses.contains(one))
        };
        if agreed.is_some_and(is_agreed) {
            return Ok(would);
        }
        let (mut question, rules) = self.question(ctx, entry, &request, &would, arguments).await;
        let answer = loop {
            match ctx.ask(&question).await {
                Answer::DryRun => {
                    question.preview = Some(self.on_demand(ctx, entry, &would, arguments).await);
                    question.has_dry_run = false;
                }
                answer => break answer,
            }
        };
        if ctx.is_cancelled() {
            return Err(cancelled(ctx.known_as(entry.name())));
        }
        match answer {
            Answer::Yes(scope) => self.remember(ctx, scope, &rules)?,
            Answer::No(why) => return Err(declined(ctx.known_as(entry.name()), &why)),
            Answer::Nobody | Answer::DryRun => {
                let refusal = denied(&would.policy, &request, ", and no person can be asked");
                let inside = protected_inside(ctx, entry.name(), &would).await;
                return Err(match inside.as_slice() {
                    [] => refusal,
                    inside => refusal.with_advice(&format!("protected in it: {}", inside.join(", "))),
                });
            }
        }
        Ok(would)
    }

    async fn question(
        &self,
        ctx: &Context,
        entry: &Arc<Entry>,
        request: &Request<'_>,
        would: &Consent,
        arguments: &Value,
    ) -> (Question, Vec<Rule>) {
        let Consent { policy, accesses: asking, .. } = would;
        let decision = policy.decide(request);
        let rules = preview::lasting(entry, policy, asking);
        let place = |scope| self.inner.answers.as_ref().and_then(|answers| answers.place(scope));
        let question = Question {
            tool: request.tool.to_owned(),
            text: decision.sentence(),
            call: fingerprint(arguments),
            accesses: asking.to_vec(),
            facts: preview::facts(ctx, entry, would, arguments),
            preview: self.preview(ctx, entry, would, arguments).await,
            has_dry_run: preview::has_dry_run(ctx, entry),
            protected: asking.iter().any(|access| {
                policy.decide(&Request { accesses: std::slice::from_ref(access), ..*request }).is_protected()
            }),
            remember: (!rules.is_empty()).then(|| Remember {
                rules: rules.iter().map(ToString::to_string).collect(),
                session_file: place(Scope::Session),
                project_file: place(Scope::Project),
                user_file: place(Scope::User),
            }),
        };
        (question, rules)
    }

    /// Keeps an answer for as long as it was given. One that cannot be kept is an error: the user was shown where.
    fn remember(&self, ctx: &Context, scope: Scope, rules: &[Rule]) -> Result<(), ToolError> {
        match (scope, &self.inner.answers) {
            (Scope::Once, _) | (Scope::Session, None) => {}
            (_, Some(answers)) => answers.save(scope, rules)?,
            (_, None) => {
                return Err(ToolError::new(
                    Code::WriteError,
                    "this answer cannot be kept; answer for this call only",
                ));
            }
        }
        self.inner.remembered.keep(ctx.session(), scope, rules);
        Ok(())
    }
}

/// What tells the arguments of one call from those of another, and nothing of what they are.
fn fingerprint(arguments: &Value) -> String {
    toolpost_text::hex(&Sha256::digest(arguments.to_string())[..16])
}

/// The accesses that a person must agree to.
pub(super) fn asking(policy: &Policy, tool: &str, accesses: &[Access]) -> Vec<Access> {
    let asks = |access: &&Access| {
        policy.decide(&Request { tool, accesses: std::slice::from_ref(*access) }).effect() == Effect::Ask
    };
    let asking: Vec<Access> = accesses.iter().filter(asks).cloned().collect();
    match asking.is_empty() {
        // A rule on the tool itself asks about a call that touches nothing.
        true => vec![Access::any(crate::Capability::Trace)],
        false => asking,
    }
}

/// Maximum number of entries that are looked at for protected ones.
const MOST_LOOKED_AT: usize = 20_000;
/// Maximum number of protected names that are shown.
const MOST_SHOWN: usize = 8;

/// The protected files in the folders that a call would change with all that is in them: a rule for the folder opens them
/// too, so that whoever writes one must know of them.
async fn protected_inside(ctx: &Context, tool: &str, would: &Consent) -> Vec<String> {
    let wanted = |access: &&Access| access.needs_consent() && access.action == Capability::Write;
    let folders = would.accesses.iter().filter(wanted).filter_map(|access| match &access.resource {
        Resource::Path(path) => Some(path.clone()),
        _ => None,
    });
    let mut open: Vec<String> = folders.collect();
    if open.is_empty() {
        return Vec::new();
    }
    let (policy, tool) = (would.policy.clone(), tool.to_owned());
    let found = ctx.blocking(move |ctx| {
        let (mut found, mut looked_at) = (Vec::new(), 0);
        while let Some(folder) = open.pop() {
            let Ok(entries) = ctx.host_workspace().entries(&WorkspacePath::new(folder.as_str())) else {
                continue;
            };
            for entry in entries.filter_map(Result::ok) {
                looked_at += 1;
                if looked_at > MOST_LOOKED_AT {
                    found.push("and perhaps more".to_owned());
                    return Ok(found);
                }
                let name = format!("{folder}/{}", entry.name);
                let access = [Access::path(Capability::Write, name.as_str())];
                let is_protected = policy.decide(&Request { tool: &tool, accesses: &access }).is_protected();
                match is_protected {
                    true if found.len() == MOST_SHOWN => {
                        found.push("and more".to_owned());
                        return Ok(found);
                    }
                    // What is inside of it is meant with it.
                    true => found.push(format!("`{name}`")),
                    false if entry.kind == Kind::Folder => open.push(name),
                    false => {}
                }
            }
        }
        found.sort();
        Ok(found)
    });
    found.await.unwrap_or_default()
}

/// A denial that says why, by which rule, and what would allow the call.
pub(super) fn denied(policy: &Policy, request: &Request<'_>, circumstance: &str) -> ToolError {
    let decision = policy.decide(request);
    let code = if decision.is_protected() { Code::ProtectedFile } else { Code::PermissionDenied };
    let remedy = decision.remedy().map_or_else(String::new, |remedy| {
        // Where no person can be asked, nobody can consent.
        let asked = remedy.strip_prefix("consent, or ").filter(|_| !circumstance.is_empty());
        format!("; {}", asked.unwrap_or(&remedy))
    });
    let error = ToolError::new(code, format!("{}{circumstance}{remedy}", decision.sentence()));
    let explanation = serde_json::to_value(policy.explain(request)).unwrap_or_default();
    let error = match decision.rule() {
        Some(rule) => error.with("rule", serde_json::to_value(rule).unwrap_or_default()),
        None => error,
    };
    error.with("explanation", explanation)
}

fn declined(tool: &str, why: &str) -> ToolError {
    let why = if why.is_empty() { String::new() } else { format!(": {why}") };
    ToolError::new(Code::PermissionDenied, format!("the user said no to `{tool}`{why}"))
}
