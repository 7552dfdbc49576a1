//! Which names of tools a rule can mean: those of all built-in tools, whether they are offered here or not, and those of
//! servers. What is odd about a rule is said by `toolpost_rules`.

use std::path::Path;
use toolpost_core::policy::{Action, Effect, Layer, Rule};
use toolpost_core::text::{misspelling_of, wildcard};
use toolpost_core::{Code, Policy, Registry, ToolError};
use toolpost_rules::{Misspelt, RuleSubjects, Warning};
use toolpost_tools::Settings;

/// The names that rules may use.
pub(crate) struct RuleNames {
    tools: Vec<String>,
    servers: Vec<String>,
    root: Option<String>,
}

impl RuleNames {
    /// Those of every built-in tool, and of the tools of these servers.
    pub(crate) fn new<'a>(servers: impl IntoIterator<Item = &'a str>) -> RuleNames {
        let packs = toolpost_tools::packs(&Settings::default());
        let tools = packs.iter().flat_map(|pack| pack.tools()).map(|tool| tool.name().to_owned()).collect();
        RuleNames { tools, servers: servers.into_iter().map(str::to_owned).collect(), root: None }
    }

    /// In this workspace.
    pub(crate) fn at(mut self, root: Option<&Path>) -> RuleNames {
        self.root = root.and_then(Path::to_str).map(str::to_owned);
        self
    }

    /// With these tools too, such as those that an agent brings along.
    pub(super) fn and<'a>(mut self, tools: impl IntoIterator<Item = &'a str>) -> RuleNames {
        self.tools.extend(tools.into_iter().map(str::to_owned));
        self
    }

    /// Everything that is odd about the rules of a policy.
    pub(crate) fn warnings(&self, policy: &Policy) -> Vec<Warning> {
        let policy = policy.with_names(toolpost_tools::names());
        self.with_subjects(|subjects| toolpost_rules::warnings(&policy, subjects))
    }

    /// The rules that do nothing because of how they are written.
    pub(super) fn misspelt(&self, policy: &Policy) -> Vec<Misspelt> {
        let policy = policy.with_names(toolpost_tools::names());
        let mut found = self.with_subjects(|subjects| toolpost_rules::misspelt(&policy, subjects));
        found.extend(self.strange_servers(&policy));
        found
    }

    /// Rules that deny or ask about a server which nearly has the name of one there is.
    fn strange_servers(&self, policy: &Policy) -> Vec<Misspelt> {
        let rules = Layer::ALL.into_iter().flat_map(|layer| policy.rules(layer));
        let strange = |rule: &Rule| {
            let Action::Tool(name) = rule.action() else { return None };
            let server = name.strip_prefix("mcp__")?.split("__").next()?.trim_end_matches(['*', '?']);
            let is_known = |known: &String| known == server || known.replace(['-', '.'], "_") == server;
            if self.servers.iter().any(is_known) {
                return None;
            }
            let near = misspelling_of(server, self.servers.iter().map(String::as_str))?.to_owned();
            let message = format!(
                "there is no MCP server `{server}`, so the rule `{rule}` does nothing; did you mean `{near}`"
            );
            let warning = Warning { origin: rule.origin().clone(), message };
            Some(Misspelt { warning, narrows: rule.effect() != Effect::Allow, near: Some(near) })
        };
        rules.filter_map(strange).collect()
    }

    fn with_subjects<T>(&self, judge: impl FnOnce(&RuleSubjects<'_>) -> T) -> T {
        let tools: Vec<&str> = self.tools.iter().map(String::as_str).collect();
        let may_come = |name: &str| self.may_come(name);
        judge(&RuleSubjects { tools: &tools, may_come: &may_come, root: self.root.as_deref() })
    }

    /// Whether another name may be that of a tool of a server, or of one that an agent defines.
    fn may_come(&self, name: &str) -> bool {
        let is_of =
            |server: &String| name.strip_prefix(server.as_str()).is_some_and(|rest| rest.starts_with('_'));
        toolpost_plugins::is_spelled_as_server_tool(name)
            || name.contains("__")
            || self.servers.iter().any(is_of)
    }
}

/// Holds the rules against the tools there are. A rule that was to deny or ask and does nothing is an error; of others it is
/// said. Costs little where the registry has all tools that rules name.
pub(super) fn check<'a>(
    policy: &Policy,
    registry: &Registry,
    servers: impl IntoIterator<Item = &'a str>,
    root: Option<&Path>,
) -> Result<Vec<String>, ToolError> {
    let is_certain = |rule: &Rule| match rule.action() {
        Action::Tool(name) if wildcard::has_wildcard(name) || !registry.has(name) => false,
        _ => rule.effect() == Effect::Allow || rule.resource().is_everything(),
    };
    if Layer::ALL.into_iter().all(|layer| policy.rules(layer).all(is_certain)) {
        return Ok(Vec::new());
    }
    let own = registry.names();
    let found = RuleNames::new(servers).and(own.iter().map(String::as_str)).at(root).misspelt(policy);
    let lines = |narrows: bool| -> Vec<String> {
        found.iter().filter(|one| one.narrows == narrows).map(|one| one.warning.to_string()).collect()
    };
    match lines(true) {
        errors if errors.is_empty() => Ok(lines(false)),
        errors => Err(ToolError::new(Code::ValidationError, errors.join("\n"))),
    }
}
