//! Which of the tools there are an agent gets.

use super::{Runtime, Starter, Withheld};
use crate::runtime::packs::NamedPack;
use crate::runtime::{RuleNames, outside_name};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;
use toolpost_agent::AgentFile;
use toolpost_agent::agent_file::{At, Format, Node, Problem, Severity, ToolChoice};
use toolpost_agent::model::{Script, ScriptCall, ScriptError};
use toolpost_core::dialect::Dialect;
use toolpost_core::host::AgentHost;
use toolpost_core::policy::Layer;
use toolpost_core::registry::Snapshot;
use toolpost_core::text::wildcard::name_matches;
use toolpost_core::text::{misspelling_of, nearest};
use toolpost_core::{Code, Policy, Registry, ToolError};
use toolpost_rules::Misspelt;

impl Runtime {
    /// The tools of an agent, and whether all of them are offered though some would usually be held back. An agent that
    /// chooses nothing has all tools of the session.
    pub(super) fn tools_for(
        &self,
        agent: &AgentFile,
        policy: &Policy,
        dialect: &Dialect,
        starter: Starter<'_>,
        problems: &mut Vec<Problem>,
    ) -> Result<(Arc<Registry>, bool), ToolError> {
        self.offer_agents_tools();
        let tools = self.context.tools();
        let is_choosing = agent.tools.is_some() || agent.tool_packs.is_some();
        let snapshot = tools.snapshot();
        for choice in &agent.without {
            let Some(problem) = nothing_taken(agent, choice, &snapshot, dialect) else { continue };
            // A run with more tools than the file wants is worse than none.
            if costs_the_agent(agent, &choice.name, misspelling_in(&snapshot, &choice.name).as_deref()) {
                return Err(ToolError::new(Code::ValidationError, problem.to_string()));
            }
            problems.push(problem);
        }
        let excluded =
            agent.tools.iter().flatten().find_map(|choice| excluding(agent, choice, &snapshot, dialect));
        if let Some(problem) = excluded {
            return Err(ToolError::new(Code::ValidationError, problem.to_string()));
        }
        for (problem, is_broken) in self.misspelt_rules(agent) {
            if is_broken {
                return Err(ToolError::new(Code::ValidationError, problem.to_string()));
            }
            problems.push(problem);
        }
        let mut chosen = self.chosen(agent, policy, &snapshot, dialect, problems)?;
        if !is_choosing {
            let has_agents = !self.host.types(Some(&agent.name)).is_empty();
            chosen.retain(|tool| !is_left_out(tool, starter, has_agents));
        }
        if starter.withheld().is_none() {
            // There is nobody above whom it could tell something.
            chosen.remove("signal_parent");
        }
        // What it defines itself, it has under shorter names.
        for tool in &agent.prompt_tools {
            outside_name(&agent.name, &tool.name).map(|name| chosen.remove(&name));
        }
        if let Some(Withheld(withheld)) = starter.withheld() {
            chosen.retain(|tool| !withheld.iter().any(|name| name == tool || name_matches(name, tool)));
        }
        let registry = Registry::over(&snapshot);
        registry.change(|draft| {
            for entry in snapshot.all().filter(|entry| !chosen.contains(entry.name())) {
                draft.unregister(entry.name());
            }
            Ok(())
        })?;
        Ok((Arc::new(registry), is_choosing))
    }

    /// What the agents below one may not use: what its file takes away, and what was taken from it.
    pub(super) fn withheld(
        &self,
        agent: &AgentFile,
        dialect: &Dialect,
        above: Option<&Withheld>,
    ) -> Withheld {
        let snapshot = self.context.tools().snapshot();
        let mut withheld = above.cloned().unwrap_or_default();
        for choice in &agent.without {
            withheld.0.extend(meant(&choice.name, &snapshot, dialect));
            // Tools of a server may come later.
            if choice.name.contains('*') || choice.name.starts_with("mcp_") {
                withheld.0.extend([choice.name.clone(), two_underscores(&choice.name)]);
            }
        }
        withheld
    }

