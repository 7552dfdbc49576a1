//! `git`: its options come before the subcommand, and some of both run other programs.

mod repository;

use super::effect::Effect;
use super::options::is_beginning_of;
use super::word::Word;

const RUNS: Effect = Effect::Unclear("git is told to run another program");

/// Options of subcommands that run a program.
const LONG: [&str; 14] = [
    "upload-pack",
    "receive-pack",
    "exec",
    "open-files-in-pager",
    "ext-diff",
    "extcmd",
    "config",
    "template",
    "config-env",
    "sendmail-cmd",
    "to-cmd",
    "cc-cmd",
    "tool",
    "gpg-program",
];

/// Subcommands with no option that runs a program, so that their arguments may be computed.
#[rustfmt::skip]
const PLAIN: &[&str] = &[
    "add", "commit", "checkout", "switch", "status", "branch", "tag", "stash", "rm", "mv", "restore", "rev-parse",
    "ls-files", "reset", "rev-list", "cat-file", "merge-base", "describe",
];

/// Subcommands that run nothing but git's own programs, hooks and what the configuration names, whatever their
/// arguments, apart from the options above. All others, and those that are not git's own, are not read.
#[rustfmt::skip]
const KNOWN: &[&str] = &[
    "add", "am", "annotate", "apply", "archive", "backfill", "bisect", "blame", "branch", "bundle", "cat-file",
    "check-attr", "check-ignore", "check-mailmap", "check-ref-format", "checkout", "checkout-index", "cherry",
    "cherry-pick", "clean", "clone", "column", "commit", "commit-graph", "commit-tree", "config", "count-objects",
    "describe", "diff", "diff-files", "diff-index", "diff-tree", "fast-export", "fetch", "fetch-pack", "fmt-merge-msg",
    "for-each-ref", "format-patch", "fsck", "gc", "get-tar-commit-id", "grep", "hash-object", "help", "index-pack",
    "init", "init-db", "interpret-trailers", "lfs", "log", "ls-files", "ls-remote", "ls-tree", "mailinfo", "mailsplit",
    "merge", "merge-base", "merge-file", "merge-tree", "mktag", "mktree", "multi-pack-index", "mv", "name-rev", "notes",
    "pack-objects", "pack-redundant", "pack-refs", "patch-id", "prune", "prune-packed", "pull", "push", "range-diff",
    "read-tree", "rebase", "reflog", "remote", "repack", "replace", "replay", "request-pull", "rerere", "reset",
    "restore", "rev-list", "rev-parse", "revert", "rm", "send-pack", "shortlog", "show", "show-branch", "show-index",
    "show-ref", "sparse-checkout", "stage", "stash", "status", "stripspace", "submodule", "switch", "symbolic-ref", "tag",
    "unpack-file", "unpack-objects", "update-index", "update-ref", "update-server-info", "var", "verify-commit",
    "verify-pack", "verify-tag", "version", "whatchanged", "worktree", "write-tree",
];

/// Strategies of `merge -s` that are git's own; any other is a program of that name.
const STRATEGIES: [&str; 6] = ["ort", "recursive", "resolve", "octopus", "ours", "subtree"];

