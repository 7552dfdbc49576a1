//! Which names of tools a rule can mean: those of all built-in tools, whether they are offered here or not, and those of
//! servers. What is odd about a rule is said by `toolpost_rules`.

use toolpost_core::policy::{Action, Layer};
use toolpost_core::text::wildcard;
use toolpost_core::{Policy, Registry};
use toolpost_plugins::Server;
use toolpost_rules::Warning;
use toolpost_tools::Settings;

/// The names that rules may use.
pub(crate) struct RuleNames {
    tools: Vec<String>,
    servers: Vec<String>,
}

impl RuleNames {
    /// Those of every built-in tool, and of the tools of these servers.
    pub(crate) fn new<'a>(servers: impl IntoIterator<Item = &'a str>) -> RuleNames {
        let packs = toolpost_tools::packs(&Settings::default());
        let tools = packs.iter().flat_map(|pack| pack.tools()).map(|tool| tool.name().to_owned()).collect();
        RuleNames { tools, servers: servers.into_iter().map(str::to_owned).collect() }
    }

    /// With these tools too, such as those that an agent brings along.
    pub(super) fn and<'a>(mut self, tools: impl IntoIterator<Item = &'a str>) -> RuleNames {
        self.tools.extend(tools.into_iter().map(str::to_owned));
        self
    }

    /// Everything that is odd about the rules of a policy.
    pub(crate) fn warnings(&self, policy: &Policy) -> Vec<Warning> {
        let policy = policy.with_names(toolpost_tools::names());
        toolpost_rules::warnings(&policy, &self.tools(), |name| self.may_come(name))
    }

    /// The rules that name no tool, but nearly do.
    pub(super) fn misspelt(&self, policy: &Policy) -> Vec<Warning> {
        let policy = policy.with_names(toolpost_tools::names());
        toolpost_rules::misspelt(&policy, &self.tools(), |name| self.may_come(name))
    }

    fn tools(&self) -> Vec<&str> {
        self.tools.iter().map(String::as_str).collect()
    }

    /// Whether another name may be that of a tool of a server.
    fn may_come(&self, name: &str) -> bool {
        let is_of =
            |server: &String| name.strip_prefix(server.as_str()).is_some_and(|rest| rest.starts_with('_'));
        toolpost_plugins::is_spelled_as_server_tool(name) || self.servers.iter().any(is_of)
    }
}

/// What is to be said of rules that name no tool, but nearly do. Costs nothing where the registry has all tools that rules
/// name.
pub(super) fn misspelt(policy: &Policy, registry: &Registry, servers: &[Server]) -> Vec<String> {
    let is_unknown = |action: &Action| match action {
        Action::Tool(name) => !wildcard::has_wildcard(name) && !registry.has(name),
        Action::Everything | Action::Capability(_) => false,
    };
    if !Layer::ALL.into_iter().any(|layer| policy.rules(layer).any(|rule| is_unknown(rule.action()))) {
        return Vec::new();
    }
    let names = RuleNames::new(servers.iter().map(|server| server.name.as_str()));
    names.misspelt(policy).iter().map(ToString::to_string).collect()
}
