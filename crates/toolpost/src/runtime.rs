//! One engine from its parts: registry, executor, context.

use crate::config::answers::AnswerFiles;
use crate::config::{self, Config};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use toolpost_core::policy::Layer;
use toolpost_core::{
    Call, Code, Confirm, Context, Disk, EventSink, Executor, Locks, Policy, Registry, Services, Spill,
    SpillLimits, Texts, ToolError, Watch, Workspace,
};
use toolpost_plugins::{Plugins, Server};

/// Everything that a way in needs to run tools.
pub struct Runtime {
    /// Runs tools.
    pub executor: Executor,
    /// The session that calls belong to.
    pub context: Context,
    /// Fires to end every call.
    pub cancel: CancellationToken,
    /// How long a call may run where its flags say nothing.
    pub timeout: Option<Duration>,
    /// Where answers that outlive the process are kept, if the user has such a place.
    pub answers: Option<Arc<AnswerFiles>>,
    /// The user's home directory.
    pub home: Option<String>,
    /// Descriptions that were given for tools that do not exist.
    pub stray_descriptions: Vec<String>,
    /// Other servers whose tools are offered, if there are any.
    pub plugins: Option<Plugins>,
    /// What is to be said of servers that were found and cannot be used.
    pub server_notes: Vec<String>,
}

impl Runtime {
    /// Opens the workspace and registers the built-in tools.
    pub fn open(
        config: &Config,
        events: Arc<dyn EventSink>,
        confirm: Arc<dyn Confirm>,
    ) -> Result<Runtime, ToolError> {
        let workspace = workspace(config)?;
        let texts =
            config.descriptions.iter().fold(
                Texts::new(workspace.as_ref(), &config.cwd.to_string_lossy()),
                |texts, (tool, text)| texts.with_override(tool, text),
            );
        let registry = Arc::new(Registry::with_texts(texts));
        // No services yet: what needs one appears with it.
        let settings =
            toolpost_tools::Settings { filesystem: config.filesystem.clone(), shell: config.shell.clone() };
        toolpost_tools::register_default(&registry, &Services::default(), &settings)?;
        let cancel = CancellationToken::new();
        let mut context = Context::builder(workspace)
            .session(&config.session)
            .dialect(config.dialect.clone())
            .cwd(config.cwd.to_string_lossy())
            .events(events)
            .confirm(confirm)
            .redactor(config.redactor.clone())
            .cancel(cancel.clone());
        if let Some(data) = &config.data_directory {
            context = context.spill(Arc::new(Spill::new(data.join("spill"), SpillLimits::default())));
        }
        let stray_descriptions =
            config.descriptions.keys().filter(|tool| !registry.has(tool)).cloned().collect();
        let session = config.is_session_named.then_some(config.session.as_str());
        let answers = config
            .data_directory
            .as_ref()
            .map(|data| Arc::new(AnswerFiles::new(data, &config.roots, session)));
        let policy = policy(config, answers.as_deref())?;
        Ok(Runtime {
            executor: match &answers {
                Some(answers) => Executor::builder().answers(answers.clone()).build(),
                None => Executor::new(),
            },
            answers,
            home: config.home.as_ref().map(|home| home.to_string_lossy().into_owned()),
            context: context.policy(policy).tools(registry).build(),
            cancel,
            timeout: config.timeout,
            stray_descriptions,
            plugins: None,
            server_notes: Vec::new(),
        })
    }

    /// Offers the tools of the servers that the configuration describes as well.
    pub fn add_configured_servers(&mut self, config: &Config) {
        let servers = config.servers();
        self.server_notes = servers.notes();
        self.add_servers(config, servers.usable);
    }

    /// Offers the tools of these servers as well. Nothing is started: a server is when one of its tools is needed, or
    /// the list of all tools.
    pub fn add_servers(&mut self, config: &Config, servers: Vec<Server>) {
        if servers.is_empty() {
            return;
        }
        // What a server is given to show elsewhere is not for the model.
        let redactor = config.redactor.and(servers.iter().flat_map(config::secrets));
        self.context = self.context.rebuild().redactor(redactor).build();
        self.plugins = Some(Plugins::new(servers, self.context.tools(), config.plugins.clone()));
    }

    /// Waits for the server that a tool of this name may be of, if there is one and the policy could allow the tool.
    /// Not for use inside of a tokio runtime.
    pub(crate) fn know(&self, tool: &str) -> Result<(), ToolError> {
        if self.plugins.is_none() {
            return Ok(());
        }
        let call = Call::new(tool, serde_json::Value::Null);
        threads()?.block_on(self.executor.awaited(&self.context, &call)).map(drop)
    }

    /// Waits for all servers. Returns what is to be said of those that failed, or whose tools are not all taken. Not for
    /// use inside of a tokio runtime.
    pub(crate) fn know_all(&self) -> Vec<String> {
        let Some(plugins) = &self.plugins else { return self.server_notes.clone() };
        let failed = match threads() {
            Ok(threads) => threads.block_on(self.executor.all_ready(&self.context)),
            Err(error) => return vec![error.message().to_owned()],
        };
        let failed = failed.into_iter().map(|(_, error)| error.message().to_owned());
        self.server_notes.iter().cloned().chain(failed).chain(plugins.notes()).collect()
    }
}

/// The configured policy, and what was answered before.
fn policy(config: &Config, answers: Option<&AnswerFiles>) -> Result<Policy, ToolError> {
    let Some(answers) = answers else { return Ok(config.policy.clone()) };
    let (session, saved) = answers.load()?;
    Ok(config.policy.with_rules(Layer::Session, session).with_rules(Layer::Saved, saved))
}

fn workspace(config: &Config) -> Result<Arc<dyn Workspace>, ToolError> {
    let disk = Disk::open(config.roots.iter().cloned())?;
    Ok(Arc::new(match &config.data_directory {
        Some(data) => disk.with_locks(Locks::new(data.join("locks"))),
        None => disk,
    }))
}

/// The threads that calls run on.
pub(crate) fn threads() -> Result<tokio::runtime::Runtime, ToolError> {
    Watch::runtime().map_err(|error| {
        ToolError::new(Code::ExecutionError, format!("no threads could be started: {error}"))
    })
}
