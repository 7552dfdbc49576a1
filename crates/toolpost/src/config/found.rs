//! What a workspace brings along that could start or widen something, and whether it is trusted.
//!
//! This only looks. Of all these files toolpost so far takes effect from its own configuration and descriptions and
//! from those that describe MCP servers; the others are shown so that nothing in a fresh clone is a surprise later.

mod brings;

use super::hosts::Host;
use super::look::Look;
use super::servers::Format;
use super::trust::{State, Trust};
use brings::{agent, hooks, plugin, servers};
use serde::Serialize;
use sha2::{Digest, Sha256};
use toolpost_core::hex;

/// How deep `**` goes.
const DEEPEST: usize = 4;

/// A file that waits for trust or has it.
#[derive(Debug, Clone, Serialize)]
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
}

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
}

/// Looks at every place where a workspace can bring something along.
/// `used` are the hosts whose servers are taken over.
pub(crate) fn inventory(
    look: &Look<'_>,
    root: &str,
    trust: &Trust,
    own: Vec<Own>,
    used: &[Host],
) -> Inventory {
    let mut inventory = Inventory { workspace: root.to_owned(), files: Vec::new(), refused: Vec::new() };
    for Own { path, kind, hash, brings } in own.into_iter().filter(|own| !own.brings.is_empty()) {
        let state = trust.state(root, &path, &hash);
        inventory.files.push(Found { path, kind, hash, state, brings, is_used: true });
    }
    for host in Host::READ {
        for path in host.project_files() {
            let is_used = host == Host::Claude || used.contains(&host);
            let brings = |_: &str, bytes: &[u8]| servers(Format::of(host), bytes);
            inventory.add(look, trust, path, "MCP servers", brings, is_used);
        }
    }
    for (path, kind, brings) in FILES {
        inventory.add(look, trust, path, kind, *brings, false);
    }
    for (folder, depth, kind, brings) in FOLDERS {
        let files = look.files(folder, *depth);
        for path in &files.paths {
            inventory.add(look, trust, path, kind, *brings, false);
        }
        inventory.refused.extend(files.refused.into_iter().map(|(path, why)| Refused { path, why }));
    }
    inventory
}

impl Inventory {
    fn add(
        &mut self,
        look: &Look<'_>,
        trust: &Trust,
        path: &str,
        kind: &'static str,
        brings: impl Fn(&str, &[u8]) -> Vec<String>,
        is_used: bool,
    ) {
        match look.read(path) {
            Ok(None) => {}
            Ok(Some(file)) => {
                let brings = brings(path, &file.bytes);
                if !brings.is_empty() {
                    let state = trust.state(&self.workspace, path, &file.hash);
                    let (path, hash) = (path.to_owned(), file.hash);
                    self.files.push(Found { path, kind, hash, state, brings, is_used });
                }
            }
            Err(error) => {
                let (path, why) = (path.to_owned(), error.message().to_owned());
                self.refused.push(Refused { path, why });
            }
        }
    }
}
