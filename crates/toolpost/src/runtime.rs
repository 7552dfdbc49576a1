//! Where the parts are joined, once for every command: registry, executor, context, servers.

mod activate;
mod delegation;
mod host;
mod offer;
mod packs;
mod resume;
mod rule_names;
mod tool_model;

pub(crate) use activate::{Caller, Chosen, Prepared, Seat};
pub(crate) use host::{Audience, TreeHost, outside_name, outside_part};
pub(crate) use offer::{MissingTool, Offer, grouped, lack, remedy};
pub(crate) use packs::{KnownPack, PackOrigin, meant, missing};
pub(crate) use resume::{Recorded, Reopened, Resumed, holder};
pub(crate) use rule_names::RuleNames;

use tool_model::ToolModel;

use crate::calendar::moment;
#[cfg(feature = "code")]
use crate::code_engine::WorkspaceEngine;
use crate::config::{self, Config, Servers};
use crate::record;
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use toolpost_core::code::{CodeEngine, DiagnosticsService};
use toolpost_core::event::{EventSink, NoEvents};
use toolpost_core::host::{Clock, Confirm, Ids, NobodyThere, Redactor, Services, SystemClock, Watch};
use toolpost_core::model::Model;
use toolpost_core::store::Store;
use toolpost_core::tool::Texts;
use toolpost_core::workspace::{Journal, NoJournal};
use toolpost_core::{Call, Capability, Code, Context, Executor, Policy, Registry, ToolError, Workspace};
use toolpost_disk::{SpillFolder, SpillLimits};
use toolpost_plugins::{Plugins, Server};
use toolpost_store::{FileLedger, ReadSpool, StoreJournal, StoreLog, StoreUrl, StoredWorkspace};
use toolpost_tools::filesystem::Helper;
use toolpost_tools::language_server::LanguageServers;
use toolpost_tools::shell::Background;

/// All in which the commands, and a program that embeds toolpost, differ. The default is for a program that only looks:
/// nobody hears events or answers questions.
pub struct Frontend {
    /// Who hears what happens.
    pub events: Arc<dyn EventSink>,
    /// Who answers questions.
    pub confirm: Arc<dyn Confirm>,
    /// Maximum number of commands in the background; 0 where the process ends with its one call.
    pub background: usize,
    /// The program that reads PDFs.
    pub pdf: Option<Helper>,
    /// The MCP servers whose tools are offered too.
    pub servers: ServerChoice,
    /// Whether what happens is written into the store.
    pub records: bool,
    /// Which tools that start agents there are.
    pub agents: AgentTools,
}

/// When there are tools that start agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AgentTools {
    /// Always: the session is a run, or may be one.
    Always,
    /// Where an agent file may be used and a model is there for it.
    #[default]
    WherePossible,
}

/// Which MCP servers are used.
pub enum ServerChoice {
    /// Those of the configuration.
    Configured,
    /// These, and none of the configuration.
    These(Vec<Server>),
}

impl Default for Frontend {
    fn default() -> Frontend {
        Frontend {
            events: Arc::new(NoEvents),
            confirm: Arc::new(NobodyThere),
            background: 0,
            pdf: None,
            servers: ServerChoice::Configured,
            records: false,
            agents: AgentTools::default(),
        }
    }
}

/// Everything that a way in needs to run tools.
pub struct Runtime {
    /// What holds.
    pub config: Config,
    /// Runs tools.
    pub executor: Executor,
    /// The session that calls belong to.
    pub context: Context,
    /// Fires to end every call.
    pub cancel: CancellationToken,
    /// The commands in the background.
    pub background: Arc<Background>,
    /// What the user should hear before anything runs.
    pub notes: Vec<String>,
    /// The MCP servers that were found; those that can be used are in `plugins`.
    pub servers: Servers,
    /// Other servers whose tools are offered, if there are any.
    pub plugins: Option<Plugins>,
    /// What outlives the process. It is opened when it is first used.
    pub store: Arc<dyn Store>,
    /// Runs agents.
    pub(crate) host: Arc<TreeHost>,
    /// Writes what happens into the store.
    log: Option<Arc<StoreLog>>,
    /// Knows what sessions have seen of files.
    ledger: Arc<FileLedger>,
}

