//! A language server that runs: its pipes, and the messages on them.

use super::frames::{Frames, framed};
use super::protocol::answer_to;
use crate::filesystem::Helper;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;
use toolpost_core::host::blocking;
use toolpost_process::{Command, Limits, Output, PipeReceiver, PipeSender, Running, Sandbox, Stdin};

/// Messages that wait to be written, and messages that wait to be heard.
const MOST_WAITING: usize = 256;
/// A server that sends so many bytes without answering anything is ended.
const MOST_UNWANTED: usize = 32 << 20;
/// How much is read at a time.
const PIECE: usize = 64 << 10;

/// The connection. Dropping it ends the server and all that it started.
pub(super) struct Connection {
    _running: Running,
    out: mpsc::Sender<Vec<u8>>,
    heard: mpsc::Receiver<Result<(Value, usize), String>>,
    next: u64,
    /// Bytes that came and answered nothing, since the last answer.
    unwanted: usize,
}

/// What a server has sent, beside requests, which are answered here.
pub(super) enum Incoming {
    /// The answer to a request.
    Answer { id: u64, result: Result<Value, Value> },
    /// Something that it tells.
    Told { method: String, params: Value },
    /// Nothing that anybody waits for.
    Nothing,
}

impl Connection {
    /// Starts the server in the root of the workspace.
    pub(super) async fn start(helper: &Helper, folder: &str, sandbox: Sandbox) -> Result<Connection, String> {
        if !helper.check.is_empty() {
            let check = helper.check.clone();
            blocking(move || check.run())
                .await
                .unwrap_or_else(|_| Err("its files could not be checked".to_owned()))?;
        }
        let mut sandbox = sandbox;
        sandbox.readable.extend(helper.readable.iter().cloned());
        sandbox.programs.extend(helper.programs.iter().cloned());
        sandbox.hidden.extend(helper.hidden.iter().cloned());
        let command = Command::new(&helper.program, Path::new(folder)).args(&helper.args);
        let command = helper
            .environment
            .iter()
            .fold(command, |command, (name, value)| command.variable(name, value))
            .stdin(Stdin::Open)
            .output(Output::Apart)
            .limits(Limits { grace: Duration::from_millis(100), ..Limits::default() })
            .sandbox(sandbox);
        let mut running = command.start().map_err(|error| error.to_string())?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (running.take_stdin(), running.take_stdout(), running.take_stderr())
        else {
            return Err("its pipes could not be made".to_owned());
        };
        let (out, messages) = mpsc::channel(MOST_WAITING);
        let (hears, heard) = mpsc::channel(MOST_WAITING);
        tokio::spawn(write(stdin, messages));
        tokio::spawn(read(stdout, stderr, hears));
        Ok(Connection { _running: running, out, heard, next: 1, unwanted: 0 })
    }

    /// Sends a request. Its answer comes with [`Connection::hear`].
    pub(super) async fn request(&mut self, method: &str, params: Value) -> Result<u64, String> {
        let id = self.next;
        self.next += 1;
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await?;
        Ok(id)
    }

    pub(super) async fn notify(&mut self, method: &str, params: Value) -> Result<(), String> {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params})).await
    }

    async fn send(&mut self, message: Value) -> Result<(), String> {
        let sent = self.out.send(framed(&message.to_string())).await;
        sent.map_err(|_| "it does not listen any more".to_owned())
    }

    /// What it was heard to send is what was waited for.
    pub(super) fn is_wanted(&mut self) {
        self.unwanted = 0;
    }

    /// Waits for the next message. An error is the end of the server.
    pub(super) async fn hear(&mut self) -> Result<Incoming, String> {
        let (message, size) = match self.heard.recv().await {
            Some(heard) => heard?,
            None => return Err("it ended".to_owned()),
        };
        self.unwanted += size;
        if self.unwanted > MOST_UNWANTED {
            return Err("it floods its output with what answers nothing".to_owned());
        }
        let method = message["method"].as_str().map(str::to_owned);
        let params = message.get("params").cloned().unwrap_or_default();
        match (method, message.get("id")) {
            (Some(method), Some(id)) => {
                let answer = match answer_to(&method, &params) {
                    Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
                    Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
                };
                self.send(answer).await?;
                Ok(Incoming::Nothing)
            }
            (Some(method), None) => Ok(Incoming::Told { method, params }),
            (None, Some(id)) => Ok(match id.as_u64() {
                Some(id) => Incoming::Answer {
                    id,
                    result: match message.get("error") {
                        Some(error) => Err(error.clone()),
                        None => Ok(message.get("result").cloned().unwrap_or_default()),
                    },
                },
                None => Incoming::Nothing,
            }),
            (None, None) => Ok(Incoming::Nothing),
        }
    }
}

async fn write(mut stdin: PipeSender, mut messages: mpsc::Receiver<Vec<u8>>) {
    while let Some(message) = messages.recv().await {
        if stdin.write_all(&message).await.is_err() {
            return;
        }
    }
}

/// Reads messages until there are no more; the last thing that is heard is why.
async fn read(
    mut stdout: PipeReceiver,
    stderr: PipeReceiver,
    hears: mpsc::Sender<Result<(Value, usize), String>>,
) {
    let complaint = tokio::spawn(complaint(stderr));
    let (mut frames, mut piece) = (Frames::default(), vec![0; PIECE]);
    let why = 'all: loop {
        let count = stdout.read(&mut piece).await.unwrap_or(0);
        if count == 0 {
            break 'all "it ended".to_owned();
        }
        frames.push(&piece[..count]);
        loop {
            match frames.next() {
                Ok(Some(message)) => {
                    // What is no JSON says nothing, and counts as what answers nothing.
                    let value = serde_json::from_slice(&message).unwrap_or_default();
                    if hears.send(Ok((value, message.len() + 64))).await.is_err() {
                        return;
                    }
                }
                Ok(None) => break,
                Err(why) => break 'all why,
            }
        }
    };
    let last = tokio::time::timeout(Duration::from_millis(200), complaint).await;
    let last = last.ok().and_then(Result::ok).unwrap_or_default();
    let why = if last.is_empty() { why } else { format!("{why}: {last}") };
    let _ = hears.send(Err(why)).await;
}

/// The first line that it writes for people; the rest is read and thrown away.
async fn complaint(mut stderr: PipeReceiver) -> String {
    let (mut first, mut piece) = (Vec::new(), vec![0; PIECE]);
    while let Ok(count) = stderr.read(&mut piece).await {
        if count == 0 {
            break;
        }
        let room = 4096_usize.saturating_sub(first.len());
        first.extend_from_slice(&piece[..count.min(room)]);
    }
    let text = String::from_utf8_lossy(&first);
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    line.chars().filter(|letter| !letter.is_control()).take(300).collect()
}
