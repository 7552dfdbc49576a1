//! What a walking tool must not show, counted by the rule that says so.

use super::Context;
use crate::error::ToolError;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Files that the policy would ask about or deny, as a walk comes upon them.
pub struct HeldBack {
    ctx: Context,
    by_rule: Mutex<BTreeMap<String, u64>>,
}

impl Context {
    /// Starts counting what a walk of this call must not show.
    pub fn held_back(&self) -> HeldBack {
        HeldBack { ctx: self.clone(), by_rule: Mutex::default() }
    }
}

impl HeldBack {
    /// Whether the file of this display name must not be shown; counts it if so.
    pub fn holds(&self, name: &str) -> bool {
        let Some(refusal) = self.ctx.withheld(name) else { return false };
        self.count(&refusal);
        true
    }

    /// Counts a file that was refused for this reason.
    pub fn count(&self, refusal: &ToolError) {
        let rule = refusal.details().get("rule");
        let word = |key: &str| rule.and_then(|rule| rule.get(key)).and_then(serde_json::Value::as_str);
        let shown = match (word("effect"), word("action"), word("resource"), word("file")) {
            (Some(effect), Some(action), Some(resource), Some(file)) => {
                format!("{effect} {action}: {resource} ({file})")
            }
            _ => "read is not granted".to_owned(),
        };
        *self.by_rule.lock().unwrap_or_else(PoisonError::into_inner).entry(shown).or_default() += 1;
    }

    /// How many were held back so far.
    pub fn total(&self) -> u64 {
        self.by_rule.lock().unwrap_or_else(PoisonError::into_inner).values().sum()
    }

    /// How many were held back and by which rules, for the model; nothing if none were.
    pub fn note(&self) -> Option<String> {
        let by_rule = self.by_rule.lock().unwrap_or_else(PoisonError::into_inner);
        if by_rule.is_empty() {
            return None;
        }
        let total: u64 = by_rule.values().sum();
        let rules: Vec<String> = by_rule.iter().map(|(rule, count)| format!("{count} by `{rule}`")).collect();
        Some(format!("{total} hidden by the policy: {}", rules.join(", ")))
    }
}
