//! Whether a call from outside of every run can start agents: over MCP, or by `toolpost call`. If not, what is missing.

use super::Runtime;
use super::host::Known;
use crate::config::{Config, ModelSettings, State};
use std::cell::LazyCell;
use toolpost_agent::AgentFile;
use toolpost_agent::model::{Level, Wanted, may_choose};

/// Whether there is an agent that may be used, with a model for it.
pub(super) fn is_possible(config: &Config, known: &Known) -> bool {
    // A server of another toolpost's agents would let them out of the limits of their tree.
    if config.is_upstream() || known.found(config).is_empty() {
        return false;
    }
    let Ok(models) = config.models() else { return false };
    let has_common = LazyCell::new(|| may_choose(&wanted(&models, None), &models.catalog, &models.keys));
    known.found(config).values().any(|agent| has_model(agent, &models, || *has_common))
}

fn has_model(agent: &AgentFile, models: &ModelSettings, has_common: impl FnOnce() -> bool) -> bool {
    let is_replaced = models.for_all.as_ref().is_some_and(|name| name != "script");
    match agent.models.first() {
        _ if agent.script.is_some() && !is_replaced => true,
        Some(own) => may_choose(&wanted(models, Some(own.clone())), &models.catalog, &models.keys),
        None => has_common(),
    }
}

/// Who names the model of an agent that a call starts.
pub(super) fn wanted(models: &ModelSettings, agent: Option<String>) -> Wanted {
    let flag = models.flag.clone().filter(|flag| flag != "script");
    Wanted {
        for_all: models.for_all.clone(),
        flag: None,
        agent,
        configured: flag.or_else(|| models.configured.clone()),
        level: Level::Below,
    }
}

impl Runtime {
    /// What is missing before agents can be started from outside of a run, and how to get it; none where nothing is.
    pub(crate) fn lack_of_agents(&self) -> Option<String> {
        if self.context.services().agents.is_some() {
            return None;
        }
        if self.config.is_upstream() {
            return Some(
                "this server is one of another toolpost, whose agents start others themselves".to_owned(),
            );
        }
        if !self.host.known().found(&self.config).is_empty() {
            return Some("no agent file has a model: set the key of a vendor, name one in `model`, or start a server of models on this machine".to_owned());
        }
        let untrusted = self.config.agents().agents.into_iter().find(|agent| agent.state != State::Trusted);
        Some(match untrusted {
            Some(agent) => format!(
                "the agent `{}` comes with this workspace; look at {} and run `toolpost trust`",
                agent.name(),
                agent.path
            ),
            None => "there is no agent file; write one, for instance `.toolpost/agents/helper.md`, and run `toolpost trust`".to_owned(),
        })
    }
}
