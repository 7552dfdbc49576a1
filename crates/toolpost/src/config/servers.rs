//! The MCP servers that the user's and the workspace's files describe: which of them may be started, and what is to be
//! said about the others.
//!
//! Files are read here and never written. A workspace's own are inert until their very content is trusted. Other
//! programs' files are read only where the key `mcpFrom` names them.

mod entry;
mod expand;
mod fields;
mod file;
mod format;
mod lookup;
mod resolve;
mod shown;

pub(crate) use entry::{Entry, entries};
pub(crate) use file::{LARGEST_OF_USER, brings};
pub(crate) use format::Format;
pub(crate) use lookup::{Group, Lookup, canonical};

use super::env::is_secret;
use super::guard::Refusal;
use super::origin::{Layer, Place, Problem};
use super::trust::State;
use serde::Serialize;
use std::collections::BTreeMap;
use toolpost_plugins::{Hints, Reach, Server};

/// Every server that was found, and what became of it.
#[derive(Debug, Clone, Default)]
pub struct Servers {
    /// Those that may be started, each name once.
    pub usable: Vec<Server>,
    /// All of them, the strongest place first.
    pub reports: Vec<ServerReport>,
    /// Files that could not be read; each costs its own servers only.
    pub problems: Vec<Problem>,
    /// Keys that mean nothing, variables that are not set.
    pub warnings: Vec<Problem>,
}

/// What became of a server. Says nothing of the values of its variables and headers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ServerReport {
    /// Its name in the file.
    pub name: String,
    /// `stdio` or `http`; none where that cannot be understood.
    pub transport: Option<&'static str>,
    /// The file and line.
    pub from: Place,
    /// How it stands.
    pub state: ServerState,
    /// Why, where that is not plain.
    pub why: Option<String>,
}

/// How a server stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServerState {
    /// It may be started.
    Trusted,
    /// Its file waits for `toolpost trust`.
    Untrusted,
    /// It is switched off.
    Off,
    /// A stronger place has one of the same name.
    Overruled,
    /// It cannot be used.
    Unusable,
}

impl ServerState {
    /// The words for people.
    pub fn as_str(self) -> &'static str {
        match self {
            ServerState::Trusted => "trusted",
            ServerState::Untrusted => "untrusted",
            ServerState::Off => "off",
            ServerState::Overruled => "overruled",
            ServerState::Unusable => "cannot be used",
        }
    }
}

impl Servers {
    /// What the user should hear before anything runs.
    pub fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> =
            self.problems.iter().chain(&self.warnings).map(ToString::to_string).collect();
        for report in self.reports.iter().filter(|report| report.state == ServerState::Unusable) {
            let why = report.why.as_deref().unwrap_or_default();
            notes.push(format!("{}: the server `{}` cannot be used: {why}", report.from, report.name));
        }
        let is_waiting = |report: &&ServerReport| report.state == ServerState::Untrusted;
        for report in self.reports.iter().filter(is_waiting) {
            if let Some(why) = &report.why {
                notes.push(format!("{}: the server `{}` is not started: {why}", report.from, report.name));
            }
        }
        let waiting = self.reports.iter().filter(is_waiting).count();
        if waiting > 0 {
            let servers = if waiting == 1 { "server waits" } else { "servers wait" };
            notes.push(format!("{waiting} MCP {servers} until you trust them: run `toolpost trust`"));
        }
        notes
    }

    fn add(&mut self, lookup: &Lookup, group: &Group, entry: &Entry, taken: &mut BTreeMap<String, Place>) {
        let from = Place::new(group.layer, group.file.as_str(), entry.line);
        let (state, why) = match (group.state, taken.get(&entry.name)) {
            _ if entry.is_self() => (ServerState::Off, Some("it is toolpost itself".to_owned())),
            (State::Waiting, _) => (ServerState::Untrusted, None),
            (State::Changed, _) => {
                (ServerState::Untrusted, Some("the file has changed since you trusted it".to_owned()))
            }
            (State::Trusted, Some(place)) => {
                (ServerState::Overruled, Some(format!("the one of the same name at {place} is stronger")))
            }
            (State::Trusted, None) => {
                let (state, why) = self.decide(lookup, group, entry, &from);
                // What waits for trust leaves its name to a weaker one, as the servers of an untrusted file do.
                if state != ServerState::Untrusted {
                    taken.insert(entry.name.clone(), from.clone());
                }
                (state, why)
            }
        };
        let transport = match &entry.reach {
            Ok(entry::Written::Stdio { .. }) => Some("stdio"),
            Ok(entry::Written::Http { .. }) => Some("http"),
            Err(_) => None,
        };
        self.reports.push(ServerReport { name: entry.name.clone(), transport, from, state, why });
    }

    fn decide(
        &mut self,
        lookup: &Lookup,
        group: &Group,
        entry: &Entry,
        from: &Place,
    ) -> (ServerState, Option<String>) {
        if entry.is_off {
            return (ServerState::Off, None);
        }
        let root = lookup.root();
        let around = &lookup.around(group, &root);
        let mut notes = Vec::new();
        // Of a server that the user chose, its own word on its tools is taken. A workspace cannot choose that.
        let usual = if from.layer == Layer::Project { Hints::Ignored } else { Hints::Believed };
        let mut server = entry.resolve(from.to_string(), usual, around, &mut notes);
        if let (Layer::Project, Ok(server)) = (from.layer, &mut server) {
            server.hints = Hints::Ignored;
        }
        self.warnings.extend(notes.into_iter().map(|note| Problem {
            file: from.file.to_string(),
            line: from.line,
            column: 1,
            message: format!("the server `{}`: {note}", entry.name),
        }));
        match server {
            Ok(mut server) => {
                if let Some(guard) = lookup.guard(group, entry, &server) {
                    match guard.check(&lookup.trust) {
                        Ok(()) => server.check = guard.at_start(),
                        Err(Refusal::Untrusted(why)) => return (ServerState::Untrusted, Some(why)),
                        Err(Refusal::Impossible(why)) => return (ServerState::Unusable, Some(why)),
                    }
                }
                self.usable.push(server);
                (ServerState::Trusted, None)
            }
            Err(why) => (ServerState::Unusable, Some(why)),
        }
    }
}

/// The values of a server that its names call secret.
pub fn secrets(server: &Server) -> Vec<(String, String)> {
    let values = match &server.reach {
        Reach::Stdio { env, .. } => env,
        Reach::Http { headers, .. } => headers,
    };
    let is_told = |name: &str| {
        let name = name.replace('-', "_");
        is_secret(&name) || ["authorization", "cookie"].iter().any(|word| name.eq_ignore_ascii_case(word))
    };
    // Of `Bearer x` the secret is `x`. What is shorter is taken out of too many innocent words.
    let bare = |value: &str| value.rsplit(' ').next().unwrap_or(value).to_owned();
    let told = values.iter().filter(|(name, _)| is_told(name));
    told.map(|(name, value)| (name.clone(), bare(value))).filter(|(_, value)| value.len() >= 8).collect()
}
