//! What is said beside a command's output: how it ended, and what may have been in its way.

use super::Args;
use crate::shell::output::Shown;
use std::io::Read;
use std::path::{Path, PathBuf};
use toolpost_core::policy::{Closed, Remedy};
use toolpost_core::{Capability, Context, WorkspacePath};
use toolpost_process::{Ended, Exit};

/// Maximum number of refused names, and of names that appeared, that are shown one by one.
const MOST_NAMES: usize = 5;

/// Maximum number of files for which rules are named: who follows the advice should not have to do so file by file.
const MOST_RULES: usize = 20;

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
    "econnrefused",
    "couldn't connect to server",
    "failed to establish a new connection",
    "dns error",
];

/// What a command prints that found no terminal to make.
const NO_TERMINAL: &[&str] =
    &["out of pty devices", "pseudo-terminal", "openpty", "posix_openpt", "/dev/ptmx", "forkpty"];

/// What a command prints that was kept from a file.
const NO_FILE: &[&str] =
    &["permission denied", "read-only file system", "operation not permitted", "device or resource busy"];

/// The text for the model.
pub(super) fn told(
    ctx: &Context,
    args: &Args,
    shown: &Shown,
    ended: &Ended,
    confined: &Confined,
    undo: Option<&str>,
) -> String {
    let sandbox = confined.sandbox;
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
    let refused = refused(ctx, shown, ended);
    let mut found = Vec::new();
    if sandbox != "none" {
        let known: Vec<String> = refused.iter().map(|(name, _)| name.clone()).collect();
        found = files_in_output(ctx, args, shown, &confined.hidden, known);
        let unread = confined.unread_by_git.iter().filter_map(|path| ctx.unreadable_to_commands(path));
        for (name, closed) in unread {
            if !found.iter().any(|(_, known, _)| *known == name) {
                found.push((Kept::Unread, name, closed));
            }
        }
    }
    let is_named = !refused.is_empty() || !found.is_empty();
    let written: Vec<String> = ended.written.iter().map(|path| ctx.closed_to_commands(path).0).collect();
    let advise = |rules: &[String]| ctx.policy().advise(&Remedy::Closed { rules });
    notes.extend(kept_from(refused, "refused", &written, advise));
    for kind in [Kept::Unread, Kept::Unchanged, Kept::Outside] {
        let of_kind = found.iter().filter(|(known, ..)| *known == kind);
        let of_kind = of_kind.map(|(_, name, closed)| (name.clone(), closed.clone()));
        notes.extend(kept_from(for_one_reason(of_kind.collect()), kind.verb(), &[], advise));
    }
    notes.extend(appeared(&ended.appeared, |path| ctx.closed_to_commands(path)));
    notes.extend(hints(ctx, args, shown, ended.exit, is_named, sandbox));
    notes.extend(undo.map(str::to_owned));
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

/// What the command was kept from, in one sentence for each reason: the files, the rule, what opens them, and what was
/// done already.
fn kept_from(
    kept: Vec<(String, Closed)>,
    verb: &str,
    written: &[String],
    advise: impl Fn(&[String]) -> String,
) -> Vec<String> {
    let mut groups: Vec<(Vec<String>, Vec<Closed>)> = Vec::new();
    for (name, closed) in kept {
        match groups.iter_mut().find(|(_, known)| known[0].why == closed.why) {
            Some((names, known)) => {
                names.push(name);
                known.push(closed);
            }
            None => groups.push((vec![name], vec![closed])),
        }
    }
    let tell = |(at, (names, closed)): (usize, (Vec<String>, Vec<Closed>))| {
        let were = match (verb, names.len()) {
            ("refused", 1) => "was ",
            ("refused", _) => "were ",
            _ => "",
        };
        let mut rules: Vec<String> = Vec::new();
        for rule in closed.iter().take(MOST_RULES).flat_map(|closed| &closed.rules) {
            if !rules.contains(rule) {
                rules.push(rule.clone());
            }
        }
        let remedy = match closed.len() {
            1 => closed[0].remedy.clone(),
            _ if rules.is_empty() => closed[0].remedy.clone(),
            _ => advise(&rules),
        };
        let done = match written {
            [] => String::new(),
            written if at == 0 => format!("; before that it had written {}, which stays", listed(written)),
            _ => String::new(),
        };
        format!("{} {were}{verb}: {}; {remedy}{done}", listed(&names), closed[0].why)
    };
    groups.into_iter().take(MOST_NAMES).enumerate().map(tell).collect()
}

/// Several files, each closed by another rule that asks, are told in one sentence.
fn for_one_reason(mut kept: Vec<(String, Closed)>) -> Vec<(String, Closed)> {
    let is_same = kept.windows(2).all(|pair| pair[0].1.why == pair[1].1.why);
    if !is_same && kept.iter().all(|(_, closed)| !closed.rules.is_empty()) {
        for (_, closed) in &mut kept {
            closed.why = "each asks first, and nobody can be asked while a command runs".to_owned();
        }
    }
    kept
}

/// Names in a clause, no more than can be read.
fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(MOST_NAMES).map(|name| format!("`{}`", plain(name))).collect();
    match names.len().checked_sub(MOST_NAMES) {
        Some(more @ 1..) => format!("{} and {more} more", shown.join(", ")),
        _ => match shown.split_last() {
            Some((last, before @ [_, ..])) => format!("{} and {last}", before.join(", ")),
            _ => shown.concat(),
        },
    }
}

