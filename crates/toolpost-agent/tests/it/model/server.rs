//! A server on loopback that answers as a test says, byte by byte.

use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What a server does with a request.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// Answers with a status, headers and a body.
    Answer(u16, &'static [(&'static str, String)], String),
    /// Begins a stream of events, and hangs up in the middle of it.
    Cut(String),
    /// Begins a stream of events, and says nothing more.
    Hang(String),
    /// Says nothing at all.
    Silent,
}

/// A server, and what it received.
pub(crate) struct Server {
    pub(crate) url: String,
    received: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers the first request with the first act, and so on; the last act also answers all after it.
    pub(crate) async fn start(acts: Vec<Act>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&received);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acts, seen) = (acts.clone(), Arc::clone(&seen));
                tokio::spawn(async move { serve(stream, &acts, &seen).await });
            }
        });
        Server { url, received }
    }

    /// The requests so far, as they were sent.
    pub(crate) fn received(&self) -> Vec<String> {
        self.received.lock().unwrap().clone()
    }
}

async fn serve(mut stream: TcpStream, acts: &[Act], seen: &Mutex<Vec<String>>) {
    while let Some(request) = read(&mut stream).await {
        let number = {
            let mut seen = seen.lock().unwrap();
            seen.push(request);
            seen.len() - 1
        };
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        let chunk = |body: &str| format!("{head}{:x}\r\n{body}\r\n", body.len());
        match &acts[number.min(acts.len() - 1)] {
            Act::Answer(status, headers, body) => {
                let headers: String =
                    headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
                let answer =
                    format!("HTTP/1.1 {status} X\r\n{headers}content-length: {}\r\n\r\n{body}", body.len());
                if stream.write_all(answer.as_bytes()).await.is_err() {
                    return;
                }
            }
            Act::Cut(body) => {
                let _ = stream.write_all(chunk(body).as_bytes()).await;
                return;
            }
            Act::Hang(body) => {
                let _ = stream.write_all(chunk(body).as_bytes()).await;
                tokio::time::sleep(Duration::from_secs(600)).await;
            }
            Act::Silent => tokio::time::sleep(Duration::from_secs(600)).await,
        }
    }
}

async fn read(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
            });
            if body.len() >= length.unwrap_or(0) {
                return Some(text);
            }
        }
        let mut buffer = [0; 8_192];
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}