    /// The names of the tools that an agent has.
    fn chosen(
        &self,
        agent: &AgentFile,
        policy: &Policy,
        snapshot: &Snapshot,
        dialect: &Dialect,
        problems: &mut Vec<Problem>,
    ) -> Result<BTreeSet<String>, ToolError> {
        let mut chosen: BTreeSet<String> = BTreeSet::new();
        if agent.tools.is_some() || agent.tool_packs.is_some() {
            for pack in agent.tool_packs.iter().flatten() {
                let NamedPack { tools, note } = self.pack(agent, pack, policy)?;
                chosen.extend(tools);
                problems.extend(note.map(|note| {
                    Problem::new(&agent.file, pack.at(), Some("toolPacks"), Severity::Warning, note)
                }));
            }
            for choice in agent.tools.iter().flatten() {
                chosen.extend(named(agent, choice, snapshot, dialect, problems));
            }
        } else {
            chosen.extend(snapshot.all().map(|entry| entry.name().to_owned()));
        }
        for choice in &agent.without {
            for name in meant(&choice.name, snapshot, dialect) {
                chosen.remove(&name);
            }
        }
        Ok(chosen)
    }

    /// What is wrong with the script of an agent: by itself, and with the tools that the agent has.
    pub(crate) fn check_script(&self, agent: &AgentFile) -> Vec<Problem> {
        let Some(node) = &agent.script else { return Vec::new() };
        let at = |field: &str| node.place_of(field);
        let value = node.to_value();
        let Ok(script) = Script::new(&value, &agent.name) else {
            let errors = Script::problems(&value);
            return errors.iter().map(|error| script_problem(agent, node, error)).collect();
        };
        let (snapshot, dialect) = (self.context.tools().snapshot(), self.context.dialect());
        // Here only names count: what is allowed depends on the run.
        let chosen = self.chosen(agent, &Policy::privileged(), &snapshot, dialect, &mut Vec::new());
        let mut problems = Vec::new();
        for ScriptCall { field, tool, is_optional } in script.calls() {
            // Tools of a server are known once it has started, and its own come with the agent.
            let is_own = agent.prompt_tools.iter().any(|own| own.name == tool);
            if tool.starts_with("mcp_") || is_own {
                continue;
            }
            let found = meant(tool, &snapshot, dialect);
            let message = match (found.first(), &chosen) {
                (None, _) => format!("there is no tool `{}`; {}", short(tool), hint(tool, &snapshot)),
                (Some(name), Ok(chosen)) if !chosen.contains(name) => {
                    format!(
                        "the script calls `{}`, which the agent does not have; add it to `tools`",
                        short(tool)
                    )
                }
                _ => match self.odd_argument(tool, arguments_at(&value, &field)) {
                    Some(message) => message,
                    None => continue,
                },
            };
            let severity = if is_optional { Severity::Warning } else { Severity::Broken };
            problems.push(Problem::new(&agent.file, at(&field), Some(&field), severity, message));
        }
        problems
    }

    /// An argument of a call that its tool does not have. Values may be references, which are known in the run alone.
    fn odd_argument(&self, tool: &str, arguments: Option<&Value>) -> Option<String> {
        let arguments = arguments.filter(|arguments| arguments.is_object())?.clone();
        let ctx = self.context.with_policy(Policy::privileged());
        let error = self.executor.validate(&ctx, tool, arguments).err()?;
        let problems = error.details().get("errors")?.as_array()?;
        let odd = problems.iter().find(|problem| problem["found"] == "an unknown argument")?;
        let hint = match odd["nearest"].as_str() {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("`toolpost tools show {}` tells what it takes", short(tool)),
        };
        Some(format!("`{}` has no argument `{}`; {hint}", short(tool), short(odd["path"].as_str()?)))
    }

