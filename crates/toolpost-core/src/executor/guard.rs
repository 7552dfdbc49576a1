//! The decision on a call, kept while it runs: each file is judged again by where its name led.

use super::decide::denied;
use crate::access::Access;
use crate::capability::{Capabilities, Capability};
use crate::error::{Code, ToolError};
use crate::policy::{Closed, Effect, FileRules, Policy, Request};
use crate::workspace::Guard;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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
        // A writer looks at what it replaces; that is part of the writing.
        let action = match action {
            Capability::Read if !self.granted.has(Capability::Read) => Capability::Write,
            action => action,
        };
        if !self.granted.has(action) {
            return Err(self.undeclared(action, name));
        }
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

    fn is_open_to_commands(&self, action: Capability, name: &str) -> bool {
        self.policy.is_open_to_commands(action, name, &self.consented)
    }

    fn is_opened_by_rule(&self, action: Capability, name: &str) -> bool {
        self.policy.is_opened_by_rule(action, name, &self.consented)
    }

    fn file_rules(&self) -> Vec<FileRules> {
        self.policy.file_rules(&self.consented)
    }

    fn closed_to_commands(&self, name: &str) -> Option<Closed> {
        self.policy.closed_to_commands(name, &self.consented)
    }

    fn identity(&self) -> String {
        self.policy.identity(&self.consented)
    }
}

impl CallGuard {
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
