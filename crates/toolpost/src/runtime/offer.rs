//! What a session offers, from one place for every way in: the listing of the executor, the tools that agents define, and the
//! built-in tools that are not here, each with what it needs.

use super::{Runtime, outside_name};
use crate::advice::allow_flags;
use crate::config::State;
use std::collections::BTreeSet;
use std::sync::Arc;
use toolpost_agent::AgentFile;
use toolpost_core::capability::Need;
use toolpost_core::executor::{Absence, Listing};
use toolpost_core::{Code, Registry, Spec, ToolError};
use toolpost_tools::Settings;

/// The tools of a session.
pub(crate) struct Offer {
    /// Those that are registered.
    pub(crate) listing: Listing,
    /// The built-in tools that are not here.
    pub(crate) missing: Vec<MissingTool>,
}

/// A built-in tool that this session cannot have as it is.
pub(crate) struct MissingTool {
    pub(crate) spec: Spec,
    pub(crate) why: Absence,
}

impl Offer {
    /// Why a tool is not offered; none where it is, or is not known.
    pub(crate) fn why(&self, tool: &str) -> Option<&Absence> {
        let absent = self.listing.absent.iter().map(|absent| (absent.entry.name(), &absent.why));
        let missing = self.missing.iter().map(|missing| (missing.spec.name.as_str(), &missing.why));
        absent.chain(missing).find(|(name, _)| *name == tool).map(|(_, why)| why)
    }
}

impl Runtime {
    /// What this session offers. Tools of servers that have not started, and of agents that were not looked for, are not
    /// among them; see [`Runtime::know_all`].
    pub(crate) fn offer(&self) -> Offer {
        Offer { listing: self.executor.listing(&self.context), missing: self.missing() }
    }

    fn missing(&self) -> Vec<MissingTool> {
        let registry = self.context.tools();
        let packs = toolpost_tools::packs(&Settings::default());
        let absent = packs.iter().flat_map(|pack| pack.tools()).filter(|tool| !registry.has(tool.name()));
        let missing =
            absent.map(|tool| MissingTool { spec: tool.spec().clone(), why: self.why_missing(tool.spec()) });
        missing.collect()
    }

    /// Why a built-in tool is not registered.
    fn why_missing(&self, spec: &Spec) -> Absence {
        let why = self.executor.absence(&self.context, spec).filter(|why| !why.can_be_called());
        // The service may be there, and not of the kind that it needs.
        let need = spec.needs.first().copied().unwrap_or(Need::Agents);
        match why.unwrap_or(Absence::Service(need, None)) {
            Absence::Service(Need::Model, _) => Absence::Service(Need::Model, Some(SEEING.to_owned())),
            Absence::Service(Need::Agents, _) => Absence::Service(Need::Agents, self.lack_of_agents()),
            why => why,
        }
    }

    /// Why this session lacks a built-in tool that a name means; none where it has it, or there is no such tool.
    pub(crate) fn missing_tool(&self, name: &str) -> Option<MissingTool> {
        let tool = toolpost_tools::names().tool(name)?;
        self.missing().into_iter().find(|missing| missing.spec.name == tool)
    }

    /// Every built-in tool, whether it is here or not, to show what it is like.
    pub(crate) fn all_built_in() -> Result<Registry, ToolError> {
        let registry = Registry::new();
        toolpost_tools::register_all(&registry, &Settings::default())?;
        Ok(registry)
    }

    /// Offers the tools that the agents there are define, under `AGENT__TOOL`, those that are offered not again. Returns what
    /// is to be said of those that cannot be.
    pub(crate) fn offer_agents_tools(&self) -> Vec<String> {
        let agents = self.host.known().all(self);
        agents.values().flat_map(|agent| self.offer_custom(agent)).collect()
    }