    /// The tools of a pack that an agent names.
    fn pack(&self, agent: &AgentFile, choice: &ToolChoice, policy: &Policy) -> Result<NamedPack, ToolError> {
        let named = self.pack_by_name(&choice.name).and_then(|pack| self.named_pack(&pack, policy));
        named.map_err(|error| {
            let place = format!("{}:{}:{}", agent.file, choice.line, choice.column);
            ToolError::new(error.code(), format!("{place}: {}", error.message()))
        })
    }

    /// What is wrong with the names of an agent file, given the tools and packs there are.
    pub(crate) fn check_names(&self, agent: &AgentFile) -> Vec<Problem> {
        let snapshot = self.context.tools().snapshot();
        let dialect = self.context.dialect();
        let mut problems = Vec::new();
        let own = agent.policy_within(&Policy::privileged());
        for choice in agent.tools.iter().flatten() {
            if let Some(problem) = excluding(agent, choice, &snapshot, dialect) {
                problems.push(problem);
                continue;
            }
            let named = named(agent, choice, &snapshot, dialect, &mut problems);
            let entries: Vec<_> = named.iter().filter_map(|name| snapshot.get(name)).collect();
            if !entries.is_empty()
                && entries.iter().all(|entry| !own.offers(entry.name(), entry.spec().required))
            {
                let message = format!(
                    "the agent never gets `{}`: its own policy denies it; allow it there, or leave the tool out",
                    short(&choice.name)
                );
                problems.push(Problem::new(
                    &agent.file,
                    choice.at(),
                    Some("tools"),
                    Severity::Warning,
                    message,
                ));
            }
        }
        for choice in &agent.without {
            problems.extend(nothing_taken(agent, choice, &snapshot, dialect));
        }
        problems.extend(self.misspelt_rules(agent).into_iter().map(|(problem, _)| problem));
        for (choice, severity, message) in self.host.known().problems(self, agent) {
            problems.push(Problem::new(&agent.file, choice.at(), Some("agents"), severity, message));
        }
        problems.extend(self.unknown_models(agent));
        for tool in agent.prompt_tools.iter().filter(|tool| snapshot.get(&tool.name).is_some()) {
            let message = format!("`{}` takes the place of the built-in tool of that name", tool.name);
            let at = At { line: 1, column: 1 };
            problems.push(Problem::new(&agent.file, at, Some("tools"), Severity::Warning, message));
        }
        for choice in agent.tool_packs.iter().flatten() {
            // Here only its name counts: what is allowed depends on the run.
            if let Err(error) = self.pack(agent, choice, &Policy::privileged()) {
                let message = error.message().split_once(": ").map_or(error.message(), |(_, rest)| rest);
                let (file, at) = (&agent.file, choice.at());
                problems.push(Problem::new(file, at, Some("toolPacks"), Severity::Broken, message));
            }
        }
        problems
    }

    /// The models that an agent and its own tools name, and that a run would refuse.
    pub(super) fn unknown_models(&self, agent: &AgentFile) -> Vec<Problem> {
        let Ok(models) = self.config.models() else { return Vec::new() };
        let severe = |of_ours: Severity| match agent.format {
            Format::Toolpost => of_ours,
            _ => Severity::Warning,
        };
        let problem = |name: &str, at: At, field: &str, severity: Severity| {
            let message = models.catalog.find(name).err()?.message;
            Some(Problem::new(&agent.file, at, Some(field), severity, message))
        };
        let own = agent.models.first().zip(agent.model_at).and_then(|(name, at)| {
            // A run goes by its script, where it has one.
            let severity = if agent.script.is_some() { Severity::Warning } else { severe(Severity::Broken) };
            problem(name, at, "model", severity)
        });
        let of_tools = agent.prompt_tools.iter().filter_map(|tool| {
            let (name, at) = (tool.model.as_ref()?, *agent.tool_models_at.get(&tool.name)?);
            let is_scripted = agent.script.is_some() && tool.script.is_some();
            let severity = if is_scripted { Severity::Warning } else { severe(Severity::LeftOut) };
            problem(name, at, &format!("tools.{}.model", tool.name), severity)
        });
        own.into_iter().chain(of_tools).collect()
    }

