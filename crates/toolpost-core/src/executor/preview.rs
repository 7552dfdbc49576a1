//! What is shown with a question: facts of the call, what it would change, and the rules that would be kept.

use super::Executor;
use super::decide::Consent;
use super::run::{Frame, attempt_once, laid_over, overlay, running};
use crate::access::Access;
use crate::capability::Capability;
use crate::context::Context;
use crate::policy::{Effect, Layer, Origin, Policy, Request, Rule};
use crate::registry::Entry;
use crate::workspace::Overlay;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

impl Executor {
    /// What a call would change, for the question before it; only where computing it executes nothing.
    pub(super) async fn preview(
        &self,
        ctx: &Context,
        entry: &Arc<Entry>,
        consent: &Consent,
        arguments: &Value,
    ) -> Option<String> {
        let all = entry.capabilities();
        if !ctx.wants_preview() || !all.has(Capability::Write) || executes(entry) {
            return None;
        }
        // What a call reads must not be read for the question whether it may be. A question is for a person, but it goes
        // through hosts, logs and results that a model may see.
        let mut consent = Consent { granted: entry.spec().required, ..consent.clone() };
        consent.accesses.retain(|access| access.action != Capability::Read);
        self.try_out(ctx, entry, &consent, arguments, Duration::from_secs(5)).await.ok()
    }

    /// What a call would do, by running it where nothing lasts: for a person who asks for it.
    pub(super) async fn on_demand(
        &self,
        ctx: &Context,
        entry: &Arc<Entry>,
        consent: &Consent,
        arguments: &Value,
    ) -> String {
        let limit = entry.spec().timeout;
        let done = self.try_out(ctx, entry, consent, arguments, limit).await;
        done.unwrap_or_else(|error| format!("the dry run did not work: {error}"))
    }

    async fn try_out(
        &self,
        ctx: &Context,
        entry: &Arc<Entry>,
        consent: &Consent,
        arguments: &Value,
        limit: Duration,
    ) -> Result<String, String> {
        let ctx = ctx.silenced();
        let overlay = ctx.running().overlay.clone().map_or_else(|| overlay(&ctx), |above| laid_over(above));
        let mut running = inside(&ctx, entry, consent, limit, Some(overlay)).running().clone();
        running.is_dry_run = true;
        let arguments = Arc::new(arguments.clone());
        // Where a person waits, a task of its own costs nothing that anybody would notice.
        let done = attempt_once(ctx.derive(running), entry.clone(), arguments, limit).await;
        let shortened = |text: String| super::budget::shortened(&ctx, entry.spec().budget, text);
        match done {
            Ok(output) => Ok(shortened(output.text)),
            Err(error) => Err(shortened(error.message().to_owned())),
        }
    }
}

/// Whether a dry run of the tool would run or reach something.
fn executes(entry: &Entry) -> bool {
    let all = entry.capabilities();
    all.has(Capability::Exec) || all.has(Capability::Network)
}

/// Whether a person may have a dry run that executes.
pub(super) fn has_dry_run(ctx: &Context, entry: &Entry) -> bool {
    entry.spec().has_own_dry_run && executes(entry) && !ctx.is_dry_run()
}

/// What the tool says of the call, knowing what it would be granted.
pub(super) fn facts(ctx: &Context, entry: &Entry, consent: &Consent, arguments: &Value) -> Vec<String> {
    entry.tool().facts(&inside(ctx, entry, consent, Duration::ZERO, None), arguments)
}

/// The context that the tool would get.
fn inside(
    ctx: &Context,
    entry: &Entry,
    consent: &Consent,
    limit: Duration,
    overlay: Option<Arc<Overlay>>,
) -> Context {
    let held = ctx.running().held.clone();
    running(ctx, entry, Frame { consent, limit, overlay, usage: Arc::default(), held, journal: None })
}

/// The rules that would allow exactly these accesses, or as the tool knows better; none where no rule should.
pub(super) fn lasting(entry: &Entry, policy: &Policy, accesses: &[Access]) -> Vec<Rule> {
    let rules: Option<Vec<Vec<Rule>>> =
        accesses.iter().map(|access| lasting_for(entry, policy, access)).collect();
    let mut kept: Vec<Rule> = Vec::new();
    for rule in rules.into_iter().flatten().flatten() {
        if !kept.contains(&rule) {
            kept.push(rule);
        }
    }
    kept
}

fn lasting_for(entry: &Entry, policy: &Policy, access: &Access) -> Option<Vec<Rule>> {
    let tool = entry.name();
    let origin = Origin::new(Layer::Session, "an answer", 0);
    let exact = Rule::exact(Effect::Allow, tool, entry.spec().about, access, origin.clone())?;
    let usual = vec![exact.to_string()];
    let texts = entry.tool().rules(access, usual.clone());
    if texts == usual {
        return Some(vec![exact]);
    }
    let parsed: Result<Vec<Rule>, String> =
        texts.iter().map(|text| Rule::parse_short(Effect::Allow, text, origin.clone())).collect();
    let rules = parsed.ok().filter(|rules| !rules.is_empty())?;
    // Whoever says "always" must not be asked the same again.
    let request = Request { tool, accesses: std::slice::from_ref(access) };
    let allows = policy.with_rules(Layer::Session, rules.clone()).decide(&request).effect() == Effect::Allow;
    Some(if allows { rules } else { vec![exact] })
}
