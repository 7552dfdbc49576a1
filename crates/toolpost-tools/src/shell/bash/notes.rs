//! What is said beside a command's output: how it ended, and what may have been in its way.

mod hints;

pub(super) use hints::out_of_time;

use super::index::unread_by_git;
use super::{Args, Prepared};
use crate::shell::output::Shown;
use hints::{hints, plain_path};
use std::path::{Path, PathBuf};
use toolpost_core::Context;
use toolpost_core::policy::{Closed, Remedy};
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

/// How the command line of the shell begins that runs a command.
const OWN_SHELL: &str = "bash --noprofile --norc -c ";

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
    notes.extend(hints(ctx, args, shown, ended.exit, is_named, confined));
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
    // A job that has not become its program yet still has the line of the shell.
    let shown = |name: &str| match name.starts_with(OWN_SHELL) {
        true => "a job of its own shell".to_owned(),
        false => format!("`{name}`"),
    };
    let named: Vec<String> = ended.survivors.iter().take(5).map(|survivor| shown(&survivor.name)).collect();
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
            closed.why =
                "each needs confirmation, and no person can be asked while a command runs".to_owned();
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
    hidden: Vec<PathBuf>,
    /// Those of them that git had to read.
    unread_by_git: Vec<PathBuf>,
    /// What it could see outside of the workspace, beside the system.
    visible: Vec<PathBuf>,
}

impl Confined {
    /// How a command is about to be confined.
    pub(super) fn of(prepared: &Prepared) -> Confined {
        let Prepared { sandbox, hidden, visible, .. } = prepared;
        Confined { sandbox, hidden: hidden.clone(), unread_by_git: Vec::new(), visible: visible.clone() }
    }

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
    let standing = super::prepare::asked_folder(ctx, args.workdir.as_ref());
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
        // What looks like a file, or is the name of a hidden one: other words are the message's own.
        let is_hidden = |word: &str| !word.is_empty() && hidden.contains(&plain_path(&standing.join(word)));
        let is_file = |word: &&str| word.len() < 1_000 && (word.contains(['/', '.']) || is_hidden(word));
        for word in words.filter(is_file) {
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
                if let Some(closed) = outside(word, is_inside, is_moved) {
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

/// Why a path outside of the workspace is closed, if it is one: an absolute one, or one that leads upwards from the folder
/// in which the command began.
fn outside(word: &str, is_inside: bool, is_moved: bool) -> Option<Closed> {
    const OWN: [&str; 4] = ["/tmp/", "/var/tmp/", "/dev/", "/proc/"];
    let is_own = OWN.iter().any(|folder| word.starts_with(folder));
    let is_absolute = word.starts_with('/') && word.len() > 1 && !is_own;
    let leads_upwards = word.starts_with("../") && !is_moved;
    (!is_inside && (is_absolute || leads_upwards)).then(|| Closed {
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

/// A sentence and what the command had written.
pub(super) fn with_output(told: &str, shown: &Shown) -> String {
    match shown.bytes {
        0 => format!("{told}. It had printed nothing"),
        _ => format!("{told}. What it had printed:\n{}", shown.text.trim_end()),
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
}
