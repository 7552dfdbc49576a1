//! The policy itself: how it is made, met with another, and asked.

use crate::access::{Access, Resource};
use crate::capability::{Capabilities, Capability};
use crate::decision::{self, Decision};
use crate::effect::{Effect, Layer};
use crate::judge::{self, Part, Verdict};
use crate::names::{Names, ShownNames};
use crate::profile::Profile;
use crate::rule::{Rule, Target};
use crate::{advice, advice::Advice, advice::Own, advice::Words};
use std::fmt;
use std::sync::Arc;

/// What a run, or an agent within it, may do. Cheap to clone.
///
/// A policy is capabilities (granted, askable or absent) and layers of rules, or several such that must all agree: the
/// meet of a parent's policy and its child's.
#[derive(Clone)]
pub struct Policy {
    pub(crate) parts: Arc<[Part]>,
    pub(crate) names: Names,
    pub(crate) advice: Advice,
    /// In whose names of tools decisions are explained.
    pub(crate) dialect: Option<Arc<dyn ShownNames>>,
    /// Whether a program wrote some of its rules in its own code; see `program`.
    pub(crate) has_program_rules: bool,
}

/// A call to be judged.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The canonical name of the tool.
    pub tool: &'a str,
    /// What the call would touch; none: only rules that name the tool, or everything, speak of it.
    pub accesses: &'a [Access],
}

impl Policy {
    /// Reading inside the workspace, and looking at what others did.
    pub fn read_only() -> Policy {
        Policy::profile(Profile::ReadOnly)
    }

    /// Reading and writing inside the workspace; the default.
    ///
    /// ```
    /// use toolpost_policy::{Access, Capability, Effect, NotARule, Policy, Request};
    ///
    /// let policy = Policy::standard().deny("write: /migrations")?.ask_rule("write: *.lock")?;
    /// let effect = |name: &str| {
    ///     policy.decide(&Request { tool: "edit", accesses: &[Access::path(Capability::Write, name)] }).effect()
    /// };
    /// assert_eq!(effect("src/main.rs"), Effect::Allow);
    /// assert_eq!(effect("migrations/0001.sql"), Effect::Deny);
    /// assert_eq!(effect("Cargo.lock"), Effect::Ask);
    /// # Ok::<(), NotARule>(())
    /// ```
    pub fn standard() -> Policy {
        Policy::profile(Profile::Standard)
    }

    /// Everything: also running commands and reaching the network.
    pub fn privileged() -> Policy {
        Policy::profile(Profile::Privileged)
    }

    /// The capabilities of a profile, and no rules but the built-in ones.
    pub fn profile(profile: Profile) -> Policy {
        Policy::with_capabilities(profile.capabilities(), Capabilities::NONE)
    }

    /// These capabilities, and no rules but the built-in ones. What is granted need not be asked for.
    pub fn with_capabilities(granted: Capabilities, askable: Capabilities) -> Policy {
        let none: Arc<[Rule]> = Arc::new([]);
        let layers = std::array::from_fn(|_| none.clone());
        Policy::from_parts(vec![Part { granted, askable: askable.difference(granted), layers, advice: None }])
    }

    fn from_parts(parts: Vec<Part>) -> Policy {
        let (names, advice) = (Names::none().clone(), advice::in_rules);
        Policy { parts: parts.into(), names, advice, dialect: None, has_program_rules: false }
    }

    /// The policy with a capability granted.
    ///
    /// This and the next two are the user's own hand: they change every part of a meet. What an agent's file wants is
    /// a policy of its own, and goes through [`Policy::meet`].
    #[must_use]
    pub fn allow(&self, capability: Capability) -> Policy {
        self.change(|part| {
            part.granted = part.granted.with(capability);
            part.askable = part.askable.without(capability);
        })
    }

    /// The policy with a capability that is asked for, also where it was granted.
    #[must_use]
    pub fn ask(&self, capability: Capability) -> Policy {
        self.change(|part| {
            part.granted = part.granted.without(capability);
            part.askable = part.askable.with(capability);
        })
    }

    /// The policy without a capability: it is neither granted nor asked for.
    #[must_use]
    pub fn withhold(&self, capability: Capability) -> Policy {
        self.change(|part| {
            part.granted = part.granted.without(capability);
            part.askable = part.askable.without(capability);
        })
    }

    /// The policy with more rules in a layer, in front of those it has.
    #[must_use]
    pub fn with_rules_before(&self, layer: Layer, rules: Vec<Rule>) -> Policy {
        let rules: Vec<Rule> = rules.into_iter().map(|rule| rule.in_layer(layer)).collect();
        self.change(|part| {
            let list = &mut part.layers[layer as usize];
            *list = rules.iter().chain(list.iter()).cloned().collect();
        })
    }

    /// The policy with more rules in a layer, behind those it has.
    #[must_use]
    pub fn with_rules(&self, layer: Layer, rules: Vec<Rule>) -> Policy {
        let rules: Vec<Rule> = rules.into_iter().map(|rule| rule.in_layer(layer)).collect();
        self.change(|part| {
            let list = &mut part.layers[layer as usize];
            *list = list.iter().chain(&rules).cloned().collect();
        })
    }

