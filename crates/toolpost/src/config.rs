//! What flags, environment and files mean together. Nothing below knows where a value came from.

mod agents;
pub mod answers;
mod commands;
mod cover;
mod credentials;
mod data;
mod descriptions;
pub(crate) mod duration;
pub mod env;
mod example;
pub(crate) mod flags;
pub(crate) mod foreign;
mod found;
mod guard;
mod hosts;
pub mod import;
pub(crate) mod install;
mod jsonc;
mod keep;
mod key;
mod keys;
mod kinds;
mod language_servers;
mod layers;
mod lists;
mod look;
mod model_keys;
mod models;
mod node;
mod origin;
mod packs;
mod private;
mod requires;
mod rights;
mod roots;
mod schema;
mod servers;
mod settings;
mod stores;
mod token;
mod trust;
mod user_git;
mod variables;

pub(crate) use agents::{FoundAgent, FoundAgents};
pub(crate) use data::{DataDirectory, State as DataState};
pub(crate) use example::{write_project, write_user};
pub(crate) use found::{Found, Inventory};
pub use hosts::Host;
pub(crate) use key::{InFile, Shown, text_of};
pub(crate) use keys::KEYS;
pub(crate) use layers::{ConfigFile, FileState, Layers, Values};
pub(crate) use lists::ListFile;
pub(crate) use models::ModelSettings;
pub use origin::{Layer, Origined, Place, Problem};
pub(crate) use packs::FoundPack;
pub(crate) use rights::Right;
pub(crate) use roots::{cwd, open_disk, roots, virtual_session};
pub(crate) use schema::schema;
pub use servers::{ServerReport, ServerState, Servers, secrets};
pub(crate) use stores::Removed;
pub(crate) use token::{state_key, token};
pub(crate) use trust::{State, Trusted};

use crate::cli::Flags;
use answers::AnswerFiles;
use env::Environment;
use roots::{foreign_repository, named_session, roots_origin};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use toolpost_core::code::BrokenBy;
use toolpost_core::host::Redactor;
use toolpost_core::policy::{self, Policy};
use toolpost_core::store::Retention;
use toolpost_core::{Dialect, ToolError, Workspace as _};
use toolpost_disk::{Disk, Locks};
use toolpost_store::StoreUrl;
use toolpost_tools::language_server::LanguageServer;

/// What holds: everything a runtime is made from. There is one for each run of the program, whatever the command.
#[derive(Debug)]
pub struct Config {
    /// The folders that tools act in, the root first.
    pub roots: Vec<PathBuf>,
    /// The session whose virtual files the tools act on instead, if they do.
    pub virtual_session: Option<String>,
    /// What made these folders the workspace.
    pub(crate) roots_origin: &'static str,
    /// The folder the process stands in.
    pub cwd: PathBuf,
    /// What may happen, with all that was answered before.
    pub policy: Policy,
    /// The names and arguments in which tools are offered.
    pub dialect: Arc<Dialect>,
    /// The session that calls belong to.
    pub session: String,
    /// The role of the session among the shared tasks, if it has one.
    pub role: Option<String>,
    /// Whether the session was named, so that it outlives the process.
    pub is_session_named: bool,
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// Where locks and outputs are kept, if the user has such a place.
    pub data_directory: Option<PathBuf>,
    /// Where is kept what can be found out again, if the user has such a place.
    pub cache_directory: Option<PathBuf>,
    /// Where the log, virtual files, tasks and todos are kept; none where there is no place for them.
    pub store: Option<StoreUrl>,
    /// Whether the store was named: one that cannot be opened is an error then.
    pub is_store_named: bool,
    /// How long it keeps them, and how large it may grow.
    pub keep: Retention,
    /// Where answers that outlive the process are kept, if the user has such a place.
    pub answers: Option<Arc<AnswerFiles>>,
    /// Descriptions that replace the built-in ones.
    pub descriptions: BTreeMap<String, String>,
    /// How long a call may run where nothing else is said; otherwise each tool's own time.
    pub timeout: Option<Duration>,
    /// The built-in packs that are listed; none for the usual ones.
    pub packs: Option<Vec<String>>,
    /// The packs that the session restricts itself to; empty where it does not.
    pub selected: Vec<String>,
    /// Whether results over MCP carry data for programs beside the text.
    pub structured: bool,
    /// How long the first list of tools waits for MCP servers that are starting.
    pub list_wait: Duration,
    /// How long a call over MCP waits for an answer of its client.
    pub answer_wait: Duration,
    /// What the user should hear before anything runs: keys that mean nothing, settings that wait for trust.
    pub notes: Vec<String>,
    /// The warning that the enclosing repository is not used, if it is another user's.
    pub(crate) foreign_repository: Option<String>,
    /// The secrets to take out of everything.
    pub redactor: Redactor,
    /// What the file tools get beside the workspace.
    pub filesystem: toolpost_tools::filesystem::Settings,
    /// Language servers that look at files after changes.
    pub language_servers: Vec<LanguageServer>,
    /// What becomes of an exact change after which a file does not parse any more.
    pub exact_breaks: BrokenBy,
    /// What commands get, and how they are confined.
    pub shell: toolpost_tools::shell::Settings,
    /// What the web tools get.
    pub web: toolpost_tools::web::Settings,
    /// What shows the screen.
    pub screenshot: toolpost_tools::screenshot::Settings,
    /// Where MCP servers are described.
    lookup: servers::Lookup,
    /// What the programs of other servers get, and how many of their tools are listed.
    pub plugins: toolpost_plugins::Settings,
    /// The workspace, or why it cannot be opened.
    pub(crate) workspace: Result<Arc<Disk>, ToolError>,
    /// The layers that all this comes from.
    pub(crate) layers: Layers,
    /// The value of each key with its place.
    pub(crate) values: Values,
    /// What else is broken, beside the workspace and the layers; each costs only what it is about.
    pub(crate) broken: Vec<Broken>,
}

