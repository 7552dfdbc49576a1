//! The entry for `toolpost mcp` in the configuration of another program: what it says, where it goes, and how it gets
//! there without changing anything else.

mod toml;

use super::env::Environment;
use super::hosts::{Homes, Host};
use super::jsonc::Wrong;
use super::jsonc::edit::{self, Edited};
use super::look::look;
use super::private;
use super::servers::LARGEST_OF_USER;
use crate::cli::Flags;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use toolpost_core::policy::Source;
use toolpost_core::{Code, Dialect, Disk, ToolError, Workspace};

/// The name of the entry.
const NAME: &str = "toolpost";
/// Keys of another way to reach a server, which would contradict ours.
const GONE: [&str; 9] = [
    "type",
    "command",
    "args",
    "url",
    "httpUrl",
    "headers",
    "http_headers",
    "env_http_headers",
    "bearer_token_env_var",
];

/// For whom an entry is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Scope {
    Project,
    User,
}

/// What is to be done to the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Action {
    /// It does not exist yet.
    Create,
    Add,
    /// Another entry of that name stands there.
    Replace,
    /// Everything is as it should be.
    Nothing,
}

/// A change, thought through and not yet done.
pub(crate) struct Plan {
    pub(crate) scope: Scope,
    pub(crate) action: Action,
    /// The file as it is shown.
    pub(crate) path: PathBuf,
    /// The entry as it would stand in a file of its own.
    pub(crate) snippet: String,
    /// The program that the entry starts.
    pub(crate) command: String,
    place: Place,
    before: Option<Vec<u8>>,
    after: Vec<u8>,
}

enum Place {
    /// From the root of the workspace.
    Workspace(Disk, String),
    /// Where the file really lies.
    Outside(PathBuf),
}

impl Host {
    /// Where an entry goes if nothing is said: into the project where the program looks there by itself.
    pub(crate) fn usual_scope(self) -> Scope {
        match self {
            Host::Codex | Host::Zed => Scope::User,
            Host::Claude | Host::Gemini | Host::Opencode | Host::Vscode | Host::Cursor => Scope::Project,
        }
    }

    fn table(self) -> &'static str {
        match self {
            Host::Claude | Host::Gemini | Host::Cursor => "mcpServers",
            Host::Vscode => "servers",
            Host::Opencode => "mcp",
            Host::Zed => "context_servers",
            Host::Codex => "mcp_servers",
        }
    }

    fn entry(self, command: &str, args: &[String]) -> Map<String, Value> {
        let entry = match self {
            Host::Claude | Host::Vscode | Host::Cursor => {
                json!({"type": "stdio", "command": command, "args": args})
            }
            Host::Gemini | Host::Zed | Host::Codex => json!({"command": command, "args": args}),
            Host::Opencode => {
                let words: Vec<&str> =
                    std::iter::once(command).chain(args.iter().map(String::as_str)).collect();
                json!({"type": "local", "command": words})
            }
        };
        entry.as_object().cloned().unwrap_or_default()
    }
}

impl Plan {
    /// Reads the file and works out what it would be; changes nothing.
    pub(crate) fn make(
        host: Host,
        scope: Scope,
        flags: &Flags,
        environment: &Environment,
    ) -> Result<Plan, ToolError> {
        let cwd = super::cwd(environment)?;
        let command = program(environment)?;
        let entry = host.entry(&command, &arguments(host, flags, &cwd)?);
        let (path, place, before) = match scope {
            Scope::Project => in_project(host, Disk::open(super::roots(flags, environment, &cwd))?)?,
            Scope::User => of_user(host, environment)?,
        };
        let snippet = match host {
            Host::Codex => toml::snippet(host.table(), NAME, &entry),
            _ => edit::pretty(&edit::nested(&[host.table(), NAME], &Value::Object(entry.clone()))) + "\n",
        };
        let bytes = before.as_deref().unwrap_or_default();
        let shown = path.display().to_string();
        let by_hand = |what: &str| {
            let message = format!("{what}; nothing was written, mend it or put this in by hand:\n{snippet}");
            ToolError::new(Code::ValidationError, message)
        };
        let source =
            Source::within(&shown, bytes, LARGEST_OF_USER).map_err(|wrong| by_hand(&wrong.to_string()))?;
        let edited = edit(host, source.text(), &entry)
            .map_err(|wrong| by_hand(&source.located(wrong.at, wrong.message).to_string()))?;
        let (action, text) = match edited {
            Edited::Same => (Action::Nothing, source.text().to_owned()),
            Edited::Added(text) if before.is_none() => (Action::Create, text),
            Edited::Added(text) => (Action::Add, text),
            Edited::Replaced(text) => (Action::Replace, text),
        };
        // A byte order mark stays where it was.
        let mark = &bytes[..bytes.len() - source.text().len()];
        let after = [mark, text.as_bytes()].concat();
        Ok(Plan { scope, action, path, snippet, command, place, before, after })
    }

    /// Does it.
    pub(crate) fn carry_out(&self) -> Result<(), ToolError> {
        if self.action == Action::Nothing {
            return Ok(());
        }
        let before = self.before.as_deref();
        let failed = |why: &str| ToolError::new(Code::WriteError, format!("`{}` {why}", self.path.display()));
        match &self.place {
            Place::Workspace(disk, path) => look(disk, |look| look.exchange(path, before, &self.after))
                .map_err(|error| {
                    ToolError::new(error.code(), format!("`{}`: {}", self.path.display(), error.message()))
                }),
            Place::Outside(path) => private::exchange(path, before, &self.after).map_err(|why| failed(&why)),
        }
    }

