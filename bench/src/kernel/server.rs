//! A server on loopback that streams an answer in the form of OpenAI's chat, and tells when it sent the first word.

use anyhow::{Context as _, Result};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What the first event is known by.
pub(super) const WORD: &str = "FIRST";
/// The end of a body in chunks.
pub(super) const END: &[u8] = b"\r\n0\r\n\r\n";

/// Answers every request on every connection in the same way.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    sent: Arc<Mutex<Option<Instant>>>,
}

impl Server {
    /// A server that sends its first event so long after a request.
    pub(super) fn start(pause: Duration) -> Result<Server> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let (address, sent) = (listener.local_addr()?, Arc::new(Mutex::new(None)));
        let told = Arc::clone(&sent);
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let told = Arc::clone(&told);
                std::thread::spawn(move || serve(&connection, pause, &told));
            }
        });
        Ok(Server { address, sent })
    }

    /// When the first event of the last answer was sent.
    pub(super) fn sent(&self) -> Result<Instant> {
        let sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner).take();
        sent.context("nothing was sent")
    }
}

/// Until the client leaves.
fn serve(mut connection: &TcpStream, pause: Duration, sent: &Mutex<Option<Instant>>) -> Result<()> {
    connection.set_nodelay(true)?;
    let mut reader = BufReader::new(connection);
    let first = chunk(&format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{WORD}\"}}}}]}}\n\n"));
    let rest = "data: {\"choices\":[{\"delta\":{\"content\":\" word\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let rest = format!("{}0\r\n\r\n", chunk(rest));
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let line = line.trim().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse()?;
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        connection.write_all(head.as_bytes())?;
        if !pause.is_zero() {
            std::thread::sleep(pause);
        }
        *sent.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        connection.write_all(first.as_bytes())?;
        connection.write_all(rest.as_bytes())?;
    }
}

fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}