impl Runtime {
    /// Joins the parts: the only place where that is done. Nothing is written, and no server is started: a server is when
    /// one of its tools is needed, or the list of all tools. A store that was named is opened where it is written to.
    pub fn open(config: Config, frontend: Frontend) -> Result<Runtime, ToolError> {
        let disk = Arc::clone(config.workspace.as_ref().map_err(ToolError::clone)?);
        let background = Background::at_most(frontend.background);
        let (store, note) = store(&config, frontend.records)?;
        let is_kept = note.is_none() && !matches!(config.store, None | Some(StoreUrl::Memory));
        if frontend.records && is_kept {
            config.note_roots();
        }
        let workspace: Arc<dyn Workspace> = match &config.virtual_session {
            Some(session) => Arc::new(StoredWorkspace::new(Arc::clone(&store), session)),
            None => disk,
        };
        let cwd = match &config.virtual_session {
            Some(_) => workspace.root().to_owned(),
            None => config.cwd.to_string_lossy().into_owned(),
        };
        let code = code_engine(&config, &workspace);
        let host = Arc::new(TreeHost::default());
        let has_agents =
            frontend.agents == AgentTools::Always || delegation::is_possible(&config, host.known());
        let agents = has_agents.then(|| Arc::clone(&host) as _);
        let today = moment(SystemClock::new().now_ms());
        let model = ToolModel::configured(&config, today.get(..10).unwrap_or_default());
        let model = model.map(|model| Arc::new(model) as Arc<dyn Model>);
        let services = Services { store: Some(Arc::clone(&store)), code, model, agents };
        let registry =
            Arc::new(registry(&config, (workspace.as_ref(), &cwd), &services, frontend.pdf, &background)?);
        let log = frontend.records.then(|| {
            Arc::new(StoreLog::new(Arc::clone(&store), Box::new(record::kept), config.keep.clone()))
        });
        let mut servers = match frontend.servers {
            ServerChoice::Configured => config.servers(),
            ServerChoice::These(usable) => Servers { usable, ..Servers::default() },
        };
        let usable = std::mem::take(&mut servers.usable);
        let reported = servers.reports.iter().map(|server| server.name.as_str());
        let named = usable.iter().map(|server| server.name.as_str()).chain(reported);
        let misspelt =
            rule_names::check(&config.policy, &registry, named, config.roots.first().map(PathBuf::as_path))?;
        let cancel = CancellationToken::new();
        // What a server is given to show elsewhere is not for the model.
        let redactor = config.redactor.and(usable.iter().flat_map(config::secrets));
        crate::output::followed::without(redactor.clone());
        let ledger = Arc::new(match frontend.records && is_kept {
            true => ledger(&config, &store, workspace.root(), redactor.clone()),
            false => FileLedger::in_memory(),
        });
        let mut context = Context::builder(workspace)
            .ids(Ids { session: config.session.clone(), role: config.role.clone(), ..Ids::default() })
            .dialect(config.dialect.clone())
            .cwd(cwd)
            .events(frontend.events)
            .services(services)
            .confirm(frontend.confirm)
            .redactor(redactor)
            .known_files(Arc::clone(&ledger) as _)
            .cancel(cancel.clone());
        #[cfg(feature = "code")]
        {
            context = context.extra(crate::syntax::check(config.exact_breaks));
        }
        if !config.language_servers.is_empty() && config.virtual_session.is_none() {
            let servers = LanguageServers::new(config.language_servers.clone());
            context = context.extra(DiagnosticsService(Arc::new(servers)));
        }
        if let Some(log) = &log {
            context = context.events(Arc::clone(log) as _);
        }
        if let Some(data) = &config.data_directory {
            context = context.spill(Arc::new(SpillFolder::new(data.join("spill"), SpillLimits::default())));
        }
        if frontend.records && config.virtual_session.is_none() {
            context = context.journal(journal(&config, &store, is_kept));
        }
        let mut executor = Executor::builder().without_last_results();
        if let Some(answers) = &config.answers {
            executor = executor.answers(Arc::clone(answers) as _);
        }
        let executor = executor.build();
        let plugins = match usable.is_empty() {
            true => None,
            false => Some(Plugins::new(usable, &registry, config.plugins.clone())),
        };
        let strays = config.descriptions.keys().filter(|tool| !registry.has(tool));
        let strays = strays.map(|tool| format!("there is no tool `{tool}` for the description `{tool}.txt`"));
        let mut runtime = Runtime {
            notes: config.notes.iter().cloned().chain(strays).chain(misspelt).chain(note).collect(),
            context: context.tools(registry).policy(config.policy.clone()).build(),
            executor,
            cancel,
            background,
            servers,
            plugins,
            config,
            store,
            host,
            log,
            ledger,
        };
        if let Some(selection) = runtime.selection()? {
            runtime.context = runtime.context.rebuild().selection(Some(selection)).build();
        }
        Ok(runtime)
    }

