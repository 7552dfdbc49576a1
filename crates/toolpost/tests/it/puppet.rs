//! A model under the test's hand: a server on this machine that speaks the format of OpenAI's chat.

use crate::Home;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// Whatever a test waits for comes much sooner.
const PATIENCE: Duration = Duration::from_secs(60);

/// A model that says what it is told to, when it is told to.
pub(crate) struct Puppet {
    words: Sender<Word>,
    requests: Receiver<Value>,
}

enum Word {
    Event(String),
    End,
}

impl Puppet {
    /// The model `puppet`, in a home with a configuration that knows it and an agent without tools.
    pub(crate) fn at(home: &Home) -> Puppet {
        let (puppet, url) = Puppet::serve();
        home.write("puppet.toml", format!("modelTimeout = \"120s\"\n{}", vendor("puppet", &url)));
        home.write("repo/plain.md", "---\nname: plain\ndescription: d\ntools: []\n---\nAnswer.\n");
        puppet
    }

    /// A model, and where it is.
    pub(crate) fn serve() -> (Puppet, String) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (words, heard) = channel();
        let (send, requests) = channel();
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let mut connection = connection.unwrap();
                send.send(request(&connection)).unwrap();
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
                let _ = connection.write_all(head.as_bytes());
                loop {
                    match heard.recv() {
                        // Whoever has left hears nothing.
                        Ok(Word::Event(event)) => drop(connection.write_all(event.as_bytes())),
                        Ok(Word::End) => break,
                        Err(_) => return,
                    }
                }
            }
        });
        (Puppet { words, requests }, url)
    }

    /// The next request: the messages that the model gets, each as its role and its text.
    pub(crate) fn hears(&self) -> Vec<(String, String)> {
        let request = self.requests.recv_timeout(PATIENCE).expect("the model is not asked");
        let messages = request["messages"].as_array().unwrap();
        let text = |message: &Value| match &message["content"] {
            Value::String(text) => text.clone(),
            Value::Array(parts) => {
                let texts = parts.iter().map(|part| match part["text"].as_str() {
                    Some(text) => text.to_owned(),
                    None => format!("<{}>", part["type"].as_str().unwrap()),
                });
                texts.collect::<Vec<_>>().join("\n")
            }
            _ => message["tool_calls"].to_string(),
        };
        let of = |message: &Value| (message["role"].as_str().unwrap().to_owned(), text(message));
        messages.iter().map(of).filter(|(role, _)| role != "system").collect()
    }

    pub(crate) fn says(&self, text: &str) {
        let text = Value::from(text);
        let event = format!("data: {{\"choices\":[{{\"delta\":{{\"content\":{text}}}}}]}}\n\n");
        self.words.send(Word::Event(event)).unwrap();
    }

    /// Calls a tool, and ends the answer.
    pub(crate) fn calls(&self, tool: &str, arguments: &Value) {
        let call = serde_json::json!({"index": 0, "id": "call1", "type": "function", "function": {
            "name": tool, "arguments": arguments.to_string(),
        }});
        let delta = serde_json::json!({"choices": [{"delta": {"tool_calls": [call]}}]});
        let end = serde_json::json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]});
        let events = format!("data: {delta}\n\ndata: {end}\n\ndata: [DONE]\n\n");
        self.words.send(Word::Event(events)).unwrap();
        self.words.send(Word::End).unwrap();
    }

    /// Ends the answer.
    pub(crate) fn ends(&self) {
        self.words.send(Word::Event(crate::run_faults::END.to_owned())).unwrap();
        self.words.send(Word::End).unwrap();
    }

    /// Ends the connection, where nobody listens any more.
    pub(crate) fn gives_up(&self) {
        self.words.send(Word::End).unwrap();
    }
}

/// A row of the configuration for a model at an address.
pub(crate) fn vendor(name: &str, url: &str) -> String {
    format!(
        "[[vendor]]\nname = \"{name}\"\nformat = \"openai-chat\"\nbase-url = \"{url}\"\nmodel = \"m\"\n\
         [[vendor.models]]\nname = \"m\"\naccepts-images = true\nprice = {{ input = 100.0, output = 100.0, as-of = \"2026-11-18\" }}\n"
    )
}

fn request(connection: &std::net::TcpStream) -> Value {
    read(connection).unwrap()
}

/// The body of a request; none where whoever asks goes away before its end.
pub(crate) fn read(connection: &std::net::TcpStream) -> Option<Value> {
    let mut reader = BufReader::new(connection);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