/// Something of the configuration that cannot be used, and what to do.
#[derive(Debug)]
pub(crate) struct Broken {
    pub(crate) error: ToolError,
    pub(crate) fix: &'static str,
}

impl Config {
    /// Resolves flags over environment over files over defaults. An error if anything is broken.
    pub fn resolve(flags: &Flags, environment: Environment) -> Result<Config, ToolError> {
        let config = Config::look(flags, environment)?;
        if let Err(error) = &config.workspace {
            return Err(error.clone());
        }
        config.layers.problem()?;
        match config.broken.first() {
            Some(broken) => Err(broken.error.clone()),
            None => Ok(config),
        }
    }

    /// The same for `doctor` and `trust`, which go on where something is broken: that is left out and kept with its error.
    pub(crate) fn look(flags: &Flags, environment: Environment) -> Result<Config, ToolError> {
        let cwd = cwd(&environment)?;
        let virtual_session = named_session(flags)?;
        let roots = roots(flags, &environment, &cwd);
        let data_directory = environment.data_directory.clone();
        let user_git = user_git::of(&environment);
        let workspace = open_disk(roots.iter().cloned()).map(|disk| disk.with_user_git(user_git));
        // Where nothing can be kept, writers take turns in this process only.
        let locks = data_directory.as_ref().filter(|data| can_be_written(Some(data)));
        let workspace = workspace.map(|disk| match locks {
            Some(data) => Arc::new(disk.with_locks(Locks::new(data.join("locks")))),
            None => Arc::new(disk),
        });
        let disk = workspace.as_deref().ok();
        let layers = Layers::read(flags, &environment, &cwd, disk);
        let values = layers.values();
        let keys = &values.keys;
        let mut broken = Vec::new();
        let descriptions =
            disk.map_or_else(|| Ok(BTreeMap::new()), |disk| layers.descriptions(&values, disk));
        let fix = "fix the file, or name another folder of descriptions";
        let descriptions = descriptions.unwrap_or_else(|error| {
            broken.push(Broken { error, fix });
            BTreeMap::new()
        });
        let named = keys.session.first().map(|session| session.value.clone());
        let answers =
            data_directory.as_ref().map(|data| Arc::new(AnswerFiles::new(data, &roots, named.as_deref())));
        let answered = answers.as_ref().map_or_else(|| Ok(Default::default()), |answers| answers.load());
        let (answered, saved) = answered.unwrap_or_else(|error| {
            broken.push(Broken { error, fix: "" });
            Default::default()
        });
        let store = keep::store(
            keys.store.first().map(|store| &store.value),
            environment.home.as_deref(),
            &cwd,
            data_directory.as_deref(),
            &hash_of_roots(&roots),
        );
        let store_files = store.as_ref().map(StoreUrl::files).unwrap_or_default();
        let protected =
            disk.map(|disk| credentials::rules(&environment, &store_files, disk)).unwrap_or_default();
        let policy = Layers::policy(&values)
            .with_rules(policy::Layer::BuiltIn, protected)
            .with_rules(policy::Layer::Session, answered)
            .with_rules(policy::Layer::Saved, saved);
        let shell = commands::settings(&values, &environment, &store_files, &roots);
        let root = roots.first().unwrap_or(&cwd);
        let mut variables = shell.environment.clone();
        variables.push((UPSTREAM.to_owned(), "1".to_owned()));
        let mut plugins = toolpost_plugins::Settings::new(root, variables);
        plugins.lists = data_directory.as_deref().map(|data| Arc::new(ListFile::new(data)) as _);
        if let Some(listed) = keys.listed.first() {
            (plugins.most_tools, plugins.most_tokens) = (listed.value.tools, listed.value.tokens);
        }
        let foreign_repository = foreign_repository(flags, &environment, &cwd);
        let session = named.clone().unwrap_or_else(|| default_session(&roots));
        let lookup = layers.servers(&values, &environment, &roots);
        Ok(Config {
            virtual_session: virtual_session
                .map(|of| if of.is_empty() { session.clone() } else { of.to_owned() }),
            exact_breaks: match keys.refuse_broken.first().is_some_and(|refused| refused.value) {
                true => BrokenBy::Refused,
                false => BrokenBy::Reported,
            },
            language_servers: language_servers::language_servers(
                &layers,
                &keys.language_servers,
                &shell,
                &roots,
            ),
            filesystem: toolpost_tools::filesystem::Settings {
                formatters: commands::formatters(&layers, &values, &shell, &roots),
                ..Default::default()
            },
            shell,
            web: toolpost_tools::web::Settings {
                robots: keys.robots.first().is_some_and(|robots| robots.value),
                // It was read as an address before.
                search: keys
                    .search_url
                    .first()
                    .and_then(|url| toolpost_tools::web::Endpoint::new(&url.value).ok()),
            },
            screenshot: screen(&lookup.variables),
            lookup,
            plugins,
            store,
            is_store_named: !keys.store.is_empty(),
            keep: keys.keep.first().map_or_else(Retention::default, |keep| keep.value.clone()),
            role: keys.role.first().map(|role| role.value.clone()),
            is_session_named: named.is_some(),
            session,
            policy,
            answers,
            descriptions,
            dialect: keys.dialect.first().map_or_else(Dialect::canonical, |dialect| dialect.value.clone()),
            timeout: keys.timeout.first().map(|timeout| timeout.value),
            packs: keys.packs.first().map(|packs| packs.value.0.clone()),
            selected: keys.pack.iter().map(|pack| pack.value.clone()).collect(),
            structured: keys.structured.first().is_some_and(|structured| structured.value),
            answer_wait: keys.answer_wait.first().map_or(ANSWER_WAIT, |wait| wait.value),
            list_wait: keys.list_wait.first().map_or(LIST_WAIT, |wait| wait.value),
            notes: notes(&values).into_iter().chain(foreign_repository.clone()).collect(),
            foreign_repository,
            roots_origin: roots_origin(flags, &environment, &cwd),
            roots,
            cwd,
            home: environment.home,
            cache_directory: environment.cache_directory,
            data_directory,
            redactor: Redactor::new(environment.secrets),
            workspace,
            layers,
            values,
            broken,
        })
    }

