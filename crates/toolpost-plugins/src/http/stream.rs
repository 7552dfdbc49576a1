//! An answer that comes as a stream of events: progress, questions of servers of old, and in the end the answer.

use super::Http;
use super::door::Sender;
use super::sse::Events;
use crate::rpc::{self, Fault, Incoming as Message};
use crate::running::Running;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;

/// A stream that brings so much without an answer is left.
const MOST_UNWANTED: usize = 64 << 20;

/// How long the end of a stream is waited for, once its answer is there.
const END: Duration = Duration::from_secs(1);

/// Reads events until the answer to this request comes.
pub(super) async fn answer(
    http: &Arc<Http>,
    mut body: Incoming,
    id: u64,
    running: Option<&Arc<Running>>,
    sender: Sender,
) -> Result<Value, Fault> {
    let mut events = Events::default();
    let mut answer = None;
    let mut unwanted = 0;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| Fault::Gone(format!("its answer was cut off: {error}")))?;
        let Some(bytes) = frame.data_ref() else { continue };
        unwanted += bytes.len();
        let mut count = 0;
        let mut is_bloated = false;
        let read = events.push(bytes, |data| {
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
        unwanted += count * rpc::OVERHEAD;
        if answer.is_some() {
            break;
        }
        if is_bloated {
            return Err(Fault::Gone(rpc::BLOATED.to_owned()));
        }
        if read.is_err() {
            return Err(Fault::Gone("it sent an event of more than 16 MiB".to_owned()));
        }
        // Who only listens is not waiting for an answer.
        if unwanted > MOST_UNWANTED && id != 0 && running.is_some() {
            return Err(Fault::Gone("it floods its answer with what answers nothing".to_owned()));
        }
    }
    if answer.is_some() {
        let http = Arc::clone(http);
        // A stream that ends properly leaves its connection for the next request; nobody waits for that.
        tokio::spawn(async move {
            let rest = async { while let Some(Ok(_)) = body.frame().await {} };
            if tokio::time::timeout(END, rest).await.is_ok() {
                http.door.keep(sender);
            }
        });
    }
    answer
        .ok_or_else(|| Fault::Gone("its stream ended without an answer".to_owned()))?
        .map_err(Fault::Refused)
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
    let result = match (method, running) {
        ("ping", _) => Ok(json!({})),
        ("elicitation/create", Some(running)) => {
            let (http, running) = (Arc::clone(http), Arc::clone(running));
            // The stream goes on while the person thinks.
            tokio::spawn(async move {
                let result = running.asked(&params).await;
                http.aside(rpc::answer(&id, &Ok(result)));
            });
            return;
        }
        ("elicitation/create", None) => Ok(json!({"action": "decline"})),
        _ => Err(rpc::unsupported(method)),
    };
    http.aside(rpc::answer(&id, &result));
}
