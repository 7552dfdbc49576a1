//! A model with a mind of its own: a server on this machine that answers each request by what stands in it, so that a run may
//! be killed and go on at any moment. It speaks the format of OpenAI's chat.

use serde_json::{Value, json};
use std::io::Write;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What it says to one request.
pub(crate) struct Said {
    pub(crate) text: String,
    /// Tools and their arguments.
    pub(crate) calls: Vec<(&'static str, Value)>,
    pub(crate) finish: &'static str,
    /// Tokens of the request and of the answer; none leaves them uncounted.
    pub(crate) usage: Option<(u64, u64)>,
}

impl Said {
    pub(crate) fn text(text: &str) -> Said {
        Said { text: text.to_owned(), calls: Vec::new(), finish: "stop", usage: None }
    }

    pub(crate) fn calls(text: &str, calls: Vec<(&'static str, Value)>) -> Said {
        Said { text: text.to_owned(), calls, finish: "tool_calls", usage: None }
    }

    fn stream(&self) -> String {
        let mut events = vec![json!({"choices": [{"delta": {"content": self.text}}]})];
        for (index, (name, arguments)) in self.calls.iter().enumerate() {
            let function = json!({"name": name, "arguments": arguments.to_string()});
            let call =
                json!({"index": index, "id": format!("c{index}"), "type": "function", "function": function});
            events.push(json!({"choices": [{"delta": {"tool_calls": [call]}}]}));
        }
        events.push(json!({"choices": [{"delta": {}, "finish_reason": self.finish}]}));
        if let Some((input, output)) = self.usage {
            events
                .push(json!({"choices": [], "usage": {"prompt_tokens": input, "completion_tokens": output}}));
        }
        let events = events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>();
        format!("{events}data: [DONE]\n\n")
    }
}

/// A model that thinks with this, where it is, and how often it was asked.
pub(crate) fn serve(think: impl Fn(&Value) -> Said + Send + Sync + 'static) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let (think, asked) = (Arc::new(think), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&asked);
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let Ok(mut connection) = connection else { continue };
            let (think, count) = (Arc::clone(&think), Arc::clone(&count));
            std::thread::spawn(move || {
                // Whoever asks may be killed in the middle of it.
                let Some(request) = crate::puppet::read(&connection) else { return };
                count.fetch_add(1, Ordering::SeqCst);
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
                let _ = connection.write_all(format!("{head}{}", think(&request).stream()).as_bytes());
            });
        }
    });
    (url, asked)
}

/// All texts of a request, one behind the other.
pub(crate) fn texts(request: &Value) -> String {
    let mut texts = String::new();
    let mut waiting = vec![&request["messages"]];
    while let Some(value) = waiting.pop() {
        match value {
            Value::String(text) => {
                texts.push_str(text);
                texts.push('\n');
            }
            Value::Array(items) => waiting.extend(items.iter().rev()),
            Value::Object(fields) => waiting.extend(fields.values().rev()),
            _ => {}
        }
    }
    texts
}

/// A row of the configuration for a model at an address, with these lines in its only model.
pub(crate) fn vendor(name: &str, url: &str, lines: &str) -> String {
    format!(
        "[[vendor]]\nname = \"{name}\"\nformat = \"openai-chat\"\nbase-url = \"{url}\"\nmodel = \"m\"\n[[vendor.models]]\nname = \"m\"\n{lines}\n"
    )
}
