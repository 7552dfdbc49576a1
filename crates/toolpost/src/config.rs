//! What flags, environment and files mean together. Nothing below knows where a value came from.

pub mod answers;
mod commands;
mod cover;
mod credentials;
mod data;
mod descriptions;
pub mod env;
mod example;
pub(crate) mod foreign;
mod found;
mod guard;
mod hosts;
pub(crate) mod install;
mod jsonc;
mod key;
mod layers;
mod look;
mod node;
mod origin;
mod private;
mod rights;
mod schema;
mod servers;
mod settings;
mod token;
mod trust;

pub(crate) use data::{DataDirectory, State as DataState};
pub(crate) use example::{write_project, write_user};
pub(crate) use found::{Found, Inventory};
pub use hosts::Host;
pub(crate) use key::KEYS;
pub(crate) use layers::{FileState, Layers, Values};
pub use origin::{Layer, Origined, Place, Problem};
pub(crate) use schema::schema;
pub(crate) use servers::Lookup;
pub use servers::{ServerReport, ServerState, Servers, secrets};
pub(crate) use token::token;
pub(crate) use trust::{State, Trusted};

use crate::cli::Flags;
use env::Environment;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use toolpost_core::policy::{self, Policy};
use toolpost_core::{Code, Dialect, Disk, Redactor, ToolError};

/// Everything a runtime is made from.
#[derive(Debug)]
pub struct Config {
    /// The folders that tools act in, the root first.
    pub roots: Vec<PathBuf>,
    /// The folder the process stands in.
    pub cwd: PathBuf,
    /// What may happen.
    pub policy: Policy,
    /// The names and arguments in which tools are offered.
    pub dialect: Arc<Dialect>,
    /// The session that calls belong to.
    pub session: String,
    /// Whether the session was named, so that it outlives the process.
    pub is_session_named: bool,
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// Where locks and outputs are kept, if the user has such a place.
    pub data_directory: Option<PathBuf>,
    /// Descriptions that replace the built-in ones.
    pub descriptions: BTreeMap<String, String>,
    /// How long a call may run where nothing else is said; otherwise each tool's own time.
    pub timeout: Option<Duration>,
    /// Whether results over MCP carry data for programs beside the text.
    pub structured: bool,
    /// What the user should hear before anything runs: keys that mean nothing, settings that wait for trust.
    pub notes: Vec<String>,
    /// The secrets to take out of everything.
    pub redactor: Redactor,
    /// What the file tools get beside the workspace.
    pub filesystem: toolpost_tools::filesystem::Settings,
    /// What commands get, and how they are confined.
    pub shell: toolpost_tools::shell::Settings,
    /// Where MCP servers are described.
    lookup: servers::Lookup,
    /// What the programs of other servers get, and how many of their tools are listed.
    pub plugins: toolpost_plugins::Settings,
}

impl Config {
    /// Resolves flags over environment over files over defaults.
    pub fn resolve(flags: &Flags, environment: Environment) -> Result<Config, ToolError> {
        let cwd = cwd(&environment)?;
        let roots = roots(flags, &environment, &cwd);
        let disk = Disk::open(roots.iter().cloned())?;
        let layers = Layers::read(flags, &environment, &cwd, Some(&disk));
        layers.problem()?;
        let values = layers.values();
        let mut notes = notes(&values);
        notes.extend(foreign_repository(flags, &environment, &cwd));
        let protected = credentials::rules(&environment, &disk);
        let policy = Layers::policy(&values).with_rules(policy::Layer::BuiltIn, protected);
        let shell = commands::settings(&values, &environment, &roots);
        let root = roots.first().unwrap_or(&cwd);
        let mut variables = shell.environment.clone();
        variables.push((UPSTREAM.to_owned(), "1".to_owned()));
        let mut plugins = toolpost_plugins::Settings::new(root, variables);
        if let Some(listed) = &values.listed {
            (plugins.most_tools, plugins.most_tokens) = (listed.value.tools, listed.value.tokens);
        }
        Ok(Config {
            lookup: layers.servers(&values, &environment, &roots),
            filesystem: toolpost_tools::filesystem::Settings {
                formatters: commands::formatters(&layers, &values, &shell, &roots),
                ..Default::default()
            },
            shell,
            plugins,
            is_session_named: values.session.is_some(),
            home: environment.home,
            session: values.session.as_ref().map_or_else(|| default_session(&roots), |id| id.value.clone()),
            policy,
            descriptions: layers.descriptions(&values, &disk)?,
            dialect: values.dialect.value,
            timeout: values.timeout.map(|timeout| timeout.value),
            structured: values.structured.is_some_and(|structured| structured.value),
            notes,
            roots,
            cwd,
            data_directory: environment.data_directory,
            redactor: Redactor::new(environment.secrets),
        })
    }

