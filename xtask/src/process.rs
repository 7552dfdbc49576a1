//! Running other programs, with failures that say what was run. Nothing here knows what the programs are for.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Read};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

/// How long output is still read after a program has ended, in case something it started holds the pipe open.
const GRACE: Duration = Duration::from_secs(2);

/// A cargo command at the root of the repository, without what cargo told this program about itself.
pub(crate) fn cargo(root: &Path, arguments: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root);
    for (name, _) in std::env::vars_os() {
        if is_about_one_package(&name) {
            command.env_remove(name);
        }
    }
    command
}

/// Whether cargo sets this variable to describe the package that it runs.
pub(crate) fn is_about_one_package(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    name.starts_with("CARGO_PKG_")
        || name.starts_with("CARGO_MANIFEST_")
        || matches!(name, "CARGO_BIN_NAME" | "CARGO_CRATE_NAME" | "CARGO_PRIMARY_PACKAGE")
}

/// Runs a program with this program's own input and output; an error unless it succeeds.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start `{}`", shown(command)))?;
    expect_success(command, status)
}

/// What a program prints; its errors go to the terminal. An error unless it succeeds.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start `{}`", shown(command)))?;
    expect_success(command, output.status)?;
    String::from_utf8(output.stdout).with_context(|| format!("`{}` printed no text", shown(command)))
}

/// What a program prints, if it succeeds; what it says otherwise is thrown away.
pub(crate) fn capture_quietly(command: &mut Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).output().ok()?;
    if !output.status.success() {
        return None;
    }
    String::from_utf8(output.stdout).ok()
}

/// Hands each line of output and of errors to `each` as it comes.
///
/// It returns when the program has ended, even where a process that it left behind still holds its output.
pub(crate) fn stream(command: &mut Command, mut each: impl FnMut(&str)) -> Result<ExitStatus> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start `{}`", shown(command)))?;
    let (sender, receiver) = mpsc::channel();
    if let Some(output) = child.stdout.take() {
        send_lines(output, sender.clone());
    }
    if let Some(errors) = child.stderr.take() {
        send_lines(errors, sender.clone());
    }
    drop(sender);

    let mut ended: Option<Instant> = None;
    loop {
        match receiver.recv_timeout(Duration::from_millis(100)) {
            Ok(line) => each(&line),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if ended.is_none() && child.try_wait()?.is_some() {
            ended = Some(Instant::now());
        }
        if ended.is_some_and(|ended| ended.elapsed() > GRACE) {
            each("(something that this program started still holds its output; going on)");
            break;
        }
    }
    Ok(child.wait()?)
}

fn send_lines(source: impl Read + Send + 'static, sender: Sender<String>) {
    thread::spawn(move || {
        let mut reader = BufReader::new(source);
        let mut bytes = Vec::new();
        while let Ok(1..) = reader.read_until(b'\n', &mut bytes) {
            let line = String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']).to_owned();
            if sender.send(line).is_err() {
                return;
            }
            bytes.clear();
        }
    });
}

fn expect_success(command: &Command, status: ExitStatus) -> Result<()> {
    if !status.success() {
        bail!("`{}` ended with {status}", shown(command));
    }
    Ok(())
}

/// A command as one would type it.
pub(crate) fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_failure_says_what_was_run() {
        let error = run(&mut shell("exit 3")).unwrap_err().to_string();
        assert_eq!(error, "`sh -c exit 3` ended with exit status: 3");
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = run(&mut Command::new("no-such-program")).unwrap_err().to_string();
        assert_eq!(error, "cannot start `no-such-program`");
    }

    #[test]
    fn lines_of_both_streams_arrive() {
        let mut lines = Vec::new();
        let status =
            stream(&mut shell("echo one; echo two >&2; printf three"), |line| lines.push(line.to_owned()));
        assert!(status.unwrap().success());
        lines.sort();
        assert_eq!(lines, ["one", "three", "two"]);
    }

    #[test]
    fn a_process_left_behind_does_not_hold_up_the_rest() {
        let begin = Instant::now();
        let status = stream(&mut shell("sleep 6 & exit 1"), |_| {}).unwrap();
        assert!(!status.success());
        assert!(begin.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn variables_about_a_package_are_known() {
        assert!(is_about_one_package(OsStr::new("CARGO_PKG_NAME")));
        assert!(is_about_one_package(OsStr::new("CARGO_MANIFEST_DIR")));
        assert!(!is_about_one_package(OsStr::new("CARGO_HOME")));
    }
}
