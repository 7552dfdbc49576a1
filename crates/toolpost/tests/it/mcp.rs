//! `toolpost mcp` as clients meet it: the real executable at the other end of a pipe or a socket.

mod asking;
mod clients;
mod conformance;
mod delegation;
mod faults;
pub(crate) mod fixtures;
pub(crate) mod http;
mod meanwhile;
mod once;
mod python;
mod structured;
mod tasks;
mod virtual_files;
mod wire;
mod words;

use crate::Home;
use crate::load::stretched;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Nothing that is waited for takes this long.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server on standard input and output, and its client.
pub(crate) struct Connection {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    stderr: Receiver<String>,
}

impl Connection {
    pub(crate) fn open(home: &Home, flags: &[&str]) -> Connection {
        Connection::of(home.command([&["mcp"], flags].concat()))
    }

    fn of(mut command: Command) -> Connection {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (sender, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in stdout.lines() {
                let value: Value = serde_json::from_str(&line.unwrap()).unwrap();
                assert_eq!(value["jsonrpc"], "2.0", "{value}");
                if sender.send(value).is_err() {
                    return;
                }
            }
        });
        let (sender, stderr) = channel();
        let mut talk = child.stderr.take().unwrap();
        std::thread::spawn(move || {
            let mut text = String::new();
            let _ = talk.read_to_string(&mut text);
            let _ = sender.send(text);
        });
        Connection { stdin: child.stdin.take(), child, lines, stderr }
    }

    /// After the handshake of this revision.
    pub(crate) fn legacy(home: &Home, flags: &[&str], revision: &str, capabilities: Value) -> Connection {
        Connection::open(home, flags).greeted(revision, capabilities)
    }

    /// After the handshake of this revision with a server that has the fixtures of the conformance suite.
    fn with_fixtures(home: &Home, revision: &str, capabilities: Value) -> Connection {
        let command = home.command_of(&fixtures::program(home), ["mcp"]);
        Connection::of(command).greeted(revision, capabilities)
    }

    fn greeted(mut self, revision: &str, capabilities: Value) -> Connection {
        let connection = &mut self;
        let params = json!({"protocolVersion": revision, "capabilities": capabilities, "clientInfo": {"name": "test", "version": "1"}});
        connection.send(json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params}));
        let answer = connection.next();
        assert_eq!(answer["result"]["serverInfo"]["name"], "toolpost", "{answer}");
        connection.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        self
    }

    fn raw(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().unwrap().write_all(bytes).unwrap();
    }

    fn send(&mut self, message: Value) {
        self.raw(format!("{message}\n").as_bytes());
    }

    fn request(&mut self, id: impl Into<Value>, method: &str, params: Value) {
        let id: Value = id.into();
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    fn next(&self) -> Value {
        self.lines.recv_timeout(stretched(PATIENCE)).expect("a message")
    }

    /// The answer to this request; everything else must not come before it.
    pub(crate) fn ask(&mut self, id: impl Into<Value>, method: &str, params: Value) -> Value {
        let id: Value = id.into();
        self.request(id.clone(), method, params);
        let answer = self.next();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// The same, with notifications before it.
    pub(crate) fn ask_among_notices(&mut self, id: impl Into<Value>, method: &str, params: Value) -> Value {
        let id: Value = id.into();
        self.request(id.clone(), method, params);
        loop {
            let message = self.next();
            if message["id"] == id {
                return message;
            }
            assert!(message["id"].is_null(), "{message}");
        }
    }

    pub(crate) fn call(&mut self, id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
        self.ask(id, "tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// Nothing comes for so long.
    fn silence(&self, duration: Duration) {
        let came = self.lines.recv_timeout(duration);
        assert_eq!(came, Err(RecvTimeoutError::Timeout), "nothing should come");
    }

    /// Ends the server by force.
    fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Closes standard input. Returns how long the server took to end, how it ended and what it said.
    pub(crate) fn close(mut self) -> (Duration, i32, String) {
        drop(self.stdin.take());
        self.wait()
    }

    fn wait(&mut self) -> (Duration, i32, String) {
        let began = Instant::now();
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None if began.elapsed() > stretched(PATIENCE) => panic!("the server does not end"),
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        };
        let took = began.elapsed();
        let talk = self.stderr.recv_timeout(stretched(PATIENCE)).unwrap();
        assert!(!talk.contains("panicked at"), "{talk}");
        (took, status.code().unwrap_or(-1), talk)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The `_meta` of a request that stands for itself.
/// Everything that a server says to one call.
pub(crate) fn one_call(home: &Home, flags: &[&str], tool: &str, arguments: Value) -> String {
    let mut connection = Connection::legacy(home, flags, "2025-11-25", json!({}));
    let answer = connection.call(1, tool, arguments);
    assert!(answer["result"].is_object(), "{answer}");
    let (_, _, talk) = connection.close();
    format!("{answer}{talk}")
}

fn meta(capabilities: Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    })
}

/// The first text of a result.
fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"))
}

/// Whether a process with this in its command line is there.
pub(crate) fn is_running(marker: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.into_iter().any(|line| String::from_utf8_lossy(&line).contains(marker) && !line.is_empty())
}

/// Waits until this holds.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < stretched(PATIENCE), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The result of one call of a server that is started for it.
pub(crate) fn called(home: &Home, tool: &str, arguments: &Value) -> Value {
    let mut connection = Connection::open(home, &[]);
    let params = json!({"name": tool, "arguments": arguments, "_meta": meta(json!({}))});
    connection.ask(1, "tools/call", params)["result"].take()
}

/// A client of the current revision, for tests of other parts.
pub(crate) struct Caller {
    connection: Connection,
    next: u64,
}

impl Caller {
    pub(crate) fn new(home: &Home, flags: &[&str]) -> Caller {
        Caller { connection: Connection::legacy(home, flags, "2025-11-25", json!({})), next: 0 }
    }

    /// The names of the tools that are offered.
    pub(crate) fn tools(&mut self) -> Vec<String> {
        self.declarations().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// The tools that are offered, as they are sent.
    pub(crate) fn declarations(&mut self) -> Vec<Value> {
        self.next += 1;
        let mut answer = self.connection.ask(self.next, "tools/list", json!({}));
        serde_json::from_value(answer["result"]["tools"].take()).unwrap()
    }

    /// The whole answer to a call, as text.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> String {
        self.next += 1;
        self.connection.call(self.next, tool, arguments).to_string()
    }

    /// Lets the server end by itself, with everything written.
    pub(crate) fn close(self) {
        self.connection.close();
    }
}
