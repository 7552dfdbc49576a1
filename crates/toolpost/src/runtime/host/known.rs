//! The agents that can be started: those that are found and may be used, and those that a file on the command line names.

use crate::config::{Config, State};
use crate::runtime::Runtime;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use toolpost_agent::AgentFile;
use toolpost_agent::agent_file::{Loaded, Severity, ToolChoice};
use toolpost_core::host::AgentType;
use toolpost_core::text::nearest;
use toolpost_core::{Code, ToolError};

/// Maximum number of files that files on the command line may name.
const MOST_NAMED: usize = 100;

/// Which agents there are, by name.
#[derive(Default)]
pub(crate) struct Known {
    found: OnceLock<BTreeMap<String, Arc<AgentFile>>>,
    /// Files that were named on the command line, and those that they name.
    named: Mutex<BTreeMap<String, Arc<AgentFile>>>,
}

impl Known {
    /// Takes a file that was named on the command line: it may be started, and so may the files that it names.
    pub(crate) fn consent(&self, runtime: &Runtime, agent: &AgentFile) -> Result<(), ToolError> {
        let mut waiting = vec![agent.clone()];
        while let Some(agent) = waiting.pop() {
            if self.named().contains_key(&agent.name) {
                continue;
            }
            if self.named().len() >= MOST_NAMED {
                let message = format!("{}: more than {MOST_NAMED} files of agents are named", agent.file);
                return Err(ToolError::new(Code::ValidationError, message));
            }
            for choice in agent.agents.iter().flatten().filter(|choice| is_file(&choice.name)) {
                waiting.push(beside(runtime, &agent, choice)?);
            }
            self.named().insert(agent.name.clone(), Arc::new(agent));
        }
        Ok(())
    }

    /// What is wrong with the agents that a file names, and where.
    pub(crate) fn problems<'a>(
        &self,
        runtime: &Runtime,
        agent: &'a AgentFile,
    ) -> Vec<(&'a ToolChoice, Severity, String)> {
        let mut problems = Vec::new();
        for choice in agent.agents.iter().flatten() {
            if is_file(&choice.name) {
                if let Err(error) = beside(runtime, agent, choice) {
                    let message = error.message().split_once(": ").map_or(error.message(), |(_, rest)| rest);
                    problems.push((choice, Severity::Broken, message.to_owned()));
                }
                continue;
            }
            let all = self.all(runtime);
            if choice.name != "*" && !all.contains_key(&choice.name) {
                let near = nearest(&choice.name, all.keys().map(String::as_str), 1);
                let hint = match near.first() {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "`toolpost agents` lists the agents there are".to_owned(),
                };
                let message = format!("there is no agent `{}` that may be used; {hint}", choice.name);
                problems.push((choice, Severity::Warning, message));
            }
        }
        problems
    }

    fn named(&self) -> MutexGuard<'_, BTreeMap<String, Arc<AgentFile>>> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The agents that were found and may be used.
    pub(crate) fn found(&self, config: &Config) -> &BTreeMap<String, Arc<AgentFile>> {
        self.found.get_or_init(|| {
            let found = config.agents().agents.into_iter();
            let usable = found.filter(|agent| agent.state == State::Trusted && agent.hidden_by.is_none());
            let agents = usable.filter_map(|found| found.loaded.agent).filter(|agent| !agent.is_disabled);
            agents.map(|agent| (agent.name.clone(), Arc::new(agent))).collect()
        })
    }

    /// The same for descriptions; none before they were looked for.
    pub(crate) fn found_types(&self) -> Vec<AgentType> {
        self.found.get().into_iter().flat_map(BTreeMap::values).map(|one| agent_type(one)).collect()
    }

    /// Every agent that may be used. One that was named on the command line hides others of its name.
    pub(crate) fn all(&self, runtime: &Runtime) -> BTreeMap<String, Arc<AgentFile>> {
        let mut all = self.found(&runtime.config).clone();
        all.extend(self.named().iter().map(|(name, agent)| (name.clone(), Arc::clone(agent))));
        all
    }

    /// The agents that an agent may start.
    fn below(&self, runtime: &Runtime, agent: Option<&str>) -> BTreeMap<String, Arc<AgentFile>> {
        let mut all = self.all(runtime);
        let chosen = agent.and_then(|name| all.get(name)).and_then(|agent| {
            let folder = folder(&agent.file).to_owned();
            agent.agents.clone().map(|agents| (folder, agents))
        });
        if let Some((folder, chosen)) = chosen {
            all.retain(|name, agent| {
                let is_meant = |choice: &ToolChoice| match is_file(&choice.name) {
                    true => agent.file == joined(&folder, &choice.name),
                    false => choice.name == *name || choice.name == "*",
                };
                chosen.iter().any(is_meant)
            });
        }
        all
    }

    /// The same for descriptions.
    pub(crate) fn types(&self, runtime: &Runtime, agent: Option<&str>) -> Vec<AgentType> {
        let below = self.below(runtime, agent).into_values();
        below.map(|one| agent_type(&one)).collect()
    }

    /// The agent of a type that an agent may start.
    pub(crate) fn of_type(
        &self,
        runtime: &Runtime,
        agent: Option<&str>,
        wanted: &str,
    ) -> Result<Arc<AgentFile>, ToolError> {
        let below = self.below(runtime, agent);
        if let Some(agent) = below.get(wanted) {
            return Ok(Arc::clone(agent));
        }
        let shown: String = wanted.chars().take(60).collect();
        let names: Vec<&str> = below.keys().map(String::as_str).collect();
        let hint = match (nearest(&shown, names.iter().copied(), 1).first(), names.is_empty()) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, true) => "there are no agents to start".to_owned(),
            (None, false) => format!("there are {}", names.join(", ")),
        };
        Err(ToolError::new(Code::ValidationError, format!("there is no agent `{shown}` to start; {hint}")))
    }
}