    /// The MCP servers that may be started, and what is to be said of the others. Files of other programs are read now.
    /// There are none where toolpost is itself a server of toolpost, or one could start itself without end.
    pub fn servers(&self) -> Servers {
        match self.is_upstream() {
            true => Servers::default(),
            false => self.lookup.read(),
        }
    }

    /// Whether this is a server of another toolpost.
    pub(crate) fn is_upstream(&self) -> bool {
        self.lookup.variables.contains_key(UPSTREAM)
    }

    /// Whether the data directory can be written, so that the workspace's own store can be there.
    pub(crate) fn can_keep(&self) -> bool {
        can_be_written(self.data_directory.as_deref())
    }

    /// Writes down which workspace the default store belongs to.
    pub(crate) fn note_roots(&self) {
        if let (Some(StoreUrl::Sqlite(path)), false, Ok(disk)) =
            (&self.store, self.is_store_named, &self.workspace)
        {
            stores::note_roots(path, &disk.roots());
        }
    }

    /// Removes the default stores of workspaces that are gone and were not used for as long as anything is kept.
    pub(crate) fn remove_abandoned_stores(&self) -> Removed {
        let Some(data) = &self.data_directory else { return Removed::default() };
        let own = match &self.store {
            Some(StoreUrl::Sqlite(path)) => Some(path.as_path()),
            _ => None,
        };
        stores::remove_abandoned(data, own, Duration::from_millis(self.keep.age_ms))
    }

