//! A call that runs at a server: who hears of its progress, and who is asked what the server wants to know.

use crate::complaint::harmless;
use crate::form;
use serde_json::{Map, Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use toolpost_core::host::BoxFuture;
use toolpost_core::{Answer, Context};

/// So many reports of progress are passed on within a second; more tell nobody anything.
const MOST_REPORTS: usize = 20;

/// So much of a server's question is shown.
const LONGEST: usize = 1_000;

/// A call that runs.
pub(crate) struct Running {
    ctx: Context,
    server: String,
    /// What an HTTP request for it repeats of its arguments.
    headers: Vec<(String, String)>,
    /// Since when reports are counted, and how many there were.
    told: Mutex<(Instant, usize)>,
    is_asking: AtomicBool,
    notes: Mutex<Vec<String>>,
}

impl Running {
    pub(crate) fn new(ctx: Context, server: &str, headers: Vec<(String, String)>) -> Running {
        Running {
            ctx,
            server: server.to_owned(),
            headers,
            told: Mutex::new((Instant::now(), 0)),
            is_asking: AtomicBool::new(false),
            notes: Mutex::default(),
        }
    }

    pub(crate) fn headers(&self) -> &[(String, String)] {
        &self.headers
    }

    /// The server says how far it is.
    pub(crate) fn progress(&self, params: &Map<String, Value>) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.0.elapsed() > Duration::from_secs(1) {
            *told = (Instant::now(), 0);
        }
        told.1 += 1;
        if told.1 > MOST_REPORTS {
            return;
        }
        drop(told);
        let message = params.get("message").and_then(Value::as_str).map(harmless);
        let number = |key: &str| params.get(key).cloned().filter(Value::is_number);
        let mut metadata = Map::new();
        for key in ["progress", "total"] {
            metadata.extend(number(key).map(|value| (key.to_owned(), value)));
        }
        let title = message.unwrap_or_else(|| format!("`{}` is at work", self.server));
        self.ctx.progress(title.chars().take(LONGEST).collect::<String>(), Value::Object(metadata));
    }

    /// The server wants something from the person: the result of its elicitation.
    pub(crate) async fn asked(&self, params: &Map<String, Value>) -> Value {
        if self.is_asking.swap(true, Ordering::AcqRel) {
            return self.declined(params, "another of its questions has not been answered yet");
        }
        let result = self.ask(params).await;
        self.is_asking.store(false, Ordering::Release);
        result
    }

    async fn ask(&self, params: &Map<String, Value>) -> Value {
        let content = match form::content_of_yes(params) {
            Ok(content) => content,
            Err(why) => return self.declined(params, &why),
        };
        let sends = match content.is_empty() {
            true => String::new(),
            false => format!(" (yes sends {})", harmless(&Value::Object(content.clone()).to_string())),
        };
        let text = format!("the MCP server `{}` asks: {}{sends}", self.server, message(params));
        match self.ctx.confirm(&text).await {
            Answer::Yes(_) => json!({"action": "accept", "content": content}),
            Answer::No(why) => {
                self.note(format!(
                    "it asked \"{}\", and the answer was no{}",
                    message(params),
                    because(&why)
                ));
                json!({"action": "decline"})
            }
            Answer::Nobody | Answer::DryRun => self.declined(params, "no person can be asked"),
        }
    }

    fn declined(&self, params: &Map<String, Value>, why: &str) -> Value {
        self.note(format!("it asked \"{}\", which was declined: {why}", message(params)));
        json!({"action": "decline"})
    }

    /// Something that whoever made the call should know.
    pub(crate) fn note(&self, note: String) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if notes.len() < 5 {
            notes.push(note);
        }
    }

    /// What whoever made the call should know.
    pub(crate) fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut self.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The answer to a question that does not say for which of these calls it is. Where they are of one session, its person
/// is asked once, through any call that is not waiting for an answer already. Calls of several sessions decline, and each
/// is told why.
pub(crate) async fn asked_by_any(all: Vec<Arc<Running>>, params: &Map<String, Value>) -> Value {
    let session = all.first().map(|running| running.ctx.session().to_owned());
    let is_of_one = all.iter().all(|running| Some(running.ctx.session()) == session.as_deref());
    let is_free = |running: &&Arc<Running>| !running.is_asking.load(Ordering::Acquire);
    let free: Vec<Arc<Running>> = all.iter().filter(is_free).cloned().collect();
    let mut rest = match (all.len(), free.is_empty()) {
        // It says by itself why it declines.
        (1, _) => all,
        (_, false) if is_of_one => free,
        _ => {
            let note =
                "it asked something while several calls ran, and did not say for which; it was declined";
            all.iter().for_each(|running| running.note(note.to_owned()));
            return json!({"action": "decline"});
        }
    };
    let mut answer = json!({"action": "decline"});
    while let Some(running) = rest.pop() {
        answer = waited_by(&rest, running.asked(params)).await;
        // A call that ends withdraws its question: it was another's.
        if !running.ctx.cancel().is_cancelled() {
            break;
        }
        rest.retain(|running| !running.ctx.cancel().is_cancelled());
    }
    answer
}

/// Waits for an answer while the time of these calls stands still, of which one may be waiting for it.
fn waited_by<'a>(
    calls: &'a [Arc<Running>],
    answer: impl Future<Output = Value> + Send + 'a,
) -> BoxFuture<'a, Value> {
    let mut answer: BoxFuture<'a, Value> = Box::pin(answer);
    for call in calls {
        answer = Box::pin(call.ctx.while_paused(answer));
    }
    answer
}

fn message(params: &Map<String, Value>) -> String {
    let message = params.get("message").and_then(Value::as_str).unwrap_or("(nothing)");
    harmless(message).chars().take(LONGEST).collect()
}

fn because(why: &str) -> String {
    if why.is_empty() { String::new() } else { format!(": {why}") }
}
