//! A server as a process: what it takes of memory and of the processor.

use super::Subject;
use anyhow::{Context as _, Result};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A server that ends with this value.
pub(super) struct Server(pub(super) Child);

impl Server {
    /// Starts it, silent, with these pipes; `port` is for those that are told it by the environment.
    pub(super) fn start(subject: &Subject, pipe: fn() -> Stdio, port: Option<u16>) -> Result<Server> {
        let mut command = Command::new(&subject.program);
        command.args(&subject.arguments).stdin(pipe()).stdout(pipe()).stderr(Stdio::null());
        if let Some(port) = port {
            command.env("PORT", port.to_string());
        }
        let child = command.spawn().with_context(|| format!("`{}` cannot be started", subject.name))?;
        Ok(Server(child))
    }

    /// What the server has of memory now.
    pub(super) fn resident_mib(&self) -> f64 {
        self.status("VmRSS:")
    }

    /// The most it had.
    pub(super) fn peak_mib(&self) -> f64 {
        self.status("VmHWM:")
    }

    fn status(&self, key: &str) -> f64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix(key));
        let kib: f64 = line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(f64::NAN);
        kib / 1024.0
    }

    /// Of all its threads, in the program and in the kernel.
    pub(super) fn processor_time(&self) -> Duration {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap_or_default();
        let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
        let ticks: u64 = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
        // The kernel tells it in hundredths of a second.
        Duration::from_millis(ticks * 10)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
