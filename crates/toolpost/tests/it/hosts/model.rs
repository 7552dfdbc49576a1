//! A model that we play: it listens on loopback, speaks the wire formats of the providers, asks for one tool call after
//! another and keeps every request, so that a test can look at what a host shows its model.
//!
//! It shares no code with what it judges.

use super::wire::{Naming, Reply, Wire};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A connection on which nothing comes for so long is given up.
const PATIENCE: Duration = Duration::from_secs(60);

/// A call that the model asks for: the tool's own name, and its arguments.
pub(super) type Call = (String, Value);

/// The model. It listens until the process ends.
pub(super) struct Model {
    pub(super) address: SocketAddr,
    state: Arc<State>,
}

struct State {
    calls: Mutex<Vec<Call>>,
    naming: Naming,
    seen: Mutex<Seen>,
}

/// What the model was sent.
#[derive(Default, Clone)]
pub(super) struct Seen {
    /// Requests that offer our tools, in order.
    pub(super) requests: Vec<Value>,
    /// How many calls it has asked for.
    pub(super) asked: usize,
    /// Other requests to the model: a title for the session, a check of the key. Their first lines.
    pub(super) others: Vec<String>,
    /// Places beyond loopback that were asked for by the proxy, which is this server too.
    pub(super) outside: Vec<String>,
}

impl Model {
    /// A model that has nothing to ask yet.
    pub(super) fn start(naming: Naming) -> Model {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State { calls: Mutex::default(), naming, seen: Mutex::default() });
        let serving = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&serving);
                std::thread::spawn(move || serve(stream, &state));
            }
        });
        Model { address, state }
    }

    /// It will ask for these calls, and then has nothing more to ask.
    pub(super) fn ask_for(&self, calls: Vec<Call>) {
        *self.state.calls.lock().unwrap_or_else(PoisonError::into_inner) = calls;
    }

    pub(super) fn seen(&self) -> Seen {
        self.state.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A request as it came.
struct Request {
    method: String,
    target: String,
    body: Value,
}

/// Answers one request and closes the connection.
fn serve(stream: TcpStream, state: &State) {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut reader = BufReader::new(stream);
    // A connection that was opened and left says nothing.
    let Some(request) = read(&mut reader) else { return };
    let (status, kind, body) = state.answer(&request);
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let mut stream = reader.into_inner();
    // A host that no longer wants the answer is no concern of ours.
    let _ = stream.write_all(format!("{head}{body}").as_bytes());
}

fn read(reader: &mut impl BufRead) -> Option<Request> {
    let line = line(reader)?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (mut length, mut is_chunked) = (0, false);
    loop {
        let header = self::line(reader)?.to_ascii_lowercase();
        match header.split_once(':') {
            None => break,
            Some(("content-length", value)) => length = value.trim().parse().ok()?,
            Some(("transfer-encoding", value)) => is_chunked = value.trim() == "chunked",
            Some(_) => {}
        }
    }
    let mut bytes = Vec::new();
    match is_chunked {
        true => loop {
            let size = usize::from_str_radix(self::line(reader)?.trim(), 16).ok()?;
            reader.take(size as u64).read_to_end(&mut bytes).ok()?;
            self::line(reader)?;
            if size == 0 {
                break;
            }
        },
        false => {
            reader.take(length).read_to_end(&mut bytes).ok()?;
        }
    }
    Some(Request { method, target, body: serde_json::from_slice(&bytes).unwrap_or_default() })
}

/// A line without its end.
fn line(reader: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    let count = reader.read_line(&mut line).ok()?;
    (count > 0).then(|| line.trim_end().to_owned())
}

impl State {
    fn answer(&self, request: &Request) -> (&'static str, &'static str, String) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let first = format!("{} {}", request.method, request.target);
        if request.method == "CONNECT" || request.target.starts_with("http") {
            seen.outside.push(first);
            return ("403 Forbidden", "text/plain", "nothing beyond loopback\n".to_owned());
        }
        let Some(wire) = Wire::of(&request.target).filter(|_| request.method == "POST") else {
            seen.others.push(first);
            return ("404 Not Found", "application/json", r#"{"error":{"message":"not here"}}"#.to_owned());
        };
        let offered = wire.tools(&request.body);
        let find = |tool: &str| offered.iter().find(|one| one.is(tool, self.naming));
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let reply = if calls.iter().any(|(tool, _)| find(tool).is_none()) {
            seen.others.push(first);
            Reply::Text("ok")
        } else {
            let number = seen.requests.len();
            seen.requests.push(request.body.clone());
            match calls.get(number) {
                Some((tool, arguments)) => {
                    let offered = find(tool).unwrap();
                    let arguments = offered.complete(arguments);
                    seen.asked += 1;
                    Reply::Call { number, offered, arguments }
                }
                // Some hosts go on until they are told by a call that there is no more to do.
                None => match offered.iter().find(|one| one.is_host_tool("final_answer")) {
                    Some(offered) => {
                        Reply::Call { number, offered, arguments: json!({"answer": "finished"}) }
                    }
                    None => Reply::Text("finished"),
                },
            }
        };
        let (kind, body) = wire.reply(&request.target, &request.body, &reply);
        ("200 OK", kind, body)
    }
}
