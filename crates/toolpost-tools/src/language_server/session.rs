//! The task that speaks to one server: it holds what the server was shown of each file, and takes changes one by one.
//!
//! Only one file is open at a time, so that of all others the server sees what is on disk.

use super::LanguageServer;
use super::connection::{Connection, Incoming};
use super::difference::new_errors;
use super::protocol::{self, TYPESCRIPT_COMMAND, Way};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until, timeout};
use toolpost_core::code::{CodeError, TextChange};
use toolpost_process::Sandbox;

/// How long a server may take for one change before it is ended.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a server is kept that is not asked.
const IDLE: Duration = Duration::from_secs(15 * 60);
/// Failures in a row after which a server is not started again.
const MOST_FAILURES: usize = 3;
/// Files whose errors are remembered.
const MOST_FILES: usize = 64;
/// What was sent last holds if nothing follows for so long.
const QUIET: Duration = Duration::from_millis(250);
/// A server that sends errors when it likes has none to send after so long.
const SILENCE: Duration = Duration::from_secs(10);
/// Times that a server may say that it was interrupted.
const MOST_RETRIES: usize = 20;

/// A change whose errors are wanted.
pub(super) struct Job {
    /// The root of the workspace.
    pub(super) root: String,
    /// Where the server would run, where it does not run already.
    pub(super) place: Option<(String, Sandbox)>,
    pub(super) change: TextChange,
    pub(super) reply: oneshot::Sender<Result<Vec<CodeError>, String>>,
}

/// Takes changes until nobody sends any more.
pub(super) async fn run(
    server: Arc<LanguageServer>,
    is_running: Arc<AtomicBool>,
    mut jobs: mpsc::Receiver<Job>,
) {
    let mut session = Session { server, is_running, spoken: None, files: Vec::new(), failures: Vec::new() };
    loop {
        let job = tokio::select! {
            biased;
            job = jobs.recv() => match job {
                Some(job) => job,
                None => break,
            },
            // What it tells while nobody asks is heard, so that it does not wait to be.
            heard = session.overhear() => {
                if let Err(why) = heard {
                    session.lose(&why);
                }
                continue;
            }
            () = tokio::time::sleep(IDLE), if session.spoken.is_some() => {
                session.end();
                continue;
            }
        };
        session.take(job).await;
    }
    session.end();
}

struct Session {
    server: Arc<LanguageServer>,
    is_running: Arc<AtomicBool>,
    spoken: Option<Spoken>,
    /// The file that was asked about last is the last.
    files: Vec<Seen>,
    /// Why it failed, since it last answered.
    failures: Vec<String>,
}

/// A server that has been greeted.
struct Spoken {
    connection: Connection,
    way: Way,
    version: i64,
    /// The address of the file that is open.
    open: Option<String>,
}

/// What is known of a file.
struct Seen {
    name: String,
    /// The text that the server has seen last, and its errors.
    text: String,
    errors: Vec<CodeError>,
    /// The errors that were told to those who ask, and the text they are of.
    told: (Vec<CodeError>, String),
}

impl Session {
    async fn take(&mut self, job: Job) {
        let Job { root, place, change, reply } = job;
        if self.failures.len() >= MOST_FAILURES {
            let last = self.failures.last().cloned().unwrap_or_default();
            let _ =
                reply.send(Err(format!("it failed {MOST_FAILURES} times and is not started again ({last})")));
            return;
        }
        let found = match timeout(PATIENCE, self.errors(&root, place, &change)).await {
            Ok(found) => found,
            Err(_) => Err(format!("it did not answer within {} s", PATIENCE.as_secs())),
        };
        match found {
            Ok(new) => {
                self.failures.clear();
                // Errors that come too late are told with the next change.
                if reply.send(Ok(new)).is_ok()
                    && let Some(seen) = self.files.last_mut()
                {
                    seen.told = (seen.errors.clone(), seen.text.clone());
                }
            }
            Err(why) => {
                self.lose(&why);
                let _ = reply.send(Err(why));
            }
        }
    }

    fn lose(&mut self, why: &str) {
        self.failures.push(why.to_owned());
        self.end();
    }

    fn end(&mut self) {
        self.spoken = None;
        self.is_running.store(false, Ordering::Release);
    }

    /// Hears one message of a server that nobody asks. Never ends where there is none.
    async fn overhear(&mut self) -> Result<(), String> {
        match &mut self.spoken {
            Some(spoken) => spoken.connection.hear().await.map(drop),
            None => std::future::pending().await,
        }
    }

    /// The errors that the file has now and that were not told before.
    async fn errors(
        &mut self,
        root: &str,
        place: Option<(String, Sandbox)>,
        change: &TextChange,
    ) -> Result<Vec<CodeError>, String> {
        let mut spoken = match self.spoken.take() {
            Some(spoken) => spoken,
            None => {
                let Some((folder, sandbox)) = place else {
                    return Err("it ended and starts again with the next change".to_owned());
                };
                greeted(&self.server, &folder, sandbox).await?
            }
        };
        self.is_running.store(true, Ordering::Release);
        let path = match change.name.starts_with('/') {
            true => change.name.clone(),
            false => format!("{}/{}", root.trim_end_matches('/'), change.name),
        };
        let file = Asked {
            uri: protocol::uri(&path),
            path,
            language: protocol::language_of(&change.name).to_owned(),
        };
        let known = self.files.iter().position(|seen| seen.name == change.name);
        let mut seen = match known.map(|at| self.files.remove(at)) {
            Some(seen) if Some(&seen.text) == change.before.as_ref() => seen,
            // It was never shown, or somebody else has changed it since.
            _ => {
                let text = change.before.clone().unwrap_or_default();
                let errors = match &change.before {
                    Some(before) => spoken.look(&file, before).await?,
                    None => Vec::new(),
                };
                Seen { name: change.name.clone(), told: (errors.clone(), text.clone()), text, errors }
            }
        };
        seen.errors = spoken.look(&file, &change.after).await?;
        seen.text.clone_from(&change.after);
        let new = new_errors((&seen.told.0, &seen.told.1), (&seen.errors, &seen.text));
        self.files.push(seen);
        if self.files.len() > MOST_FILES {
            self.files.remove(0);
        }
        self.spoken = Some(spoken);
        Ok(new)
    }
}

