//! The ways to a server: a pipe or HTTP, in either era, for clients that repeat, hang up and kill.

use super::super::http::Served;
use super::super::{Connection, meta};
use crate::Home;
use crate::load::stretched;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Longer than any answer takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server, and how it is reached.
pub(super) enum Wire {
    Pipe(Connection),
    Http(Served),
}

/// A client of one era. It starts its server again where that was killed.
pub(super) struct Client<'h> {
    home: &'h Home,
    wire: Wire,
    is_modern: bool,
    session: Option<String>,
    next: u64,
    /// Messages on the pipe that came while others were waited for.
    unread: VecDeque<Value>,
}

/// A request that was sent.
pub(super) struct Sent {
    pub(super) id: u64,
    stream: Option<BufReader<TcpStream>>,
}

impl<'h> Client<'h> {
    pub(super) fn new(home: &'h Home, is_http: bool, is_modern: bool) -> Client<'h> {
        let wire = Client::start(home, is_http);
        let mut client = Client { home, wire, is_modern, session: None, next: 0, unread: VecDeque::new() };
        client.greet();
        client
    }

    fn start(home: &Home, is_http: bool) -> Wire {
        match is_http {
            true => Wire::Http(Served::start(home, &["--no-token"])),
            false => Wire::Pipe(Connection::open(home, &[])),
        }
    }

    pub(super) fn is_http(&self) -> bool {
        matches!(self.wire, Wire::Http(_))
    }

    /// Ends the server by force, and starts another.
    pub(super) fn kill(&mut self) {
        let is_http = self.is_http();
        // The old one is killed before the new one starts.
        match &mut self.wire {
            Wire::Pipe(connection) => connection.kill(),
            Wire::Http(served) => served.kill(),
        }
        self.wire = Client::start(self.home, is_http);
        self.unread.clear();
        self.greet();
    }

    fn greet(&mut self) {
        self.session = None;
        if self.is_modern {
            return;
        }
        let capabilities = json!({"elicitation": {}});
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": {"name": "t", "version": "1"}});
        let mut sent = self.send("initialize", hello);
        if let Some(stream) = &mut sent.stream {
            let mut head = head(stream);
            self.session = head.remove("mcp-session-id");
            assert!(self.session.is_some(), "{head:?}");
        } else {
            self.next_message(&mut sent).expect("a welcome");
        }
        self.tell(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    }

    /// Sends a request.
    pub(super) fn send(&mut self, method: &str, mut params: Value) -> Sent {
        self.next += 1;
        if self.is_modern {
            params["_meta"] = meta(json!({"elicitation": {"form": {}}}));
        }
        let message = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        let stream = self.pass(&message);
        Sent { id: self.next, stream }
    }

    fn pass(&mut self, message: &Value) -> Option<BufReader<TcpStream>> {
        match &mut self.wire {
            Wire::Pipe(connection) => {
                connection.send(message.clone());
                None
            }
            Wire::Http(served) => {
                let mut stream = TcpStream::connect(served.address).unwrap();
                stream.set_read_timeout(Some(stretched(PATIENCE))).unwrap();
                let body = message.to_string();
                let mut head = format!(
                    "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\nConnection: close\r\n\
                     Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n",
                    served.address,
                    body.len()
                );
                if self.is_modern {
                    let method = message["method"].as_str().unwrap();
                    let name = message["params"]["name"].as_str().unwrap();
                    head.push_str(&format!(
                        "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\nMcp-Name: {name}\r\n"
                    ));
                }
                if let Some(session) = &self.session {
                    head.push_str(&format!("Mcp-Session-Id: {session}\r\n"));
                }
                stream.write_all(format!("{head}\r\n{body}").as_bytes()).unwrap();
                Some(BufReader::new(stream))
            }
        }
    }

    /// Sends what has no answer, and waits until it was taken.
    pub(super) fn tell(&mut self, message: Value) {
        if let Some(mut stream) = self.pass(&message) {
            let _ = std::io::copy(&mut stream, &mut std::io::sink());
        }
    }

    /// The next message about a request: a question, or its answer. None where the connection ends without one.
    pub(super) fn next_message(&mut self, sent: &mut Sent) -> Option<Value> {
        let is_about = |message: &Value, id: u64| message.get("method").is_some() || message["id"] == id;
        if let Some(stream) = &mut sent.stream {
            return next_of(stream);
        }
        if let Some(at) = self.unread.iter().position(|message| is_about(message, sent.id)) {
            return self.unread.remove(at);
        }
        let Wire::Pipe(connection) = &self.wire else { return None };
        loop {
            let message = connection.next();
            match is_about(&message, sent.id) {
                true => return Some(message),
                false => self.unread.push_back(message),
            }
        }
    }
}

/// The head of a response.
fn head(stream: &mut BufReader<TcpStream>) -> std::collections::HashMap<String, String> {
    let mut found = std::collections::HashMap::new();
    let mut line = String::new();
    while stream.read_line(&mut line).is_ok_and(|count| count > 2) {
        if let Some((name, value)) = line.split_once(':') {
            found.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        line.clear();
    }
    found
}

/// The next message of a response; its head is read before the first.
fn next_of(stream: &mut BufReader<TcpStream>) -> Option<Value> {
    let mut line = String::new();
    while stream.read_line(&mut line).ok()? > 0 {
        if line.starts_with("HTTP/1.1 ") {
            let head = head(stream);
            if head.get("content-type").is_some_and(|kind| kind.starts_with("application/json")) {
                let mut body = vec![0; head.get("content-length")?.parse().ok()?];
                stream.read_exact(&mut body).ok()?;
                return serde_json::from_slice(&body).ok();
            }
        }
        if let Some(data) = line.strip_prefix("data: ") {
            return Some(serde_json::from_str(data.trim()).unwrap());
        }
        line.clear();
    }
    None
}