    /// The MCP servers that may be started, and what is to be said of the others. Files of other programs are read now.
    /// There are none where toolpost is itself a server of toolpost, or one could start itself without end.
    pub fn servers(&self) -> Servers {
        match self.lookup.variables.contains_key(UPSTREAM) {
            true => Servers::default(),
            false => self.lookup.read(),
        }
    }
}

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

/// The folder the process stands in.
pub(crate) fn cwd(environment: &Environment) -> Result<PathBuf, ToolError> {
    environment.cwd.clone().ok_or_else(|| {
        ToolError::new(Code::FileNotFound, "the current folder is gone; change to one that exists")
    })
}

/// The folders that tools act in.
pub(crate) fn roots(flags: &Flags, environment: &Environment, cwd: &Path) -> Vec<PathBuf> {
    if !flags.workspace.is_empty() {
        return flags.workspace.iter().map(|root| cwd.join(root)).collect();
    }
    match &environment.workspace_root {
        Some(root) => vec![cwd.join(root)],
        None => vec![own_repository(cwd).unwrap_or(cwd).to_path_buf()],
    }
}

/// The warning when the enclosing repository belongs to another user, who could have put it there to make the workspace
/// larger. As in git, it is not used unless the user names it.
pub(crate) fn foreign_repository(flags: &Flags, environment: &Environment, cwd: &Path) -> Option<String> {
    if !flags.workspace.is_empty() || environment.workspace_root.is_some() {
        return None;
    }
    let folder = enclosing_repository(cwd).filter(|folder| is_foreign_repository(folder))?;
    let (shown, cwd) = (folder.display(), cwd.display());
    Some(format!(
        "`{shown}/.git` belongs to another user, so that repository is not taken for the workspace, which is `{cwd}`; \
         if you trust its owner, name it with `--workspace {shown}`"
    ))
}

fn is_foreign_repository(folder: &Path) -> bool {
    private::is_foreign(folder) || private::is_foreign(&folder.join(".git"))
}

/// The enclosing repository, unless it belongs to somebody else.
fn own_repository(cwd: &Path) -> Option<&Path> {
    enclosing_repository(cwd).filter(|folder| !is_foreign_repository(folder))
}

/// The path with the links of its existing part followed.
fn real(path: &Path) -> PathBuf {
    let existing = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    match existing {
        Some((above, real)) => path.strip_prefix(above).map_or(real.clone(), |rest| real.join(rest)),
        None => path.to_path_buf(),
    }
}

/// What made these folders the workspace.
pub(crate) fn roots_origin(flags: &Flags, environment: &Environment, cwd: &Path) -> &'static str {
    if !flags.workspace.is_empty() {
        return "--workspace";
    }
    match (&environment.workspace_root, own_repository(cwd)) {
        (Some(_), _) => "AGENT_WORKSPACE_ROOT",
        (None, Some(_)) => "the enclosing repository",
        (None, None) => "the current folder",
    }
}

/// The nearest folder upwards that git manages.
fn enclosing_repository(from: &Path) -> Option<&Path> {
    from.ancestors().find(|folder| folder.join(".git").exists())
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
    toolpost_core::hex(&hash.finalize()[..8])
}