/// The words without options that change nothing, and what git does beside its subcommand.
pub(super) fn effects(words: &[Word]) -> (Vec<Word>, Vec<Effect>) {
    let mut shown = vec![words[0].clone()];
    let mut folder = None;
    let mut at = 1;
    let subcommand = loop {
        let Some(word) = words.get(at) else { return (shown, Vec::new()) };
        let Some(text) = word.literal() else {
            shown.extend_from_slice(&words[at..]);
            return (shown, vec![Effect::Unclear("the subcommand is computed")]);
        };
        match text.as_str() {
            "--no-pager" | "-P" | "--no-optional-locks" | "--literal-pathspecs" => at += 1,
            "-C" => {
                if !words.get(at + 1).is_some_and(Word::is_one) {
                    shown.extend_from_slice(&words[at..]);
                    return (shown, vec![Effect::Unclear("the subcommand is computed")]);
                }
                shown.extend(words[at..].iter().take(2).cloned());
                folder = match folder {
                    None => words.get(at + 1).cloned(),
                    Some(_) => Some(Word::unknown()),
                };
                at += 2;
            }
            "--version" | "-v" | "--help" | "-h" | "--exec-path" | "--html-path" => {
                shown.extend_from_slice(&words[at..]);
                return (shown, Vec::new());
            }
            text if text.starts_with('-') => {
                shown.extend_from_slice(&words[at..]);
                return (shown, vec![RUNS]);
            }
            _ => break text,
        }
    };
    let mut effects = Vec::new();
    let has_folder = folder.is_some();
    if let Some(folder) = folder {
        // In another folder it does the same as here, so rules about that are held against it too.
        let here = std::iter::once(&words[0]).chain(&words[at..]);
        effects.push(Effect::Elsewhere(here.cloned().collect(), folder));
    }
    shown.extend_from_slice(&words[at..]);
    let arguments = &words[at + 1..];
    let mut before = String::new();
    for (place, word) in arguments.iter().enumerate() {
        let Some(text) = word.literal() else {
            let is_value = word.is_one()
                && matches!(before.as_str(), "-m" | "--message" | "-am" | "-F" | "--author" | "-b" | "-n");
            if word.may_hide_an_option() && !is_value && !PLAIN.contains(&subcommand.as_str()) {
                effects.push(RUNS);
            }
            before = String::new();
            continue;
        };
        if text == "--" {
            // An address is one on either side.
            let addresses = arguments[place..].iter().filter_map(Word::literal);
            let is_reached = matches!(
                subcommand.as_str(),
                "clone" | "fetch" | "pull" | "push" | "ls-remote" | "remote" | "submodule"
            );
            if is_reached && addresses.into_iter().any(|text| names_a_helper(&text)) {
                effects.push(RUNS);
            }
            break;
        }
        effects.extend(of_argument(&subcommand, &text, arguments.get(place + 1)));
        before = text;
    }
    if !KNOWN.contains(&subcommand.as_str()) || runs_its_arguments(&subcommand, arguments) {
        effects.push(RUNS);
    }
    if subcommand == "config" {
        effects.extend(config(arguments));
    }
    if !has_folder {
        effects.extend(repository::effects(&subcommand, arguments));
    }
    (shown, effects)
}

fn runs_its_arguments(subcommand: &str, arguments: &[Word]) -> bool {
    let has = |wanted: &[&str]| {
        arguments.iter().any(|word| word.literal().is_none_or(|text| wanted.contains(&text.as_str())))
    };
    match subcommand {
        "submodule" => has(&["foreach"]),
        "bisect" => has(&["run", "view", "visualize", "replay"]),
        "help" => has(&["-w", "--web", "-i", "--info"]),
        "lfs" => has(&["filter-process", "standalone-file", "custom", "merge-driver"]),
        _ => false,
    }
}

/// Options of `git config` without a value that set nothing.
const LOOKS: [&str; 9] = [
    "--global",
    "--system",
    "--local",
    "--worktree",
    "--show-origin",
    "--show-scope",
    "--name-only",
    "-z",
    "--null",
];

/// Whether `git config` is told to show, by an option or by its subcommand. After the first operand, all are values.
fn shows(arguments: &[String]) -> bool {
    const SHOWING: [&str; 8] = [
        "--get",
        "--get-all",
        "--get-regexp",
        "--get-urlmatch",
        "--get-color",
        "--get-colorbool",
        "--list",
        "-l",
    ];
    let mut arguments = arguments.iter().map(String::as_str);
    while let Some(argument) = arguments.next() {
        match argument {
            "get" | "list" => return true,
            "-f" | "--file" | "--blob" | "--type" => drop(arguments.next()),
            _ if SHOWING.contains(&argument) => return true,
            _ if !argument.starts_with('-') => return false,
            _ => {}
        }
    }
    false
}

/// `git config` writes unless it is told to show.
fn config(arguments: &[Word]) -> Option<Effect> {
    let texts: Option<Vec<String>> = arguments.iter().map(Word::literal).collect();
    let Some(texts) = texts else { return Some(RUNS) };
    if texts.iter().any(|text| matches!(text.as_str(), "-e" | "edit") || is_edit(text)) {
        return Some(RUNS);
    }
    let shows = shows(&texts);
    let operands = texts.iter().filter(|text| !text.starts_with('-')).count();
    let is_plain = |text: &String| !text.starts_with('-') || LOOKS.contains(&text.as_str());
    if shows || (operands == 1 && texts.iter().all(is_plain)) {
        return None;
    }
    let is_here =
        |text: &String| !text.starts_with('-') || matches!(text.as_str(), "--local" | "--add" | "--unset");
    Some(Effect::Write(match texts.iter().all(is_here) {
        true => Word::literal_of(".git/config"),
        false => Word::unknown(),
    }))
}

