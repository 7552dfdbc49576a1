//! From an agent file to a run: its tools, its policy, its instructions, its model.

mod choose;
mod instructions;
mod stated;

use super::host::TreeHost;
use super::{Runtime, delegation};
use crate::config::{Layer, ModelSettings};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;
use toolpost_agent::AgentFile;
use toolpost_agent::agent_file::{Problem, Severity};
use toolpost_agent::driver::{Activation, Listener};
use toolpost_agent::kernel::State;
use toolpost_agent::model::{Level, Script, Timeouts, Wanted, choose as choose_model, client};
use toolpost_agent::tree::Branch;
use toolpost_core::activation::{Limits, Start};
use toolpost_core::dialect::Dialect;
use toolpost_core::host::{Ids, Redactor, Services, Spawn, new_id};
use toolpost_core::model::{Model, ModelErrorKind, Profile};
use toolpost_core::{Capability, Code, Context, Policy, ToolError};
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
    /// Its id.
    pub(crate) id: String,
    /// Its session.
    pub(crate) session: String,
    /// What the agent has to do.
    pub(crate) task: String,
    /// Whether a person can be asked.
    pub(crate) has_person: bool,
    /// Who watches.
    pub(crate) listener: Arc<dyn Listener>,
    /// What is not shown or recorded: also the key of the model.
    pub(crate) redactor: Redactor,
    /// The agent that starts it; none for the first.
    pub(crate) above: Option<Above>,
    /// The call from outside of every run that has begun its tree; none where `run` or `chat` has.
    pub(crate) caller: Option<Caller>,
    /// How it stands, where it has begun before.
    pub(crate) state: Option<State>,
}

/// A call from outside of every run, for the whole tree that it begins.
#[derive(Clone)]
pub(crate) struct Caller {
    /// Who is asked, who hears what happens, what ends it, and what it may do.
    pub(crate) context: Context,
    /// Its id.
    pub(crate) call: String,
}

/// Who starts a run.
#[derive(Clone, Copy)]
pub(super) enum Starter<'a> {
    /// A person, by `run` or `chat`.
    Person,
    /// A call from outside of every run.
    Caller,
    /// An agent, with what is withheld from its children.
    Agent(&'a Withheld),
}

impl<'a> Starter<'a> {
    fn of(seat: &'a Seat) -> Starter<'a> {
        match (&seat.above, &seat.caller) {
            (Some(above), _) => Starter::Agent(&above.withheld),
            (None, Some(_)) => Starter::Caller,
            (None, None) => Starter::Person,
        }
    }

    fn withheld(self) -> Option<&'a Withheld> {
        match self {
            Starter::Agent(withheld) => Some(withheld),
            Starter::Person | Starter::Caller => None,
        }
    }
}

/// What a run has from the agent that starts it.
pub(crate) struct Above {
    /// What that one may do.
    pub(crate) policy: Policy,
    /// Its role among the tasks.
    pub(crate) role: Option<String>,
    /// The place of the new run.
    pub(crate) branch: Branch,
    /// The run of the agent above.
    pub(crate) parent: String,
    /// The call that starts it.
    pub(crate) call: String,
    /// JSON schema of its result, where that is to be data.
    pub(crate) result_schema: Option<Value>,
    /// The tools that it and the agents above it may not use.
    pub(crate) withheld: Withheld,
}

