//! Rules that a program writes in its own code, and what is wrong with them. What a capability is, is known at once; what tools
//! there are, only when the policy meets them.

use crate::access::ResourceKind;
use crate::action::Action;
use crate::capability::Capability;
use crate::effect::{Effect, Layer, Origin};
use crate::policy::Policy;
use crate::rule::{NotARule, Rule};
use toolpost_text::{misspelling_of, wildcard};

/// What stands for the file of such rules.
const FILE: &str = "set by the program";

impl Policy {
    /// The policy with a rule that denies, such as `write: /migrations` or `bash: git push *`.
    ///
    /// It holds whatever other rules say, in whichever order they are added. A text that is not a rule is an error. This
    /// and the next two stand for the program that makes the policy, in the layer of the user's own rules.
    pub fn deny(&self, rule: &str) -> Result<Policy, NotARule> {
        let rule = of_the_program(Effect::Deny, rule)?;
        Ok(self.by_program().change(|part| {
            let list = &mut part.layers[Layer::User as usize];
            // In front: the first rule that matches speaks for its layer.
            *list = std::iter::once(&rule).chain(list.iter()).cloned().collect();
        }))
    }

    /// The policy with a rule that allows what it matches, also where the capability is absent or the file is protected.
    ///
    /// Of the rules that allow and ask, the first that matches decides.
    pub fn allow_rule(&self, rule: &str) -> Result<Policy, NotARule> {
        Ok(self.by_program().with_rules(Layer::User, vec![of_the_program(Effect::Allow, rule)?]))
    }

    /// The policy with a rule by which a person is asked about what it matches; it grants nothing by itself.
    ///
    /// Of the rules that allow and ask, the first that matches decides.
    pub fn ask_rule(&self, rule: &str) -> Result<Policy, NotARule> {
        let text = rule;
        let rule = of_the_program(Effect::Ask, rule)?;
        let never = |capability: &Capability| !self.may_ask(*capability);
        match rule.action() {
            Action::Capability(capability) if never(capability) => {
                Err(NotARule { rule: text.to_owned(), why: never_asks(*capability) })
            }
            _ => Ok(self.by_program().with_rules(Layer::User, vec![rule])),
        }
    }

    /// What is wrong with the rules of the program, held against the tools that [`Policy::with_names`] has named: the
    /// misspelt name of a tool in a rule that denies or asks, or a rule that can never ask. Costs nothing where a program
    /// wrote none.
    pub fn problem(&self) -> Option<NotARule> {
        if !self.has_program_rules || self.names.is_empty() {
            return None;
        }
        let rules = self.rules(Layer::User).filter(|rule| &*rule.origin().file == FILE);
        rules.filter(|rule| rule.effect() != Effect::Allow).find_map(|rule| self.wrong_with(rule))
    }

    fn wrong_with(&self, rule: &Rule) -> Option<NotARule> {
        let Action::Tool(name) = rule.action() else { return None };
        let not_a_rule = |why: String| Some(NotARule { rule: rule.to_string(), why });
        let Some(tool) = self.names.tool(name) else {
            let near = misspelling_of(name, self.names.tools()).filter(|_| !wildcard::has_wildcard(name))?;
            return not_a_rule(format!("there is no tool `{name}`; did you mean `{near}`"));
        };
        let needed = match self.names.about(tool) {
            Some(ResourceKind::Command) => Capability::Exec,
            Some(ResourceKind::Host) => Capability::Network,
            _ => return None,
        };
        let is_allowed = |other: &Rule| other.effect() == Effect::Allow && other.covers(rule, &self.names);
        let can_ask =
            self.may_ask(needed) || Layer::ALL.into_iter().any(|layer| self.rules(layer).any(is_allowed));
        if rule.effect() == Effect::Ask && !can_ask { not_a_rule(never_asks(needed)) } else { None }
    }

    /// Whether a rule that asks about a capability can lead to a question: a question grants nothing.
    fn may_ask(&self, capability: Capability) -> bool {
        self.granted().has(capability) || self.askable().has(capability)
    }

    fn by_program(&self) -> Policy {
        Policy { has_program_rules: true, ..self.clone() }
    }
}

fn never_asks(capability: Capability) -> String {
    format!(
        "it can never ask, because {capability} is neither granted nor asked for, and a rule that asks grants nothing; \
         make the policy ask for {capability} first"
    )
}

/// A rule that a program writes in its own code.
fn of_the_program(effect: Effect, rule: &str) -> Result<Rule, NotARule> {
    let not_a_rule = |why: String| NotARule { rule: rule.to_owned(), why };
    let origin = Origin::new(Layer::User, FILE, 0);
    let read = Rule::parse_short(effect, rule, origin).map_err(not_a_rule)?;
    let Action::Tool(name) = read.action() else { return Ok(read) };
    let words = Capability::ALL.map(Capability::as_str).into_iter().chain(["execute"]);
    match misspelling_of(name, words) {
        Some(near) if effect != Effect::Allow && !rule.trim_start().starts_with('=') => {
            Err(not_a_rule(format!(
                "there is no capability `{name}`; did you mean `{near}`? A tool of that name is `={name}`"
            )))
        }
        _ => Ok(read),
    }
}
