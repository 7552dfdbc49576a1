//! The long form of a decision: every rule looked at, which won, where it stands, what would change it.

use super::effect::{Effect, Layer};
use super::foreseen::{Foreseen, NamedPlace, Outlook};
use super::judge::{Cause, Part};
use super::names::Names;
use super::rule::{Rule, Target};
use super::{Policy, Request, decision};
use crate::access::{Access, Resource};
use serde::Serialize;
use std::fmt;

/// Why a call is decided as it is, rule by rule.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// The tool.
    pub tool: String,
    /// What is decided about the call, and foreseen of it.
    pub effect: Outlook,
    /// Why, in one sentence.
    pub reason: String,
    /// What would allow it, in the words of the policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// The rule that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
    /// Each access, under each policy that must agree.
    pub accesses: Vec<Judged>,
    /// What is known beside the decision.
    #[serde(flatten)]
    pub foreseen: Foreseen,
}

/// One access under one policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Judged {
    /// What would be done; none for a call that touches nothing.
    pub access: Option<Access>,
    /// Which of the policies that must agree, counting from 0; there is one unless policies were met.
    pub policy: usize,
    /// What is decided about it.
    pub effect: Effect,
    /// Why, in one sentence.
    pub reason: String,
    /// The rules in the order they are looked at; of the protected list only those that match.
    pub looked_at: Vec<LookedAt>,
}

/// A rule that was looked at.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LookedAt {
    /// The rule.
    pub rule: Rule,
    /// Whether it matches the access.
    pub matched: bool,
    /// Whether it speaks for its layer: the first of it that matches.
    pub speaks_for_layer: bool,
    /// Whether it decided.
    pub won: bool,
}

impl Policy {
    /// The long form of [`Policy::decide`].
    pub fn explain(&self, request: &Request<'_>) -> Explanation {
        let decision = self.decide(request);
        let only_tool = request.accesses.is_empty().then_some(None);
        let accesses = request
            .accesses
            .iter()
            .map(Some)
            .chain(only_tool)
            .flat_map(|access| {
                self.parts
                    .iter()
                    .enumerate()
                    .map(move |(policy, part)| judged(part, policy, request.tool, access, &self.names))
            })
            .collect();
        Explanation {
            tool: request.tool.to_owned(),
            effect: decision.effect().into(),
            reason: decision.sentence(),
            remedy: decision.remedy(),
            rule: decision.rule().cloned(),
            accesses,
            foreseen: Foreseen::default(),
        }
    }
}

impl Explanation {
    /// Whether the call may start.
    pub fn is_allowed(&self) -> bool {
        matches!(self.effect, Outlook::Allow | Outlook::Limited)
    }

    /// The same with what is foreseen: a call that may start is limited by what is closed to it of all that it names.
    #[must_use]
    pub fn foreseeing(self, foreseen: Foreseen) -> Explanation {
        let limit = foreseen.first_limit().filter(|_| self.effect == Outlook::Allow).cloned();
        let call = foreseen.first_limited_call().filter(|_| self.effect == Outlook::Allow).cloned();
        if let Some(call) = call {
            let reason = format!("the call may start, but of what it calls {call}");
            return Explanation {
                effect: Outlook::Limited,
                reason,
                remedy: None,
                rule: None,
                foreseen,
                ..self
            };
        }
        match limit {
            None if self.effect == Outlook::Allow => {
                let later = foreseen.decided_by_sandbox.first();
                let reason = match later {
                    Some(later) => format!("{}; only the sandbox decides {later}", self.reason),
                    None => self.reason,
                };
                Explanation { reason, foreseen, ..self }
            }
            None => Explanation { foreseen, ..self },
            Some(limit) => {
                let remedy = limit.remedy.clone();
                let told = NamedPlace { remedy: None, ..limit };
                let reason = format!("the call may start, but {told}");
                Explanation { effect: Outlook::Limited, reason, remedy, rule: None, foreseen, ..self }
            }
        }
    }

    /// The same where the tool refuses the call, whatever the policy says: the reason is the tool's.
    #[must_use]
    pub fn refused(self, why: &str) -> Explanation {
        Explanation { effect: Outlook::Deny, reason: why.to_owned(), remedy: None, rule: None, ..self }
    }
}

fn judged(part: &Part, policy: usize, tool: &str, access: Option<&Access>, names: &Names) -> Judged {
    let target = Target::new(tool, access, names);
    let verdict = part.judge(&target);
    let (winner, cause) = match verdict.cause {
        Cause::Rule(rule) => (Some(rule), Cause::Rule(rule.clone())),
        Cause::AskWithoutGrant(rule) => (None, Cause::AskWithoutGrant(rule.clone())),
        Cause::Granted => (None, Cause::Granted),
        Cause::Askable => (None, Cause::Askable),
        Cause::Absent => (None, Cause::Absent),
    };
    let mut looked_at = Vec::new();
    for layer in 0..part.layers.len() {
        let first = part.first_match(layer, &target);
        for rule in part.rules(layer) {
            let matched = rule.matches(&target);
            if rule.is_protected() && !matched {
                continue;
            }
            let is = |other: Option<&Rule>| other.is_some_and(|other| std::ptr::eq(other, rule));
            looked_at.push(LookedAt {
                rule: rule.clone(),
                matched,
                speaks_for_layer: is(first),
                won: is(winner),
            });
        }
    }
    let reason = decision::sentence(tool, access, verdict.effect, &cause);
    Judged { access: access.cloned(), policy, effect: verdict.effect, reason, looked_at }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.effect, self.reason)?;
        if let Some(remedy) = &self.remedy {
            writeln!(f, "to change it: {remedy}")?;
        }
        write!(f, "{}", self.foreseen)?;
        let several = self.accesses.iter().any(|judged| judged.policy > 0);
        for judged in &self.accesses {
            writeln!(f)?;
            match &judged.access {
                Some(access) => write!(f, "{access}")?,
                None => write!(f, "the call itself")?,
            }
            if several {
                write!(f, " under policy {}", judged.policy + 1)?;
            }
            writeln!(f, ": {}, as {}", judged.effect, judged.reason)?;
            for looked_at in &judged.looked_at {
                writeln!(f, "  {looked_at}")?;
            }
            let is_file = matches!(&judged.access, Some(Access { resource: Resource::Path(_), .. }));
            if is_file && !judged.looked_at.iter().any(|looked_at| looked_at.rule.is_protected()) {
                writeln!(f, "  built-in: no protected file")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for LookedAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = &self.rule;
        let what = match (self.won, self.matched, self.speaks_for_layer) {
            (true, _, _) => "decides",
            (_, true, true) => "matches, but does not decide",
            (_, true, false) => "matches, but behind another of its layer",
            (_, false, _) => "does not match",
        };
        let layer: Layer = rule.origin().layer;
        write!(f, "{layer}: {} `{rule}` ({}): {what}", rule.effect(), rule.origin())
    }
}