    /// The rules of the agent that name no tool, and whether each costs the agent.
    fn misspelt_rules(&self, agent: &AgentFile) -> Vec<(Problem, bool)> {
        let Some(policy) = &agent.policy else { return Vec::new() };
        let rules: Vec<_> = Layer::ALL.into_iter().flat_map(|layer| policy.rules(layer)).collect();
        if rules.is_empty() {
            return Vec::new();
        }
        let own = agent.prompt_tools.iter().map(|tool| tool.name.as_str());
        let servers = self.servers.reports.iter().map(|server| server.name.as_str());
        let problem = |found: Misspelt| {
            let Misspelt { warning, narrows, near } = found;
            let name = rules.iter().find(|rule| *rule.origin() == warning.origin);
            let name = name.map(|rule| rule.action().to_string()).unwrap_or_default();
            let near = near.filter(|near| misspelling_of(&name, [near.as_str()]).is_some());
            let is_broken = narrows && costs_the_agent(agent, &name, near.as_deref());
            let severity = if narrows { severity(agent) } else { Severity::Warning };
            let severity = if is_broken { Severity::Broken } else { severity };
            let at = At { line: warning.origin.line, column: 1 };
            (Problem::new(&agent.file, at, Some("policy"), severity, warning.message), is_broken)
        };
        RuleNames::new(servers).and(own).misspelt(policy).into_iter().map(problem).collect()
    }
}

/// The arguments of the call at this place of a script: `script[2].parallel[0].call`.
fn arguments_at<'a>(script: &'a Value, field: &str) -> Option<&'a Value> {
    let step = field.strip_prefix("script")?.strip_suffix(".call")?;
    script.pointer(&step.replace(['[', '.'], "/").replace(']', ""))?.get("args")
}

/// Whether an agent that names no tools is not given this one: agents that do a part of another's work have no todos and start
/// no agents unless their type says so, and the first one has nobody above it.
fn is_left_out(tool: &str, starter: Starter<'_>, has_agents: bool) -> bool {
    let is_child = !matches!(starter, Starter::Person);
    match tool {
        "todoread" | "todowrite" => is_child,
        "spawn_agent" | "task" => is_child || !has_agents,
        "signal_parent" => true,
        _ => false,
    }
}

/// The tools that a file means by a name. One that means nothing is a problem.
fn named(
    agent: &AgentFile,
    choice: &ToolChoice,
    snapshot: &Snapshot,
    dialect: &Dialect,
    problems: &mut Vec<Problem>,
) -> Vec<String> {
    let found = meant(&choice.name, snapshot, dialect);
    if found.is_empty() && !choice.name.contains('*') {
        problems.push(unknown(agent, choice, snapshot));
    }
    found
}

/// A name of the list of wanted tools that was to take a tool away, such as `!write`.
fn excluding(
    agent: &AgentFile,
    choice: &ToolChoice,
    snapshot: &Snapshot,
    dialect: &Dialect,
) -> Option<Problem> {
    let tool = choice.name.strip_prefix(['!', '-', '^'])?.trim();
    if agent.format != Format::Toolpost && meant(tool, snapshot, dialect).is_empty() {
        return None;
    }
    let message = format!(
        "`{}` takes no tool away here; write `disallowedTools: [{}]`",
        short(&choice.name),
        short(tool)
    );
    Some(Problem::new(&agent.file, choice.at(), Some("tools"), Severity::Broken, message))
}

/// What is wrong with a script, at its place in the file.
pub(super) fn script_problem(agent: &AgentFile, script: &Node, error: &ScriptError) -> Problem {
    let ScriptError { field, message } = error;
    Problem::new(&agent.file, script.place_of(field), Some(field), Severity::Broken, message)
}

