//! What was decided about a call, why, and what would change it.
//!
//! A call that is simply granted carries nothing; the sentences are written when somebody reads them.

use super::advice::{Remedy, Words};
use super::effect::{Effect, Layer, Origin};
use super::judge::{Cause, Verdict};
use super::protected;
use super::rule::Rule;
use crate::access::{Access, Resource, ResourceKind};
use std::fmt;

/// The decision on a call: the strictest of its accesses.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    effect: Effect,
    because: Option<Box<Because>>,
}

#[derive(Debug, Clone)]
struct Because {
    tool: String,
    /// The tool's name where the decision is explained, if it is another.
    shown: Option<String>,
    /// What rules that name the tool are about.
    about: Option<ResourceKind>,
    access: Option<Access>,
    cause: Cause<Rule>,
    advice: Words,
    /// The other protected files that the call would write or read, for which it asks too.
    also: Vec<Access>,
    /// What else it would do that is not granted.
    missing: Vec<Access>,
}

impl PartialEq for Because {
    /// Two decisions are the same whatever words they are explained in.
    fn eq(&self, other: &Because) -> bool {
        (&self.tool, &self.access, &self.cause) == (&other.tool, &other.access, &other.cause)
    }
}

impl Decision {
    pub(super) const GRANTED: Decision = Decision { effect: Effect::Allow, because: None };

    /// Of the tool, with what rules that name it are about.
    pub(super) fn new(
        advice: Words,
        (tool, about): (&str, Option<ResourceKind>),
        access: Option<&Access>,
        verdict: Verdict<'_>,
    ) -> Decision {
        let cause = match verdict.cause {
            Cause::Granted => return Decision::GRANTED,
            Cause::Askable => Cause::Askable,
            Cause::Absent => Cause::Absent,
            Cause::Rule(rule) => Cause::Rule(rule.clone()),
            Cause::AskWithoutGrant(rule) => Cause::AskWithoutGrant(rule.clone()),
        };
        let (tool, shown) = (tool.to_owned(), None);
        let because = Because {
            tool,
            shown,
            about,
            access: access.cloned(),
            cause,
            advice,
            also: vec![],
            missing: vec![],
        };
        Decision { effect: verdict.effect, because: Some(Box::new(because)) }
    }

    /// The decision with the other protected files for which the call asks, so that one answer names all of them.
    pub(super) fn asking_also(mut self, also: Vec<Access>) -> Decision {
        if let Some(because) = &mut self.because {
            because.also = also;
        }
        self
    }

    /// The decision with what else the call would do that is not granted, so that one answer names all of it.
    pub(super) fn lacking_also(mut self, missing: Vec<Access>) -> Decision {
        if let Some(because) = &mut self.because {
            because.missing = missing;
        }
        self
    }

    /// Explained with this name of the tool.
    pub(super) fn shown_as(mut self, name: Option<&str>) -> Decision {
        if let Some(because) = &mut self.because {
            because.shown = name.filter(|name| *name != because.tool).map(str::to_owned);
        }
        self
    }

    /// What was decided.
    pub fn effect(&self) -> Effect {
        self.effect
    }

    /// The access that decided; none where all are granted, or the call touches nothing.
    pub fn access(&self) -> Option<&Access> {
        self.because.as_ref().and_then(|because| because.access.as_ref())
    }

    /// The rule that decided; none where capabilities did.
    pub fn rule(&self) -> Option<&Rule> {
        match &self.because.as_ref()?.cause {
            Cause::Rule(rule) => Some(rule),
            Cause::Granted | Cause::Askable | Cause::Absent | Cause::AskWithoutGrant(_) => None,
        }
    }

    /// Whether it asks because of the protected list, which needs a rule and is not answered by a blanket yes.
    pub fn is_protected(&self) -> bool {
        self.effect == Effect::Ask && self.rule().is_some_and(Rule::is_protected)
    }

    /// Why, in one sentence that names the rule with its file and line.
    pub fn sentence(&self) -> String {
        match &self.because {
            None => "everything it would do is granted".to_owned(),
            Some(because) => {
                let tool = because.shown.as_ref().unwrap_or(&because.tool);
                sentence(tool, because.access.as_ref(), self.effect, &because.cause)
            }
        }
    }

