//! What a workspace brings along that could start or widen something, and whether it is trusted.
//!
//! This only looks. Of all these files toolpost so far uses its own configuration and descriptions, agent files, packs, and
//! those that describe MCP servers; the others are shown so that nothing in a fresh clone is a surprise later.

mod brings;

use super::cover::Files;
use super::hosts::Host;
use super::look::{Hashed, Look};
use super::servers::{Entry, Format, Group, Lookup};
use super::trust::{Covers, DifferenceKind, State, Trust, Trusted};
use brings::{agent, hooks, pack, plugin, servers};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::path::Path;
use toolpost_core::text::hex;

/// How deep `**` goes.
const DEEPEST: usize = 4;

/// A file that waits for trust or has it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Found {
    /// From the root of the workspace.
    pub(crate) path: String,
    /// What kind of file it is.
    pub(crate) kind: &'static str,
    /// SHA-256 of the bytes that `brings` was read from.
    pub(crate) hash: String,
    /// Whether these bytes are trusted.
    pub(crate) state: State,
    /// What it would start, widen or change.
    pub(crate) brings: Vec<String>,
    /// Whether this version of toolpost does anything with it, once it is trusted.
    pub(crate) is_used: bool,
    /// Whether it is the user's own: it needs no trust itself, only the files that it starts.
    pub(crate) is_own: bool,
    /// The workspace files that each thing is started with, which are trusted together with this one.
    pub(crate) covers: Covers,
    /// Why the file is waiting, if because of these files; and which files cannot be covered, so that it never starts.
    pub(crate) notes: Vec<String>,
}

impl Found {
    /// What is recorded when the user agrees.
    pub(crate) fn trusted(&self) -> Trusted {
        let hash = (!self.is_own).then(|| self.hash.clone());
        Trusted { path: self.path.clone(), hash, covers: self.covers.clone() }
    }
}

/// What a file starts, each with the files that it is started with, or why they cannot be covered.
pub(crate) type Started = Vec<(String, Result<Files, String>)>;

/// Everything found in a workspace.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Inventory {
    /// The canonical path of the root.
    pub(crate) workspace: String,
    /// The files, in the order of the list of places.
    pub(crate) files: Vec<Found>,
    /// What was not looked at, and why; never trusted.
    pub(crate) refused: Vec<Refused>,
}

/// Something that is not looked at.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Refused {
    pub(crate) path: String,
    pub(crate) why: String,
}

impl Inventory {
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &Found> {
        self.files.iter().filter(|found| found.state != State::Trusted)
    }

    /// One word for exactly what waits: names and contents.
    pub(crate) fn digest<'a>(files: impl Iterator<Item = &'a Found>) -> String {
        let mut hash = Sha256::new();
        for found in files {
            hash.update(&found.path);
            hash.update([0]);
            hash.update(&found.hash);
            hash.update([0]);
            for (started, files) in &found.covers {
                for text in
                    std::iter::once(started).chain(files.iter().flat_map(|(path, print)| [path, print]))
                {
                    hash.update(text);
                    hash.update([0]);
                }
                hash.update([0]);
            }
        }
        hex(&hash.finalize()[..8])
    }
}

/// How a file tells what it brings; nothing means that it brings nothing.
type Brings = fn(path: &str, bytes: &[u8]) -> Vec<String>;

/// Single files: path, kind, what they bring.
const FILES: &[(&str, &str, Brings)] = &[
    (".claude/settings.json", "hooks", |_, bytes| hooks(bytes)),
    (".claude/settings.local.json", "hooks", |_, bytes| hooks(bytes)),
];

/// Folders of files: path, how deep, kind, what each brings.
const FOLDERS: &[(&str, usize, &str, Brings)] = &[
    (".toolpost/agents", 0, "agent", agent),
    (".toolpost/packs", 0, "pack", pack),
    ("toolpacks", 0, "pack", pack),
    (".toolpost/plugins", DEEPEST, "plugin", plugin),
    (".claude/agents", DEEPEST, "agent", agent),
    (".opencode/agents", DEEPEST, "agent", agent),
    (".opencode/agent", DEEPEST, "agent", agent),
    (".gemini/agents", 0, "agent", agent),
    (".codex/agents", 0, "agent", agent),
    (".github/agents", 0, "agent", agent),
];

/// A file of toolpost's own that is already read: its path, kind, hash and what it would widen.
pub(crate) struct Own {
    pub(crate) path: String,
    pub(crate) kind: &'static str,
    pub(crate) hash: String,
    pub(crate) brings: Vec<String>,
    pub(crate) started: Started,
}

