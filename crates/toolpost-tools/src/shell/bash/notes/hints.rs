//! What may have been in the way of a command, guessed from its line and its output: a question, the network, a terminal, a
//! file; and what it may have waited for until its time was over.

use super::{Args, Confined, MOST_LINES, MOST_NAMES, NO_FILE, plain, time};
use crate::shell::output::Shown;
use std::path::{Path, PathBuf};
use toolpost_core::policy::Remedy;
use toolpost_core::{Capability, Context};
use toolpost_process::Exit;

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
    "econnrefused",
    "couldn't connect to server",
    "failed to establish a new connection",
    "dns error",
];

/// What a command prints that found no terminal to make.
const NO_TERMINAL: &[&str] =
    &["out of pty devices", "pseudo-terminal", "openpty", "posix_openpt", "/dev/ptmx", "forkpty"];

/// What a command prints that wanted to look into other processes, and what it cannot have.
const NO_TRACING: &[&str] = &["ptrace", "could not trace"];

/// What a command prints that wanted a namespace of its own.
const NO_NAMESPACE: &[&str] = &["unshare failed", "namespace"];

/// What may have been in the way of a command that failed.
pub(super) fn hints(
    ctx: &Context,
    args: &Args,
    shown: &Shown,
    exit: Exit,
    is_named: bool,
    confined: &Confined,
) -> Vec<String> {
    let sandbox = confined.sandbox;
    let output = shown.text.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| output.contains(word));
    let has_failed = exit != Exit::Code(0);
    let mut hints = Vec::new();
    // The last command of a pipe may have ended well; a program that reaches out and says why it could not is believed. One
    // that was told to be quiet says nothing.
    let reaches_out = reaches_out(&args.command);
    let is_silent = || output.trim().is_empty() || is_quiet(&args.command);
    let is_cut_off = match has_failed {
        true => {
            says(NO_NETWORK)
                || (reaches_out == Some(Reaching::Always) && !says(&["command not found"]) && is_silent())
        }
        false => says(NO_NETWORK) && reaches_out.is_some(),
    };
    if is_cut_off && sandbox != "none" && !ctx.is_dry_run() && !ctx.granted(Capability::Network) {
        hints.push(format!("commands have no network here; {}", how_to_grant_network(ctx)));
    }
    hints.extend(patch_is_a_tool(ctx, &output));
    if sandbox != "none" {
        hints.extend(unseen_file(ctx, args, shown, &confined.visible));
    }
    if !has_failed {
        return hints;
    }
    if sandbox != "none" {
        hints.extend(unseen_repositories(ctx, args, shown));
        hints.extend(own_temporary(ctx, shown));
        if says(NO_NETWORK) && ctx.is_dry_run() {
            hints.push("a dry run has no network, so that for real it may go on from here".to_owned());
        }
        if says(&["cross-device link"]) && ctx.is_dry_run() {
            hints.push(
                "a dry run cannot rename a folder that is there already, only copy it; for real this may work"
                    .to_owned(),
            );
        }
    }
    // Where a cause is known, a guess would only distract; of several guesses the most certain is told.
    if is_named || !hints.is_empty() {
        return hints;
    }
    if says(QUESTIONS) && args.stdin.is_none() {
        let (why, advice) = (NO_ANSWER, how_to_answer(ctx));
        hints.push(format!("it may have waited for an answer: {why}; {advice}"));
    } else if says(NO_TERMINAL) && sandbox != "none" {
        hints.push("commands can make no terminals here; run the program without one".to_owned());
    } else if says(&["not permitted"]) && says(NO_TRACING) && sandbox != "none" {
        hints.push(
            "commands can look into no other process here, so that tracers and debuggers do not work"
                .to_owned(),
        );
    } else if says(&["not permitted"]) && says(NO_NAMESPACE) && sandbox != "none" {
        hints.push(
            "commands can make no namespaces here, so that containers and sandboxes of their own do not work"
                .to_owned(),
        );
    } else if says(NO_FILE) && sandbox != "none" {
        let writes = match ctx.granted(Capability::Write) {
            true => {
                "commands write inside the workspace only, and not to protected files; files whose reading asks, such as \
                 `.env`, cannot be read"
            }
            false => "commands change no files under this policy",
        };
        hints.push(format!("the sandbox may be the cause: {writes}"));
    }
    hints
}

/// Models that know the tool as a command run it in the shell, where there is none.
fn patch_is_a_tool(ctx: &Context, output: &str) -> Option<String> {
    let is_missing = output.lines().any(|line| line.ends_with("apply_patch: command not found"));
    let (tool, patch) = (ctx.tool_name("apply_patch")?, ctx.argument_of("apply_patch", "patch")?);
    is_missing.then(|| format!("`{tool}` is a tool and no command; call it with the patch as `{patch}`"))
}

const NO_ANSWER: &str = "there is no terminal and no input";

