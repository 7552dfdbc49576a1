//! A web server that answers with the bytes it is told to, and remembers who was asked for what.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::sync::{Arc, Mutex};

/// What a server does with a request.
pub(super) type Answer = dyn Fn(&Asked, &mut TcpStream) + Send + Sync;

/// One request.
#[derive(Debug, Clone, Default)]
pub(super) struct Asked {
    /// The address that the connection was made to, with its port; known before anything was sent.
    pub(super) place: String,
    /// The path and the query; empty where a connection was made and nothing was sent.
    pub(super) path: String,
    /// The whole head.
    pub(super) head: String,
    /// The body, if a length was given.
    pub(super) body: String,
}

/// Several listeners with one memory.
#[derive(Clone, Default)]
pub(super) struct Server {
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    /// Listens at an address; returns its port.
    pub(super) fn listen(&self, at: impl ToSocketAddrs, answer: Arc<Answer>) -> u16 {
        let listener = TcpListener::bind(at).unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::clone(&self.asked);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                let (asked, answer) = (Arc::clone(&asked), Arc::clone(&answer));
                std::thread::spawn(move || serve(stream, &asked, &*answer));
            }
        });
        port
    }

    /// One on this machine that answers all requests alike.
    pub(super) fn on_loopback(
        answer: impl Fn(&Asked, &mut TcpStream) + Send + Sync + 'static,
    ) -> (Server, u16) {
        let server = Server::default();
        let port = server.listen("127.0.0.1:0", Arc::new(answer));
        (server, port)
    }

    /// The connections so far, with what was asked over them.
    pub(super) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    pub(super) fn forget(&self) {
        self.asked.lock().unwrap().clear();
    }
}

fn serve(mut stream: TcpStream, asked: &Mutex<Vec<Asked>>, answer: &Answer) {
    let Ok(local) = stream.local_addr() else { return };
    // An address of IPv4 that came in by a socket of IPv6 is one of IPv4.
    let mut request =
        Asked { place: format!("{}:{}", local.ip().to_canonical(), local.port()), ..Asked::default() };
    let at = {
        let mut asked = asked.lock().unwrap();
        asked.push(request.clone());
        asked.len() - 1
    };
    let Ok(reading) = stream.try_clone() else { return };
    let mut reader = BufReader::new(reading);
    loop {
        let mut line = String::new();
        match reader.read_line(&mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) if line.trim().is_empty() => break,
            Ok(_) => request.head.push_str(&line),
        }
    }
    let length = request.head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<u64>().ok())?
    });
    let _ = reader.take(length.unwrap_or(0)).read_to_string(&mut request.body);
    request.path = request.head.split(' ').nth(1).unwrap_or_default().to_owned();
    if let Some(kept) = asked.lock().unwrap().get_mut(at) {
        *kept = request.clone();
    }
    answer(&request, &mut stream);
    let _ = stream.flush();
}

/// Sends a whole answer.
pub(super) fn send(stream: &mut TcpStream, head: &str, body: &[u8]) {
    let head = format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(body);
}