/// Starts a server and greets it.
async fn greeted(server: &LanguageServer, folder: &str, sandbox: Sandbox) -> Result<Spoken, String> {
    let mut connection = Connection::start(&server.helper, folder, sandbox).await?;
    let params = protocol::initialize(folder, &server.options);
    let id = connection.request("initialize", params).await?;
    let initialized = answer(&mut connection, id).await?.map_err(|error| {
        let message = error["message"].as_str().unwrap_or("no reason given");
        format!("it refused to begin: {}", message.chars().take(300).collect::<String>())
    })?;
    connection.notify("initialized", json!({})).await?;
    connection.notify("workspace/didChangeConfiguration", json!({"settings": {}})).await?;
    Ok(Spoken { connection, way: Way::of(&initialized), version: 0, open: None })
}

/// Waits for one answer.
async fn answer(connection: &mut Connection, wanted: u64) -> Result<Result<Value, Value>, String> {
    loop {
        if let Incoming::Answer { id, result } = connection.hear().await?
            && id == wanted
        {
            connection.is_wanted();
            return Ok(result);
        }
    }
}

/// A file as the server knows it.
struct Asked {
    uri: String,
    path: String,
    language: String,
}

impl Spoken {
    /// Shows the server a text of a file, and waits for its errors.
    async fn look(&mut self, file: &Asked, text: &str) -> Result<Vec<CodeError>, String> {
        self.version += 1;
        let (uri, version) = (file.uri.as_str(), self.version);
        if let Some(other) = self.open.take_if(|open| open.as_str() != uri) {
            self.connection.notify("textDocument/didClose", json!({"textDocument": {"uri": other}})).await?;
        }
        let watched = json!({"changes": [{"uri": uri, "type": 2}]});
        self.connection.notify("workspace/didChangeWatchedFiles", watched).await?;
        match self.open.as_deref() == Some(uri) {
            true => {
                let params = json!({
                    "textDocument": {"uri": uri, "version": version},
                    "contentChanges": [{"text": text}],
                });
                self.connection.notify("textDocument/didChange", params).await?;
            }
            false => {
                let document =
                    json!({"uri": uri, "languageId": file.language, "version": version, "text": text});
                self.connection.notify("textDocument/didOpen", json!({"textDocument": document})).await?;
                self.open = Some(uri.to_owned());
            }
        }
        match self.way {
            Way::Asked => self.asked(uri, text).await,
            Way::TypeScript => self.typescript(&file.path, uri, text).await,
            Way::Sent => self.sent(uri, text).await,
        }
    }

    async fn asked(&mut self, uri: &str, text: &str) -> Result<Vec<CodeError>, String> {
        for _ in 0..MOST_RETRIES {
            let params = json!({"textDocument": {"uri": uri}});
            let id = self.connection.request("textDocument/diagnostic", params).await?;
            match answer(&mut self.connection, id).await? {
                Ok(report) if report["items"].is_array() => {
                    return Ok(protocol::errors(&report["items"], text));
                }
                Ok(_) => break,
                // It was interrupted, or the file has changed for it meanwhile.
                Err(error) if matches!(error["code"].as_i64(), Some(-32802 | -32801)) => {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
                Err(_) => break,
            }
        }
        // It does not do what it says.
        self.way = Way::Sent;
        self.sent(uri, text).await
    }

    async fn typescript(&mut self, path: &str, uri: &str, text: &str) -> Result<Vec<CodeError>, String> {
        let mut found = Vec::new();
        for command in ["syntacticDiagnosticsSync", "semanticDiagnosticsSync"] {
            let arguments = json!([command, {"file": path}]);
            let params = json!({"command": TYPESCRIPT_COMMAND, "arguments": arguments});
            let id = self.connection.request("workspace/executeCommand", params).await?;
            let result = answer(&mut self.connection, id).await?;
            match result.ok().and_then(|answer| protocol::typescript_errors(&answer, text)) {
                Some(errors) => found.extend(errors),
                None => {
                    self.way = Way::Sent;
                    return self.sent(uri, text).await;
                }
            }
        }
        Ok(found)
    }

    /// The errors that come by themselves: the last that are for this text, once nothing follows them.
    async fn sent(&mut self, uri: &str, text: &str) -> Result<Vec<CodeError>, String> {
        let mut found = None;
        let mut until = Instant::now() + SILENCE;
        loop {
            let heard = tokio::select! {
                heard = self.connection.hear() => heard?,
                () = sleep_until(until) => return Ok(found.unwrap_or_default()),
            };
            let Incoming::Told { method, params } = heard else { continue };
            let is_for_this = params["uri"].as_str().is_some_and(|told| protocol::same_file(told, uri));
            let is_old = params["version"].as_i64().is_some_and(|version| version < self.version);
            if method == "textDocument/publishDiagnostics" && is_for_this && !is_old {
                self.connection.is_wanted();
                found = Some(protocol::errors(&params["diagnostics"], text));
                until = Instant::now() + QUIET;
            }
        }
    }
}