/// Names that the command may not create and that exist now all the same.
fn appeared(paths: &[PathBuf], closed: impl Fn(&Path) -> (String, Closed)) -> Vec<String> {
    let told = paths.iter().take(MOST_NAMES).map(|path| {
        let (name, Closed { why, .. }) = closed(path);
        format!(
            "`{}` exists now; it did not when the command started. Commands may not create it ({why}). It was left \
             where it is; look at it before anything uses it",
            plain(&name)
        )
    });
    let count = paths.len().saturating_sub(MOST_NAMES);
    let more =
        (count > 0).then(|| format!("{count} more names exist now and did not when the command started"));
    told.chain(more).collect()
}

/// A name on one line, whatever is in it.
fn plain(name: &str) -> String {
    match name.chars().any(char::is_control) {
        true => name.escape_debug().to_string(),
        false => name.to_owned(),
    }
}

/// How a command was confined.
pub(super) struct Confined {
    /// In a word.
    pub(super) sandbox: &'static str,
    /// Files that it could see and not read.
    pub(super) hidden: Vec<PathBuf>,
    /// Those of them that git had to read.
    pub(super) unread_by_git: Vec<PathBuf>,
}

impl Confined {
    /// Finds the hidden files that git had to read, where its output speaks of one of them: it stops at the first.
    pub(super) async fn looked_at(
        mut self,
        ctx: &Context,
        args: &Args,
        done: &Result<(Shown, Ended), super::Failure>,
    ) -> Confined {
        let Ok((shown, _)) = done else { return self };
        let is_named = |path: &PathBuf| {
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| shown.text.contains(name))
        };
        let is_end = |letter: char| letter.is_whitespace() || "|&;()<>`'\"=/".contains(letter);
        let runs_git = args.command.split(is_end).any(|word| word == "git");
        if runs_git && self.hidden.iter().any(is_named) {
            let hidden = self.hidden.clone();
            let unread = ctx.blocking(move |ctx| Ok(unread_by_git(ctx, &hidden))).await;
            self.unread_by_git = unread.unwrap_or_default();
        }
        self
    }
}

/// Maximum size of an index of git that is read.
const LARGEST_INDEX: u64 = 64 << 20;

/// The hidden files that git in the workspace root must read to know whether they have changed.
fn unread_by_git(ctx: &Context, hidden: &[PathBuf]) -> Vec<PathBuf> {
    let workspace = ctx.workspace();
    let Ok(mut file) = workspace.open(&WorkspacePath::new(".git/index")) else { return Vec::new() };
    let mut bytes = Vec::new();
    if file.stat.size > LARGEST_INDEX || file.reader.read_to_end(&mut bytes).is_err() {
        return Vec::new();
    }
    let root = Path::new(workspace.root());
    let entries = super::index::entries(&bytes);
    let must_read = |path: &&PathBuf| {
        let Some(name) = path.strip_prefix(root).ok().and_then(Path::to_str) else { return false };
        let Some(entry) = entries.iter().find(|entry| entry.name == name.as_bytes()) else { return false };
        let stat = ctx.seen_by_commands(name);
        stat.is_some_and(|stat| entry.must_be_read(stat.modified_ms, stat.size, file.stat.modified_ms))
    };
    hidden.iter().filter(must_read).cloned().collect()
}

