//! What would allow something that a policy does not, as data; and the sentence that says so.
//!
//! How a policy can be widened is known to whoever made it: a program by its own code, the command line by its flags. So
//! the words come with the policy ([`Policy::with_advice`]), and this crate's own are about rules and capabilities only.

use super::Policy;
use super::action::Action;
use super::effect::{Effect, Layer};
use super::rule::Rule;
use crate::capability::{Capabilities, Capability};
use std::sync::Arc;

/// What would allow something that a policy does not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Remedy<'a> {
    /// A tool or a pack needs capabilities that are absent.
    Grant {
        /// What is missing.
        missing: Capabilities,
        /// The tool that needs it, where it is one of a group and just this one may be meant.
        tool: Option<&'a str>,
    },
    /// The capability is askable: consent, the capability or a rule would do.
    Consent {
        /// The capability that is asked for; none where the call touches nothing.
        capability: Option<Capability>,
        /// The rule that would allow exactly this, in its short form.
        rule: &'a str,
    },
    /// The capability is absent: only the capability or a rule would do.
    Capability {
        /// The capability that is absent; none where the call touches nothing.
        capability: Option<Capability>,
        /// The rule that would allow exactly this, in its short form.
        rule: &'a str,
    },
    /// A rule denies it, which no other rule overrides.
    Denied {
        /// The rule that denies.
        by: &'a Rule,
    },
    /// The file is protected: consent to this very file or a rule would do.
    Protected {
        /// The rule that would allow exactly this, in its short form.
        rule: &'a str,
        /// The rules for other protected files of the same call.
        more: &'a [String],
    },
    /// A rule asks: consent or a stronger rule would do.
    Asked {
        /// The rule that asks.
        by: &'a Rule,
        /// The rule that would allow exactly this, in its short form.
        rule: &'a str,
    },
    /// A file is closed to commands.
    Closed {
        /// The rules that would open it, in their short form; none where no pattern can name the file.
        rules: &'a [String],
    },
    /// A command would run without a sandbox, and its line does not name all its files.
    Unconfined,
}

/// Says in a clause what would allow something: `consent, or …`. Lower case, no full stop.
pub type Advice = fn(&Remedy<'_>) -> String;

/// The same for a part of a policy that has words of its own: whose part it is, such as the name of an agent's file, comes second.
pub type OwnAdvice = fn(&Remedy<'_>, &str) -> String;

/// Words of a part of a policy, and whose part it is.
#[derive(Debug, Clone)]
pub(crate) struct Own {
    words: OwnAdvice,
    owner: Arc<str>,
}

impl Own {
    pub(crate) fn say(&self, remedy: &Remedy<'_>) -> String {
        (self.words)(remedy, &self.owner)
    }
}

/// The words that a decision is explained in.
#[derive(Debug, Clone)]
pub(crate) enum Words {
    Shared(Advice),
    Own(Own),
}

impl Words {
    pub(crate) fn say(&self, remedy: &Remedy<'_>) -> String {
        match self {
            Words::Shared(advice) => advice(remedy),
            Words::Own(own) => own.say(remedy),
        }
    }
}

impl Policy {
    /// The policy with these words for what would widen it; without them it speaks of rules and capabilities only.
    #[must_use]
    pub fn with_advice(&self, advice: Advice) -> Policy {
        Policy { advice, ..self.clone() }
    }

    /// The policy with words that stay its own when it is met with another one: for a part that the advice of the other
    /// cannot widen, such as what an agent's file says.
    #[must_use]
    pub fn with_own_advice(&self, advice: OwnAdvice, owner: &str) -> Policy {
        let owner: Arc<str> = owner.into();
        self.change(|part| part.advice = Some(Own { words: advice, owner: Arc::clone(&owner) }))
    }

    /// What to do about something that the policy does not allow.
    pub fn advise(&self, remedy: &Remedy<'_>) -> String {
        if let Some(by) = self.denies_whole(remedy) {
            return self.advise(&Remedy::Denied { by });
        }
        let own = match remedy {
            Remedy::Grant { missing, .. } => self.parts.iter().find_map(|part| {
                let is_missing = !missing.difference(part.granted.union(part.askable)).is_empty();
                part.advice.as_ref().filter(|_| is_missing)
            }),
            _ => None,
        };
        own.map_or_else(|| (self.advice)(remedy), |own| own.say(remedy))
    }

    /// The rule that denies all that a capability is missing for: to grant the capability would not help.
    fn denies_whole(&self, remedy: &Remedy<'_>) -> Option<&Rule> {
        let Remedy::Grant { missing, .. } = remedy else { return None };
        let mut rules = self.parts.iter().flat_map(|part| part.layers.iter().flat_map(|layer| layer.iter()));
        rules.find(|rule| {
            let is_about = match rule.action() {
                Action::Everything => true,
                Action::Capability(capability) => missing.has(*capability),
                Action::Tool(_) => false,
            };
            rule.effect() == Effect::Deny && rule.resource().is_everything() && is_about
        })
    }
}

/// The words of this crate.
pub(super) fn in_rules(remedy: &Remedy<'_>) -> String {
    let named = |capability: &Option<Capability>| capability.map_or("it", Capability::as_str);
    match remedy {
        Remedy::Grant { missing, .. } => format!("the policy must allow {missing}"),
        Remedy::Consent { capability, rule } => {
            format!("consent, or add the allow rule `{rule}`, or allow {} in the policy", named(capability))
        }
        Remedy::Capability { capability, rule } => {
            format!("allow {} in the policy, or add the allow rule `{rule}`", named(capability))
        }
        Remedy::Denied { by } if by.origin().layer == Layer::BuiltIn => {
            format!("no rule opens {}", by.origin())
        }
        // A rule of the program stands in no file.
        Remedy::Denied { by } if by.origin().line == 0 => {
            "nothing overrides a deny: change or remove this rule".to_owned()
        }
        Remedy::Denied { by } => format!(
            "nothing overrides a deny: change or remove the {} rule at {}",
            by.origin().layer,
            by.origin()
        ),
        Remedy::Protected { rule, more } => {
            let more: String = more.iter().map(|rule| format!(" and `{rule}`")).collect();
            format!(
                "consent, or add the allow rule `{rule}`{more}; a blanket yes does not answer for protected files"
            )
        }
        // No rule is stronger than those of this layer.
        Remedy::Asked { by, .. } if by.origin().layer == Layer::Flags => {
            format!("consent, or remove the rule `{by}`")
        }
        Remedy::Asked { rule, .. } => format!("consent, or add the allow rule `{rule}`"),
        Remedy::Closed { rules: [] } => "allow it with a rule".to_owned(),
        Remedy::Closed { rules: [rule] } => format!("add the allow rule `{rule}`"),
        Remedy::Closed { rules } => {
            let rules: Vec<String> = rules.iter().map(|rule| format!("`{rule}`")).collect();
            format!("add the allow rules {}", rules.join(" and "))
        }
        Remedy::Unconfined => {
            "write the line so that it names all files, or run it in the sandbox".to_owned()
        }
    }
}
