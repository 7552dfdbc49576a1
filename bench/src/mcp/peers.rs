//! The servers that we are compared with, installed once, and how each is started.

use super::{Subject, fixed};
use crate::places;
use anyhow::{Context as _, Result, bail};
use serde_json::json;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(super) const FILESYSTEM: &str = "server-filesystem (npm)";
pub(super) const EVERYTHING: &str = "server-everything (npm), echo";
pub(super) const OURS: &str = "toolpost mcp";
pub(super) const BEFORE: &str = "toolpost mcp, the other build";
pub(super) const OURS_FIXED: &str = "toolpost-server, a fixed text";

const VERSION: &str = "2026.8.31";

/// The servers on standard input and output; the first is what the others are compared with. `echo`
/// has nothing to do, and beside it is a tool of ours that has nothing to do either; the others read the file.
pub(super) fn on_pipes(toolpost: &Path, root: &str, file: &str) -> Result<Vec<Subject>> {
    Ok(vec![
        Subject {
            name: FILESYSTEM,
            program: "node".into(),
            arguments: vec![script("server-filesystem")?, root.to_owned()],
            call: json!({"name": "read_text_file", "arguments": {"path": file}}).to_string(),
        },
        Subject {
            name: EVERYTHING,
            program: "node".into(),
            arguments: vec![script("server-everything")?, "stdio".to_owned()],
            call: echo(),
        },
        ours_on_pipes(OURS, toolpost, root, file),
        Subject {
            name: OURS_FIXED,
            program: std::env::current_exe().context("this program has no path")?,
            arguments: vec![fixed::SERVE.to_owned()],
            call: json!({"name": fixed::TOOL, "arguments": {}}).to_string(),
        },
    ])
}

/// The servers over HTTP, each at its own port of the loopback address: the first is told its port by `PORT`.
pub(super) fn over_http(toolpost: &Path, root: &str, file: &str) -> Result<Vec<(Subject, u16)>> {
    let everything = Subject {
        name: EVERYTHING,
        program: "node".into(),
        arguments: vec![script("server-everything")?, "streamableHttp".to_owned()],
        call: echo(),
    };
    Ok(vec![(everything, free_port()?), ours_over_http(OURS, toolpost, root, file)?])
}

/// `toolpost mcp` on standard input and output.
pub(super) fn ours_on_pipes(name: &'static str, toolpost: &Path, root: &str, file: &str) -> Subject {
    Subject {
        name,
        program: toolpost.to_owned(),
        arguments: ["mcp", "--workspace", root].map(str::to_owned).to_vec(),
        call: read(file),
    }
}

/// `toolpost mcp` over HTTP, and its port.
pub(super) fn ours_over_http(
    name: &'static str,
    toolpost: &Path,
    root: &str,
    file: &str,
) -> Result<(Subject, u16)> {
    let port = free_port()?;
    let address = format!("127.0.0.1:{port}");
    let arguments = ["mcp", "--http", &address, "--no-token", "--workspace", root];
    let (program, arguments) = (toolpost.to_owned(), arguments.map(str::to_owned).to_vec());
    Ok((Subject { name, program, arguments, call: read(file) }, port))
}

fn read(file: &str) -> String {
    json!({"name": "read", "arguments": {"filePath": file}}).to_string()
}

fn echo() -> String {
    json!({"name": "echo", "arguments": {"message": "a line of a small file"}}).to_string()
}

/// A port that nobody has at the moment.
fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// The script of a reference server, installed once.
fn script(name: &str) -> Result<String> {
    let (package, folder) = (format!("@modelcontextprotocol/{name}"), places::scratch()?.join("mcp-peers"));
    let script: PathBuf = folder.join(name).join("node_modules").join(&package).join("dist/index.js");
    if !script.is_file() {
        let folder = folder.join(name);
        eprintln!("installing {package}@{VERSION} into {} (once) …", folder.display());
        std::fs::create_dir_all(&folder)?;
        let status = Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"])
            .arg(&folder)
            .arg(format!("{package}@{VERSION}"))
            .status()
            .context("npm is needed to install what we are compared with")?;
        if !status.success() {
            bail!("npm install {package}@{VERSION} ended with {status}");
        }
    }
    Ok(script.display().to_string())
}