/// What the sandbox refused. A command may have gone on after that, and have ended well. Of caches outside of the workspace
/// that it did without, nothing is said then, unless its own output speaks of them.
fn refused(ctx: &Context, shown: &Shown, ended: &Ended) -> Vec<(String, Closed)> {
    let roots = ctx.workspace().roots();
    let matters = |path: &&PathBuf| {
        let is_inside = || roots.iter().any(|root| path.starts_with(root));
        let is_mentioned = || path.to_str().is_some_and(|path| shown.text.contains(path));
        ended.exit != Exit::Code(0) || is_inside() || is_mentioned()
    };
    let closed = |path: &PathBuf| match ended.refused_links.contains(path) {
        true => ctx.link_closed_to_commands(path),
        false => ctx.closed_to_commands(path),
    };
    // A folder is refused with what would come into it, which says why.
    let is_for_another = |path: &&PathBuf| {
        let is_below = |other: &PathBuf| other != *path && other.starts_with(path);
        ended.refused.iter().any(is_below) && ctx.change_refusal(&ctx.closed_to_commands(path).0).is_none()
    };
    ended.refused.iter().filter(matters).filter(|path| !is_for_another(path)).map(closed).collect()
}

/// What holds for a file that an output speaks of, whether or not the command has tried to open it: an output can say
/// anything.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kept {
    Unread,
    Unchanged,
    Outside,
}

impl Kept {
    fn verb(self) -> &'static str {
        match self {
            Kept::Unread => "cannot be read by commands",
            Kept::Unchanged => "cannot be changed by commands",
            Kept::Outside => "is closed to commands",
        }
    }
}

/// The files of which an output says that they could not be opened, and which commands can indeed not open, beside those
/// that are known.
fn files_in_output(
    ctx: &Context,
    args: &Args,
    shown: &Shown,
    hidden: &[PathBuf],
    known: Vec<String>,
) -> Vec<(Kept, String, Closed)> {
    let roots = ctx.workspace().roots();
    let standing = match &args.workdir {
        Some(folder) => Path::new(ctx.workspace().root()).join(folder.as_str()),
        None => super::prepare::standing(ctx, &roots),
    };
    let is_moved = changes_folder(&args.command);
    let mut names = known;
    let mut found: Vec<(Kept, String, Closed)> = Vec::new();
    let mut add = |kept: Kept, (name, closed): (String, Closed)| {
        if !names.contains(&name) && found.len() < 4 * MOST_NAMES {
            names.push(name.clone());
            found.push((kept, name, closed));
        }
    };
    let is_about_files = |line: &&str| {
        let line = line.to_lowercase();
        NO_FILE.iter().any(|word| line.contains(word))
    };
    for line in shown.text.lines().filter(is_about_files).take(MOST_LINES) {
        let is_denied = line.to_lowercase().contains("permission denied");
        let words = line.split(|letter: char| letter.is_whitespace() || ":'\"`‘’()[],;".contains(letter));
        // Only what is a file by its look: a word of the message is none.
        for word in words.filter(|word| word.len() < 1_000 && word.contains(['/', '.'])) {
            let path = plain_path(&standing.join(word));
            let meant = meant(&path, word, hidden, is_moved);
            for path in &meant {
                match ctx.unreadable_to_commands(path).filter(|_| is_denied) {
                    Some(closed) => add(Kept::Unread, closed),
                    None => add(Kept::Unchanged, ctx.closed_to_commands(path)),
                }
            }
            let is_inside = roots.iter().any(|root| path.starts_with(root));
            if !meant.is_empty() || !is_inside {
                if let Some(closed) = outside(word, is_inside) {
                    add(Kept::Outside, (word.to_owned(), closed));
                }
            } else if !is_denied && !is_moved {
                let name = ctx.closed_to_commands(&path).0;
                if ctx.change_refusal(&name).is_some() {
                    add(Kept::Unchanged, ctx.closed_to_commands(&path));
                }
            }
        }
    }
    found
}

