//! The action of a rule: a capability, a tool, or everything.

use super::names::Names;
use crate::capability::Capability;
use std::fmt;
use toolpost_text::wildcard::{has_wildcard, name_matches};

/// What a rule is about.
///
/// `read`, `trace`, `write`, `exec` (or `execute`) and `network` are capabilities: every tool that would do that is
/// meant. Any other word is the name of a tool, with `*` and `?` as wildcards; `=read` and `=write` mean the tools of
/// that name alone. What a name means is said by [`Names`]: a name of a tool in any dialect means the tool, and a tool of
/// a server is also found under the spellings of other hosts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Action {
    /// `*`: whatever any tool does.
    Everything,
    /// Whatever uses this capability.
    Capability(Capability),
    /// Whatever the tools of this name do; may hold wildcards.
    Tool(String),
}

impl Action {
    /// Reads an action; the error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Action, String> {
        let text = text.trim();
        if text == "*" {
            return Ok(Action::Everything);
        }
        if let Ok(capability) = text.parse::<Capability>() {
            return Ok(Action::Capability(capability));
        }
        let name = text.strip_prefix('=').unwrap_or(text);
        if name.is_empty() {
            return Err(
                "the action is empty; write a capability (read, write, exec, network, trace), a tool or `*`"
                    .into(),
            );
        }
        if name.len() > 200 {
            return Err(format!("the action has {} bytes; at most 200 are taken", name.len()));
        }
        let is_allowed = |letter: char| letter.is_alphanumeric() || "_-./*?".contains(letter);
        match name.chars().find(|letter| !is_allowed(*letter)) {
            Some(letter) => Err(format!(
                "the action `{name}` has a `{}`; a tool's name has letters, digits, `_`, `-`, `.`, `/` and the \
                 wildcards `*` and `?`",
                letter.escape_default()
            )),
            None => Ok(Action::Tool(name.to_owned())),
        }
    }

    /// Reads the action of a rule that narrows. A word that differs from a capability only in its case names a tool of some
    /// dialect, which is much less; where just the tool is meant, `=` says so.
    pub fn parse_narrowing(text: &str) -> Result<Action, String> {
        let action = Action::parse(text)?;
        let Action::Tool(name) = &action else { return Ok(action) };
        let is_alike = |capability: &Capability| capability.as_str().eq_ignore_ascii_case(name);
        match Capability::ALL.into_iter().find(is_alike).filter(|_| !text.trim().starts_with('=')) {
            Some(capability) => Err(format!(
                "`{name}` names one tool; write `{capability}` for all that does this, or `={name}` for the tool alone"
            )),
            None => Ok(action),
        }
    }

    /// Whether a call of the tool that would use the capability (none: a call that touches nothing) is meant.
    pub fn matches(&self, tool: &str, capability: Option<Capability>, names: &Names) -> bool {
        match self {
            Action::Everything => true,
            Action::Capability(wanted) => capability == Some(*wanted),
            Action::Tool(pattern) => tool_matches(pattern, tool, names),
        }
    }

    /// Whether the rule could name some tool of a group; `tools` is the name that stands for any of them and ends in `*`.
    pub(super) fn may_name(&self, tools: &str, names: &Names) -> bool {
        let Action::Tool(pattern) = self else { return matches!(self, Action::Everything) };
        let (Some(own), Some(others)) = (tools.strip_suffix('*'), names.rule_names(tools)) else {
            return true;
        };
        let pattern = pattern.replace('.', "_");
        let known = pattern.split(['*', '?']).next().unwrap_or_default();
        let is_open = known.len() < pattern.len();
        let others_of_it = others.spellings.iter().map(|spelling| spelling.trim_end_matches('*'));
        let mut prefixes = std::iter::once(own).chain(others_of_it);
        pattern == others.group
            || prefixes.any(|prefix| known.starts_with(prefix) || is_open && prefix.starts_with(known))
    }

    /// Whether the rule speaks of this tool by name.
    pub fn names(&self, tool: &str, names: &Names) -> bool {
        match self {
            Action::Everything => true,
            Action::Capability(_) => false,
            Action::Tool(pattern) => tool_matches(pattern, tool, names),
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Action::Everything => f.write_str("*"),
            Action::Capability(capability) => capability.fmt(f),
            Action::Tool(name) if name == "*" || name.parse::<Capability>().is_ok() => write!(f, "={name}"),
            Action::Tool(name) => f.write_str(name),
        }
    }
}

