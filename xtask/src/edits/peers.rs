//! Other agents on the same cases: the matching code of OpenCode, Gemini CLI and Codex as they publish it, in a scratch
//! folder. `peers/drive.mjs` loads and calls it; what comes back is judged here like our own.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::cases::{Call, Case};
use super::noise::Kind;
use super::packages;
use super::tally::Tally;
use super::verdict::{Verdict, judge};
use crate::process;

/// Another agent.
pub(super) struct Peer {
    /// As `drive.mjs` calls it.
    id: &'static str,
    pub(super) title: &'static str,
    /// The package that has its code, and the release that is taken.
    package: &'static str,
    pub(super) version: &'static str,
    folder: &'static str,
}

pub(super) const PEERS: [Peer; 3] = [
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

/// What Gemini CLI needs of another package for matching.
const LEVENSHTEIN: &str = "fast-levenshtein@2.0.6";

const DRIVER: &str = include_str!("peers/drive.mjs");

/// The running driver, and the counts.
pub(super) struct Peers {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    base: PathBuf,
    /// One for each of `PEERS`.
    pub(super) tallies: Vec<Tally>,
    /// Why a peer could not be driven.
    pub(super) reasons: Vec<Option<String>>,
}

impl Peers {
    /// Fetches what is missing and starts the driver.
    pub(super) fn start(scratch: &Path) -> Result<Peers> {
        let folder = scratch.join("peers");
        fs::create_dir_all(&folder)?;
        let fetched: Vec<Result<()>> = PEERS.iter().map(|peer| fetch(peer, &folder)).collect();
        fs::write(folder.join("drive.mjs"), DRIVER)?;
        let base = super::drive::fast_folder(scratch).join(format!("toolpost-peers-{}", std::process::id()));
        fs::create_dir_all(&base)?;
        let mut command = Command::new("node");
        command.arg(folder.join("drive.mjs")).arg(&folder).arg(&base);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("cannot start node")?;
        let stdin = child.stdin.take().context("node has no standard input")?;
        let mut stdout = BufReader::new(child.stdout.take().context("node has no standard output")?);
        let first = read(&mut stdout)?;
        let reason = |(peer, fetched): (&Peer, Result<()>)| match fetched {
            Err(error) => Some(format!("{error:#}")),
            Ok(()) => first["reasons"][peer.id].as_str().map(str::to_owned),
        };
        let reasons = PEERS.iter().zip(fetched).map(reason).collect();
        let tallies = PEERS.iter().map(|_| Tally::default()).collect();
        Ok(Peers { child, stdin, stdout, base, tallies, reasons })
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
        writeln!(self.stdin, "{call}").context("the driver of the peers does not read any more")?;
        let answer = read(&mut self.stdout)?;
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

impl Drop for Peers {
    fn drop(&mut self) {
        // It may have ended by itself; its folder is one for temporary files.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.base);
    }
}

fn fetch(peer: &Peer, folder: &Path) -> Result<()> {
    packages::unpack_npm(peer.package, peer.version, &folder.join(peer.folder))?;
    if peer.id == "gemini" && !folder.join("node_modules/fast-levenshtein").exists() {
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-save", "--ignore-scripts", "--prefix"])
            .arg(folder)
            .arg(LEVENSHTEIN);
        process::capture(&mut npm)?;
    }
    Ok(())
}

fn read(stdout: &mut BufReader<ChildStdout>) -> Result<Value> {
    let mut line = String::new();
    stdout.read_line(&mut line)?;
    serde_json::from_str(&line).context("the driver of the peers ended without an answer")
}
