//! The decision on a call, kept while it runs: each file is judged again by where its name led.

use super::decide::denied;
use crate::access::{Access, Resource};
use crate::capability::{Capabilities, Capability};
use crate::error::{Code, ToolError};
use crate::policy::{Ahead, Closed, Effect, FileRules, Layer, Origin, Policy, Request, Rule};
use crate::workspace::{Guard, Owner, RunByGit};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The tool whose decision says whether the model may have the content of a file: the one that is named after the capability.
const READER: &str = Capability::Read.as_str();

/// The policy with what git runs protected, below all rules of users and projects.
pub(super) fn with_run_by_git(policy: &Policy, run: &[RunByGit]) -> Policy {
    if run.is_empty() {
        return policy.clone();
    }
    let origin = |why: &str| Origin::new(Layer::BuiltIn, why, 0);
    let rule = |run: &RunByGit| {
        let (path, why) = match run {
            RunByGit::Named(path) => (path, "git runs it or takes its configuration from it"),
            RunByGit::Completes(path) => (path, "it would make its folder a git repository"),
            RunByGit::Identifies(path) => (path, "its folder is a git repository by it"),
            // No rule about one name of a file opens what another denies by its other name.
            RunByGit::Linked { path, name } if policy.is_denied_by_rule(Capability::Write, name) => {
                let access = Access::path(Capability::Write, path.as_str());
                let origin = origin("a rule denies the name that a link gives it");
                return Rule::exact(Effect::Deny, Capability::Write.as_str(), None, &access, origin);
            }
            RunByGit::Linked { name, .. } if policy.is_open_to_commands(Capability::Write, name, &[]) => {
                return None;
            }
            RunByGit::Linked { path, .. } => (path, "the name that a link gives it is protected"),
        };
        Some(Rule::protected_path(Capability::Write, path, origin(why)))
    };
    let rules: Vec<Rule> = run.iter().filter_map(rule).collect();
    if rules.is_empty() { policy.clone() } else { policy.with_rules(Layer::BuiltIn, rules) }
}

/// Holds a running call to what was decided for it.
pub(super) struct CallGuard {
    pub(super) tool: Arc<str>,
    pub(super) granted: Capabilities,
    pub(super) policy: Policy,
    /// What a person has agreed to for this call.
    pub(super) consented: Vec<Access>,
    pub(super) ended: Arc<AtomicBool>,
}

impl Guard for CallGuard {
    fn judge(&self, action: Capability, name: &str) -> Result<(), ToolError> {
        // What a tool left running when its caller got the answer must not change files behind everybody's back.
        if self.ended.load(Ordering::Acquire) {
            return Err(ToolError::new(
                Code::Cancelled,
                format!("the call of `{}` has ended; it may not {action} `{name}` any more", self.tool),
            ));
        }
        if action == Capability::Read {
            return self.judge_reading(name);
        }
        if !self.granted.has(action) {
            return Err(self.undeclared(action, name));
        }
        self.judge_own(action, name)
    }

    fn judge_host(&self, place: &str) -> Result<(), ToolError> {
        let accesses = [Access::host(place)];
        let request = Request { tool: &self.tool, accesses: &accesses };
        let is_agreed = match self.policy.decide(&request).effect() {
            Effect::Allow => true,
            Effect::Ask => self.consented.contains(&accesses[0]),
            Effect::Deny => false,
        };
        match is_agreed && self.granted.has(Capability::Network) {
            true => Ok(()),
            false => Err(denied(&self.policy, &request, ", which this call was not decided for")),
        }
    }

    fn opens_host(&self, place: &str) -> bool {
        self.policy.opens_host(&self.tool, place)
    }

    fn judge_run_by_git(&self, name: &str, run: &[RunByGit]) -> Result<(), ToolError> {
        self.judge_own_by(&with_run_by_git(&self.policy, run), Capability::Write, name)
    }

    fn shows(&self, name: &str) -> bool {
        let is_own = self.granted.has(Capability::Read)
            && self.judge_own(Capability::Read, name).is_ok()
            && !self.is_denied_to_the_reader(name);
        is_own || self.policy.allows_path(READER, Capability::Read, name)
    }

    fn is_open_to_commands(&self, action: Capability, name: &str, owner: Owner) -> bool {
        self.policy.is_open_to_commands_in(owner, action, name, &self.consented)
    }