    /// Whether the entry holds on this machine only.
    pub(crate) fn is_of_this_machine(&self) -> bool {
        self.scope == Scope::Project && self.command != NAME
    }
}

fn edit(host: Host, text: &str, entry: &Map<String, Value>) -> Result<Edited, Wrong> {
    if host == Host::Codex {
        let gone: Vec<&str> = GONE.into_iter().filter(|key| !entry.contains_key(*key)).collect();
        return toml::set(text, host.table(), NAME, entry, &gone);
    }
    edit::set(text, &[host.table(), NAME], |old| {
        // What the user has added to the entry (variables, time-outs, whether it is on) stays.
        let old = old.and_then(|old| old.as_object().cloned()).unwrap_or_default();
        let mut wanted = entry.clone();
        wanted.extend(old.into_iter().filter(|(key, _)| !GONE.contains(&key.as_str())));
        Value::Object(wanted)
    })
}

type Found = (PathBuf, Place, Option<Vec<u8>>);

/// The file in the workspace that exists, or the one to make.
fn in_project(host: Host, disk: Disk) -> Result<Found, ToolError> {
    let root = PathBuf::from(disk.root());
    let mut found = None;
    for path in host.project_files() {
        let content = look(&disk, |look| look.read(path)).map_err(|error| {
            ToolError::new(error.code(), format!("`{}` {}", root.join(path).display(), error.message()))
        })?;
        let is_there = content.is_some();
        found = Some((*path, content.map(|file| file.bytes)));
        if is_there {
            break;
        }
    }
    let (path, content) = found.unwrap_or((".mcp.json", None));
    Ok((root.join(path), Place::Workspace(disk, path.to_owned()), content))
}

/// The user's file that exists, or the one to make. A link is followed if what it leads to is the user's own.
fn of_user(host: Host, environment: &Environment) -> Result<Found, ToolError> {
    let files = host.user_files(&Homes::of(environment));
    let is_there = |path: &&PathBuf| path.symlink_metadata().is_ok();
    let Some(path) = files.iter().find(is_there).or(files.last()) else {
        let message = "there is no home directory to look for its file; set HOME";
        return Err(ToolError::new(Code::WriteError, message));
    };
    let failed = |why: String| ToolError::new(Code::ReadError, format!("`{}` {why}", path.display()));
    let real = match path.is_symlink() {
        true => {
            path.canonicalize().map_err(|error| failed(format!("is a link that leads nowhere: {error}")))?
        }
        false => path.clone(),
    };
    let content = private::read(&real, LARGEST_OF_USER).map_err(failed)?.map(|file| file.bytes);
    Ok((path.clone(), Place::Outside(real), content))
}

/// How this program is started: by its name, if that finds it, else by its path.
fn program(environment: &Environment) -> Result<String, ToolError> {
    let lost = |why: &str| ToolError::new(Code::FileNotFound, format!("this program's own file {why}"));
    let own = std::env::current_exe().and_then(|path| path.canonicalize());
    let own =
        own.map_err(|error| lost(&format!("cannot be found: {error}; start it from where it is installed")))?;
    let path = environment.variables.get("PATH").map(String::as_str).unwrap_or_default();
    let is_program = |file: &Path| {
        file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    let first =
        path.split(':').filter(|folder| folder.starts_with('/')).map(|folder| Path::new(folder).join(NAME));
    let first = first.into_iter().find(|file| is_program(file)).and_then(|file| file.canonicalize().ok());
    match first {
        Some(first) if first == own => Ok(NAME.to_owned()),
        _ => own.to_str().map(str::to_owned).ok_or_else(|| lost("has a name that is not UTF-8; move it")),
    }
}

/// The arguments of the entry: those that were given here, and what fits the program.
fn arguments(host: Host, flags: &Flags, cwd: &Path) -> Result<Vec<String>, ToolError> {
    let mut args = vec!["mcp".to_owned()];
    let mut add = |flag: &str, value: String| args.extend([flag.to_owned(), value]);
    let absolute = |path: &PathBuf| {
        let path = cwd.join(path);
        let path = path.canonicalize().unwrap_or(path);
        path.to_str().map(str::to_owned).ok_or_else(|| {
            let message = format!("`{}` is not UTF-8, so no entry can name it; rename it", path.display());
            ToolError::new(Code::ValidationError, message)
        })
    };
    for folder in &flags.workspace {
        add("--workspace", absolute(folder)?);
    }
    // Editors start servers in a folder of their own choice; agents in the project.
    if flags.workspace.is_empty() && matches!(host, Host::Vscode | Host::Cursor) {
        add("--workspace", "${workspaceFolder}".to_owned());
    }
    if let Some(policy) = flags.policy {
        add("--policy", policy.as_str().to_owned());
    }
    for capability in &flags.allow {
        add("--allow", capability.as_str().to_owned());
    }
    for rule in &flags.allow_rule {
        add("--allow-rule", rule.to_string());
    }
    if let Some(sandbox) = flags.sandbox {
        add("--sandbox", sandbox.as_str().to_owned());
    }
    let fitting = Dialect::named(host.as_str()).ok();
    if let Some(dialect) = flags.dialect.clone().or(fitting) {
        add("--dialect", dialect.name().to_owned());
    }
    if let Some(session) = &flags.session {
        add("--session", session.clone());
    }
    for (flag, path) in [("--descriptions", &flags.descriptions), ("--config", &flags.config)] {
        if let Some(path) = path {
            add(flag, absolute(path)?);
        }
    }
    if flags.yes {
        args.push("--yes".to_owned());
    }
    Ok(args)
}
