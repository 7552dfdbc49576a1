//! Which of the tools there are an agent gets.

use super::Runtime;
use std::collections::BTreeSet;
use std::sync::Arc;
use toolpost_agent::AgentFile;
use toolpost_agent::agent_file::{Format, Problem, Severity, ToolChoice};
use toolpost_core::dialect::Dialect;
use toolpost_core::registry::Snapshot;
use toolpost_core::text::nearest;
use toolpost_core::text::wildcard::name_matches;
use toolpost_core::{Code, Pack, Policy, Registry, ToolError};

impl Runtime {
    /// The tools of an agent, and whether all of them are offered though some would usually be held back. An agent that
    /// chooses nothing has all tools of the session.
    pub(super) fn tools_for(
        &self,
        agent: &AgentFile,
        policy: &Policy,
        dialect: &Dialect,
        problems: &mut Vec<Problem>,
    ) -> Result<(Arc<Registry>, bool), ToolError> {
        let tools = self.context.tools();
        let is_choosing = agent.tools.is_some() || agent.tool_packs.is_some();
        if !is_choosing && agent.without.is_empty() {
            return Ok((Arc::clone(tools), false));
        }
        let snapshot = tools.snapshot();
        let mut chosen: BTreeSet<String> = BTreeSet::new();
        if is_choosing {
            for pack in agent.tool_packs.iter().flatten() {
                chosen.extend(self.pack(agent, pack, policy)?);
            }
            for choice in agent.tools.iter().flatten() {
                chosen.extend(named(agent, choice, &snapshot, dialect, problems));
            }
        } else {
            chosen.extend(snapshot.all().map(|entry| entry.name().to_owned()));
        }
        for choice in &agent.without {
            // What is not there need not be taken away.
            for name in meant(&choice.name, &snapshot, dialect) {
                chosen.remove(&name);
            }
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

    /// The tools of a pack that the policy allows as a whole.
    fn pack(
        &self,
        agent: &AgentFile,
        choice: &ToolChoice,
        policy: &Policy,
    ) -> Result<Vec<String>, ToolError> {
        let own = toolpost_tools::packs(&toolpost_tools::Settings::default());
        let servers = self.plugins.iter().flat_map(|plugins| plugins.packs());
        let packs: Vec<Arc<Pack>> = own.into_iter().map(Arc::new).chain(servers).collect();
        let place = format!("{}:{}:{}", agent.file, choice.line, choice.column);
        let Some(pack) = packs.iter().find(|pack| pack.name() == choice.name) else {
            let near = nearest(&choice.name, packs.iter().map(|pack| pack.name()), 1);
            let hint = match near.first() {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`toolpost packs` lists them".to_owned(),
            };
            let message = format!("{place}: there is no pack `{}`; {hint}", choice.name);
            return Err(ToolError::new(Code::ValidationError, message));
        };
        pack.assert_allowed(policy)
            .map_err(|error| ToolError::new(error.code(), format!("{place}: {}", error.message())))?;
        Ok(pack.tools().iter().map(|tool| tool.name().to_owned()).collect())
    }

    /// What is wrong with the names of an agent file, given the tools and packs there are.
    pub(crate) fn check_names(&self, agent: &AgentFile) -> Vec<Problem> {
        let snapshot = self.context.tools().snapshot();
        let dialect = self.context.dialect();
        let mut problems = Vec::new();
        for choice in agent.tools.iter().flatten() {
            named(agent, choice, &snapshot, dialect, &mut problems);
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

fn unknown(agent: &AgentFile, choice: &ToolChoice, snapshot: &Snapshot) -> Problem {
    let name: String = choice.name.chars().take(60).collect();
    let hint = match nearest(&name, snapshot.all().map(|entry| entry.name()), 1).first() {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`toolpost tools` lists them".to_owned(),
    };
    let severity = match agent.format {
        Format::Toolpost => Severity::LeftOut,
        // Other hosts have tools of their own.
        _ => Severity::Warning,
    };
    let message = format!("there is no tool `{name}`; {hint}");
    Problem::new(&agent.file, choice.at(), Some("tools"), severity, message)
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
