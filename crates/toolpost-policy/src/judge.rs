//! The verdict of one policy on one access. Allocates nothing.
//!
//! 1. Each layer gives the effect of its first matching rule.
//! 2. Any deny: deny.
//! 3. Otherwise the strongest layer with a match decides. A user's layer is stronger than the project's, so a project's
//!    allow never overrides a user's ask.
//! 4. No match: granted, allow; askable, ask; absent, deny.
//!
//! An allow rule is itself a grant for what it matches; an ask rule is not. Where the capability is absent, an ask
//! alone stays a denial: otherwise a workspace's own file, or the protected list, could widen by asking.

use super::advice::Own;
use super::cover::covers;
use super::effect::Effect;
use super::names::Names;
use super::protected;
use super::rule::{Rule, Target};
use crate::capability::Capabilities;
use std::sync::Arc;

/// Rules and capabilities that decide together; a policy is one of these, or several that must all agree.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) granted: Capabilities,
    pub(super) askable: Capabilities,
    /// One list a layer, the strongest first; the protected list comes before the last.
    pub(super) layers: [Arc<[Rule]>; 6],
    /// The words for what would widen it, where they are not those of the whole policy.
    pub(super) advice: Option<Own>,
}

/// What was decided and why.
#[derive(Clone, Copy)]
pub(super) struct Verdict<'a> {
    pub(super) effect: Effect,
    pub(super) cause: Cause<&'a Rule>,
}

impl Verdict<'_> {
    /// Whether a rule decided, and not what is granted.
    pub(super) fn is_by_rule(&self) -> bool {
        matches!(self.cause, Cause::Rule(_) | Cause::AskWithoutGrant(_))
    }
}

/// Why something was decided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cause<R> {
    /// The capability is granted, or none is needed.
    Granted,
    /// The capability is askable.
    Askable,
    /// The capability is absent.
    Absent,
    /// A rule decided.
    Rule(R),
    /// A rule asks, but nothing grants.
    AskWithoutGrant(R),
}

impl Part {
    /// The rules of a layer in the order they are looked at.
    pub(super) fn rules(&self, layer: usize) -> impl Iterator<Item = &Rule> {
        let built_in: &[Rule] = if layer + 1 == self.layers.len() { protected::rules() } else { &[] };
        built_in.iter().chain(self.layers[layer].iter())
    }

    /// The first rule of a layer that matches.
    pub(super) fn first_match(&self, layer: usize, target: &Target<'_>) -> Option<&Rule> {
        let own = &self.layers[layer];
        let is_built_in = layer + 1 == self.layers.len();
        let built_in = || {
            // A denial of toolpost's own is stronger than the protected list, which only asks.
            let denial = own.iter().find(|rule| rule.effect() == Effect::Deny && rule.matches(target));
            denial.or_else(|| protected::first_match(target))
        };
        let built_in = if is_built_in { built_in() } else { None };
        built_in.or_else(|| {
            let first = own.iter().position(|rule| rule.matches(target))?;
            // Of what could be anything, a later rule may deny a part that no earlier rule takes.
            let denies = |place: &usize| {
                let rule = &own[*place];
                rule.effect() == Effect::Deny
                    && rule.matches(target)
                    && !own[..*place].iter().any(|earlier| covers(earlier, rule, target.names()))
            };
            let denying = target.is_anything().then(|| (first..own.len()).find(denies)).flatten();
            own.get(denying.unwrap_or(first))
        })
    }

    /// The verdict on one access.
    pub(super) fn judge(&self, target: &Target<'_>) -> Verdict<'_> {
        let cannot_happen =
            target.is_only_where_granted() && target.action().is_some_and(|action| !self.granted.has(action));
        if cannot_happen {
            return Verdict { effect: Effect::Allow, cause: Cause::Granted };
        }
        let mut strongest: Option<&Rule> = None;
        let mut protected: Option<&Rule> = None;
        let mut is_granted_by_rule = false;
        for layer in 0..self.layers.len() {
            let Some(rule) = self.first_match(layer, target) else { continue };
            match rule.effect() {
                Effect::Deny => return Verdict { effect: Effect::Deny, cause: Cause::Rule(rule) },
                Effect::Allow => is_granted_by_rule = true,
                Effect::Ask => {}
            }
            strongest = strongest.or(Some(rule));
            protected = protected.or(rule.is_protected().then_some(rule));
        }
        let by_capability = self.by_capability(target);
        match strongest {
            None => by_capability,
            Some(rule)
                if rule.effect() == Effect::Ask
                    && by_capability.effect == Effect::Deny
                    && !is_granted_by_rule =>
            {
                Verdict { effect: Effect::Deny, cause: Cause::AskWithoutGrant(rule) }
            }
            // Somebody's own ask must not hide that the file is protected: `--yes` would then answer for it.
            Some(rule) if rule.effect() == Effect::Ask => {
                Verdict { effect: Effect::Ask, cause: Cause::Rule(protected.unwrap_or(rule)) }
            }
            Some(rule) => Verdict { effect: rule.effect(), cause: Cause::Rule(rule) },
        }
    }

    fn by_capability(&self, target: &Target<'_>) -> Verdict<'static> {
        match target.action() {
            _ if target.is_mentioned() => Verdict { effect: Effect::Allow, cause: Cause::Granted },
            Some(action) if self.granted.has(action) && !target.needs_consent() => {
                Verdict { effect: Effect::Allow, cause: Cause::Granted }
            }
            Some(action) if self.granted.has(action) || self.askable.has(action) => {
                Verdict { effect: Effect::Ask, cause: Cause::Askable }
            }
            Some(_) => Verdict { effect: Effect::Deny, cause: Cause::Absent },
            None => Verdict { effect: Effect::Allow, cause: Cause::Granted },
        }
    }

    /// Whether a tool that requires these capabilities is worth showing.
    pub(super) fn offers(&self, tool: &str, required: Capabilities, names: &Names) -> bool {
        let missing = required.difference(self.granted).difference(self.askable);
        missing.iter().all(|capability| {
            self.layers.iter().flat_map(|layer| layer.iter()).any(|rule| {
                rule.effect() == Effect::Allow
                    && (rule.action().names(tool, names)
                        || rule.action().matches("", Some(capability), names))
            })
        })
    }

    /// Whether both hold the same rules and capabilities, wherever the rules stand.
    pub(super) fn says_the_same(&self, other: &Part) -> bool {
        self.granted == other.granted
            && self.askable == other.askable
            && self.layers.iter().zip(&other.layers).all(|(mine, theirs)| {
                Arc::ptr_eq(mine, theirs)
                    || (mine.len() == theirs.len()
                        && mine.iter().zip(theirs.iter()).all(|(a, b)| a.says_the_same(b)))
            })
    }
}