/// Looks at every place where a workspace can bring something along.
/// `used` are the hosts whose servers are taken over; `lookup` knows what servers are started with.
pub(crate) fn inventory(
    look: &Look<'_>,
    root: &str,
    trust: &Trust,
    own: Vec<Own>,
    used: &[Host],
    lookup: &Lookup,
) -> Inventory {
    let mut inventory = Inventory { workspace: root.to_owned(), files: Vec::new(), refused: Vec::new() };
    for Own { path, kind, hash, brings, started } in own.into_iter().filter(|own| !own.brings.is_empty()) {
        let state = trust.state(root, &path, &hash);
        inventory.push(trust, found(path, kind, hash, state, brings, true), started);
    }
    for host in Host::READ {
        for path in host.project_files() {
            let is_used = host == Host::Claude || used.contains(&host);
            let brings = |_: &str, bytes: &[u8]| servers(Format::of(host), bytes);
            let started = |file: &Hashed| {
                let state = State::Waiting;
                Group::of_project(Format::of(host), path, file, Path::new(root), state)
                    .map_or_else(|_| Started::new(), |group| lookup.covers(&group))
            };
            inventory.add(look, trust, path, "MCP servers", brings, started, is_used);
        }
    }
    for group in lookup.of_user() {
        let started: Started = lookup
            .covers(group)
            .into_iter()
            .filter(|(_, files)| files.as_ref().is_ok_and(|files| !files.is_empty()))
            .collect();
        if started.is_empty() {
            continue;
        }
        let is_started = |entry: &&Entry| started.iter().any(|(name, _)| *name == entry.name);
        let brings = group.entries.iter().filter(is_started).flat_map(Entry::brings).collect();
        let one =
            found(group.file.clone(), "your own MCP servers", String::new(), State::Trusted, brings, true);
        inventory.push(trust, Found { is_own: true, ..one }, started);
    }
    for (path, kind, brings) in FILES {
        inventory.add(look, trust, path, kind, *brings, |_| Started::new(), false);
    }
    for (folder, depth, kind, brings) in FOLDERS {
        let files = look.files(folder, *depth);
        for path in &files.paths {
            let is_used = ["agent", "pack"].contains(kind);
            inventory.add(look, trust, path, kind, *brings, |_| Started::new(), is_used);
        }
        inventory.refused.extend(files.refused.into_iter().map(|(path, why)| Refused { path, why }));
    }
    inventory
}

fn found(
    path: String,
    kind: &'static str,
    hash: String,
    state: State,
    brings: Vec<String>,
    is_used: bool,
) -> Found {
    let (covers, notes) = (Covers::new(), Vec::new());
    Found { path, kind, hash, state, brings, is_used, is_own: false, covers, notes }
}

impl Inventory {
    /// Adds a file with what it starts. One whose covered files are not those that were trusted waits again.
    fn push(&mut self, trust: &Trust, mut found: Found, started: Started) {
        for (name, files) in started {
            match files {
                Ok(files) => {
                    if let Some(difference) = trust.difference(&self.workspace, &found.path, &name, &files) {
                        found.notes.push(format!("`{name}`: {}", difference.sentence()));
                        if found.state == State::Trusted {
                            let is_new = difference.kind == DifferenceKind::Unknown;
                            found.state = if is_new { State::Waiting } else { State::Changed };
                        }
                    }
                    if !files.is_empty() {
                        found.covers.insert(name, files);
                    }
                }
                Err(why) => found.notes.push(format!("`{name}` is never started: {why}")),
            }
        }
        // The file's own line already says that it is waiting.
        if found.state == State::Waiting && !found.is_own {
            found.notes.retain(|note| note.contains("never started"));
        }
        self.files.push(found);
    }

    #[expect(clippy::too_many_arguments, reason = "one row of the tables above")]
    fn add(
        &mut self,
        look: &Look<'_>,
        trust: &Trust,
        path: &str,
        kind: &'static str,
        brings: impl Fn(&str, &[u8]) -> Vec<String>,
        started: impl Fn(&Hashed) -> Started,
        is_used: bool,
    ) {
        match look.read(path) {
            Ok(None) => {}
            Ok(Some(file)) => {
                let brings = brings(path, &file.bytes);
                if !brings.is_empty() {
                    let state = trust.state(&self.workspace, path, &file.hash);
                    let started = started(&file);
                    self.push(
                        trust,
                        found(path.to_owned(), kind, file.hash, state, brings, is_used),
                        started,
                    );
                }
            }
            Err(error) => {
                let (path, why) = (path.to_owned(), error.message().to_owned());
                self.refused.push(Refused { path, why });
            }
        }
    }
}
