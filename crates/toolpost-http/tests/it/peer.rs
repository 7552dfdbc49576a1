//! A server of the test's own: it answers with the bytes that it is told to, and says what was asked of it.

use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use toolpost_http::Url;

/// What a connection does with one request.
#[derive(Clone)]
pub(crate) enum Act {
    /// Sends these bytes and waits for the next request.
    Send(Vec<u8>),
    /// Sends these bytes and says nothing more.
    Stall(Vec<u8>),
    /// Sends these bytes and hangs up.
    HangUp(Vec<u8>),
}

pub(crate) struct Peer {
    port: u16,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    connections: usize,
    requests: Vec<String>,
    hung_up: usize,
}

impl Peer {
    /// Each connection answers its requests by these acts in their order.
    pub(crate) async fn open(acts: Vec<Act>) -> Peer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Seen::default()));
        let told = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                told.lock().unwrap().connections += 1;
                tokio::spawn(serve(stream, acts.clone(), Arc::clone(&told)));
            }
        });
        Peer { port, seen }
    }

    pub(crate) fn url(&self) -> Url {
        Url::parse(&format!("http://127.0.0.1:{}/place?x=1", self.port)).unwrap()
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn connections(&self) -> usize {
        self.seen.lock().unwrap().connections
    }

    /// The heads of the requests.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.seen.lock().unwrap().requests.clone()
    }

    /// Waits until the client has closed so many connections. The test's own end is the limit.
    pub(crate) async fn hung_up(&self, count: usize) {
        while self.seen.lock().unwrap().hung_up < count {
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
    }
}

async fn serve(mut stream: TcpStream, acts: Vec<Act>, seen: Arc<Mutex<Seen>>) {
    for act in acts {
        let Some(head) = head(&mut stream).await else { break };
        seen.lock().unwrap().requests.push(head);
        match act {
            Act::Send(bytes) => stream.write_all(&bytes).await.unwrap(),
            Act::Stall(bytes) => {
                // A client that has seen enough hangs up before the end.
                let _ = stream.write_all(&bytes).await;
                let _ = to_the_end(&mut stream).await;
                break;
            }
            Act::HangUp(bytes) => {
                stream.write_all(&bytes).await.unwrap();
                return;
            }
        }
    }
    let _ = to_the_end(&mut stream).await;
    seen.lock().unwrap().hung_up += 1;
}

/// Reads to the end.
async fn to_the_end(stream: &mut TcpStream) -> std::io::Result<()> {
    let mut bytes = [0; 1024];
    while stream.read(&mut bytes).await? > 0 {}
    Ok(())
}

/// The head of the next request, whose body has to be empty.
async fn head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if stream.read(&mut byte).await.unwrap_or(0) == 0 {
            return None;
        }
        head.extend_from_slice(&byte);
    }
    Some(String::from_utf8(head).unwrap())
}

/// A response with a length.
pub(crate) fn whole(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n{body}", body.len())
        .into()
}

/// The head of a response in chunks, and these chunks.
pub(crate) fn chunks(chunks: &[&str]) -> Vec<u8> {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n";
    let body: String = chunks.iter().map(|chunk| format!("{:x}\r\n{chunk}\r\n", chunk.len())).collect();
    format!("{head}{body}").into()
}