fn tool_matches(pattern: &str, tool: &str, names: &Names) -> bool {
    if !has_wildcard(pattern) && pattern == tool {
        return true;
    }
    if has_wildcard(pattern) && name_matches(pattern, tool) {
        return true;
    }
    if names.means(pattern, tool) {
        return true;
    }
    let Some(others) = names.rule_names(tool) else { return false };
    // The names of such tools have no dots here; the rules that people bring may.
    let pattern = pattern.replace('.', "_");
    let mut spellings = others.spellings.iter();
    spellings.any(|spelling| name_matches(&pattern, spelling))
        || name_matches(&pattern, tool)
        || pattern == others.group
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::{KnownTool, Meanings, RuleNames};
    use std::sync::Arc;

    /// Pairs of a name and the tool that it means.
    #[derive(Debug)]
    struct Pairs(Vec<(&'static str, &'static str)>);

    impl Meanings for Pairs {
        fn meaning(&self, name: &str) -> Option<&str> {
            self.0.iter().find(|(known, _)| *known == name).map(|(_, tool)| *tool)
        }
    }

    /// A shell and a reader with names of dialects, and tools of servers.
    fn names() -> Names {
        let others = Pairs(vec![
            ("Bash", "bash"),
            ("run_shell_command", "bash"),
            ("exec_command", "bash"),
            ("shell", "bash"),
            ("Read", "read"),
            ("Write", "write"),
        ]);
        let served = |server: &str, tool: &str| {
            let group = format!("mcp__{server}");
            let spellings =
                vec![format!("mcp_{server}_{tool}"), format!("{server}_{tool}"), format!("{server}/{tool}")];
            let name = format!("{group}__{tool}");
            KnownTool { name, about: None, rule_names: Some(RuleNames { group, spellings }) }
        };
        let tools = [
            served("gh", "list"),
            served("other", "list"),
            served("my_server", "list"),
            served("my_server", "list_all"),
        ];
        Names::new(Arc::new(others), tools)
    }

    #[test]
    fn actions_match_and_round_trip() {
        let names = names();
        let exec = Some(Capability::Exec);
        for (text, tool, capability, expected) in [
            ("*", "anything", None, true),
            ("exec", "bash", exec, true),
            ("execute", "bash", exec, true),
            ("exec", "bash", Some(Capability::Write), false),
            ("read", "read", Some(Capability::Write), false),
            ("=read", "read", Some(Capability::Write), true),
            ("=read", "grep", Some(Capability::Read), false),
            ("bash", "bash", exec, true),
            ("bash*", "bash_output", exec, true),
            ("Bash", "bash", exec, true),
            ("run_shell_command", "bash", exec, true),
            ("exec_command", "bash", exec, true),
            ("shell", "bash", exec, true),
            ("shell", "shell", exec, true),
            ("Bash", "bash_output", exec, false),
            ("Read", "read", Some(Capability::Read), true),
            ("Read", "grep", Some(Capability::Read), false),
            ("Write", "edit", Some(Capability::Write), false),
            ("mcp__gh__*", "mcp__gh__list", exec, true),
            ("mcp_gh_*", "mcp__gh__list", exec, true),
            ("gh_*", "mcp__gh__list", exec, true),
            ("gh/list", "mcp__gh__list", exec, true),
            ("gh_list", "mcp__other__list", exec, false),
            ("mcp__my.server__list", "mcp__my_server__list", exec, true),
            ("mcp__gh", "mcp__gh__list", exec, true),
            ("mcp__g", "mcp__gh__list", exec, false),
            ("my.server/list.*", "mcp__my_server__list_all", exec, true),
        ] {
            let action = Action::parse(text).unwrap();
            assert_eq!(action.matches(tool, capability, &names), expected, "{text} {tool}");
            assert_eq!(Action::parse(&action.to_string()), Ok(action), "{text}");
        }
        assert!(Action::parse("a b").unwrap_err().contains("has a ` `"));
        assert!(Action::parse("").unwrap_err().contains("is empty"));
    }
}
