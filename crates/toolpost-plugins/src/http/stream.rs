//! An answer that comes as a stream of events: progress, questions of servers of old, and in the end the answer.
//!
//! A server of old may end a stream before the answer is there and be asked for the rest of it later.

use super::Http;
use super::door::Sender;
use super::sse::Events;
use crate::era::Era;
use crate::rpc::{self, Fault, Incoming as Message, Refusal};
use crate::running::{self, Running};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;

/// A stream that brings so much without an answer is left.
const MOST_UNWANTED: usize = 64 << 20;

/// How long the end of a stream is waited for, once its answer is there.
const END: Duration = Duration::from_secs(1);

/// So often a stream that has ended without an answer is taken up again.
const MOST_STREAMS: usize = 100;

/// Before that, where the server does not say how long.
const AGAIN: Duration = Duration::from_secs(1);

/// The longest that a server may say.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Somebody who waits for the answer to one request, or, with the number 0, only listens.
pub(super) struct Reading<'a> {
    http: &'a Arc<Http>,
    id: u64,
    running: Option<&'a Arc<Running>>,
    events: Events,
    unwanted: usize,
}

impl<'a> Reading<'a> {
    pub(super) fn new(http: &'a Arc<Http>, id: u64, running: Option<&'a Arc<Running>>) -> Reading<'a> {
        Reading { http, id, running, events: Events::default(), unwanted: 0 }
    }

    /// Reads until the answer comes, in this stream or in one that goes on where it ended.
    pub(super) async fn finish(mut self, body: Incoming, sender: Sender) -> Result<Value, Fault> {
        let (mut body, mut sender) = (body, sender);
        for _ in 0..MOST_STREAMS {
            let ended = self.run(body, sender).await;
            let is_legacy = matches!(self.http.lock().era, Some(Era::Legacy(_)));
            let since = self.events.last.clone().filter(|_| is_legacy);
            match (ended, since) {
                (Ok(Some(answer)), _) => return answer.map_err(Fault::Refused),
                (Err(fault), None) => return Err(fault),
                (Err(Fault::Gone(why)), Some(_)) if why == FLOOD || why == rpc::BLOATED => {
                    return Err(Fault::Gone(why));
                }
                (Ok(None), None) => return Err(Fault::Gone("its stream ended without an answer".to_owned())),
                (_, Some(since)) => {
                    let pause = self.events.retry.map_or(AGAIN, Duration::from_millis).min(LONGEST_PAUSE);
                    tokio::time::sleep(pause).await;
                    let last = std::mem::take(&mut self.events).last;
                    self.events.last = last;
                    (body, sender) = self.http.open_stream(Some(&since)).await?;
                }
            }
        }
        Err(Fault::Gone(format!("it has ended {MOST_STREAMS} streams without an answer")))
    }

    /// Reads one stream, until the answer or the end.
    pub(super) async fn run(
        &mut self,
        mut body: Incoming,
        sender: Sender,
    ) -> Result<Option<Result<Value, Refusal>>, Fault> {
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| Fault::Gone(format!("its answer was cut off: {error}")))?;
            let Some(bytes) = frame.data_ref() else { continue };
            if let Some(answer) = self.take(bytes)? {
                leave(self.http, body, sender);
                return Ok(Some(answer));
            }
        }
        self.http.door.keep(sender);
        Ok(None)
    }

    fn take(&mut self, bytes: &[u8]) -> Result<Option<Result<Value, Refusal>>, Fault> {
        let (http, id, running) = (self.http, self.id, self.running);
        let (mut answer, mut is_bloated, mut count) = (None, false, 0);
        let read = self.events.push(bytes, |data| {
            is_bloated |= rpc::is_bloated(data);
            count += 1;
            if is_bloated {
                return;
            }
            for message in rpc::parse(data).into_iter().flatten() {
                match message {
                    Message::Answer { id: Some(found), result } if found == id => {
                        answer.get_or_insert(result);
                    }
                    other => hear(http, other, running),
                }
            }
        });
        if answer.is_some() {
            return Ok(answer);
        }
        if is_bloated {
            return Err(Fault::Gone(rpc::BLOATED.to_owned()));
        }
        if read.is_err() {
            return Err(Fault::Gone("it sent an event of more than 16 MiB".to_owned()));
        }
        self.unwanted += bytes.len() + count * rpc::OVERHEAD;
        // Who only listens is not waiting for an answer.
        if self.unwanted > MOST_UNWANTED && running.is_some() {
            return Err(Fault::Gone(FLOOD.to_owned()));
        }
        Ok(None)
    }
}

const FLOOD: &str = "it floods its answer with what answers nothing";

/// A stream that ends properly leaves its connection for the next request; nobody waits for that.
fn leave(http: &Arc<Http>, mut body: Incoming, sender: Sender) {
    let http = Arc::clone(http);
    tokio::spawn(async move {
        let rest = async { while let Some(Ok(_)) = body.frame().await {} };
        if tokio::time::timeout(END, rest).await.is_ok() {
            http.door.keep(sender);
        }
    });
}

fn hear(http: &Arc<Http>, message: Message, running: Option<&Arc<Running>>) {
    match message {
        Message::Notification { method, params } => match (method.as_str(), running) {
            ("notifications/progress", Some(running)) => running.progress(&params),
            ("notifications/tools/list_changed", _) => http.changed.notify_one(),
            _ => {}
        },
        Message::Request { id, method, params } => reply(http, id, &method, params, running),
        Message::Answer { .. } => {}
    }
}

fn reply(
    http: &Arc<Http>,
    id: Value,
    method: &str,
    params: Map<String, Value>,
    running: Option<&Arc<Running>>,
) {
    let result = match method {
        "ping" => Ok(json!({})),
        "elicitation/create" => {
            // In the stream of a call it is for that call; elsewhere nothing says so.
            match running.cloned().or_else(|| running::only(http.all_running())) {
                Some(running) => {
                    let http = Arc::clone(http);
                    // The stream goes on while the person thinks.
                    tokio::spawn(async move {
                        let result = running.asked(&params).await;
                        http.aside(rpc::answer(&id, &Ok(result)));
                    });
                    return;
                }
                None => Ok(json!({"action": "decline"})),
            }
        }
        _ => Err(rpc::unsupported(method)),
    };
    http.aside(rpc::answer(&id, &result));
}
