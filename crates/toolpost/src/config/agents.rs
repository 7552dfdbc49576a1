//! The agent files that there are: the workspace's, the user's, and those of other hosts. Reading one runs nothing.
//!
//! A workspace's file can be used once its very content is trusted, or if it is named on the command line.

#![expect(clippy::disallowed_methods, reason = "the user's own agents lie outside every workspace")]

use super::Config;
use super::look::{Look, look};
use super::private;
use super::trust::State;
use std::path::{Path, PathBuf};
use toolpost_agent::agent_file::{self, At, Format, Loaded, Problem, Severity};
use toolpost_core::text::{LARGEST, nearest};
use toolpost_core::{Code, ToolError};

/// Maximum number of files of one of the user's folders that are looked at.
const MOST_FILES: usize = 200;

/// An agent file that was found.
#[derive(Debug)]
pub(crate) struct FoundAgent {
    /// From the root of the workspace, or the whole path of a file of the user's.
    pub(crate) path: String,
    /// Whose file it is.
    pub(crate) format: Format,
    /// Whether it lies in the workspace.
    pub(crate) is_of_workspace: bool,
    /// Whether it may be used.
    pub(crate) state: State,
    /// What was read of it.
    pub(crate) loaded: Loaded,
    /// The path of the file that is used in its place, because that has the same name.
    pub(crate) hidden_by: Option<String>,
}

impl FoundAgent {
    /// Its name; that of its file where it is broken.
    pub(crate) fn name(&self) -> String {
        match &self.loaded.agent {
            Some(agent) => agent.name.clone(),
            None => {
                let name = self.path.rsplit('/').next().unwrap_or(&self.path);
                name.split('.').next().unwrap_or(name).to_owned()
            }
        }
    }
}

/// What was found, and what could not be looked at.
pub(crate) struct FoundAgents {
    /// The strongest first.
    pub(crate) agents: Vec<FoundAgent>,
    /// Each with the reason.
    pub(crate) refused: Vec<(String, String)>,
}

impl Config {
    /// Every agent file that there is, the strongest first: toolpost's own of the workspace, the user's, and then those of
    /// other hosts in the same order.
    pub(crate) fn agents(&self) -> FoundAgents {
        let mut found = FoundAgents { agents: Vec::new(), refused: Vec::new() };
        if let (Ok(disk), None) = (&self.workspace, &self.virtual_session) {
            let looked = look(disk, |look| {
                for (format, folder, depth) in Format::folders() {
                    self.of_workspace(look, disk_root(disk), (format, folder, depth), &mut found);
                }
                Ok(())
            });
            if let Err(error) = looked {
                found.refused.push((".".to_owned(), error.message().to_owned()));
            }
        }
        for (format, folder) in self.user_folders() {
            of_user(format, &folder, &mut found);
        }
        // Stable: what was found first stays first within its rank.
        found.agents.sort_by_key(|agent| agent.format != Format::Toolpost);
        hide(&mut found.agents);
        found
    }

    fn of_workspace(
        &self,
        look: &Look<'_>,
        root: &str,
        (format, folder, depth): (Format, &str, usize),
        found: &mut FoundAgents,
    ) {
        let files = look.files(folder, depth);
        found.refused.extend(files.refused);
        for path in files.paths.into_iter().filter(|path| format.takes(path)) {
            match look.read(&path) {
                Ok(None) => {}
                Ok(Some(file)) => {
                    let state = self.layers.trust.state(root, &path, &file.hash);
                    let loaded = agent_file::read(&path, &file.bytes);
                    let (is_of_workspace, hidden_by) = (true, None);
                    let agent = FoundAgent { path, format, is_of_workspace, state, loaded, hidden_by };
                    found.agents.push(agent);
                }
                Err(error) => found.refused.push((path, error.message().to_owned())),
            }
        }
    }

    fn user_folders(&self) -> Vec<(Format, PathBuf)> {
        let own = self.layers.directory().map(|folder| (Format::Toolpost, folder.join("agents")));
        own.into_iter().chain(self.lookup.homes.agent_folders()).collect()
    }