/// How a command gets what it would ask for.
fn how_to_answer(ctx: &Context) -> String {
    match ctx.argument("stdin") {
        Some(stdin) => format!("use a flag such as -y, or give the text as `{stdin}`"),
        None => "use a flag such as -y, or pipe the answer into it".to_owned(),
    }
}

/// Files of `/tmp` that an earlier command may have made.
fn own_temporary(ctx: &Context, shown: &Shown) -> Option<String> {
    let roots = ctx.workspace().roots();
    let is_missing = |line: &&str| line.to_lowercase().contains("no such file or directory");
    let lines = shown.text.lines().filter(is_missing).take(MOST_LINES);
    let mut words = lines.flat_map(|line| {
        line.split(|letter: char| letter.is_whitespace() || ":'\"`‘’()[],;".contains(letter))
    });
    let is_own = |word: &&str| {
        word.starts_with("/tmp/") && !roots.iter().any(|root| Path::new(word).starts_with(root))
    };
    words.find(is_own).map(|word| {
        format!(
            "`{}` is not there: each command has a /tmp of its own, which ends with it; keep files for later commands in the \
             workspace",
            plain(word)
        )
    })
}

/// A file that a program did not find because it lies outside of what commands see.
fn unseen_file(ctx: &Context, args: &Args, shown: &Shown, visible: &[PathBuf]) -> Option<String> {
    // What commands see of these is what is there, or their own.
    const SEEN: [&str; 16] = [
        "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/nix", "/opt", "/proc", "/run",
        "/sbin", "/sys", "/tmp", "/usr", "/var",
    ];
    let roots = ctx.workspace().roots();
    let folder = crate::shell::bash::prepare::asked_folder(ctx, args.workdir.as_ref());
    let is_moved = super::changes_folder(&args.command);
    let is_missing = |line: &&str| line.to_lowercase().contains("no such file or directory");
    let lines = shown.text.lines().filter(is_missing).take(MOST_LINES);
    let mut words = lines.flat_map(|line| {
        line.split(|letter: char| letter.is_whitespace() || ":'\"`‘’()[],;".contains(letter))
    });
    let is_unseen = |word: &&str| {
        let path = plain_path(&folder.join(word));
        let is_meant = match word.starts_with('/') {
            true => word.len() > 1 && !SEEN.iter().any(|seen| path.starts_with(seen)),
            false => word.starts_with("../") && !is_moved,
        };
        let is_seen = || visible.iter().any(|seen| path.starts_with(seen));
        is_meant && word.len() < 1_000 && !roots.iter().any(|root| path.starts_with(root)) && !is_seen()
    };
    words.find(is_unseen).map(|word| {
        format!(
            "`{}` is not seen by commands, whether it exists or not: outside of the workspace they see the system and what \
             programs need; to let them read it, add it to `readable` in the configuration or to TOOLPOST_READABLE",
            plain(word)
        )
    })
}

/// Repositories that git did not find because they lie outside of what commands see.
fn unseen_repositories(ctx: &Context, args: &Args, shown: &Shown) -> Vec<String> {
    const SAID: [&str; 2] = ["' does not appear to be a git repository", "' does not exist"];
    let roots = ctx.workspace().roots();
    let folder = crate::shell::bash::prepare::asked_folder(ctx, args.workdir.as_ref());
    let named = |line: &str| {
        let before = SAID.iter().find_map(|said| line.split_once(said))?.0;
        let name = before.rsplit_once('\'')?.1;
        Some(name.strip_prefix("file://").unwrap_or(name).to_owned())
    };
    let mut hints = Vec::new();
    for name in
        shown.text.lines().filter(|line| line.starts_with("fatal: ")).filter_map(named).take(MOST_NAMES)
    {
        let path = plain_path(&folder.join(&name));
        let is_address = !name.starts_with(['/', '.']) && name.contains(':');
        if is_address || roots.iter().any(|root| path.starts_with(root)) {
            continue;
        }
        let shown = path.display().to_string();
        hints.push(format!(
            "`{}` is outside of the workspace, where commands see nothing; to let them read it, add it to `readable` in \
             the configuration or to TOOLPOST_READABLE",
            plain(&shown)
        ));
    }
    hints
}

/// A path without `.` and `..`.
pub(super) fn plain_path(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => drop(whole.pop()),
            std::path::Component::CurDir => {}
            part => whole.push(part),
        }
    }
    whole
}

/// Whether a line tells some program to print no errors, as `curl -s` and `wget -q` are told.
fn is_quiet(line: &str) -> bool {
    line.split_whitespace().any(|word| match word.strip_prefix('-') {
        Some(long) if long.starts_with('-') => matches!(long, "-silent" | "-quiet"),
        Some(letters) => letters.contains(['s', 'q']),
        None => word.contains("2>/dev/null"),
    })
}

/// Whether a program reaches another machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reaching {
    /// That is what it is for.
    Always,
    /// With some of its subcommands.
    Sometimes,
}