    /// What would allow it, in the words of the policy; none where it is allowed.
    pub fn remedy(&self) -> Option<String> {
        let because = self.because.as_ref().filter(|_| self.effect != Effect::Allow)?;
        let tool = (because.tool.as_str(), because.about);
        let mut more: Vec<String> = Vec::new();
        for rule in because.also.iter().filter_map(|access| Some(rule_for(tool, access)?.to_string())) {
            if !more.contains(&rule) {
                more.push(rule);
            }
        }
        // What may not be read is hidden from commands, which then cannot write it either.
        let written = because.access.iter().chain(&because.also);
        for access in written.filter(|_| because.about == Some(ResourceKind::Command)) {
            let read = match &access.resource {
                Resource::Path(path) if access.action == crate::Capability::Write => {
                    Access::path(crate::Capability::Read, path)
                }
                _ => continue,
            };
            let is_hidden =
                matches!(&read.resource, Resource::Path(path) if protected::is_protected(read.action, path));
            let rule = rule_for(tool, &read).filter(|_| is_hidden).map(|rule| rule.to_string());
            more.extend(rule.filter(|rule| !more.contains(rule)));
        }
        let (advice, access) = (&because.advice, because.access.as_ref());
        let first = remedy(advice, tool, access, &because.cause, &more);
        let is_by_capability = matches!(because.cause, Cause::Askable | Cause::Absent);
        Some(match (is_by_capability, because.missing.is_empty()) {
            (true, true) if more.is_empty() => first,
            (true, true) => format!("{first}; also {}", advice.say(&Remedy::Closed { rules: &more })),
            (true, false) => {
                let all: Vec<&Access> = access.into_iter().chain(&because.missing).collect();
                let is_never = all.iter().any(|access| is_never_granted(tool.1, access));
                let consent = if self.effect == Effect::Ask && !is_never { "consent, or " } else { "" };
                format!("{consent}{}", all_of(advice, tool, all, &more))
            }
            (false, true) => first,
            (false, false) => {
                format!("{first}; also {}", all_of(advice, tool, because.missing.iter().collect(), &[]))
            }
        })
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.effect, self.sentence())?;
        self.remedy().map_or(Ok(()), |remedy| write!(f, "; {remedy}"))
    }
}

/// Why an access was decided so.
pub(super) fn sentence(tool: &str, access: Option<&Access>, effect: Effect, cause: &Cause<Rule>) -> String {
    let would = Would(tool, access);
    match cause {
        Cause::Granted => match access {
            Some(Access { action: crate::Capability::Trace, resource: Resource::Command(_), .. }) => {
                format!("{would}, which needs no right of its own")
            }
            Some(access) if access.is_only_where_granted() => {
                let action = access.action;
                format!("{would}, which it cannot where {action} is not granted and may where it is")
            }
            Some(access) => format!("{would}, and {} is granted", access.action),
            None => format!("{would}, and no rule is about it"),
        },
        Cause::Askable => format!("{would}, and {} needs a person's consent", action(access)),
        Cause::Absent => format!("{would}, and {} is not granted", action(access)),
        Cause::AskWithoutGrant(rule) => format!(
            "{would}, and {} is not granted; the rule `{rule}` ({}) asks but grants nothing",
            action(access),
            rule.origin()
        ),
        Cause::Rule(rule) => match protected::why(rule) {
            Some(why) => {
                format!("{would}, which is protected (`{}`): {why}", rule.resource())
            }
            None => {
                let verb = match effect {
                    Effect::Allow => "allows it",
                    Effect::Ask => "asks first",
                    Effect::Deny => "denies it",
                };
                format!("{would}, and the {} rule `{rule}` ({}) {verb}", rule.origin().layer, rule.origin())
            }
        },
    }
}

/// What would allow the access.
pub(super) fn remedy(
    advice: &Words,
    (tool, about): (&str, Option<ResourceKind>),
    access: Option<&Access>,
    cause: &Cause<Rule>,
    more: &[String],
) -> String {
    if let (Some(access), Cause::Askable | Cause::Absent) = (access, cause)
        && let Some(text) = without_rule(advice, about, access)
    {
        return text;
    }
    let rule = access
        .and_then(|access| rule_for((tool, about), access))
        .map_or_else(|| tool.to_owned(), |rule| rule.to_string());
    let (rule, capability) = (rule.as_str(), access.map(|access| access.action));
    // A person is asked although the capability is granted, so that granting it is no way.
    if access.is_some_and(Access::needs_consent) && matches!(cause, Cause::Askable) {
        let allowed = advice.say(&Remedy::Closed { rules: &[rule.to_owned()] });
        return format!("consent, or {allowed}, which holds for all that is in it, protected files too");
    }
    advice.say(&match cause {
        Cause::Granted => return "nothing is in its way".to_owned(),
        Cause::Askable => Remedy::Consent { capability, rule },
        Cause::Absent | Cause::AskWithoutGrant(_) => Remedy::Capability { capability, rule },
        Cause::Rule(by) if by.effect() == Effect::Deny => Remedy::Denied { by },
        Cause::Rule(by) if by.is_protected() => Remedy::Protected { rule, more },
        Cause::Rule(by) => Remedy::Asked { by, rule },
    })
}