    /// Waits until everything that has happened is in the log, and what sessions have seen of files in the store.
    pub async fn recorded(&self) -> Result<(), ToolError> {
        // Begun first, so that both become durable together.
        let seen = self.ledger.commit();
        let logged = match &self.log {
            Some(log) => log.commit().await,
            None => Ok(()),
        };
        seen.await;
        logged
    }

    /// What may happen in this session.
    pub(crate) fn policy(&self) -> Policy {
        self.executor.policy_for(&self.context)
    }

    /// Makes known what a tool of this name is: one that an agent defines, or one of a server, which is waited for if the
    /// policy could allow the tool. Not for use inside of a tokio runtime.
    pub(crate) fn know(&self, tool: &str) -> Result<(), ToolError> {
        if self.context.tools().snapshot().meant(tool).is_none() {
            self.offer_agents_tools();
        }
        if self.plugins.is_none() && self.context.services().agents.is_none() {
            return Ok(());
        }
        let call = Call::new(tool, serde_json::Value::Null);
        threads()?.block_on(async {
            self.know_agents().await;
            self.executor.awaited(&self.context, &call).await.map(drop)
        })
    }

    /// Lets the tools that start agents name the agents there are. Returns what is to be said of those that failed.
    pub(crate) async fn know_agents(&self) -> Vec<String> {
        let failed = self.executor.ready_by_agent(&self.context).await;
        failed.into_iter().map(|(_, error)| error.message().to_owned()).collect()
    }

    /// Makes all tools known: those that agents define, and those of servers, which are waited for. Returns what is to be said
    /// of servers that failed, and of tools that are not all taken. Not for use inside of a tokio runtime.
    pub(crate) fn know_all(&self) -> Vec<String> {
        let mut notes = self.offer_agents_tools();
        notes.extend(self.know_servers());
        notes.extend(self.notes_of_packs(&self.policy()));
        notes
    }

    fn know_servers(&self) -> Vec<String> {
        let mut notes = self.servers.notes();
        if self.plugins.is_none() && self.context.services().agents.is_none() {
            return notes;
        }
        let (unready, failed) = match threads() {
            Ok(threads) => threads
                .block_on(async { (self.know_agents().await, self.executor.all_ready(&self.context).await) }),
            Err(error) => return vec![error.message().to_owned()],
        };
        notes.extend(unready);
        notes.extend(failed.into_iter().map(|(_, error)| error.message().to_owned()));
        notes.extend(self.plugins.iter().flat_map(Plugins::notes));
        notes
    }
}

/// Why there is no data directory.
pub(crate) const NO_DATA_DIRECTORY: &str = "neither XDG_DATA_HOME nor HOME is an absolute path";

