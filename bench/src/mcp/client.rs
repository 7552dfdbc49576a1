//! The thinnest client that there can be on pipes, so that the server is what is measured.

use super::server::Server;
use super::{INITIALIZE, INITIALIZED, Subject, is_failure};
use anyhow::{Context as _, Result, bail};
use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout, Stdio};

/// A server and the pipes to it.
pub(super) struct Client {
    pub(super) server: Server,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    line: Vec<u8>,
    next: u64,
}

impl Client {
    /// Starts a server and shakes hands.
    pub(super) fn start(subject: &Subject) -> Result<Client> {
        let mut server = Server::start(subject, Stdio::piped, None)?;
        let stdin = server.0.stdin.take().context("no input")?;
        let stdout = BufReader::with_capacity(1 << 20, server.0.stdout.take().context("no output")?);
        let mut client = Client { server, stdin, stdout, line: Vec::new(), next: 1 };
        client.write(&format!("{INITIALIZE}\n"))?;
        client.answer()?;
        client.write(&format!("{INITIALIZED}\n"))?;
        Ok(client)
    }

    /// One call from before it is sent to after its answer.
    pub(super) fn call(&mut self, call: &str) -> Result<()> {
        let request = self.request(call);
        self.write(&request)?;
        self.answer()
    }

    /// Many calls, so many at a time.
    pub(super) fn flood(&mut self, call: &str, count: usize, in_flight: usize) -> Result<()> {
        let mut sent = in_flight.min(count);
        let first: String = (0..sent).map(|_| self.request(call)).collect();
        self.write(&first)?;
        let mut answered = 0;
        while answered < count {
            self.answer()?;
            answered += 1;
            // As many new ones as answers have come together.
            let mut more = String::new();
            let mut due = 1;
            while self.stdout.buffer().contains(&b'\n') {
                self.answer()?;
                answered += 1;
                due += 1;
            }
            while due > 0 && sent < count {
                more.push_str(&self.request(call));
                sent += 1;
                due -= 1;
            }
            self.write(&more)?;
        }
        Ok(())
    }

    fn request(&mut self, call: &str) -> String {
        let id = self.next;
        self.next += 1;
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{call}}}\n")
    }

    fn write(&mut self, text: &str) -> Result<()> {
        Ok(self.stdin.write_all(text.as_bytes())?)
    }

    fn answer(&mut self) -> Result<()> {
        loop {
            self.line.clear();
            self.stdout.read_until(b'\n', &mut self.line)?;
            // Some servers tell that their list has changed, as soon as they are started.
            if self.line.starts_with(b"{\"method\":\"notifications/") {
                continue;
            }
            if is_failure(&self.line) {
                bail!("a call failed: {}", String::from_utf8_lossy(&self.line));
            }
            return Ok(());
        }
    }
}