    /// The policy with what the names of tools in its rules mean. The executor sets those of the session's registry.
    #[must_use]
    pub fn with_names(&self, names: &Names) -> Policy {
        Policy { names: names.clone(), ..self.clone() }
    }

    /// The policy with the names of tools in which its decisions are explained.
    #[must_use]
    pub fn explained_in(self, dialect: Arc<dyn ShownNames>) -> Policy {
        Policy { dialect: Some(dialect), ..self }
    }

    /// What the names of tools in its rules mean.
    pub fn names(&self) -> &Names {
        &self.names
    }

    pub(super) fn change(&self, change: impl Fn(&mut Part)) -> Policy {
        let mut parts = self.parts.to_vec();
        parts.iter_mut().for_each(change);
        Policy { parts: parts.into(), ..self.clone() }
    }

    /// The policy that allows only what both allow: it decides each access as the stricter of the two.
    #[must_use]
    pub fn meet(&self, other: &Policy) -> Policy {
        if Arc::ptr_eq(&self.parts, &other.parts) {
            return self.clone();
        }
        let mut parts: Vec<Part> = Vec::with_capacity(self.parts.len() + other.parts.len());
        for part in self.parts.iter().chain(other.parts.iter()) {
            match parts.iter_mut().find(|known| known.says_the_same(part)) {
                // The words that widen one of both would not widen the other.
                Some(known) => known.advice = known.advice.take().or_else(|| part.advice.clone()),
                None => parts.push(part.clone()),
            }
        }
        let names = if self.names.is_empty() { &other.names } else { &self.names };
        let dialect = self.dialect.clone().or_else(|| other.dialect.clone());
        let has_program_rules = self.has_program_rules || other.has_program_rules;
        let (names, advice) = (names.clone(), self.advice);
        Policy { names, advice, dialect, has_program_rules, ..Policy::from_parts(parts) }
    }

    /// The capabilities that are granted.
    pub fn granted(&self) -> Capabilities {
        let all: Capabilities = Capability::ALL.into_iter().collect();
        self.parts.iter().fold(all, |granted, part| granted.intersection(part.granted))
    }

    /// The capabilities that a person may grant when asked.
    pub fn askable(&self) -> Capabilities {
        let all: Capabilities = Capability::ALL.into_iter().collect();
        let possible =
            self.parts.iter().fold(all, |set, part| set.intersection(part.granted.union(part.askable)));
        possible.difference(self.granted())
    }

    /// Whether a tool is offered: each capability it requires is granted or askable, or an allow rule names the tool
    /// or the capability.
    pub fn offers(&self, tool: &str, required: Capabilities) -> bool {
        self.parts.iter().all(|part| part.offers(tool, required, &self.names))
    }

    /// Whether an allow rule could be about some tool of a group; `tools` is the name that stands for any of them.
    pub fn may_allow_some(&self, tools: &str) -> bool {
        let is_about =
            |rule: &Rule| rule.effect() == Effect::Allow && rule.action().may_name(tools, &self.names);
        self.parts.iter().all(|part| part.layers.iter().flat_map(|layer| layer.iter()).any(is_about))
    }

