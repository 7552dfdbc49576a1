//! Which tools a session is told of: those that the policy offers, less those that are held back to save tokens. The one
//! place that decides it, for every way in.

use super::Executor;
use crate::capability::{Capabilities, Need};
use crate::context::Context;
use crate::dialect::Dialect;
use crate::error::ToolError;
use crate::registry::{Entry, Snapshot};
use crate::tool::{Definition, Spec};
use std::collections::BTreeSet;
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
    /// Those that are not offered, each with the reason.
    pub absent: Vec<AbsentTool>,
    dialect: Arc<Dialect>,
}

/// A tool that a session is not offered.
pub struct AbsentTool {
    /// The tool.
    pub entry: Arc<Entry>,
    /// Why not.
    pub why: Absence,
}

/// Why a session is not offered a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Absence {
    /// The session restricts itself to other tools, by this.
    Selection(String),
    /// These roles have it.
    Role(Vec<String>),
    /// The policy neither grants nor asks for this, which it requires.
    Policy(Capabilities),
    /// A service is not there; how to provide it, where that is known.
    Service(Need, Option<String>),
    /// It is made for models of these providers, and the session's is another one.
    Provider(Vec<String>),
    /// It is made for models of these providers, and whose models the session's are is not known.
    UnknownProvider(Vec<String>),
    /// This dialect has no such tool, for this reason.
    Dialect(String, String),
    /// It finds tools that are held back, and none is.
    NothingToFind,
}

impl Absence {
    /// Whether a call of the tool is possible all the same, by somebody who knows its name.
    pub fn can_be_called(&self) -> bool {
        matches!(self, Absence::UnknownProvider(_) | Absence::Dialect(..) | Absence::NothingToFind)
    }
}

impl Listing {
    /// The listed tools as the session's dialect offers them, in their order.
    pub fn definitions(&self) -> Result<Vec<(&Arc<Entry>, Definition)>, ToolError> {
        let mut definitions = Vec::with_capacity(self.listed.len());
        for entry in &self.listed {
            definitions.extend(self.definition(entry)?.map(|definition| (entry, definition)));
        }
        Ok(definitions)
    }

    /// A tool as the session's dialect offers it; none where the dialect has no such tool.
    pub fn definition(&self, entry: &Entry) -> Result<Option<Definition>, ToolError> {
        self.snapshot.offer(entry, &self.dialect)
    }
}

impl Executor {
    /// What a session is told of the tools there are. Whatever is listed or held back can be called.
    pub fn listing(&self, ctx: &Context) -> Listing {
        self.listing_after(ctx, &|_| false)
    }

    /// The same for a session that was told of some tools before: none of these is held back because others have come.
    pub fn listing_after(&self, ctx: &Context, was_listed: &dyn Fn(&str) -> bool) -> Listing {
        let (snapshot, policy) = (ctx.tools().snapshot(), self.policy_for(ctx));
        let mut offered: Vec<Arc<Entry>> = Vec::new();
        let mut absent: Vec<AbsentTool> = Vec::new();
        for entry in snapshot.all().cloned() {
            match absence(ctx, &policy, &snapshot, entry.spec()) {
                None => offered.push(entry),
                Some(why) => absent.push(AbsentTool { entry, why }),
            }
        }
        // Who selects tools wants to have them all.
        let unlisted = match ctx.selection() {
            Some(_) => BTreeSet::new(),
            None => {
                let names: BTreeSet<&str> = offered.iter().map(|entry| entry.name()).collect();
                snapshot.held_back(|name| names.contains(name), was_listed)
            }
        };
        let (held_back, mut listed): (Vec<Arc<Entry>>, Vec<Arc<Entry>>) =
            offered.into_iter().partition(|entry| unlisted.contains(entry.name()));
        // What finds tools is of use only where there are some to be found.
        let is_useless = |entry: &Arc<Entry>| {
            entry.spec().finds_unlisted && held_back.is_empty() && !was_listed(entry.name())
        };
        let useless: Vec<Arc<Entry>> = listed.extract_if(.., |entry| is_useless(entry)).collect();
        absent.extend(useless.into_iter().map(|entry| AbsentTool { entry, why: Absence::NothingToFind }));
        let dialect = Arc::clone(ctx.dialect());
        Listing { snapshot, listed, held_back, absent, dialect }
    }

    /// Why a session would not be offered a tool; none where it would be.
    pub fn absence(&self, ctx: &Context, spec: &Spec) -> Option<Absence> {
        absence(ctx, &self.policy_for(ctx), &ctx.tools().snapshot(), spec)
    }

    /// The error for a name that no tool has in this session. It names no tool that the session cannot have.
    pub fn unknown_tool(&self, ctx: &Context, name: &str) -> ToolError {
        let (snapshot, policy) = (ctx.tools().snapshot(), self.policy_for(ctx));
        let why =
            |entry: &Entry| absence(ctx, &policy, &snapshot, entry.spec()).filter(|why| !why.can_be_called());
        let has_services = |entry: &Entry| entry.spec().needs.iter().all(|need| ctx.has(*need));
        let is_possible =
            |entry: &Entry| matches!(why(entry), None | Some(Absence::Policy(_))) && has_services(entry);
        snapshot.unknown(name, ctx.dialect(), is_possible, |entry| why(entry).is_none())
    }
}

/// Why a session is not offered a tool; none where it is. What is beyond the session's own reach comes first, what somebody
/// may call all the same last.
pub(super) fn absence(ctx: &Context, policy: &Policy, snapshot: &Snapshot, spec: &Spec) -> Option<Absence> {
    if let Some(selection) = ctx.selection().filter(|selection| !selection.has(snapshot, &spec.name)) {
        return Some(Absence::Selection(selection.by().to_owned()));
    }
    if !spec.is_for_role(ctx.ids().role.as_deref()) {
        return Some(Absence::Role(spec.roles.clone()));
    }
    if !policy.offers(&spec.name, spec.required) {
        let held = policy.granted().union(policy.askable());
        return Some(Absence::Policy(spec.required.difference(held)));
    }
    if let Some(need) = spec.needs.iter().find(|need| !ctx.has(**need)) {
        return Some(Absence::Service(*need, spec.missing_advice.map(str::to_owned)));
    }
    match ctx.provider() {
        provider if spec.is_for_provider(provider) => {}
        Some(_) => return Some(Absence::Provider(spec.providers.clone())),
        None => return Some(Absence::UnknownProvider(spec.providers.clone())),
    }
    let reason = ctx.dialect().reason_against(&spec.name)?.to_owned();
    Some(Absence::Dialect(ctx.dialect().name().to_owned(), reason))
}