/// The store that the configuration names. The workspace's own is replaced by memory where it cannot be written, with a note.
fn store(config: &Config, records: bool) -> Result<(Arc<dyn Store>, Option<String>), ToolError> {
    let memory = |note: String| (toolpost_store::open_when_used(&StoreUrl::Memory), records.then_some(note));
    let lost = "so nothing of this session is kept after its end; name another with --store";
    match &config.store {
        Some(named) if config.is_store_named && records => Ok((toolpost_store::open(named)?, None)),
        Some(url) if config.is_store_named => Ok((toolpost_store::open_when_used(url), None)),
        Some(url) if config.can_keep() => Ok((toolpost_store::open_when_used(url), None)),
        Some(_) => Ok(memory(format!("your data directory cannot be written, {lost}"))),
        None => Ok(memory(format!("there is no data directory ({NO_DATA_DIRECTORY}), {lost}"))),
    }
}

/// The engine that knows the code of the workspace. It indexes nothing before it is asked.
#[cfg(feature = "code")]
fn code_engine(config: &Config, workspace: &Arc<dyn Workspace>) -> Option<Arc<dyn CodeEngine>> {
    let cache = config.cache_directory.as_ref().map(|folder| folder.join("code"));
    Some(Arc::new(WorkspaceEngine::new(Arc::clone(workspace), config.policy.clone(), cache)))
}

#[cfg(not(feature = "code"))]
fn code_engine(_: &Config, _: &Arc<dyn Workspace>) -> Option<Arc<dyn CodeEngine>> {
    None
}

/// Who keeps what is needed to undo a change. Where the store ends with the process, nobody does.
fn journal(config: &Config, store: &Arc<dyn Store>, is_kept: bool) -> Arc<dyn Journal> {
    match (&config.workspace, is_kept) {
        (Ok(disk), true) => Arc::new(undo_journal(config, store, disk.root())),
        _ => Arc::new(NoJournal),
    }
}

/// What sessions have seen of the files of a workspace, kept in the store. Of files that are not for everybody, and of those that
/// hold a secret, only the hash is kept there.
fn ledger(config: &Config, store: &Arc<dyn Store>, root: &str, redactor: Redactor) -> FileLedger {
    let policy = config.policy.clone();
    let may_keep = move |name: &str, content: &[u8]| {
        let is_plain =
            || matches!(redactor.redact_lines(&String::from_utf8_lossy(content)), Cow::Borrowed(_));
        policy.allows_path("read", Capability::Read, name) && is_plain()
    };
    FileLedger::new(Arc::clone(store), root, Box::new(may_keep))
}

/// The journal of a workspace, and where its commands write what they are about to change.
pub(crate) fn undo_journal(config: &Config, store: &Arc<dyn Store>, root: &str) -> StoreJournal {
    let journal = StoreJournal::new(Arc::clone(store), root);
    let spools = config.store.as_ref().and_then(|url| url.spools(config.data_directory.as_deref()));
    let Some(folder) = spools else { return journal };
    let roots = config.workspace.as_ref().map(|disk| disk.roots()).unwrap_or_default();
    let read: ReadSpool =
        Box::new(move |spool| Ok(toolpost_tools::shell::read_changes(spool, &roots)?.changes));
    journal.with_spools(folder, Some(read))
}

/// The built-in tools, as the configuration describes and equips them.
fn registry(
    config: &Config,
    (workspace, cwd): (&dyn Workspace, &str),
    services: &Services,
    pdf: Option<Helper>,
    background: &Arc<Background>,
) -> Result<Registry, ToolError> {
    let texts = Texts::new(workspace, cwd);
    let texts = config.descriptions.iter().fold(texts, |texts, (tool, text)| texts.with_override(tool, text));
    let registry = Registry::with_texts(texts);
    let mut settings = toolpost_tools::Settings {
        filesystem: config.filesystem.clone(),
        shell: config.shell.clone(),
        web: config.web.clone(),
        screenshot: config.screenshot.clone(),
        listed: config.packs.clone(),
    };
    settings.filesystem.pdf = pdf;
    settings.shell.background = Arc::clone(background);
    toolpost_tools::register_default(&registry, services, &settings)?;
    Ok(registry)
}

/// The threads that calls run on.
pub(crate) fn threads() -> Result<tokio::runtime::Runtime, ToolError> {
    Watch::runtime().map_err(|error| {
        ToolError::new(Code::ExecutionError, format!("no threads could be started: {error}"))
    })
}