fn is_edit(text: &str) -> bool {
    text.strip_prefix("--").is_some_and(|long| is_beginning_of(long, &["edit"]))
}

/// Whether an argument names a repository that git reaches through the program `git-remote-…`: `helper::address`, or an
/// address with a scheme that is not git's own.
fn names_a_helper(text: &str) -> bool {
    const OWN: [&str; 9] = ["file", "git", "http", "https", "ssh", "git+ssh", "ssh+git", "ftp", "ftps"];
    let is_scheme = |name: &str| {
        !name.is_empty()
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter))
    };
    let value = match text.strip_prefix('-') {
        Some(option) => option.split_once('=').map_or("", |(_, value)| value),
        None => text,
    };
    let is_helper = |value: &str| {
        value.split_once("::").is_some_and(|(helper, _)| is_scheme(helper))
            || value.split_once("://").is_some_and(|(scheme, _)| {
                is_scheme(scheme) && !OWN.contains(&scheme.to_ascii_lowercase().as_str())
            })
    };
    // `clone -c url.ext::x.insteadOf=y` and the like name one behind another `=`.
    is_helper(value) || value.split_once('=').is_some_and(|(_, value)| is_helper(value))
}

fn of_argument(subcommand: &str, text: &str, next: Option<&Word>) -> Option<Effect> {
    const TALKING: [&str; 13] = [
        "archive",
        "bundle",
        "clone",
        "fetch",
        "fetch-pack",
        "lfs",
        "ls-remote",
        "pull",
        "push",
        "remote",
        "request-pull",
        "send-pack",
        "submodule",
    ];
    if TALKING.contains(&subcommand) && names_a_helper(text) {
        return Some(RUNS);
    }
    let is_strategy = |name: &str| STRATEGIES.contains(&name);
    let merges = matches!(subcommand, "merge" | "pull" | "rebase" | "cherry-pick" | "revert");
    if let Some(long) = text.strip_prefix("--") {
        if is_beginning_of(long, &["output", "output-directory"]) {
            return Some(Effect::Write(match long.split_once('=') {
                Some((_, target)) => Word::literal_of(target),
                None => next.cloned().unwrap_or_else(Word::unknown),
            }));
        }
        let is_chosen = merges
            && long.split('=').next().is_some_and(|name| "strategy".starts_with(name))
            && !"strategy-option".starts_with(long)
            || long == "strategy";
        if merges && (is_chosen || long.starts_with("strategy=")) {
            let value = match long.split_once('=') {
                Some((_, value)) => Some(value.to_owned()),
                None => next.and_then(Word::literal),
            };
            return (!value.is_some_and(|value| is_strategy(&value))).then_some(RUNS);
        }
        return is_beginning_of(long, &LONG).then_some(RUNS);
    }
    let letters = text.strip_prefix('-')?;
    let runs = match subcommand {
        "grep" => letters.contains('O'),
        "rebase" if letters.contains('x') => true,
        "clone" => letters.contains(['u', 'c']),
        "archive" | "format-patch" if letters == "o" => {
            return Some(Effect::Write(next.cloned().unwrap_or_else(Word::unknown)));
        }
        "archive" | "format-patch" => {
            return letters.contains('o').then(|| Effect::Write(Word::unknown()));
        }
        // Letters after one that takes a value are that value, which cannot always be told.
        "merge" | "pull" | "rebase" => match letters.split_once('s') {
            Some((before, _)) if before.starts_with(['X', 'S']) => false,
            Some((before, _)) if subcommand == "merge" && before.starts_with(['m', 'F']) => false,
            Some((_, "")) => !next.and_then(Word::literal).is_some_and(|value| is_strategy(&value)),
            Some((_, value)) => !is_strategy(value),
            None => false,
        },
        _ => false,
    };
    runs.then_some(RUNS)
}
