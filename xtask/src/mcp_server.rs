//! The product under test: one `toolpost mcp` process, spoken to by lines of JSON-RPC, with several calls in flight.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

/// How long one call may take before the run ends: nothing here is large.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Server {
    child: Child,
    stdin: ChildStdin,
    answers: Receiver<Value>,
}

/// What a call came to.
pub(crate) struct Answer {
    pub(crate) id: usize,
    pub(crate) is_error: bool,
    pub(crate) text: String,
    /// What it gives to programs, if they are given something.
    pub(crate) data: Value,
}

impl Server {
    /// Starts the executable on a workspace; `home` takes what it keeps outside of the workspace.
    pub(crate) fn start(executable: &Path, flags: &[&str], workspace: &Path, home: &Path) -> Result<Server> {
        let mut command = Command::new(executable);
        command.arg("mcp").args(flags).arg("--workspace").arg(workspace);
        command.env("HOME", home).env("RUST_BACKTRACE", "0").stdin(Stdio::piped()).stdout(Stdio::piped());
        for name in
            ["XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"]
        {
            command.env_remove(name);
        }
        let mut child = command
            .spawn()
            .with_context(|| format!("cannot start {}; build it first", executable.display()))?;
        let stdin = child.stdin.take().context("the server has no standard input")?;
        let stdout = child.stdout.take().context("the server has no standard output")?;
        let (sender, answers) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                let Ok(line) = line else { return };
                let Ok(message) = serde_json::from_str(&line) else { return };
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut server = Server { child, stdin, answers };
        server.greet()?;
        Ok(server)
    }

    fn greet(&mut self) -> Result<()> {
        let client = json!({ "name": "xtask", "version": "1" });
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        self.send(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }))?;
        self.receive()?;
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
    }

    /// Sends a call; its answer comes by `answer`, in any order.
    pub(crate) fn call(&mut self, id: usize, tool: &str, arguments: &Value) -> Result<()> {
        let params = json!({ "name": tool, "arguments": arguments });
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }))
    }

    /// Waits for the next answer.
    pub(crate) fn answer(&mut self) -> Result<Answer> {
        loop {
            let message = self.receive()?;
            // Notifications are not for us.
            let Some(id) = message["id"].as_u64() else { continue };
            let id = usize::try_from(id)?;
            if let Some(error) = message.get("error") {
                // No call of a tool should end like this, so it is worth a look.
                eprintln!("protocol error: {error}");
                return Ok(Answer { id, is_error: true, text: error.to_string(), data: Value::Null });
            }
            let result = &message["result"];
            let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
            let is_error = result["isError"].as_bool().unwrap_or(false);
            return Ok(Answer { id, is_error, text, data: result["structuredContent"].clone() });
        }
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let mut line = message.to_string();
        line.push('\n');
        self.stdin.write_all(line.as_bytes()).context("the server does not read any more")
    }

    fn receive(&mut self) -> Result<Value> {
        match self.answers.recv_timeout(PATIENCE) {
            Ok(message) => Ok(message),
            Err(_) => match self.child.try_wait()? {
                Some(status) => bail!("the server ended with {status}"),
                None => bail!("the server has not answered for {} seconds", PATIENCE.as_secs()),
            },
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself, and nothing is left to save.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
