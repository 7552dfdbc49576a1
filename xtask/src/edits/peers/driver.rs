//! The process that runs the published code of other agents: `drive.mjs` in node, a line in and a line out for each case.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::super::{drive, packages};
use super::{PEERS, Peer};
use crate::process;

/// What Gemini CLI needs of another package for matching.
const LEVENSHTEIN: &str = "fast-levenshtein@2.0.6";

const DRIVER: &str = include_str!("drive.mjs");

/// The running process.
pub(crate) struct Driver {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    base: PathBuf,
    /// Why a peer could not be driven; one for each of `PEERS`.
    pub(crate) reasons: Vec<Option<String>>,
}

impl Driver {
    /// Fetches what is missing and starts the process.
    pub(crate) fn start(scratch: &Path) -> Result<Driver> {
        let folder = scratch.join("peers");
        fs::create_dir_all(&folder)?;
        let fetched: Vec<Result<()>> = PEERS.iter().map(|peer| fetch(peer, &folder)).collect();
        fs::write(folder.join("drive.mjs"), DRIVER)?;
        let base = drive::fast_folder(scratch).join(format!("toolpost-peers-{}", std::process::id()));
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
        Ok(Driver { child, stdin, stdout, base, reasons })
    }

    /// The answers of the peers that the call names.
    pub(crate) fn ask(&mut self, call: &Value) -> Result<Value> {
        writeln!(self.stdin, "{call}").context("the driver of the peers does not read any more")?;
        read(&mut self.stdout)
    }
}

impl Drop for Driver {
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
