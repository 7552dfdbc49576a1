//! Whether a pack may be used under a policy: a pure answer from its manifest.

use super::manifest::Manifest;
use crate::error::{Code, ToolError};
use crate::policy::{Policy, Remedy};

/// Refuses a pack that needs more than the policy grants or asks for, before any of its tools is built.
///
/// From the manifest alone the tools that would remain are those that an allow rule names;
/// [`Pack::assert_allowed`](super::Pack::assert_allowed) knows more of them.
pub fn assert_allowed(manifest: &Manifest, policy: &Policy) -> Result<(), ToolError> {
    let needed = manifest.requirements();
    let named = manifest.tools().iter().filter(|tool| policy.offers(tool, needed));
    let named: Vec<&str> = named.map(String::as_str).collect();
    check(manifest, policy, &named)
}

/// The same, where it is known which tools would remain.
pub(super) fn check(manifest: &Manifest, policy: &Policy, remaining: &[&str]) -> Result<(), ToolError> {
    let missing = manifest.requirements().difference(policy.granted().union(policy.askable()));
    if missing.is_empty() {
        return Ok(());
    }
    let advice = policy.advise(&Remedy::Grant { missing, tool: None });
    let rest = match remaining {
        [] => "none of its tools would remain".to_owned(),
        all if all.len() == manifest.tools().len() => {
            format!("each of its tools is offered by itself: {}", listed(all))
        }
        some => format!("of its tools {} would remain", listed(some)),
    };
    let message = format!(
        "the pack `{}` is {} and needs {missing}, which is not granted; {advice}; without it {rest}",
        manifest.name(),
        manifest.risk_profile()
    );
    Err(ToolError::new(Code::PermissionDenied, message)
        .with("pack", manifest.name())
        .with("missing", serde_json::to_value(missing).unwrap_or_default())
        .with("remaining", remaining))
}

fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
