//! The thinnest client that there can be, so that the server is what is measured.

use super::Subject;
use anyhow::{Context as _, Result, bail};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

/// A server and the pipes to it.
pub(super) struct Client {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    line: Vec<u8>,
    next: u64,
}

impl Client {
    /// Starts a server and shakes hands.
    pub(super) fn start(subject: &Subject) -> Result<Client> {
        let mut command = Command::new(&subject.program);
        command.args(&subject.arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().with_context(|| format!("`{}` cannot be started", subject.name))?;
        let stdin = child.stdin.take().context("no input")?;
        let stdout = BufReader::with_capacity(1 << 20, child.stdout.take().context("no output")?);
        let mut client = Client { child, stdin, stdout, line: Vec::new(), next: 1 };
        client.write(
            "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\",\
             \"capabilities\":{},\"clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}}}\n",
        )?;
        client.answer()?;
        client.write("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")?;
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
        self.line.clear();
        self.stdout.read_until(b'\n', &mut self.line)?;
        let is_answer = self.line.windows(8).any(|part| part == b"\"result\"");
        let is_error = self.line.windows(14).any(|part| part == b"\"isError\":true,");
        if !is_answer || is_error {
            bail!("a call failed: {}", String::from_utf8_lossy(&self.line));
        }
        Ok(())
    }

    /// What the server has of memory now.
    pub(super) fn resident_kib(&self) -> u64 {
        self.status("VmRSS:")
    }

    /// The most it had.
    pub(super) fn peak_kib(&self) -> u64 {
        self.status("VmHWM:")
    }

    fn status(&self, key: &str) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix(key));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
    }

    /// Of all its threads, in the program and in the kernel.
    pub(super) fn processor_time(&self) -> Duration {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
        let ticks: u64 = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
        // The kernel tells it in hundredths of a second.
        Duration::from_millis(ticks * 10)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
