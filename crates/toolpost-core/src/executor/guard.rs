//! The decision on a call, kept while it runs: each file is judged again by where its name led.

use super::decide::denied;
use crate::access::Access;
use crate::capability::{Capabilities, Capability};
use crate::error::{Code, ToolError};
use crate::policy::{Effect, Layer, Policy, Request};
use crate::workspace::Guard;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The tool whose decision says whether the model may have the content of a file.
const READER: &str = "read";

/// Holds a running call to what was decided for it.
pub(super) struct CallGuard {
    pub(super) tool: String,
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

    fn shows(&self, name: &str) -> bool {
        let is_own = self.granted.has(Capability::Read)
            && self.judge_own(Capability::Read, name).is_ok()
            && !self.is_denied_to_the_reader(name);
        is_own || self.policy.allows_path(READER, Capability::Read, name)
    }

    fn is_open_to_commands(&self, action: Capability, name: &str) -> bool {
        self.decides(action, name)
    }

    fn may_open_protected(&self) -> bool {
        let mut rules = Layer::ALL.into_iter().flat_map(|layer| self.policy.rules(layer));
        let is_path = |access: &Access| matches!(access.resource, crate::access::Resource::Path(_));
        rules.any(|rule| rule.effect() == Effect::Allow) || self.consented.iter().any(is_path)
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

    /// Whether a rule about the tool `read` alone denies the file: its content is then not for the model by another
    /// tool either.
    fn is_denied_to_the_reader(&self, name: &str) -> bool {
        let mut rules = Layer::ALL.into_iter().flat_map(|layer| self.policy.rules(layer));
        if !rules.any(|rule| rule.effect() == Effect::Deny && rule.action().names(READER)) {
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
        if self.policy.allows_path(&self.tool, action, name) {
            return Ok(());
        }
        let accesses = [Access::path(action, name)];
        let request = Request { tool: &self.tool, accesses: &accesses };
        let decision = self.policy.decide(&request);
        // Consent to anything covers what only the capability asks about; a rule on this very file is another matter.
        let is_covered = decision.effect() == Effect::Ask
            && decision.rule().is_none()
            && self.consented.contains(&Access::any(action));
        if is_covered || self.consented.contains(&accesses[0]) {
            return Ok(());
        }
        Err(denied(&self.policy, &request, ", which this call was not decided for").with("path", name))
    }

    /// Rules that name the tool are about its commands; files are a matter of rules about files.
    fn decides(&self, action: Capability, name: &str) -> bool {
        if self.policy.allows_path("", action, name) {
            return true;
        }
        let accesses = [Access::path(action, name)];
        let decision = self.policy.decide(&Request { tool: "", accesses: &accesses });
        let is_gits_own = || {
            decision.rule().is_some_and(|rule| {
                rule.is_protected() && matches!(rule.resource().as_str(), ".git" | "git~1")
            })
        };
        // No file tool has any business inside a repository, but git does; what chooses programs is listed apart.
        decision.effect() == Effect::Allow || self.consented.contains(&accesses[0]) || is_gits_own()
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