    /// The decision on a call: the strictest of its accesses. Allocates nothing where all is simply granted.
    pub fn decide<'a>(&self, request: &Request<'a>) -> Decision {
        let mut strictest: Option<(Option<&Access>, Verdict<'_>, Option<&Own>)> = None;
        let mut denied: Option<(Option<&Access>, Verdict<'_>, Option<&Own>)> = None;
        let only_tool = request.accesses.is_empty().then_some(None);
        for access in request.accesses.iter().map(Some).chain(only_tool) {
            let target = Target::new(request.tool, access, &self.names);
            for part in self.parts.iter() {
                let verdict = part.judge(&target);
                match verdict.cause {
                    // What a rule denies is denied whatever else is granted.
                    judge::Cause::Rule(_) if verdict.effect == Effect::Deny => {
                        return self.decision(request.tool, access, verdict, part.advice.as_ref());
                    }
                    // Where a part has words of its own, those of the others would not help.
                    _ if verdict.effect == Effect::Deny
                        && denied.is_none_or(|(.., known)| known.is_none() && part.advice.is_some()) =>
                    {
                        denied = Some((access, verdict, part.advice.as_ref()));
                    }
                    _ => {}
                }
                let is_stricter = |(_, known, advice): (_, Verdict<'_>, Option<&Own>)| {
                    is_more_telling(verdict, known)
                        || (advice.is_none() && part.advice.is_some() && !is_more_telling(known, verdict))
                };
                if strictest.is_none_or(is_stricter) {
                    strictest = Some((access, verdict, part.advice.as_ref()));
                }
            }
        }
        let chosen = denied.or(strictest);
        let Some((access, verdict, advice)) = chosen else { return Decision::GRANTED };
        // Where no flag helps, that is what must be known.
        let about = self.names.about(request.tool);
        let is_never = |access: &&Access| decision::is_never_granted(about, access);
        let lacking = |access: &'a Access| {
            let target = Target::new(request.tool, Some(access), &self.names);
            let mut verdicts = self.parts.iter().map(|part| part.judge(&target));
            let found = verdicts.find(|verdict| verdict.effect != Effect::Allow && !verdict.is_by_rule());
            found.map(|found| (Some(access), Verdict { effect: verdict.effect, ..found }))
        };
        let never = request.accesses.iter().filter(is_never).find_map(lacking);
        let (access, verdict) = match verdict.effect {
            Effect::Allow => (access, verdict),
            _ => never.unwrap_or((access, verdict)),
        };
        let decision = self.decision(request.tool, access, verdict, advice);
        match decision.effect() {
            Effect::Allow => decision,
            _ => {
                let also = self.also_protected(request, access);
                decision.asking_also(also).lacking_also(self.also_missing(request, access))
            }
        }
    }

    /// The other accesses of a call that are not granted.
    fn also_missing(&self, request: &Request<'_>, first: Option<&Access>) -> Vec<Access> {
        let lacks = |access: &&Access| {
            let target = Target::new(request.tool, Some(access), &self.names);
            let is_missing = |part: &Part| {
                matches!(part.judge(&target).cause, judge::Cause::Askable | judge::Cause::Absent)
            };
            self.parts.iter().any(is_missing)
        };
        request.accesses.iter().filter(|access| Some(*access) != first).filter(lacks).cloned().collect()
    }

    /// The other accesses of a call that ask because of the protected list, and that consent to the first does not cover.
    fn also_protected(&self, request: &Request<'_>, first: Option<&Access>) -> Vec<Access> {
        let asks = |access: &&Access| {
            let target = Target::new(request.tool, Some(access), &self.names);
            self.parts.iter().any(|part| match part.judge(&target) {
                Verdict { effect: Effect::Ask, cause: judge::Cause::Rule(rule) } => rule.is_protected(),
                _ => false,
            })
        };
        let is_inside = |access: &&Access| match (&access.resource, first.map(|first| &first.resource)) {
            (Resource::Path(path), Some(Resource::Path(first))) => {
                path.strip_prefix(first.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }
            _ => false,
        };
        let others = request.accesses.iter().filter(|access| Some(*access) != first);
        others.filter(asks).filter(|access| !is_inside(access)).cloned().collect()
    }

    fn decision(
        &self,
        tool: &str,
        access: Option<&Access>,
        verdict: Verdict<'_>,
        advice: Option<&Own>,
    ) -> Decision {
        let shown = self.dialect.as_ref().and_then(|dialect| dialect.shown_name(tool));
        let words = advice.map_or(Words::Shared(self.advice), |own| Words::Own(own.clone()));
        Decision::new(words, (tool, self.names.about(tool)), access, verdict).shown_as(shown)
    }

    /// Whether an action of a tool on one path is simply allowed. A walk asks it of every name: nothing is allocated.
    pub fn allows_path(&self, tool: &str, action: Capability, path: &str) -> bool {
        let target = Target::path_of(tool, action, path, &self.names);
        self.parts.iter().all(|part| part.judge(&target).effect == Effect::Allow)
    }

    /// Whether rules open a host, `host:port`, that the right to reach the network does not: an address of this machine
    /// or of a private network. A rule must name it, and no other may deny it.
    pub fn opens_host(&self, tool: &str, place: &str) -> bool {
        let names = |rule: &Rule| {
            rule.effect() == Effect::Allow
                && rule.action().matches(tool, Some(Capability::Network), &self.names)
                && rule.resource().names_host(place)
        };
        let access = [Access::host(place)];
        self.parts.iter().all(|part| part.layers.iter().flat_map(|layer| layer.iter()).any(names))
            && self.decide(&Request { tool, accesses: &access }).effect() == Effect::Allow
    }

    /// The policies that must all agree: this one, unless it is a meet.
    pub fn parts(&self) -> impl Iterator<Item = Policy> {
        self.parts.iter().map(|part| Policy { parts: Arc::from([part.clone()]), ..self.clone() })
    }

    /// The rules of a layer, those of every part of a meet one after the other; the protected list is left out.
    pub fn rules(&self, layer: Layer) -> impl Iterator<Item = &Rule> {
        self.parts.iter().flat_map(move |part| part.layers[layer as usize].iter())
    }
}

/// Whether a verdict should be reported before another: the stricter first; among asks a protected one, since that
/// needs more than a blanket yes; a rule before a mere grant.
fn is_more_telling(verdict: Verdict<'_>, known: Verdict<'_>) -> bool {
    fn rank(verdict: Verdict<'_>) -> (Effect, u8) {
        let telling = match verdict.cause {
            judge::Cause::Rule(rule) if rule.is_protected() => 2,
            judge::Cause::Rule(_) | judge::Cause::AskWithoutGrant(_) => 1,
            judge::Cause::Granted | judge::Cause::Askable | judge::Cause::Absent => 0,
        };
        (verdict.effect, telling)
    }
    rank(verdict) > rank(known)
}

impl Default for Policy {
    /// Read and write inside the workspace.
    fn default() -> Policy {
        Policy::standard()
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.parts.iter()).finish()
    }
}