fn agent_type(agent: &AgentFile) -> AgentType {
    AgentType { name: agent.name.clone(), description: agent.description.clone() }
}

fn is_file(name: &str) -> bool {
    name.contains('/') || name.ends_with(".md") || name.ends_with(".toml")
}

fn folder(file: &str) -> &str {
    file.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn joined(folder: &str, name: &str) -> String {
    let name = name.strip_prefix("./").unwrap_or(name);
    Path::new(folder).join(name).to_string_lossy().into_owned()
}

/// A file that another one names, in its own folder or below it.
fn beside(runtime: &Runtime, agent: &AgentFile, choice: &ToolChoice) -> Result<AgentFile, ToolError> {
    let place = format!("{}:{}:{}", agent.file, choice.line, choice.column);
    let wrong = |code: Code, why: String| ToolError::new(code, format!("{place}: {why}"));
    if choice.name.starts_with('/') || choice.name.split('/').any(|part| part == "..") {
        let why = format!("`{}` is not in the folder of this file, so it cannot be used", choice.name);
        return Err(wrong(Code::ValidationError, why));
    }
    let file = joined(folder(&agent.file), &choice.name);
    let loaded = runtime.config.agent(&path_word(&file));
    let Loaded { agent, problems } =
        loaded.map_err(|error| wrong(error.code(), error.message().to_owned()))?;
    agent.map(|agent| AgentFile { file, ..agent }).ok_or_else(|| {
        let broken = problems.iter().filter(|problem| problem.severity == Severity::Broken);
        let lines: Vec<String> = broken.map(ToString::to_string).collect();
        wrong(Code::ValidationError, lines.join("\n"))
    })
}

/// A path that nobody takes for the name of an agent.
fn path_word(file: &str) -> String {
    if file.contains('/') { file.to_owned() } else { format!("./{file}") }
}
