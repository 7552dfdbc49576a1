//! What a user of the command line can do about a refusal: which flag allows it.
//!
//! Policies that are made from configuration carry these words, so that every way in says the same.

use toolpost_core::capability::Capabilities;
use toolpost_core::policy::{Layer, Remedy};

/// The advice of the policies that the configuration makes.
pub(crate) fn in_flags(remedy: &Remedy<'_>) -> String {
    match remedy {
        Remedy::Grant { missing, tool } => {
            // Of a server's tools hardly anybody means all.
            let narrower = match tool {
                Some(tool) => format!(", or just this tool with `--allow-rule '{tool}: *'`"),
                None => String::new(),
            };
            format!("allow it with `{}`{narrower}", allow_flags(*missing))
        }
        Remedy::Consent { capability, rule } => {
            let all = capability.map_or("it", |capability| capability.as_str());
            format!("consent, or allow just this with {}, or all of it with --allow {all}", allow_rule(rule))
        }
        Remedy::Capability { capability, rule } => {
            let all = capability.map_or("it", |capability| capability.as_str());
            format!("allow all of it with --allow {all}, or just this with {}", allow_rule(rule))
        }
        Remedy::Denied { by } if by.origin().layer == Layer::BuiltIn => {
            format!("no flag or rule opens {}", by.origin())
        }
        Remedy::Denied { by } if by.origin().layer == Layer::Flags => {
            format!("no other flag overrides it: leave out what brings the rule `{by}` ({})", by.origin())
        }
        Remedy::Denied { by } => {
            let origin = by.origin();
            format!("no flag overrides a deny: change or remove the {} rule at {origin}", origin.layer)
        }
        Remedy::Protected { rule, more } => {
            let more: String = more.iter().map(|rule| format!(" {}", allow_rule(rule))).collect();
            format!(
                "consent, or allow just this with {}{more}; --yes does not answer for protected files",
                allow_rule(rule)
            )
        }
        Remedy::Asked { by, .. } if by.origin().layer == Layer::Flags => {
            format!("consent, or leave out the flag that brings the rule `{by}`")
        }
        Remedy::Asked { rule, .. } => format!("consent, or allow just this with {}", allow_rule(rule)),
        Remedy::Closed { rules: [] } => "allow it with a rule".to_owned(),
        Remedy::Closed { rules } => {
            let flags: Vec<String> = rules.iter().map(|rule| allow_rule(rule)).collect();
            format!("allow it with {}", flags.join(" "))
        }
        Remedy::Unconfined => {
            "write the line so that it names all files, or leave out `--sandbox none`".to_owned()
        }
    }
}

/// The flags that grant these capabilities.
pub(crate) fn allow_flags(missing: Capabilities) -> String {
    let flags: Vec<String> = missing.iter().map(|capability| format!("--allow {capability}")).collect();
    flags.join(" ")
}

/// The flag that brings a rule, quoted for a shell.
fn allow_rule(rule: &str) -> String {
    format!("--allow-rule '{}'", rule.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolpost_core::policy::{Effect, Origin, Policy, Request, Rule};
    use toolpost_core::{Access, Capability};

    fn check(policy: &Policy, tool: &str, access: Access, expected: &str) {
        let decision = policy.with_advice(in_flags).decide(&Request { tool, accesses: &[access] });
        assert_eq!(decision.remedy().unwrap_or_default(), expected);
    }

    #[test]
    fn each_refusal_names_the_flag_that_allows_it() {
        let standard = Policy::standard();
        check(
            &standard,
            "bash",
            Access::command("cargo test 'a b'"),
            r"allow all of it with --allow exec, or just this with --allow-rule 'bash: cargo test '\''a b'\'''",
        );
        check(
            &standard,
            "edit",
            Access::path(Capability::Write, ".git/config"),
            "consent, or allow just this with --allow-rule 'edit: .git/config'; --yes does not answer for protected files",
        );
        let read = || Access::path(Capability::Read, "a");
        check(
            &Policy::read_only().ask(Capability::Read),
            "read",
            read(),
            "consent, or allow just this with --allow-rule 'read: /a', or all of it with --allow read",
        );
        let rule = |effect| {
            let origin = Origin::new(Layer::Flags, "--ask-rule", 0);
            vec![Rule::parse_short(effect, "read: /a", origin).unwrap()]
        };
        check(
            &standard.with_rules(Layer::Flags, rule(Effect::Ask)),
            "read",
            read(),
            "consent, or leave out the flag that brings the rule `read: /a`",
        );
        check(
            &standard.with_rules(Layer::User, rule(Effect::Ask)),
            "read",
            read(),
            "consent, or allow just this with --allow-rule 'read: /a'",
        );
        check(
            &standard.with_rules(Layer::User, rule(Effect::Deny)),
            "read",
            read(),
            "no flag overrides a deny: change or remove the user rule at --ask-rule",
        );
    }

    #[test]
    fn a_tool_that_is_not_offered_names_the_flags() {
        let missing: Capabilities = [Capability::Exec, Capability::Network].into_iter().collect();
        for (tool, expected) in [
            (None, "allow it with `--allow exec --allow network`"),
            (
                Some("mcp__x__y"),
                "allow it with `--allow exec --allow network`, or just this tool with `--allow-rule 'mcp__x__y: *'`",
            ),
        ] {
            assert_eq!(in_flags(&Remedy::Grant { missing, tool }), expected);
        }
    }
}
