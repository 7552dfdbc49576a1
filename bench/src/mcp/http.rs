//! The thinnest client over HTTP: some connections that stay open, each with one call at a time, all in one thread.

use super::server::Server;
use super::{INITIALIZE, INITIALIZED, Subject, is_failure};
use anyhow::{Context as _, Result, bail};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A server, and what every request to it begins with.
pub(super) struct HttpClient {
    pub(super) server: Server,
    port: u16,
    session: String,
}

/// One connection and what has come of an answer.
struct Connection {
    stream: TcpStream,
    came: Vec<u8>,
}

impl HttpClient {
    /// Starts a server, waits until it listens, and shakes hands.
    pub(super) fn start(subject: &Subject, port: u16) -> Result<HttpClient> {
        let server = Server::start(subject, Stdio::null, Some(port))?;
        let mut client = HttpClient { server, port, session: String::new() };
        let mut connection = client.connect_patiently().with_context(|| format!("`{}`", subject.name))?;
        let answer = connection.ask(&client.request(INITIALIZE))?;
        let head = String::from_utf8_lossy(&answer).into_owned();
        let session = header(&head, "mcp-session-id").context("no session")?;
        client.session = format!("Mcp-Session-Id: {session}\r\n");
        connection.ask(&client.request(INITIALIZED))?;
        Ok(client)
    }

    /// Many calls, so many at a time.
    pub(super) fn flood(&self, call: &str, count: usize, in_flight: usize) -> Result<()> {
        let mut connections = Vec::new();
        for number in 0..in_flight {
            let mut connection = self.connect()?;
            connection.send(&self.call(call, number))?;
            connection.stream.set_nonblocking(true)?;
            connections.push(connection);
        }
        let (mut sent, mut answered) = (in_flight, 0);
        while answered < count {
            for index in ready(&connections)? {
                let connection = &mut connections[index];
                if let Some(answer) = connection.receive()? {
                    if is_failure(&answer) {
                        bail!("a call failed: {}", String::from_utf8_lossy(&answer));
                    }
                    answered += 1;
                    if sent < count {
                        connection.send(&self.call(call, sent))?;
                        sent += 1;
                    }
                }
            }
        }
        Ok(())
    }

    fn call(&self, call: &str, id: usize) -> String {
        self.request(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{call}}}"
        ))
    }

    fn request(&self, body: &str) -> String {
        format!(
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nAccept: application/json, \
             text/event-stream\r\nContent-Length: {}\r\n{}\r\n{body}",
            self.port,
            body.len(),
            self.session
        )
    }

    fn connect(&self) -> std::io::Result<Connection> {
        let stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        Ok(Connection { stream, came: Vec::new() })
    }

    fn connect_patiently(&self) -> Result<Connection> {
        let began = Instant::now();
        loop {
            match self.connect() {
                Ok(connection) => return Ok(connection),
                Err(error) if began.elapsed() > Duration::from_secs(20) => {
                    return Err(error).context("the server does not listen");
                }
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }
}

impl Connection {
    /// One request and its answer, while nothing else is done.
    fn ask(&mut self, request: &str) -> Result<Vec<u8>> {
        self.send(request)?;
        loop {
            if let Some(answer) = self.receive()? {
                return Ok(answer);
            }
        }
    }

    /// A request is small and the socket empty, so that it always goes at once.
    fn send(&mut self, request: &str) -> Result<()> {
        Ok(self.stream.write_all(request.as_bytes())?)
    }

    /// Reads once; the answer, head included, if it is whole.
    fn receive(&mut self) -> Result<Option<Vec<u8>>> {
        let mut part = [0; 1 << 16];
        match self.stream.read(&mut part) {
            Ok(0) => bail!("the server hung up: {}", String::from_utf8_lossy(&self.came)),
            Ok(count) => self.came.extend_from_slice(&part[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        let Some(head) = self.came.windows(4).position(|window| window == b"\r\n\r\n") else {
            return Ok(None);
        };
        let head_text = String::from_utf8_lossy(&self.came[..head]);
        if !head_text.starts_with("HTTP/1.1 20") {
            bail!("a request failed: {}", String::from_utf8_lossy(&self.came));
        }
        let is_whole = match header(&head_text, "content-length") {
            Some(length) => self.came.len() >= head + 4 + length.parse::<usize>()?,
            None if header(&head_text, "transfer-encoding").is_some() => {
                self.came.ends_with(b"\r\n0\r\n\r\n")
            }
            // Such as 202, which has no body.
            None => true,
        };
        Ok(is_whole.then(|| std::mem::take(&mut self.came)))
    }
}

/// The value of a header.
fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = head.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(one, _)| one.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

/// Waits until something has come; the connections it came by.
fn ready(connections: &[Connection]) -> Result<Vec<usize>> {
    let mut polled: Vec<libc::pollfd> = connections
        .iter()
        .map(|connection| libc::pollfd {
            fd: connection.stream.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        })
        .collect();
    let count = libc::nfds_t::try_from(polled.len())?;
    // SAFETY: the list is as long as is said, and lives until the call returns.
    let came = unsafe { libc::poll(polled.as_mut_ptr(), count, 20_000) };
    match came {
        -1 => Err(std::io::Error::last_os_error().into()),
        0 => bail!("no answer for 20 seconds"),
        _ => Ok((0..polled.len()).filter(|index| polled[*index].revents != 0).collect()),
    }
}