fn unknown(agent: &AgentFile, choice: &ToolChoice, snapshot: &Snapshot) -> Problem {
    let message = format!("there is no tool `{}`; {}", short(&choice.name), hint(&choice.name, snapshot));
    Problem::new(&agent.file, choice.at(), Some("tools"), severity(agent), message)
}

/// Tools of other hosts that look like misspelt names of ours.
const OF_OTHER_HOSTS: [&str; 12] = [
    "patch",
    "codesearch",
    "lsp",
    "skill",
    "question",
    "doom_loop",
    "external_directory",
    "plan_enter",
    "plan_exit",
    "multiedit",
    "ls",
    "todo",
];

/// Whether a name that means no tool, and was to take something away, costs the agent: in a file of our own always, in one of
/// another host, which has tools of its own, where it is hardly anything but a misspelling.
fn costs_the_agent(agent: &AgentFile, name: &str, near: Option<&str>) -> bool {
    let is_theirs = OF_OTHER_HOSTS.iter().any(|theirs| theirs.eq_ignore_ascii_case(name));
    agent.format == Format::Toolpost || (near.is_some() && !is_theirs)
}

/// The tool whose name this one is hardly anything but a misspelling of.
fn misspelling_in(snapshot: &Snapshot, name: &str) -> Option<String> {
    misspelling_of(name, snapshot.all().map(|entry| entry.name())).map(str::to_owned)
}

/// A tool that the file wants to take away, and that nobody has: its author may believe in vain that it is gone.
fn nothing_taken(
    agent: &AgentFile,
    choice: &ToolChoice,
    snapshot: &Snapshot,
    dialect: &Dialect,
) -> Option<Problem> {
    // Tools of a server may come later.
    let may_come = choice.name.contains('*') || choice.name.starts_with("mcp_");
    if may_come || !meant(&choice.name, snapshot, dialect).is_empty() {
        return None;
    }
    let (name, hint) = (short(&choice.name), hint(&choice.name, snapshot));
    let message = format!("there is no tool `{name}`, so this removes nothing; {hint}");
    let near = misspelling_in(snapshot, &choice.name);
    let severity = match costs_the_agent(agent, &choice.name, near.as_deref()) {
        true => Severity::Broken,
        false => severity(agent),
    };
    Some(Problem::new(&agent.file, choice.at(), Some("disallowedTools"), severity, message))
}

/// Other hosts have tools of their own.
fn severity(agent: &AgentFile) -> Severity {
    match agent.format {
        Format::Toolpost => Severity::LeftOut,
        _ => Severity::Warning,
    }
}

fn short(name: &str) -> String {
    name.chars().take(60).collect()
}

fn hint(name: &str, snapshot: &Snapshot) -> String {
    match nearest(&short(name), snapshot.all().map(|entry| entry.name()), 1).first() {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`toolpost tools` lists them".to_owned(),
    }
}

/// The tools that a name means, in any spelling, or with wildcards.
fn meant(name: &str, snapshot: &Snapshot, dialect: &Dialect) -> Vec<String> {
    if name.contains('*') {
        let fits = |tool: &str| name_matches(name, tool) || name_matches(&two_underscores(name), tool);
        let all = snapshot.all().map(|entry| entry.name()).filter(|tool| fits(tool));
        return all.map(str::to_owned).collect();
    }
    let find = |name: &str| snapshot.find(name, dialect).ok().map(|found| found.entry.name().to_owned());
    let found = find(name).or_else(|| find(&name.to_lowercase())).or_else(|| find(&two_underscores(name)));
    found.into_iter().collect()
}

/// Gemini's `mcp_server_tool` as `mcp__server__tool`.
fn two_underscores(name: &str) -> String {
    let rest = name.strip_prefix("mcp_").filter(|rest| !rest.starts_with('_'));
    match rest.and_then(|rest| rest.split_once('_')) {
        Some((server, tool)) => format!("mcp__{server}__{tool}"),
        None => name.to_owned(),
    }
}
