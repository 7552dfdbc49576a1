//! What the tests share.

use std::path::Path;
use std::time::{Duration, Instant};
use toolpost_process::{Capture, Command, Ended, Error, Limits};

/// A shell command in a folder, with the variables a shell needs.
pub(crate) fn shell(line: &str, folder: &Path) -> Command {
    Command::new("/bin/bash", folder)
        .args(["--noprofile", "--norc", "-c", line])
        .variable("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
        .variable("HOME", "/nonexistent-home")
}

pub(crate) fn limits(wall_ms: u64) -> Limits {
    Limits { wall: Some(Duration::from_millis(wall_ms)), ..Limits::default() }
}

/// What came of a command.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) text: String,
    pub(crate) ended: Ended,
    pub(crate) took: Duration,
}

pub(crate) async fn try_run(command: Command) -> Result<Run, Error> {
    let started = Instant::now();
    let mut running = command.start()?;
    let mut capture = Capture::new(64 * 1024, 64 * 1024);
    let ended = running.collect(&mut capture, |_| ()).await?;
    let (captured, _, _) = capture.finish();
    let text = String::from_utf8_lossy(&[captured.head, captured.tail].concat()).into_owned();
    Ok(Run { text, ended, took: started.elapsed() })
}

pub(crate) async fn run(command: Command) -> Run {
    try_run(command).await.unwrap()
}

/// The processes of the machine whose command line has this text.
pub(crate) fn processes(with: &str) -> Vec<u32> {
    let own = std::process::id();
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| *pid != own)
        .filter(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(with)
        })
        .collect()
}

/// A number that no other process has in its command line: `sleep 7361.000123`.
pub(crate) fn mark() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("7{:07}.{:05}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}
