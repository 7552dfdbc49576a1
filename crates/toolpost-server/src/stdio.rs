//! Serving on standard input and output: a message a line.
//!
//! When standard input ends, what has been answered is written, what runs gets two more seconds and is then cancelled.

mod pipe;

use crate::client::Client;
use crate::dispatch::Exchange;
use crate::session::{Outlet, Session};
use crate::{Server, listen};
use pipe::{Input, LineOut, after_others};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::coop::unconstrained;
use toolpost_mcp::{Invalid, Line, Lines, MAX_MESSAGE, Message, Request, RpcError, message};

/// So much is read at a time: no more requests than may begin at once fit into it.
pub(crate) const CHUNK: usize = 16 << 10;

/// After so many chunks, other tasks have their turn.
const TOGETHER: u32 = 32;

/// What runs when the client leaves gets so long to end.
const GRACE: Duration = Duration::from_secs(2);

/// And so long to clean up, once it is told to.
const CLEANUP: Duration = Duration::from_secs(5);

pub(super) async fn serve(server: &Arc<Server>) {
    unconstrained(serve_all(server)).await;
}

async fn serve_all(server: &Arc<Server>) {
    let session = server.session();
    let (out, writer) = LineOut::start(Arc::clone(&session));
    let connection =
        Connection { server: Arc::clone(server), session: Arc::clone(&session), out: Arc::clone(&out) };
    let mut input = Input::open();
    let mut lines = Lines::default();
    let mut chunk = vec![0; CHUNK];
    let mut chunks = 0_u32;
    loop {
        chunks = chunks.wrapping_add(1);
        if chunks.is_multiple_of(TOGETHER) {
            after_others().await;
        }
        let read = async {
            // A client that does not read its answers is not asked for more work.
            out.has_room().await;
            session.has_room().await;
            input.read(&mut chunk).await
        };
        let count = tokio::select! {
            biased;
            () = session.cancel.cancelled() => 0,
            count = read => count,
        };
        if count == 0 {
            break;
        }
        lines.push(&chunk[..count], |line| connection.take(line));
    }
    lines.finish(|line| connection.take(line));
    session.close();
    tokio::select! {
        () = idle(server, &session) => {}
        () = session.cancel.cancelled() => {}
        () = tokio::time::sleep(GRACE) => {}
    }
    session.cancel.cancel();
    let _ = tokio::time::timeout(CLEANUP, idle(server, &session)).await;
    out.close();
    let _ = tokio::time::timeout(GRACE, writer).await;
}

async fn idle(server: &Server, session: &Session) {
    while !session.is_idle() || !server.pending.is_idle() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

struct Connection {
    server: Arc<Server>,
    session: Arc<Session>,
    out: Arc<LineOut>,
}

impl Connection {
    fn take(&self, line: Line<'_>) {
        let line = match line {
            Line::Whole(line) => line.trim_ascii(),
            Line::TooLong => {
                let message = format!(
                    "a line was longer than {MAX_MESSAGE} bytes and was not read; send less at a time"
                );
                return self.refuse(&Value::Null, RpcError::invalid_request(message));
            }
        };
        if line.is_empty() {
            return;
        }
        match Message::parse(line) {
            Ok(Message::Request(request)) => self.request(request),
            Ok(Message::Notification { method, params }) => self.notification(&method, &params),
            Ok(Message::Answer { id, result }) => self.session.answered(id, result),
            Err(Invalid { id, error }) => self.refuse(&id, error),
        }
    }

    fn refuse(&self, id: &Value, error: RpcError) {
        self.out.send(message::answer(id, &Err(error)));
    }

    fn notification(&self, method: &str, params: &Map<String, Value>) {
        match method {
            "notifications/cancelled" => {
                if let Some(id) = params.get("requestId") {
                    self.session.withdraw(id);
                }
            }
            "notifications/initialized"
                if self.session.client.get().is_some() && self.session.is_ready.set(()).is_ok() =>
            {
                let (server, session) = (Arc::clone(&self.server), Arc::clone(&self.session));
                tokio::spawn(listen::tell_all(&server, session, self.out.clone()));
            }
            // What we do not know needs no answer.
            _ => {}
        }
    }

    fn request(&self, request: Request) {
        let Request { id, method, params } = request;
        let client = match Client::of_request(&params) {
            Err(error) => return self.refuse(&id, error),
            Ok(Some(client)) => client,
            Ok(None) if method == "initialize" => return self.shake_hands(id, &params),
            Ok(None) => match (self.session.client.get(), method.as_str()) {
                (Some(client), _) => client.clone(),
                (None, "ping") => return self.out.send(message::answer(&id, &Ok(Value::Object(Map::new())))),
                (None, _) => return self.refuse(&id, stranger()),
            },
        };
        let running = match self.session.start(&id) {
            Ok(running) => running,
            Err(error) => return self.refuse(&id, error),
        };
        let exchange = Exchange {
            session: Arc::clone(&self.session),
            client,
            outlet: self.out.clone(),
            id,
            cancel: running.cancel.clone(),
            may_return: false,
        };
        let (server, out) = (Arc::clone(&self.server), Arc::clone(&self.out));
        tokio::spawn(async move {
            let result = server.answer(&exchange, &method, params).await;
            if !running.is_withdrawn() {
                out.send(message::answer(&exchange.id, &result));
            }
            server.start_servers();
            // Not before its answer is on its way: at the end we wait for those that run.
            drop(running);
        });
    }

    fn shake_hands(&self, id: Value, params: &Map<String, Value>) {
        let client = Client::shaking_hands(params);
        if self.session.client.set(client.clone()).is_err() {
            return self.refuse(&id, RpcError::invalid_request("this connection is initialized already"));
        }
        self.out.send(message::answer(&id, &Ok(self.server.welcome(&client))));
        self.server.start_servers();
    }
}

/// For a request of nobody that we know.
pub(crate) fn stranger() -> RpcError {
    RpcError::params(
        "say who you are first: with `initialize`, or since 2026-07-28 with \
         `io.modelcontextprotocol/protocolVersion` in the `_meta` of each request",
    )
    .with_status(400)
}