/// The hidden files that a word of an output means. After a change of the folder, a relative name is that of any file which
/// ends with it, and hardly that of one where the line began.
fn meant(path: &Path, word: &str, hidden: &[PathBuf], is_moved: bool) -> Vec<PathBuf> {
    let is_here = hidden.iter().any(|hidden| hidden == path);
    if word.starts_with('/') || (is_here && !is_moved) {
        return if is_here { vec![path.to_owned()] } else { Vec::new() };
    }
    let end = Path::new(word.trim_start_matches("./"));
    let ends = |hidden: &&PathBuf| hidden.ends_with(end) && (hidden.as_path() != path || !is_moved);
    let others: Vec<PathBuf> = hidden.iter().filter(ends).take(MOST_NAMES).cloned().collect();
    if others.is_empty() && is_here { vec![path.to_owned()] } else { others }
}

/// Why an absolute path outside of the workspace is closed, if it is one.
fn outside(word: &str, is_inside: bool) -> Option<Closed> {
    const OWN: [&str; 4] = ["/tmp/", "/var/tmp/", "/dev/", "/proc/"];
    let is_own = OWN.iter().any(|folder| word.starts_with(folder));
    (word.starts_with('/') && word.len() > 1 && !is_inside && !is_own).then(|| Closed {
        why: "outside of the workspace, commands read what any user of the machine may read, and write to temporary folders \
              of their own only"
            .to_owned(),
        remedy: "no rule opens it; use a file of the workspace or of /tmp".to_owned(),
        rules: Vec::new(),
    })
}

/// Whether a line may run something in another folder than the one in which it begins.
fn changes_folder(line: &str) -> bool {
    let is_end = |letter: char| letter.is_whitespace() || "|&;()<>`'\"=".contains(letter);
    let moves =
        |word: &str| matches!(word, "cd" | "pushd" | "-C" | "--prefix" | "--directory" | "--cwd" | "make");
    line.split(is_end).any(moves)
}

/// What may have been in the way of a command that failed.
fn hints(
    ctx: &Context,
    args: &Args,
    shown: &Shown,
    exit: Exit,
    is_named: bool,
    sandbox: &str,
) -> Vec<String> {
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

/// Repositories that git did not find because they lie outside of what commands see.
fn unseen_repositories(ctx: &Context, args: &Args, shown: &Shown) -> Vec<String> {
    const SAID: [&str; 2] = ["' does not appear to be a git repository", "' does not exist"];
    let roots = ctx.workspace().roots();
    let folder = match &args.workdir {
        Some(folder) => Path::new(ctx.workspace().root()).join(folder.as_str()),
        None => super::prepare::standing(ctx, &roots),
    };
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
fn plain_path(path: &Path) -> PathBuf {
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
pub(super) fn out_of_time(ctx: &Context, args: &Args, shown: &Shown, sandbox: &str) -> String {
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

    #[test]
    fn names_that_may_not_be_created_are_reported() {
        let closed = |why: &str, rule: &str| Closed {
            why: why.into(),
            remedy: format!("allow {rule}"),
            rules: vec![rule.to_owned()],
        };
        let mut kept: Vec<(String, Closed)> = ["a\nb", "1", "2", "3", "4", "5", "6"]
            .iter()
            .map(|name| ((*name).to_owned(), closed("the rule", name)))
            .collect();
        kept.push(("x".into(), closed("another", "x")));
        let notes =
            kept_from(kept, "refused", &["done".to_owned()], |rules| format!("allow {}", rules.join(" ")));
        assert_eq!(
            notes,
            [
                "`a\\nb`, `1`, `2`, `3`, `4` and 2 more were refused: the rule; allow a\nb 1 2 3 4 5 6; before that it \
                 had written `done`, which stays",
                "`x` was refused: another; allow x",
            ]
        );
        let notes = appeared(&["/w/.envrc".into()], |path| {
            let name = path.strip_prefix("/w").unwrap().to_str().unwrap().to_owned();
            (name, closed("the rule", "r"))
        });
        assert!(
            notes[0].starts_with("`.envrc` exists now; it did not when the command started."),
            "{}",
            notes[0]
        );
    }

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
