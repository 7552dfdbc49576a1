//! Other agents on the same cases: the matching code of OpenCode, Gemini CLI and Codex as they publish it, in a scratch
//! folder. `peers/drive.mjs` loads and calls it; what comes back is judged here like our own.

mod driver;

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use super::cases::{Call, Case};
use super::noise::Kind;
use super::tally::Tally;
use super::verdict::{Verdict, judge};

pub(crate) use driver::Driver;

/// Another agent.
pub(crate) struct Peer {
    /// As `drive.mjs` calls it.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// The package that has its code, and the release that is taken.
    package: &'static str,
    pub(crate) version: &'static str,
    folder: &'static str,
}

pub(crate) const PEERS: [Peer; 3] = [
    Peer {
        id: "opencode",
        title: "OpenCode",
        package: "opencode-linux-x64",
        version: "1.18.33",
        folder: "opencode-linux-x64",
    },
    Peer {
        id: "gemini",
        title: "Gemini CLI",
        package: "@google/gemini-cli-core",
        version: "0.61.0",
        folder: "gemini-cli-core",
    },
    Peer {
        id: "codex",
        title: "Codex",
        package: "@openai/codex",
        version: "0.166.0-linux-x64",
        folder: "codex",
    },
];

/// The counts with each peer.
pub(super) struct Peers {
    driver: Driver,
    /// One for each of `PEERS`.
    pub(super) tallies: Vec<Tally>,
    /// Why a peer could not be driven.
    pub(super) reasons: Vec<Option<String>>,
}

impl Peers {
    pub(super) fn start(scratch: &Path) -> Result<Peers> {
        let driver = Driver::start(scratch)?;
        let tallies = PEERS.iter().map(|_| Tally::default()).collect();
        let reasons = driver.reasons.clone();
        Ok(Peers { driver, tallies, reasons })
    }

    /// Runs one case with every peer that takes such calls.
    pub(super) fn run(&mut self, kind: &'static Kind, case: &Case) -> Result<()> {
        let mut call = match &case.call {
            Call::Edit { old, new } => {
                json!({ "old": old, "new": new, "peers": ["opencode", "gemini", "codex"] })
            }
            // Codex knows this form alone, and the others have no such tool here.
            Call::Patch(patch) if patch.starts_with("*** Begin") => {
                json!({ "patch": patch, "peers": ["codex"] })
            }
            Call::Patch(_) => return Ok(()),
        };
        call["before"] = case.before.as_str().into();
        call["extension"] = case.extension.as_str().into();
        let answer = self.driver.ask(&call)?;
        for (peer, tally) in PEERS.iter().zip(&mut self.tallies) {
            let Some(found) = answer.get(peer.id) else { continue };
            let verdict = match found["text"].as_str() {
                Some(text) => judge(&case.before, &case.truth, text.as_bytes(), false),
                None => Verdict::Refused,
            };
            tally.add(kind, case.class, verdict);
        }
        Ok(())
    }

    /// The counts with each, ours first.
    pub(super) fn json(&self, ours: &Tally) -> Value {
        let mut all = serde_json::Map::new();
        all.insert("toolpost".to_owned(), ours.json());
        for ((peer, tally), reason) in PEERS.iter().zip(&self.tallies).zip(&self.reasons) {
            let value = reason.as_ref().map_or_else(|| tally.json(), |reason| json!({ "reason": reason }));
            all.insert(peer.id.to_owned(), value);
        }
        Value::Object(all)
    }
}
