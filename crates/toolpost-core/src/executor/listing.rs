//! Which tools a session is told of: those that the policy offers, less those that are held back to save tokens.

use super::Executor;
use crate::context::Context;
use crate::error::ToolError;
use crate::registry::{Entry, Snapshot};
use std::sync::Arc;
use toolpost_policy::Policy;

/// The tools of a session, sorted by what it is told of them; each list in the order of registration.
pub struct Listing {
    /// All tools, at the moment of the listing.
    pub snapshot: Arc<Snapshot>,
    /// Those that belong into lists.
    pub listed: Vec<Arc<Entry>>,
    /// Those that are offered and held back from lists; a tool that finds unlisted ones finds them.
    pub held_back: Vec<Arc<Entry>>,
    /// Those that are not offered: by the policy, because another role has them, or because a service is missing.
    pub refused: Vec<Arc<Entry>>,
}

impl Executor {
    /// What a session is told of the tools there are. Whatever is listed or held back can be called.
    pub fn listing(&self, ctx: &Context) -> Listing {
        self.listing_after(ctx, &|_| false)
    }

    /// The same for a session that was told of some tools before: none of these is held back because others have come.
    pub fn listing_after(&self, ctx: &Context, was_listed: &dyn Fn(&str) -> bool) -> Listing {
        let snapshot = ctx.tools().snapshot();
        let policy = self.policy_for(ctx);
        let is_offered = |entry: &Entry| is_possible(ctx, entry) && policy_offers(&policy, entry);
        let (offered, refused): (Vec<Arc<Entry>>, Vec<Arc<Entry>>) =
            snapshot.all().cloned().partition(|entry| is_offered(entry));
        let is_offered = |name: &str| snapshot.get(name).is_some_and(|entry| is_offered(entry));
        let unlisted = snapshot.held_back(is_offered, was_listed);
        let (held_back, mut listed): (Vec<Arc<Entry>>, Vec<Arc<Entry>>) =
            offered.into_iter().partition(|entry| unlisted.contains(entry.name()));
        // What finds tools is of use only where there are some to be found.
        listed.retain(|entry| {
            !(entry.spec().finds_unlisted && held_back.is_empty()) || was_listed(entry.name())
        });
        Listing { snapshot: snapshot.clone(), listed, held_back, refused }
    }

    /// The error for a name that no tool has in this session. It names no tool that the session cannot have.
    pub fn unknown_tool(&self, ctx: &Context, name: &str) -> ToolError {
        let policy = self.policy_for(ctx);
        let is_offered = |entry: &Entry| is_possible(ctx, entry) && policy_offers(&policy, entry);
        let is_possible = |entry: &Entry| is_possible(ctx, entry);
        ctx.tools().snapshot().unknown(name, ctx.dialect(), is_possible, is_offered)
    }
}

/// Whether a session can have a tool under some policy: it has the role, and the services are there.
fn is_possible(ctx: &Context, entry: &Entry) -> bool {
    let spec = entry.spec();
    spec.is_for_role(ctx.ids().role.as_deref()) && spec.needs.iter().all(|need| ctx.has(*need))
}

fn policy_offers(policy: &Policy, entry: &Entry) -> bool {
    policy.offers(&entry.spec().name, entry.spec().required)
}