    fn is_opened_by_rule(&self, action: Capability, name: &str) -> bool {
        self.policy.is_opened_by_rule(action, name, &self.consented)
    }

    fn allows_any_command(&self) -> bool {
        self.policy.allows_any_command(&self.tool, &self.consented)
    }

    fn is_denied_by_rule(&self, action: Capability, name: &str) -> bool {
        self.policy.is_denied_by_rule(action, name)
    }

    fn ahead(&self) -> Ahead {
        self.policy.ahead()
    }

    fn file_rules(&self) -> Vec<FileRules> {
        self.policy.file_rules(&self.consented)
    }

    fn protected_paths(&self) -> Vec<String> {
        self.policy.protected_paths()
    }

    fn closed_to_commands(&self, action: Capability, name: &str) -> Option<Closed> {
        self.policy.closed_to_commands(action, name, &self.consented)
    }

    fn identity(&self) -> String {
        self.policy.identity(&self.consented)
    }
}

impl CallGuard {
    /// Reading is a decision of its own, whatever the call may write. A tool that declares no reading may look at what
    /// it replaces where anybody may: a rule that lets it write a file does not open the file, and neither does a
    /// person who agrees to the writing.
    fn judge_reading(&self, name: &str) -> Result<(), ToolError> {
        if self.granted.has(Capability::Read) {
            self.judge_own(Capability::Read, name)?;
            // Consent to this call covers what asks; nothing covers a denial.
            return match self.is_denied_to_the_reader(name) {
                true => Err(self.unreadable(name)),
                false => Ok(()),
            };
        }
        if !self.granted.has(Capability::Write) {
            return Err(self.undeclared(Capability::Read, name));
        }
        match self.policy.allows_path(READER, Capability::Read, name) {
            true => Ok(()),
            false => Err(self.unreadable(name)),
        }
    }

    /// Whether a rule about the tool `read` alone denies the file: its content is then not for the model by another tool either.
    fn is_denied_to_the_reader(&self, name: &str) -> bool {
        let mut rules = Layer::ALL.into_iter().flat_map(|layer| self.policy.rules(layer));
        if !rules
            .any(|rule| rule.effect() == Effect::Deny && rule.action().names(READER, self.policy.names()))
        {
            return false;
        }
        let accesses = [Access::path(Capability::Read, name)];
        self.policy.decide(&Request { tool: READER, accesses: &accesses }).effect() == Effect::Deny
    }

    fn unreadable(&self, name: &str) -> ToolError {
        let accesses = [Access::path(Capability::Read, name)];
        let request = Request { tool: READER, accesses: &accesses };
        denied(&self.policy, &request, "").with("path", name)
    }

    fn judge_own(&self, action: Capability, name: &str) -> Result<(), ToolError> {
        self.judge_own_by(&self.policy, action, name)
    }

    fn judge_own_by(&self, policy: &Policy, action: Capability, name: &str) -> Result<(), ToolError> {
        if policy.allows_path(&self.tool, action, name) {
            return Ok(());
        }
        let accesses = [Access::path(action, name)];
        let request = Request { tool: &self.tool, accesses: &accesses };
        let decision = policy.decide(&request);
        // Consent to anything covers what only the capability asks about; a rule on this very file is another matter.
        let is_covered = decision.effect() == Effect::Ask
            && decision.rule().is_none()
            && self.consented.contains(&Access::any(action));
        // Consent to a folder with everything in it covers what only the capability asks about there.
        let is_in_folder = |access: &Access| match &access.resource {
            Resource::Path(folder) if access.needs_consent() && access.action == action => {
                name.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'))
            }
            _ => false,
        };
        let is_covered = is_covered
            || decision.effect() == Effect::Ask
                && decision.rule().is_none()
                && self.consented.iter().any(is_in_folder);
        if is_covered || self.consented.contains(&accesses[0]) {
            return Ok(());
        }
        Err(denied(policy, &request, ", which this call was not decided for").with("path", name))
    }

    fn undeclared(&self, action: Capability, name: &str) -> ToolError {
        ToolError::new(
            Code::PermissionDenied,
            format!(
                "`{}` tried to {action} `{name}`, but this call was decided for {} only; \
                 the tool must declare the capability `{action}`",
                self.tool, self.granted
            ),
        )
        .with("path", name)
    }
}