/// The tools that files of agents take away, from their agents and from all below: names, and patterns with `*`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Withheld(pub(super) BTreeSet<String>);

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
        self.model_named(agent, today, None).await
    }

    /// The same where a model is named that goes before every other wish.
    pub(crate) async fn model_named(
        &self,
        agent: &AgentFile,
        today: &str,
        name: Option<&str>,
    ) -> Result<Chosen, ToolError> {
        let mut settings = self.config.models()?;
        if name.is_some() {
            (settings.for_all, settings.flag) = (None, name.map(str::to_owned));
        }
        self.model_by(agent, today, self.context.redactor(), (settings, Level::First)).await
    }

    /// The model of an agent below another, or of a tool that an agent defines: `--model` comes after its own.
    pub(super) async fn model_below(
        &self,
        agent: &AgentFile,
        today: &str,
        redactor: &Arc<Redactor>,
    ) -> Result<Chosen, ToolError> {
        let mut settings = self.config.models()?;
        settings.configured = delegation::wanted(&settings, None).configured;
        settings.flag = None;
        self.model_by(agent, today, redactor, (settings, Level::Below)).await
    }

    async fn model_by(
        &self,
        agent: &AgentFile,
        today: &str,
        redactor: &Arc<Redactor>,
        (settings, level): (ModelSettings, Level),
    ) -> Result<Chosen, ToolError> {
        let ModelSettings { for_all, flag, configured, catalog, keys, proxy, silence } = settings;
        let named = agent.models.first().cloned();
        let replaced = for_all.as_ref().or(flag.as_ref());
        if replaced.is_none_or(|name| name == "script")
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
        let wanted = Wanted { for_all, flag, agent: named, configured, level };
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
        let before = seat.state.as_ref().and_then(State::start).and_then(|start| start.rights.clone());
        let before = before.unwrap_or_default();
        let base = seat.caller.as_ref().map_or(&self.context, |caller| &caller.context);
        let policy = match (&seat.above, &seat.caller) {
            (Some(above), _) => agent.policy_within(&above.policy),
            (None, Some(_)) => agent.policy_within(&self.policy_after(&before, base.policy().clone())?),
            (None, None) => {
                agent.policy_within(&self.policy_after(&before, self.run_policy(seat.has_person))?)
            }
        };
        let dialect = self.dialect_for(agent, profile.dialect.as_deref())?;
        let mut problems: Vec<Problem> = Vec::new();
        let starter = Starter::of(&seat);
        let (tools, offers_all) = self.tools_for(agent, &policy, &dialect, starter, &mut problems)?;
        let withheld = self.withheld(agent, &dialect, starter.withheld());
        if profile.provider == "script" {
            let problems = self.check_script(agent);
            let broken = problems.iter().filter(|problem| problem.severity == Severity::Broken);
            let lines: Vec<String> = broken.map(ToString::to_string).collect();
            if !lines.is_empty() {
                return Err(ToolError::new(Code::ValidationError, lines.join("\n")));
            }
        }
        let limits = match &seat.above {
            Some(above) => above.branch.limits().clone(),
            None => agent.limits.or(&Limits::usual()),
        };
        let is_limited =
            limits.cost.is_some() || seat.above.as_ref().is_some_and(|above| above.branch.has_cost_limit());
        check_price(&agent.file, &profile, is_limited)?;
        let mut context = base.rebuild();
        let Seat { id, session, task, listener, redactor, above, caller, state, .. } = seat;
        let branch = match &above {
            Some(above) => above.branch.clone(),
            None => {
                let outer = caller.as_ref().map_or(&self.context, |caller| &caller.context);
                Branch::root(&id, &limits, outer.cancel().child_token())
            }
        };
        let ids = Ids {
            session: session.clone(),
            agent: Some(agent.name.clone()),
            activation: Some(id.clone()),
            parent_activation: above.as_ref().map(|above| above.parent.clone()),
            role: role(agent, above.as_ref().map_or(&self.config.role, |above| &above.role)),
            ..Ids::default()
        };
        let depth = usize::try_from(branch.depth()).unwrap_or(usize::MAX);
        let spawn = Spawn {
            depth,
            max_depth: limit(limits.depth).saturating_add(depth),
            max_children: limit(limits.fan_out),
            children: 0,
        };
        let call =
            above.as_ref().map(|above| &above.call).or(caller.as_ref().map(|caller| &caller.call)).cloned();
        if let Some(caller) = caller {
            context = context.extra(caller);
        }
        let context = context
            .ids(ids)
            .policy(policy)
            .dialect(Arc::clone(&dialect))
            .tools(tools)
            .services(Services { model: Some(Arc::clone(&model)), ..self.context.services().clone() })
            .spawn(spawn)
            .redactor(redactor)
            .build();
        // What an agent brings along, it has whatever the session is restricted to.
        let own = agent.prompt_tools.iter().map(|tool| tool.name.clone());
        let selection = context.selection().map(|selection| (**selection).clone().and(own));
        let context = TreeHost::with_model(&context, &model).rebuild().extra(withheld);
        let context = context.selection(selection).provider(Some(&profile.provider)).build();
        let mut notes: Vec<String> = problems.iter().map(ToString::to_string).collect();
        if above.is_none() {
            notes.extend(self.note_of_rights(&before));
            notes.extend(self.notes_of_packs(context.policy()));
        }
        notes.extend(
            self.unknown_models(agent)
                .iter()
                .filter(|one| one.field.as_deref() != Some("model"))
                .map(ToString::to_string),
        );
        self.add_custom(agent, context.tools(), &mut notes)?;
        if is_limited && profile.provider != "script" {
            notes.extend(self.unpriced_tools(agent)?);
        }
        let failed = self.executor.ready_by_agent(&context).await;
        notes.extend(failed.iter().map(|(_, error)| error.message().to_owned()));
        let system = self.system(agent, &context, &mut notes).await;
        let start = Start {
            agent: agent.name.clone(),
            file: Some(self.whole_path(&agent.file)),
            parent: above.as_ref().map(|above| above.parent.clone()),
            system,
            task,
            attachments: Vec::new(),
            model: profile,
            tools: Vec::new(),
            dialect: dialect.name().to_owned(),
            limits,
            workspace: context.workspace().root().to_owned(),
            depth: branch.depth(),
            call,
            rights: above.is_none().then(|| self.rights_after(&before)),
            result_schema: above.and_then(|above| above.result_schema),
            file_hash: Some(agent.hash.clone()),
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
            listener,
            branch,
            state,
        };
        Ok(Prepared { activation, session, notes })
    }

    /// The file of an agent as it can be found from everywhere. Those that were found have names of their own.
    pub(super) fn whole_path(&self, file: &str) -> String {
        let path = self.config.cwd.join(file);
        if path.is_file() { path.to_string_lossy().into_owned() } else { file.to_owned() }
    }

    /// The id and the session of a new run of an agent.
    pub(crate) fn new_run(&self, agent: &AgentFile) -> (String, String) {
        let id = new_id(self.context.clock().now_ms());
        let session = match self.config.is_session_named {
            true => self.config.session.clone(),
            false => format!("{}-{}", session_word(&agent.name), &id[id.len() - 8..]),
        };
        (id, session)
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

/// Refuses a model whose price is not known, where a limit of cost has to be kept.
pub(super) fn check_price(file: &str, profile: &Profile, is_limited: bool) -> Result<(), ToolError> {
    if !is_limited || profile.price.is_some() {
        return Ok(());
    }
    let message = format!(
        "{file}: `limits.cost` cannot be kept, because the price of {}/{} is not known; add it under `[[vendor]]` in your configuration, or limit `tokens`",
        profile.vendor, profile.model
    );
    Err(ToolError::new(Code::ValidationError, message))
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

/// The role of an agent: its file's, unless whoever starts it is a worker. A worker makes no orchestrators.
fn role(agent: &AgentFile, starter: &Option<String>) -> Option<String> {
    match starter.as_deref() {
        Some("worker") => starter.clone(),
        _ => agent.role.clone().or_else(|| starter.clone()),
    }
}