/// Whether a line runs a program that reaches other machines.
fn reaches_out(line: &str) -> Option<Reaching> {
    const ALWAYS: [&str; 9] = ["curl", "wget", "ssh", "scp", "rsync", "ping", "nc", "telnet", "ftp"];
    const SOMETIMES: [&str; 21] = [
        "git", "npm", "npx", "pnpm", "yarn", "bun", "pip", "pip3", "uv", "poetry", "python", "python3",
        "node", "cargo", "rustup", "go", "gem", "bundle", "mvn", "gradle", "apt-get",
    ];
    let is_end = |letter: char| letter.is_whitespace() || "|&;()<>`'\"=".contains(letter);
    let words = line.split(is_end).map(|word| word.rsplit('/').next().unwrap_or(word));
    let mut found = None;
    for word in words {
        match word {
            _ if ALWAYS.contains(&word) => return Some(Reaching::Always),
            _ if SOMETIMES.contains(&word) => found = Some(Reaching::Sometimes),
            _ => {}
        }
    }
    found
}

/// The shortest time that a command has where a caller knows that it counts milliseconds.
const SHORT: u64 = 500;
/// The most that a caller may ask for.
const LONGEST: u64 = 600_000;

/// What is said of a command that was ended by its time: after how long, what it may have waited for, and how it gets
/// more.
pub(in crate::shell::bash) fn out_of_time(
    ctx: &Context,
    args: &Args,
    shown: &Shown,
    sandbox: &str,
) -> String {
    let told = format!("the command was ended after {}, with everything it had started", time(args.timeout));
    let output = shown.text.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| output.contains(word));
    let asks = says(QUESTIONS) || is_prompt(&shown.text);
    let accesses = crate::shell::line::accesses(&args.command);
    let is_of_network =
        accesses.iter().any(|access| access.action == Capability::Network && !access.is_only_where_granted());
    let sentence =
        |why: String, advice: String| format!("{told}. It seems to have waited for {why}; {advice}");
    // Who waits for what does not come needs no more time.
    if args.timeout >= SHORT {
        if let Some(program) = program_for_terminals(&args.command) {
            let why = format!("a person: `{program}` is a program for terminals, and there is none");
            return sentence(why, "use one that needs none".to_owned());
        }
        if asks && args.stdin.is_none() {
            return sentence(format!("an answer: {NO_ANSWER}"), how_to_answer(ctx));
        }
        if (is_of_network || says(NO_NETWORK)) && sandbox != "none" && !ctx.granted(Capability::Network) {
            return sentence("the network, which it does not have".to_owned(), how_to_grant_network(ctx));
        }
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
        // Who gives a time limit that is not offered counts in the same way.
        None if args.timeout < SHORT => Some(format!(
            "its time limit counts milliseconds, and {} are far too few: for {} s give {}",
            args.timeout,
            args.timeout,
            (args.timeout * 1_000).clamp(SHORT, LONGEST)
        )),
        Some(_) => {
            let more = ctx.spelled("timeout", (args.timeout * 4).min(LONGEST)).unwrap_or_default();
            Some(format!("ask for more with {more}"))
        }
        None => None,
    };
    let ways = [ctx.spelled("background", true), ctx.spelled("yieldAfter", 1_000)];
    let beside = ways.into_iter().flatten().next().map(|way| format!("run it with {way}"));
    let advice: Vec<String> = [longer, beside].into_iter().flatten().collect();
    match advice.is_empty() {
        true => told,
        false => format!("{told}; {}", advice.join(", or ")),
    }
}

/// The first program of a line that only a person at a terminal ends.
fn program_for_terminals(line: &str) -> Option<&str> {
    const PROGRAMS: [&str; 16] = [
        "vim", "vi", "nvim", "view", "nano", "pico", "emacs", "micro", "less", "more", "top", "htop",
        "watch", "tmux", "screen", "mc",
    ];
    let commands = line.split(['|', '&', ';', '(', '\n']);
    let programs = commands.filter_map(|command| {
        let mut words = command.split_whitespace().skip_while(|word| {
            word.contains('=')
                || matches!(*word, "sudo" | "env" | "exec" | "time" | "command" | "do" | "then")
        });
        let word = words.next()?;
        Some(word.rsplit('/').next().unwrap_or(word))
    });
    programs.into_iter().find(|program| PROGRAMS.contains(program))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_reach_out_are_known() {
        for (line, expected) in [
            ("curl -s x | jq .", Some(Reaching::Always)),
            ("A=1 /usr/bin/wget -q x", Some(Reaching::Always)),
            ("npm install", Some(Reaching::Sometimes)),
            ("(cd a && git fetch)", Some(Reaching::Sometimes)),
            ("cat curl.txt", None),
            ("make", None),
        ] {
            assert_eq!(reaches_out(line), expected, "{line}");
        }
    }
}
