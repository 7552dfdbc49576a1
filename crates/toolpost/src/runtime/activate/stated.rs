//! What was said about the rights of a run when it began, and what of it still holds when it goes on.
//!
//! A run that goes on, and a fork, have no more rights than the run had, unless a flag of the new command line gives them.
//! What nobody has said anything about is not recorded: there the defaults of the new process hold.

use crate::config::{Layer as ConfigLayer, Right};
use crate::runtime::Runtime;
use toolpost_core::activation::{StatedRights, StatedRule};
use toolpost_core::policy::{Effect, Layer, Origin, Rule};
use toolpost_core::{Capability, Code, Policy, ToolError};
use toolpost_tools::shell::Confinement;

impl Runtime {
    /// What is said about the rights of a run that begins now, or goes on after one with the rights `before`.
    pub(crate) fn rights_after(&self, before: &StatedRights) -> StatedRights {
        let mut stated = StatedRights { is_confined: before.is_confined, ..StatedRights::default() };
        for (capability, right) in self.config.values.rights.iter() {
            let is_stated = right.place.layer != ConfigLayer::BuiltIn;
            let now = if is_stated { right.value } else { Right::Granted };
            let narrower = self.kept(before, capability).map_or(now, |kept| now.min(kept));
            match narrower {
                Right::Absent => stated.withheld.push(capability),
                Right::Asked => stated.asked.push(capability),
                Right::Granted => {}
            }
        }
        let named = self.config.layers.named_rules().filter(|rule| rule.effect() != Effect::Allow);
        let named = named.map(|rule| StatedRule { effect: rule.effect(), rule: rule.to_string() });
        stated.rules = before.rules.clone();
        for rule in named {
            if !stated.rules.contains(&rule) {
                stated.rules.push(rule);
            }
        }
        if let Some(sandbox) = self.sandbox_flag() {
            stated.is_confined = sandbox == Confinement::Strict;
        }
        stated
    }

    /// A policy without what was withheld when the run began.
    pub(super) fn policy_after(&self, before: &StatedRights, policy: Policy) -> Result<Policy, ToolError> {
        let is_confined = self.config.shell.confinement == Confinement::Strict;
        if before.is_confined && !is_confined && self.sandbox_flag().is_none() {
            let message = "this run began with `--sandbox strict`, and commands are not confined now; say `--sandbox strict`, or `--sandbox none` to change it";
            return Err(ToolError::new(Code::ValidationError, message));
        }
        let mut policy = policy;
        for capability in Capability::ALL {
            match self.kept(before, capability) {
                Some(Right::Absent) => policy = policy.withhold(capability),
                Some(Right::Asked) if policy.granted().has(capability) => policy = policy.ask(capability),
                _ => {}
            }
        }
        let origin = || Origin::new(Layer::User, "the beginning of the run", 0);
        let rules =
            before.rules.iter().map(|stated| Rule::parse_short(stated.effect, &stated.rule, origin()));
        let rules: Result<Vec<Rule>, String> = rules.collect();
        let rules = rules.map_err(|error| {
            let message = format!("a rule that the run began with is not understood: {error}");
            ToolError::new(Code::ValidationError, message)
        })?;
        Ok(policy.with_rules_before(Layer::User, rules))
    }

    /// What the user is told where the rights of the beginning are narrower than those of this command line.
    pub(super) fn note_of_rights(&self, before: &StatedRights) -> Option<String> {
        let rights = self.config.values.rights.iter();
        let narrowed = rights.filter_map(|(capability, right)| match self.kept(before, capability)? {
            kept if kept >= right.value => None,
            Right::Absent => Some(format!("{capability} is withheld")),
            _ => Some(format!("{capability} is asked for")),
        });
        let narrowed: Vec<String> = narrowed.collect();
        (!narrowed.is_empty()).then(|| {
            format!(
                "{}, as when the run began; `--policy` or `--allow` on this command line changes that",
                narrowed.join(", ")
            )
        })
    }

    /// What holds for a capability since the beginning of the run; none where nothing was said, or a flag says something now.
    fn kept(&self, before: &StatedRights, capability: Capability) -> Option<Right> {
        let now = self.config.values.rights.iter().find(|(one, _)| *one == capability)?.1;
        match () {
            () if now.place.layer == ConfigLayer::Flags => None,
            () if before.withheld.contains(&capability) => Some(Right::Absent),
            () if before.asked.contains(&capability) => Some(Right::Asked),
            () => None,
        }
    }

    /// How commands are confined, where a flag says it.
    fn sandbox_flag(&self) -> Option<Confinement> {
        let sandbox = self.config.values.keys.sandbox.first()?;
        (sandbox.place.layer == ConfigLayer::Flags).then_some(sandbox.value)
    }
}
