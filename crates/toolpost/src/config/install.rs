//! The entry for `toolpost mcp` in the configuration of another program: what it says, where it goes, and how it gets
//! there without changing anything else.

mod entry;
mod record;
mod removal;
mod toml;

pub(crate) use removal::{Removal, Undo};

use super::env::Environment;
use super::hosts::{Homes, Host};
use super::jsonc::Wrong;
use super::jsonc::edit::{self, Edited};
use super::look::look;
use super::private;
use super::servers::LARGEST_OF_USER;
use crate::cli::Flags;
use entry::{arguments, program};
use record::Records;
use serde::Serialize;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use toolpost_core::text::Source;
use toolpost_core::{Code, ToolError, Workspace, WorkspacePath};
use toolpost_disk::Disk;

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
    records: Records,
}

enum Place {
    /// From the root of the workspace.
    Workspace(Disk, String),
    /// Where the file really lies.
    Outside(PathBuf),
}

impl Place {
    /// The file by its path.
    fn file(&self) -> PathBuf {
        match self {
            Place::Workspace(disk, path) => Path::new(disk.root()).join(path),
            Place::Outside(path) => path.clone(),
        }
    }

    /// The folders above the file that do not exist yet, the innermost first.
    fn missing_folders(&self) -> Vec<String> {
        let is_missing = |folder: &Path| match self {
            Place::Workspace(disk, _) => disk.is_absent(&WorkspacePath::new(folder.display().to_string())),
            Place::Outside(_) => folder.symlink_metadata().is_err(),
        };
        let file = match self {
            Place::Workspace(_, path) => Path::new(path),
            Place::Outside(path) => path,
        };
        let above = file.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        above.take_while(|folder| is_missing(folder)).map(|folder| folder.display().to_string()).collect()
    }
}

impl Host {
    /// Where an entry goes if nothing is said: into the project where the program looks there by itself.
    pub(crate) fn usual_scope(self) -> Scope {
        match self {
            Host::Codex | Host::Zed | Host::Cline | Host::Copilot => Scope::User,
            Host::Claude | Host::Gemini | Host::Opencode | Host::Qwen | Host::Vscode | Host::Cursor => {
                Scope::Project
            }
        }
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
            Scope::Project => in_project(host, super::open_disk(super::roots(flags, environment, &cwd))?)?,
            Scope::User => of_user(host, environment)?,
        };
        let snippet = match host {
            Host::Codex => toml::snippet(host.table(), NAME, &entry),
            _ => edit::pretty(&edit::nested(&[host.table(), NAME], &Value::Object(entry.clone()))) + "\n",
        };
        let bytes = before.as_deref().unwrap_or_default();
        let shown = path.display().to_string();
        let by_hand = |what: &str| {
            let message = format!("{what}; nothing was written: fix it, or add this by hand:\n{snippet}");
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
        let mut records = Records::read(environment)?;
        if action != Action::Nothing {
            records.add(&place.file(), before.as_deref(), &after, place.missing_folders());
        }
        Ok(Plan { scope, action, path, snippet, command, place, before, after, records })
    }

    /// Does it.
    pub(crate) fn carry_out(&self) -> Result<(), ToolError> {
        if self.action == Action::Nothing {
            return Ok(());
        }
        // First, so that no change is forgotten. Where it cannot be kept, `uninstall` takes out the entry alone.
        let _ = self.records.keep();
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
    if host.project_files().is_empty() {
        let message = format!("{} has no file in a project; leave out --project", host.title());
        return Err(ToolError::new(Code::ValidationError, message));
    }
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
        true => path.canonicalize().map_err(|error| failed(format!("is a broken link: {error}")))?,
        false => path.clone(),
    };
    let content = private::read(&real, LARGEST_OF_USER).map_err(failed)?.map(|file| file.bytes);
    Ok((path.clone(), Place::Outside(real), content))
}
