//! What is said beside a command's output: how it ended, and what may have been in its way.

use super::Args;
use crate::shell::output::Shown;
use std::path::{Path, PathBuf};
use toolpost_core::policy::{Closed, Remedy};
use toolpost_core::{Capability, Context, WorkspacePath};
use toolpost_process::{Ended, Exit};

/// Maximum number of refused names, and of names that appeared, that are shown one by one.
const MOST_NAMES: usize = 5;

/// Maximum number of lines of an output that are searched for names of files.
const MOST_LINES: usize = 50;

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
    if let Some(limit) = ended.memory_exceeded {
        notes.push(format!(
            "the processes of the command used more than {} MiB of memory together, and the largest was ended; use less \
             memory, or process the data in parts",
            limit / 1024 / 1024
        ));
    }
    if ended.survivor_count > 0 {
        notes.push(left_behind(ctx, ended));
    }
    notes.extend(closed_names(ended, |path| ctx.closed_to_commands(path)));
    // A command may have gone on after it was kept from a file, and have ended well.
    let named = if sandbox == "none" { Vec::new() } else { refused_files(ctx, args, shown) };
    if ended.exit != Exit::Code(0) {
        let is_named = !named.is_empty() || !ended.refused.is_empty();
        notes.extend(hints(ctx, args, shown, is_named, sandbox));
    }
    notes.extend(named);
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
    format!("what it left running {done}: {}{more}{}", named.join(", "), keep_running(ctx))
}

/// How a command is kept running, in the caller's words.
pub(super) fn keep_running(ctx: &Context) -> String {
    let ways = [ctx.spelled("background", true), ctx.spelled("yieldAfter", 1_000)];
    let way = ways.into_iter().flatten().next();
    way.map_or_else(String::new, |way| format!("; to keep something running use {way}"))
}

/// Names that the command may not create: those it was refused, and those that exist now all the same.
fn closed_names(ended: &Ended, closed: impl Fn(&Path) -> (String, Closed)) -> Vec<String> {
    let refused = ended.refused.iter().take(MOST_NAMES).map(|path| {
        let (name, Closed { why, remedy }) = closed(path);
        format!("`{}` was refused: {why}; {remedy}", plain(&name))
    });
    let appeared = ended.appeared.iter().take(MOST_NAMES).map(|path| {
        let (name, Closed { why, .. }) = closed(path);
        format!(
            "`{}` exists now; it did not when the command started. Commands may not create it ({why}). It was left \
             where it is; look at it before anything uses it",
            plain(&name)
        )
    });
    let more = |names: &[PathBuf], what: &str| {
        let count = names.len().saturating_sub(MOST_NAMES);
        (count > 0).then(|| format!("{count} more names {what}"))
    };
    refused
        .chain(more(&ended.refused, "were refused"))
        .chain(appeared)
        .chain(more(&ended.appeared, "exist now and did not when the command started"))
        .collect()
}

/// A name on one line, whatever is in it.
fn plain(name: &str) -> String {
    match name.chars().any(char::is_control) {
        true => name.escape_debug().to_string(),
        false => name.to_owned(),
    }
}

/// The files that an output says the command was kept from, each with the rule that keeps it from them.
fn refused_files(ctx: &Context, args: &Args, shown: &Shown) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut notes = Vec::new();
    let kept_from = |line: &&str| {
        let line = line.to_lowercase();
        NO_FILE.iter().any(|word| line.contains(word))
    };
    for line in shown.text.lines().filter(kept_from).take(MOST_LINES) {
        let words = line.split(|letter: char| letter.is_whitespace() || ":'\"`‘’()[],;".contains(letter));
        for word in words.filter(|word| !word.is_empty() && word.len() < 1_000) {
            let path = match &args.workdir {
                Some(folder) if !word.starts_with('/') => format!("{folder}/{word}"),
                _ => word.to_owned(),
            };
            let Ok(name) = ctx.workspace().name(&WorkspacePath::new(path)) else { continue };
            // Only what is a file by its look: a word of the message is none.
            if names.contains(&name) || !(word.contains(['/', '.'])) || notes.len() >= MOST_NAMES {
                continue;
            }
            let refusal = ctx.withheld(&name).or_else(|| ctx.change_refusal(&name));
            if let Some(refusal) = refusal {
                notes.push(format!("the sandbox kept it from `{}`: {}", plain(&name), refusal.message()));
            }
            names.push(name);
        }
    }
    notes
}