    /// Everything that the workspace brings along, and whether it is trusted.
    pub(crate) fn inventory(&self) -> Result<Inventory, ToolError> {
        let disk = self.workspace.as_ref().map_err(ToolError::clone)?;
        self.layers.inventory(disk, &self.lookup)
    }
}

fn can_be_written(data: Option<&Path>) -> bool {
    let state = DataDirectory::inspect(data, &[]).state;
    matches!(state, DataState::NotYet | DataState::Writable | DataState::OpenToOthers)
}

/// How long the first list of tools waits for servers where nothing is said.
const LIST_WAIT: Duration = Duration::from_secs(2);

/// How long a call waits for an answer where nothing is said.
const ANSWER_WAIT: Duration = Duration::from_secs(3600);

/// Tells a server that we start that it is one.
const UPSTREAM: &str = "TOOLPOST_UPSTREAM";

/// What the user should hear: the first warnings, and that something waits.
fn notes(values: &Values) -> Vec<String> {
    const MOST: usize = 5;
    let mut notes: Vec<String> = values.warnings.iter().take(MOST).map(ToString::to_string).collect();
    let more = values.warnings.len().saturating_sub(MOST);
    if more > 0 {
        notes.push(format!("{more} more of these; `toolpost doctor` shows them"));
    }
    notes.extend(waits(values));
    notes
}

/// One line for all that a project's file wants and does not get.
fn waits(values: &Values) -> Option<String> {
    match values.inert.as_slice() {
        [] => None,
        [one] => Some(format!("{}: {one}, once you trust it: run `toolpost trust`", layers::PROJECT_FILE)),
        several => Some(format!(
            "{}: {} settings wait until you trust them: run `toolpost trust`",
            layers::PROJECT_FILE,
            several.len()
        )),
    }
}

/// The path with the links of its existing part followed.
fn real(path: &Path) -> PathBuf {
    let mut there = path.ancestors().filter(|above| above.exists());
    let existing = there.find_map(|above| Some((above, above.canonicalize().ok()?)));
    match existing {
        Some((above, real)) => path.strip_prefix(above).map_or(real.clone(), |rest| real.join(rest)),
        None => path.to_path_buf(),
    }
}

/// The session of a workspace where none is named: the same for every call in it.
fn default_session(roots: &[PathBuf]) -> String {
    format!("workspace-{}", hash_of_roots(roots))
}

/// A name for a workspace that files can have.
fn hash_of_roots(roots: &[PathBuf]) -> String {
    let mut hash = Sha256::new();
    for root in roots {
        let root = root.canonicalize().unwrap_or_else(|_| root.clone());
        hash.update(root.as_os_str().as_encoded_bytes());
        hash.update([0]);
    }
    toolpost_core::text::hex(&hash.finalize()[..8])
}

/// What shows the screen, and what a program needs to reach it.
fn screen(variables: &BTreeMap<String, String>) -> toolpost_tools::screenshot::Settings {
    use toolpost_tools::screenshot::{Platform, Settings};
    let is_set = |name: &str| variables.get(name).is_some_and(|value| !value.is_empty());
    let platform = match () {
        () if cfg!(target_os = "macos") => Some(Platform::Mac),
        () if cfg!(windows) => Some(Platform::Windows),
        () if is_set("WAYLAND_DISPLAY") => Some(Platform::Wayland),
        () if is_set("DISPLAY") => Some(Platform::X11),
        () => None,
    };
    let wanted =
        ["PATH", "HOME", "DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "SystemRoot"];
    let environment =
        wanted.iter().filter_map(|name| Some(((*name).to_owned(), variables.get(*name)?.clone())));
    Settings { platform, environment: environment.collect() }
}
