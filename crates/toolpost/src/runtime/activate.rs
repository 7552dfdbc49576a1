//! From an agent file to a run: its tools, its policy, its instructions, its model.

mod choose;
mod instructions;

use super::Runtime;
use crate::config::{Layer, ModelSettings};
use std::sync::Arc;
use toolpost_agent::AgentFile;
use toolpost_agent::agent_file::{Problem, Severity};
use toolpost_agent::driver::{Activation, Listener};
use toolpost_agent::model::{Script, Timeouts, Wanted, choose as choose_model, client};
use toolpost_core::activation::{Limits, Start};
use toolpost_core::dialect::Dialect;
use toolpost_core::host::{Ids, Redactor, Services, Spawn, new_id};
use toolpost_core::model::{Model, ModelErrorKind};
use toolpost_core::{Capability, Code, Policy, ToolError};
use toolpost_http::{Connect, Proxy};

/// An agent that is ready to run.
pub(crate) struct Prepared {
    /// The run.
    pub(crate) activation: Activation,
    /// Its session.
    pub(crate) session: String,
    /// What the user should hear before it starts.
    pub(crate) notes: Vec<String>,
}

/// What a run is started with.
pub(crate) struct Seat {
    /// What the agent has to do.
    pub(crate) task: String,
    /// Whether a person can be asked.
    pub(crate) has_person: bool,
    /// Who watches.
    pub(crate) listener: Arc<dyn Listener>,
    /// What is not shown or recorded: also the key of the model.
    pub(crate) redactor: Redactor,
}

/// The model of a run.
pub(crate) struct Chosen {
    /// The model.
    pub(crate) model: Arc<dyn Model>,
    /// Why this one.
    pub(crate) reason: String,
    /// The secrets of the session, and the key of the model.
    pub(crate) redactor: Redactor,
}

impl Runtime {
    /// The model that an agent uses.
    pub(crate) async fn model_for(&self, agent: &AgentFile, today: &str) -> Result<Chosen, ToolError> {
        let ModelSettings { flag, configured, catalog, keys, proxy, silence } = self.config.models()?;
        let redactor = self.context.redactor();
        let named = agent.models.first().cloned();
        if flag.as_deref().is_none_or(|flag| flag == "script")
            && let Some(script) = &agent.script
        {
            let script = Script::new(&script.to_value(), &agent.name).map_err(|error| {
                let problem = choose::script_problem(agent, script, &error);
                ToolError::new(Code::ValidationError, problem.to_string())
            })?;
            let reason = "the agent file has a script".to_owned();
            return Ok(Chosen { model: Arc::new(script), reason, redactor: (**redactor).clone() });
        }
        let connect = proxy.map(|proxy| {
            let proxy = Proxy::new(&proxy, &[]);
            proxy.map(|proxy| Arc::new(proxy) as Arc<dyn Connect>)
        });
        let connect = connect
            .transpose()
            .map_err(|error| ToolError::new(Code::ValidationError, format!("`modelProxy`: {error}")))?;
        let client = client(&Timeouts::default(), connect);
        let wanted = Wanted { flag, agent: named, configured };
        let choice =
            choose_model(&wanted, &catalog, &keys, &client).await.map_err(|error| match error.kind {
                // A wrong word, and not a model that failed.
                ModelErrorKind::Invalid => ToolError::new(Code::ValidationError, error.message),
                _ => error.into(),
            })?;
        let redactor = match &choice.key {
            Some(key) => key.known_to(redactor),
            None => (**redactor).clone(),
        };
        let mut model = choice.vendor.open(&choice.model, choice.key, client, today);
        if let Some(silence) = silence {
            model = model.with_silence(silence);
        }
        Ok(Chosen { model: Arc::new(model), reason: choice.reason, redactor })
    }

