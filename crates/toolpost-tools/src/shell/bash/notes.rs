//! What is said beside a command's output: how it ended, and what may have been in its way.

use super::Args;
use crate::shell::output::Shown;
use toolpost_core::{Capability, Context};
use toolpost_process::{Ended, Exit};

/// Names for the signals that people know by name.
const SIGNALS: &[(i32, &str)] = &[
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (6, "SIGABRT"),
    (7, "SIGBUS"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (11, "SIGSEGV"),
    (13, "SIGPIPE"),
    (15, "SIGTERM"),
    (24, "SIGXCPU"),
    (31, "SIGSYS"),
];

/// What a command prints that wanted to ask something.
const QUESTIONS: &[&str] = &[
    "[y/n]",
    "(y/n)",
    "(yes/no)",
    "[yes/no]",
    "password:",
    "passphrase",
    "are you sure",
    "ok to proceed?",
    "do you want to continue",
    "not a tty",
    "is not a terminal",
    "inappropriate ioctl for device",
    "no tty present",
    "press any key",
    "eof when reading a line",
];

/// What a command prints that was kept from the network.
const NO_NETWORK: &[&str] = &[
    "network is unreachable",
    "could not resolve host",
    "temporary failure in name resolution",
    "name or service not known",
    "getaddrinfo",
    "enotfound",
    "failed to lookup address",
    "no address associated",
    "connection refused",
    "dns error",
];

/// What a command prints that was kept from a file.
const NO_FILE: &[&str] =
    &["permission denied", "read-only file system", "operation not permitted", "device or resource busy"];

/// The text for the model.
pub(super) fn told(ctx: &Context, args: &Args, shown: &Shown, ended: &Ended, sandbox: &str) -> String {
    let mut text = shown.text.clone();
    let mut notes = Vec::new();
    match ended.exit {
        Exit::Code(0) if shown.bytes == 0 => notes.push("no output, exit code 0".to_owned()),
        Exit::Code(0) => (),
        Exit::Code(code) => notes.push(format!("exit code {code}")),
        Exit::Signal(signal) => notes.push(format!("ended by {}", name(signal))),
    }
    if ended.survivor_count > 0 {
        notes.push(left_behind(ctx, ended));
    }
    if ended.exit != Exit::Code(0) {
        notes.extend(hints(ctx, args, &shown.text, sandbox));
    }
    if let Some(why) = &shown.not_kept {
        notes.push(format!("the whole output could not be kept: {why}"));
    }
    if notes.is_empty() {
        return text;
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&notes.into_iter().map(|note| format!("[{note}]")).collect::<Vec<_>>().join("\n"));
    text
}

fn name(signal: i32) -> String {
    match SIGNALS.iter().find(|(number, _)| *number == signal) {
        Some((number, name)) => format!("signal {number} ({name})"),
        None => format!("signal {signal}"),
    }
}

fn left_behind(ctx: &Context, ended: &Ended) -> String {
    let named: Vec<String> =
        ended.survivors.iter().take(5).map(|survivor| format!("`{}`", survivor.name)).collect();
    let more = ended.survivor_count.saturating_sub(named.len() as u64);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let is_left = ended.survivors.iter().any(|survivor| survivor.remains);
    let done = if is_left { "could not be ended" } else { "was ended with the command" };
    format!(
        "what it left running {done}: {}{more}; to keep something running use {}",
        named.join(", "),
        ctx.spelled("background", true)
    )
}

/// What may have been in the way of a command that failed.
fn hints(ctx: &Context, args: &Args, output: &str, sandbox: &str) -> Vec<String> {
    let output = output.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| output.contains(word));
    let mut hints = Vec::new();
    if says(QUESTIONS) && args.stdin.is_none() {
        hints.push(
            "it may have waited for an answer: there is no terminal and no input; use a flag such as -y, or give \
             the text as stdin"
                .to_owned(),
        );
    }
    if sandbox == "none" {
        return hints;
    }
    if says(NO_NETWORK) && ctx.is_dry_run() {
        hints.push("a dry run has no network, so that for real it may go on from here".to_owned());
    } else if says(NO_NETWORK) && !ctx.granted(Capability::Network) {
        hints.push("commands have no network here; `--allow network` grants it".to_owned());
    }
    if says(&["cross-device link"]) && ctx.is_dry_run() {
        hints.push(
            "a dry run cannot rename a folder that is there already, only copy it; for real this may work"
                .to_owned(),
        );
    }
    if says(NO_FILE) {
        let writes = match ctx.granted(Capability::Write) {
            true => "commands change files of the workspace only, and there none that is protected",
            false => "commands change no files under this policy",
        };
        hints.push(format!("the sandbox may be why: {writes}"));
    }
    hints
}

/// A sentence and what the command had written.
pub(super) fn with_output(told: &str, shown: &Shown) -> String {
    match shown.bytes {
        0 => format!("{told}. It had written nothing"),
        _ => format!("{told}. What it had written:\n{}", shown.text.trim_end()),
    }
}

/// Milliseconds for a person.
pub(super) fn time(milliseconds: u64) -> String {
    match milliseconds {
        ..1000 => format!("{milliseconds} ms"),
        _ => format!("{} s", milliseconds as f64 / 1000.0),
    }
}
