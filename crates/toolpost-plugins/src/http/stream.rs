//! An answer that comes as a stream of events: progress, questions of servers of old, and in the end the answer.
//!
//! A server of old may end a stream before the answer is there and be asked for the rest of it later.

use super::Http;
use crate::fault::{self, BLOATED, Fault};
use crate::running::{self, Running};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;
use toolpost_http::{ErrorKind, EventStream, Response};
use toolpost_mcp::message::{self, OVERHEAD};
use toolpost_mcp::{MAX_MESSAGE, Message, Request, RpcError};

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

const FLOOD: &str = "it floods its answer with what answers nothing";

/// Somebody who waits for the answer to one request, or, with the number 0, only listens.
pub(super) struct Reading<'a> {
    http: &'a Arc<Http>,
    id: u64,
    running: Option<&'a Arc<Running>>,
    unwanted: usize,
    /// The id of the last event, by which a stream that was cut is taken up again.
    last: Option<String>,
    /// How long to wait before that.
    pause: Duration,
}

/// How a stream has ended.
pub(super) enum Ended {
    /// With the answer.
    Answered(Result<Value, RpcError>),
    /// Without it.
    Early,
    /// Because the server broke the rules: it is not asked for the rest.
    Refused(String),
    /// Because the connection was lost.
    Cut(String),
}

impl<'a> Reading<'a> {
    pub(super) fn new(http: &'a Arc<Http>, id: u64, running: Option<&'a Arc<Running>>) -> Reading<'a> {
        Reading { http, id, running, unwanted: 0, last: None, pause: AGAIN }
    }

    /// Reads until the answer comes, in this stream or in one that goes on where it ended.
    pub(super) async fn finish(mut self, response: Response) -> Result<Value, Fault> {
        let mut response = response;
        for _ in 0..MOST_STREAMS {
            let ended = self.run(response).await;
            let since = self.last.clone().filter(|_| self.http.is_legacy());
            let since = match (ended, since) {
                (Ended::Answered(answer), _) => return answer.map_err(Fault::Refused),
                (Ended::Refused(why), _) | (Ended::Cut(why), None) => return Err(Fault::Gone(why)),
                (Ended::Early, None) => {
                    return Err(Fault::Gone("its stream ended without an answer".to_owned()));
                }
                (Ended::Early | Ended::Cut(_), Some(since)) => since,
            };
            tokio::time::sleep(self.pause).await;
            response = self.http.open_stream(Some(&since)).await?;
        }
        Err(Fault::Gone(format!("it has ended {MOST_STREAMS} streams without an answer")))
    }

    /// Reads one stream, until the answer or the end.
    pub(super) async fn run(&mut self, response: Response) -> Ended {
        let mut events = response.events(MAX_MESSAGE);
        let ended = self.read(&mut events).await;
        if let Some(last) = events.last_id() {
            self.last = Some(last.to_owned());
        }
        self.pause = events.retry().unwrap_or(AGAIN).min(LONGEST_PAUSE);
        if let Ended::Answered(_) = ended {
            // A stream that ends properly leaves its connection for the next request.
            events.drain(END);
        }
        ended
    }

    async fn read(&mut self, events: &mut EventStream) -> Ended {
        loop {
            let event = match events.next().await {
                Ok(Some(event)) => event,
                Ok(None) => return Ended::Early,
                Err(error) if error.kind() == ErrorKind::TooLarge => {
                    return Ended::Refused(error.to_string());
                }
                Err(error) => return Ended::Cut(format!("its answer was cut off: {error}")),
            };
            if message::is_bloated(&event.data) {
                return Ended::Refused(BLOATED.to_owned());
            }
            if let Some(answer) = self.take(&event.data) {
                return Ended::Answered(answer);
            }
            self.unwanted += event.data.len() + OVERHEAD;
            // Who only listens is not waiting for an answer.
            if self.unwanted > MOST_UNWANTED && self.running.is_some() {
                return Ended::Refused(FLOOD.to_owned());
            }
        }
    }

    /// Takes the messages of one event. The answer, if it is among them.
    fn take(&mut self, data: &[u8]) -> Option<Result<Value, RpcError>> {
        let mut answer = None;
        for message in Message::parse_lenient(data).into_iter().flatten() {
            match message {
                Message::Answer { id: Some(found), result } if found == self.id => {
                    answer.get_or_insert(result);
                }
                other => hear(self.http, other, self.running),
            }
        }
        answer
    }
}

fn hear(http: &Arc<Http>, message: Message, running: Option<&Arc<Running>>) {
    match message {
        Message::Notification { method, params } => match (method.as_str(), running) {
            ("notifications/progress", Some(running)) => running.progress(&params),
            ("notifications/tools/list_changed", _) => http.changed.notify_one(),
            _ => {}
        },
        Message::Request(Request { id, method, params }) => reply(http, id, &method, params, running),
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
            let (http, running) = (Arc::clone(http), running.cloned());
            // The stream goes on while the person thinks.
            tokio::spawn(async move {
                // In the stream of a call it is for that call; elsewhere nothing says so.
                let result = match running {
                    Some(running) => running.asked(&params).await,
                    None => running::asked_by_any(http.all_running(), &params).await,
                };
                http.aside(message::answer(&id, &Ok(result)));
            });
            return;
        }
        _ => Err(fault::unsupported(method)),
    };
    http.aside(message::answer(&id, &result));
}