    /// The tools of agents that callers outside of them have: of each agent its file, and the names.
    pub(crate) fn agents_tools(&self) -> Vec<(Arc<AgentFile>, Vec<String>)> {
        let registry = self.context.tools();
        let of_agent = |agent: Arc<AgentFile>| {
            let names = agent.prompt_tools.iter().filter_map(|tool| outside_name(&agent.name, &tool.name));
            let names: Vec<String> = names.filter(|name| registry.has(name)).collect();
            (!names.is_empty()).then_some((agent, names))
        };
        self.host.known().all(self).into_values().filter_map(of_agent).collect()
    }

    /// Why no tool has a name, as far as the session can know: its agent waits for trust. None where nothing is known.
    pub(crate) fn untrusted_tool(&self, name: &str) -> Option<ToolError> {
        let (agent, tool) = name.rsplit_once('/').or_else(|| name.split_once("__"))?;
        let found = self.config.agents().agents.into_iter().find(|found| {
            let defines = |file: &AgentFile| file.prompt_tools.iter().any(|one| one.name == tool);
            let is_meant =
                found.name() == agent || outside_name(&found.name(), tool).as_deref() == Some(name);
            found.state != State::Trusted && is_meant && found.loaded.agent.as_ref().is_some_and(defines)
        })?;
        let message = format!(
            "`{name}` is a tool of an agent that comes with this workspace ({}), and you have not trusted it; look at the file and run `toolpost trust {}`",
            found.path, found.path
        );
        Some(ToolError::new(Code::Untrusted, message).with("path", found.path.as_str()))
    }
}

/// What a tool lacks that is not offered, in a few words: `needs network`.
pub(crate) fn lack(why: &Absence) -> String {
    match why {
        Absence::Selection(by) => format!("not in {by}"),
        Absence::Role(roles) => format!("needs --role {}", roles.join(" or ")),
        Absence::Policy(missing) => format!("needs {missing}"),
        Absence::Service(Need::Parent, _) => "needs an agent above it".to_owned(),
        Absence::Service(need, _) => format!("needs the {} service", need.as_str()),
        Absence::Provider(providers) | Absence::UnknownProvider(providers) => {
            format!("only for models of {}", providers.join(" or "))
        }
        Absence::Dialect(name, reason) => format!("not in the dialect {name}: {reason}"),
        Absence::NothingToFind => "no tool is hidden that it could find".to_owned(),
    }
}

/// How to get a tool that is not offered.
pub(crate) fn remedy(why: &Absence) -> String {
    match why {
        Absence::Selection(_) => "name its pack too, with --pack".to_owned(),
        Absence::Role(roles) => format!("start the session with --role {}", roles.join(" or --role ")),
        Absence::Policy(missing) => format!("allow it with {}", allow_flags(*missing)),
        Absence::Service(_, Some(advice)) => advice.clone(),
        Absence::Service(need, None) => provider_of(*need).to_owned(),
        Absence::Provider(_) | Absence::UnknownProvider(_) => {
            "a run with such a model has it, and `tools export` in its format".to_owned()
        }
        Absence::Dialect(..) => "call it by its own name, or choose another --dialect".to_owned(),
        Absence::NothingToFind => "it is listed once tools are held back from the list".to_owned(),
    }
}

/// What brings a model that sees.
const SEEING: &str = "name a model that accepts images with the key `model`";

/// What brings a service.
fn provider_of(need: Need) -> &'static str {
    match need {
        Need::Agents => "write an agent file, and name a model with the key `model`",
        Need::Parent => "an agent that another one has started has it",
        Need::Model => "name a model with the key `model`",
        Need::Engine => "use a program that is built with the feature `code`",
        Need::Store => "name a store with --store",
    }
}

/// The tools that are missing, by what they lack, so that each lack is said once.
pub(crate) fn grouped(missing: &[MissingTool]) -> Vec<(Vec<&str>, &Absence)> {
    let mut groups: Vec<(Vec<&str>, &Absence)> = Vec::new();
    let mut seen = BTreeSet::new();
    for tool in missing.iter().filter(|tool| seen.insert(tool.spec.name.as_str())) {
        match groups.iter_mut().find(|(_, why)| **why == tool.why) {
            Some((names, _)) => names.push(&tool.spec.name),
            None => groups.push((vec![&tool.spec.name], &tool.why)),
        }
    }
    groups
}