/// What may have been in the way of a command that failed.
fn hints(ctx: &Context, args: &Args, shown: &Shown, is_named: bool, sandbox: &str) -> Vec<String> {
    let output = shown.text.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| output.contains(word));
    let mut hints = Vec::new();
    if says(QUESTIONS) && args.stdin.is_none() {
        hints.push(
            match ctx.argument("stdin") {
                Some(stdin) => format!(
                    "it may have waited for an answer: there is no terminal and no input; use a flag such as -y, or \
                     give the text as `{stdin}`"
                ),
                None => "it may have waited for an answer: there is no terminal and no input; use a flag such as -y, \
                         or pipe the answer into it"
                    .to_owned(),
            },
        );
    }
    if sandbox == "none" {
        return hints;
    }
    if says(NO_NETWORK) && ctx.is_dry_run() {
        hints.push("a dry run has no network, so that for real it may go on from here".to_owned());
    } else if says(NO_NETWORK) && !ctx.granted(Capability::Network) {
        hints.push(format!("commands have no network here; {}", how_to_grant_network(ctx)));
    }
    if says(&["cross-device link"]) && ctx.is_dry_run() {
        hints.push(
            "a dry run cannot rename a folder that is there already, only copy it; for real this may work"
                .to_owned(),
        );
    }
    // Where the very name is known, a guess would only distract.
    if says(NO_FILE) && !is_named {
        let writes = match ctx.granted(Capability::Write) {
            true => {
                "commands write inside the workspace only, and not to protected files; files whose reading asks, such as \
                 `.env`, appear empty and unreadable"
            }
            false => "commands change no files under this policy",
        };
        hints.push(format!("the sandbox may be the cause: {writes}"));
    }
    hints
}

/// The shortest time that a command has where a caller knows that it counts milliseconds.
const SHORT: u64 = 500;
/// The most that a caller may ask for.
const LONGEST: u64 = 600_000;

/// What is said of a command that was ended by its time: after how long, what it may have waited for, and how it gets
/// more.
pub(super) fn out_of_time(ctx: &Context, args: &Args, shown: &Shown, sandbox: &str) -> String {
    let mut told =
        format!("the command was ended after {}, with everything it had started", time(args.timeout));
    let output = shown.text.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| output.contains(word));
    let asks = says(QUESTIONS) || is_prompt(&shown.text);
    let accesses = crate::shell::line::accesses(&args.command);
    let is_of_network =
        accesses.iter().any(|access| access.action == Capability::Network && !access.is_only_where_granted());
    if asks && args.stdin.is_none() {
        told.push_str(". It seems to have waited for an answer: there is no terminal and no input");
    } else if (is_of_network || says(NO_NETWORK)) && sandbox != "none" && !ctx.granted(Capability::Network) {
        let advice = how_to_grant_network(ctx);
        told.push_str(&format!(
            ". It seems to have waited for the network, which it does not have; {advice}"
        ));
    }
    let longer = match ctx.argument("timeout").filter(|_| args.timeout < LONGEST) {
        Some(name) if args.timeout < SHORT => {
            let meant = (args.timeout * 1_000).clamp(SHORT, LONGEST);
            let meant = ctx.spelled("timeout", meant).unwrap_or_default();
            Some(format!(
                "`{name}` counts milliseconds, and {} are far too few: for {} s write {meant}",
                args.timeout, args.timeout
            ))
        }
        Some(_) => {
            let more = ctx.spelled("timeout", (args.timeout * 4).min(LONGEST)).unwrap_or_default();
            Some(format!("ask for more with {more}"))
        }
        None => None,
    };
    let ways = [ctx.spelled("background", true), ctx.spelled("yieldAfter", 1_000)];
    let beside = ways.into_iter().flatten().next().map(|way| format!("run it with {way}"));
    let advice: Vec<String> = [longer, beside].into_iter().flatten().collect();
    if !advice.is_empty() {
        told.push_str(&format!("; {}", advice.join(", or ")));
    }
    told
}

fn how_to_grant_network(ctx: &Context) -> String {
    let missing = [Capability::Network].into_iter().collect();
    ctx.policy().advise(&Remedy::Grant { missing, tool: None })
}

/// Whether an output ends with a question that is still open: its last line has no end.
fn is_prompt(output: &str) -> bool {
    let last = output.rsplit('\n').next().unwrap_or_default();
    !last.trim().is_empty() && last.trim_end().ends_with(['?', ':', '>', ']', ')'])
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use toolpost_process::Why;

    #[test]
    fn names_that_may_not_be_created_are_reported() {
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect();
        let ended = Ended {
            exit: Exit::Code(0),
            why: Why::Exited,
            survivors: Vec::new(),
            survivor_count: 0,
            wall: Duration::ZERO,
            cpu: Duration::ZERO,
            peak_memory: 0,
            memory_exceeded: None,
            refused: paths(&["/w/a\nb", "/w/1", "/w/2", "/w/3", "/w/4", "/w/5", "/w/6"]),
            appeared: paths(&["/w/.envrc"]),
        };
        let notes = closed_names(&ended, |path| {
            let name = path.strip_prefix("/w").unwrap().to_str().unwrap().to_owned();
            (name, Closed { why: "the rule".into(), remedy: "change it".into() })
        });
        assert_eq!(notes.len(), 7, "{notes:?}");
        assert_eq!(notes[0], r"`a\nb` was refused: the rule; change it");
        assert_eq!(notes[5], "2 more names were refused");
        assert!(
            notes[6].starts_with("`.envrc` exists now; it did not when the command started."),
            "{}",
            notes[6]
        );
    }
}