    /// The agent that a word of the command line means: a file, or the name of an agent that may be used.
    pub(crate) fn agent(&self, word: &str) -> Result<Loaded, ToolError> {
        let path = self.cwd.join(word);
        let is_file = word.contains('/') || word.ends_with(".md") || word.ends_with(".toml");
        if is_file {
            let refused =
                |code: Code, why: &str| Err(ToolError::new(code, format!("the agent file `{word}` {why}")));
            let file = match private::read(&path, LARGEST) {
                Ok(Some(file)) => file,
                Ok(None) => {
                    let why = "does not exist; `toolpost agents` lists the agents there are";
                    return refused(Code::FileNotFound, why);
                }
                Err(why) => return refused(Code::ValidationError, &why),
            };
            return Ok(agent_file::read(word, &file.bytes));
        }
        let found = self.agents();
        let mut named: Vec<FoundAgent> = Vec::new();
        let mut names = Vec::new();
        for agent in found.agents {
            names.push(agent.name());
            if agent.name() == word {
                named.push(agent);
            }
        }
        if let Some(place) = named.iter().position(|agent| agent.state == State::Trusted) {
            let others: Vec<String> = named
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != place)
                .map(|(_, agent)| format!("`{}`", agent.path))
                .collect();
            let mut agent = named.swap_remove(place);
            if !others.is_empty() {
                let message = format!(
                    "`{word}` is this file, and not {} of the same name; name the path of the one that you mean",
                    others.join(" or ")
                );
                let at = At { line: 1, column: 1 };
                let problem = Problem::new(&agent.path, at, Some("name"), Severity::Warning, message);
                agent.loaded.problems.insert(0, problem);
            }
            return Ok(agent.loaded);
        }
        if let Some(agent) = named.first() {
            let message = format!(
                "the agent `{word}` comes with this workspace ({}), and you have not trusted it; look at the file and run `toolpost trust {}`, or name the file itself",
                agent.path, agent.path
            );
            return Err(ToolError::new(Code::Untrusted, message).with("path", agent.path.as_str()));
        }
        let hint = match nearest(word, names.iter().map(String::as_str), 1).first() {
            _ if path.is_dir() => format!("`{word}` is a folder; name an agent file in it"),
            _ if path.exists() => format!("to take the file of this name for one, write `./{word}`"),
            Some(near) => format!("did you mean `{near}`?"),
            None => "`toolpost agents` lists the agents there are, and a path names a file".to_owned(),
        };
        Err(ToolError::new(Code::FileNotFound, format!("there is no agent `{word}`; {hint}")))
    }
}

/// Says of each agent which other one of its name is used: the first that may be, else the first.
fn hide(agents: &mut [FoundAgent]) {
    for place in 0..agents.len() {
        let name = agents[place].name();
        let same = || agents.iter().enumerate().filter(|(_, other)| other.name() == name);
        let used = same().find(|(_, other)| other.state == State::Trusted).or_else(|| same().next());
        let by = used.filter(|(used, _)| *used != place).map(|(_, used)| used.path.clone());
        agents[place].hidden_by = by;
    }
}

fn disk_root(disk: &toolpost_disk::Disk) -> &str {
    toolpost_core::Workspace::root(disk)
}

/// The files of one of the user's folders; those that everybody may change are refused.
fn of_user(format: Format, folder: &Path, found: &mut FoundAgents) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).take(MOST_FILES).collect();
    paths.sort();
    for path in paths {
        let name = path.to_string_lossy().into_owned();
        if !format.takes(&name) {
            continue;
        }
        match private::read(&path, LARGEST) {
            Ok(None) => {}
            Ok(Some(file)) if file.is_open_to_all => {
                let why = "can be changed by everybody; run `chmod go-w` on it".to_owned();
                found.refused.push((name, why));
            }
            Ok(Some(file)) => {
                let loaded = agent_file::read(&name, &file.bytes);
                let (state, is_of_workspace, hidden_by) = (State::Trusted, false, None);
                let agent = FoundAgent { path: name, format, is_of_workspace, state, loaded, hidden_by };
                found.agents.push(agent);
            }
            Err(why) => found.refused.push((name, why)),
        }
    }
}