    /// Makes an agent ready to run. MCP servers whose tools it could use have been waited for.
    pub(crate) async fn activate(
        &self,
        agent: &AgentFile,
        model: Arc<dyn Model>,
        seat: Seat,
    ) -> Result<Prepared, ToolError> {
        let profile = model.profile().clone();
        let policy = agent.policy_within(&self.run_policy(seat.has_person));
        let dialect = self.dialect_for(agent, profile.dialect.as_deref())?;
        let mut problems: Vec<Problem> = Vec::new();
        let (tools, offers_all) = self.tools_for(agent, &policy, &dialect, &mut problems)?;
        if profile.provider == "script" {
            let problems = self.check_script(agent);
            let broken = problems.iter().filter(|problem| problem.severity == Severity::Broken);
            let lines: Vec<String> = broken.map(ToString::to_string).collect();
            if !lines.is_empty() {
                return Err(ToolError::new(Code::ValidationError, lines.join("\n")));
            }
        }
        let limits = agent.limits.or(&Limits::usual());
        if limits.cost.is_some() && profile.price.is_none() {
            let message = format!(
                "{}: `limits.cost` cannot be kept, because the price of {}/{} is not known; add it under `[[vendor]]` in your configuration, or limit `tokens`",
                agent.file, profile.vendor, profile.model
            );
            return Err(ToolError::new(Code::ValidationError, message));
        }
        let now = self.context.clock().now_ms();
        let id = new_id(now);
        let session = match self.config.is_session_named {
            true => self.config.session.clone(),
            false => format!("{}-{}", session_word(&agent.name), &id[id.len() - 8..]),
        };
        let ids = Ids {
            session: session.clone(),
            agent: Some(agent.name.clone()),
            activation: Some(id.clone()),
            role: agent.role.clone().or_else(|| self.config.role.clone()),
            ..Ids::default()
        };
        let spawn =
            Spawn { max_depth: limit(limits.depth), max_children: limit(limits.fan_out), ..Spawn::default() };
        let context = self
            .context
            .rebuild()
            .ids(ids)
            .policy(policy)
            .dialect(Arc::clone(&dialect))
            .tools(tools)
            .services(Services { model: Some(Arc::clone(&model)), ..self.context.services().clone() })
            .spawn(spawn)
            .redactor(seat.redactor)
            .build();
        let mut notes: Vec<String> = problems.iter().map(ToString::to_string).collect();
        if !agent.prompt_tools.is_empty() {
            let names: Vec<&str> = agent.prompt_tools.iter().map(|tool| tool.name.as_str()).collect();
            notes.push(format!(
                "{}: tools that an agent defines itself are checked, and not offered yet: {}",
                agent.file,
                names.join(", ")
            ));
        }
        let system = self.system(agent, &context, &mut notes).await;
        let start = Start {
            agent: agent.name.clone(),
            file: Some(agent.file.clone()),
            parent: None,
            system,
            task: seat.task,
            model: profile,
            tools: Vec::new(),
            dialect: dialect.name().to_owned(),
            limits,
            workspace: context.workspace().root().to_owned(),
        };
        let activation = Activation {
            id,
            start,
            model,
            context,
            executor: self.executor.clone(),
            offers_all,
            temperature: agent.temperature,
            thinking: agent.thinking,
            listener: seat.listener,
        };
        Ok(Prepared { activation, session, notes })
    }

    /// The policy of a run: where nobody has said anything about exec and network, and a person is there, they are asked for.
    fn run_policy(&self, has_person: bool) -> Policy {
        let mut policy = self.context.policy().clone();
        let rights = &self.config.values.rights;
        for (capability, right) in rights.iter() {
            let is_unsaid = right.place.layer == Layer::BuiltIn;
            if has_person && is_unsaid && matches!(capability, Capability::Exec | Capability::Network) {
                policy = policy.ask(capability);
            }
        }
        policy
    }

    /// The dialect: the agent's, else one that was set, else the model's.
    fn dialect_for(&self, agent: &AgentFile, of_model: Option<&str>) -> Result<Arc<Dialect>, ToolError> {
        let set = self.config.values.keys.dialect.first().filter(|one| one.place.layer != Layer::BuiltIn);
        let name = match (&agent.dialect, set) {
            (Some(name), _) => name.as_str(),
            (None, Some(set)) => return Ok(Arc::clone(&set.value)),
            (None, None) => of_model.unwrap_or("toolpost"),
        };
        let named = self.context.tools().snapshot().dialects().named(name);
        named.map_err(|error| ToolError::new(Code::ValidationError, format!("{}: {error}", agent.file)))
    }
}

fn limit(limit: Option<u64>) -> usize {
    limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX))
}

/// The name of an agent as a part of the id of a session.
fn session_word(name: &str) -> String {
    let word: String = name
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' })
        .take(24)
        .collect();
    let word = word.trim_matches('-').to_owned();
    if word.is_empty() { "run".to_owned() } else { word }
}