/// What would allow several accesses that are not granted, and the files of these rules.
fn all_of(
    advice: &Words,
    tool: (&str, Option<ResourceKind>),
    accesses: Vec<&Access>,
    more: &[String],
) -> String {
    // Where no flag allows one, those for the rest are of no use.
    let hopeless = accesses.iter().find(|access| is_never_granted(tool.1, access));
    if let Some(text) = hopeless.and_then(|one| without_rule(advice, tool.1, one)) {
        return text;
    }
    let missing = accesses.iter().map(|access| access.action).collect();
    let all = advice.say(&Remedy::Grant { missing, tool: None });
    let has_rules = accesses.iter().all(|access| without_rule(advice, tool.1, access).is_none());
    let mut rules: Vec<String> = Vec::new();
    for rule in accesses.iter().filter_map(|access| Some(rule_for(tool, access)?.to_string())) {
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    match (has_rules, more) {
        (true, more) => {
            rules.extend_from_slice(more);
            let also = match more.is_empty() {
                true => String::new(),
                false => format!(" and {}", advice.say(&Remedy::Closed { rules: more })),
            };
            format!("{all}{also}, or just this: {}", advice.say(&Remedy::Closed { rules: &rules }))
        }
        (false, []) => all,
        (false, more) => format!("{all} and {}", advice.say(&Remedy::Closed { rules: more })),
    }
}

/// What would allow a command something that no rule about it does.
fn without_rule(advice: &Words, about: Option<ResourceKind>, access: &Access) -> Option<String> {
    let grant = || advice.say(&Remedy::Grant { missing: [access.action].into_iter().collect(), tool: None });
    match about {
        Some(ResourceKind::Command) => match (&access.resource, access.action) {
            _ if access.needs_consent() && access.is_unjudged() => Some(advice.say(&Remedy::Unconfined)),
            // A command has the network or has none.
            (_, crate::Capability::Network) => Some(grant()),
            _ if is_computed(access) => Some(format!("write the name of the file out, or {}", grant())),
            _ if is_outside(access) => {
                Some("use a file of the workspace, named from there, or one of /tmp".to_owned())
            }
            _ => None,
        },
        _ => None,
    }
}

/// Whether no flag allows a command this.
pub(super) fn is_never_granted(about: Option<ResourceKind>, access: &Access) -> bool {
    about == Some(ResourceKind::Command)
        && ((access.needs_consent() && access.is_unjudged()) || (is_outside(access) && !is_computed(access)))
}

/// Whether a command would write outside the workspace, or to a file whose name is computed.
fn is_outside(access: &Access) -> bool {
    access.action == crate::Capability::Exec && matches!(access.resource, Resource::Path(_))
}

fn is_computed(access: &Access) -> bool {
    is_outside(access) && matches!(&access.resource, Resource::Path(path) if path.starts_with(['$', '"']))
}

fn rule_for((tool, about): (&str, Option<ResourceKind>), access: &Access) -> Option<Rule> {
    let exact =
        |access: &Access| Rule::exact(Effect::Allow, tool, about, access, Origin::new(Layer::Flags, "", 0));
    // What a command writes in a protected folder, it can only write if it may write the folder.
    match (&access.resource, about) {
        (Resource::Path(path), Some(ResourceKind::Command)) => {
            match protected::closed_whole(access.action, path).filter(|whole| *whole != path) {
                Some(whole) => exact(&Access::path(access.action, whole)),
                None => exact(access),
            }
        }
        _ => exact(access),
    }
}

fn action(access: Option<&Access>) -> &'static str {
    access.map_or("it", |access| access.action.as_str())
}

/// What a call would do, as the start of a sentence.
struct Would<'a>(&'a str, Option<&'a Access>);

impl fmt::Display for Would<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Would(tool, access) = self;
        let Some(access) = access else { return write!(f, "`{tool}` touches nothing") };
        let verb = match (&access.resource, access.action) {
            (Resource::Command(_), _) => "run",
            (Resource::Path(path), crate::Capability::Exec) if path.starts_with(['$', '"']) => {
                "let a command open a file whose name is computed when it runs,"
            }
            // The right to write is one to write in the workspace.
            (Resource::Path(_), crate::Capability::Exec) => "let a command write outside the workspace, to",
            (Resource::Host(_), _) => "reach",
            (_, crate::Capability::Read) => "read",
            (_, crate::Capability::Write) => "write",
            (_, crate::Capability::Exec) => "run",
            (_, crate::Capability::Network) => "reach",
            (_, crate::Capability::Trace) => "trace",
        };
        write!(f, "`{tool}` would {verb} {}", access.resource)?;
        match access.why() {
            Some(why) if access.action == crate::Capability::Exec => {
                write!(f, " (what it runs is unknown: {why})")
            }
            Some(why) if access.is_unjudged() => {
                write!(f, " (what it opens is unknown, and without a sandbox it is not checked later: {why})")
            }
            Some(why) => write!(f, " ({why})"),
            None => Ok(()),
        }
    }
}
