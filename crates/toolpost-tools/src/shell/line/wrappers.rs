//! Programs that run another: which of them need a right of their own, and what they run.

use super::effect::{Effect, Options};
use super::reader::Dialect;
use super::variables::{is_name, may_be_given};
use super::word::Word;

/// Programs that run others in ways that are not read here.
const OPAQUE: [&str; 65] = [
    "strace",
    "ltrace",
    "gdb",
    "lldb",
    "perf",
    "valgrind",
    "hyperfine",
    "entr",
    "chroot",
    "unshare",
    "nsenter",
    "systemd-run",
    "runuser",
    "su",
    "at",
    "batch",
    "crontab",
    "expect",
    "unbuffer",
    "tmux",
    "screen",
    "busybox",
    "toybox",
    "proot",
    "fakeroot",
    "dbus-run-session",
    "xvfb-run",
    "pkexec",
    "run-parts",
    "start-stop-daemon",
    "daemonize",
    "rlwrap",
    "numactl",
    "taskset",
    "chrt",
    "prlimit",
    "cpulimit",
    "setarch",
    "linux32",
    "linux64",
    "vi",
    "vim",
    "nvim",
    "view",
    "ex",
    "vimdiff",
    "emacs",
    "ed",
    "red",
    "nano",
    "pico",
    "script",
    "parallel",
    "sg",
    "newgrp",
    "socat",
    "bwrap",
    "firejail",
    "ssh-agent",
    "sshpass",
    "gosu",
    "setpriv",
    "zsh",
    "ksh",
    "fish",
];

const UNREAD: Effect = Effect::Unclear("a program runs another with options that are not read");

/// What a wrapper does; none if it is none.
pub(super) fn effects(name: &str, words: &[Word]) -> Option<Vec<Effect>> {
    let effects = match name {
        "timeout" | "gtimeout" => transparent(
            words,
            1,
            &Options {
                flags: "fv",
                valued: "ks",
                long: &["foreground", "preserve-status", "verbose"],
                long_valued: &["kill-after", "signal"],
            },
        ),
        "nice" => transparent(
            words,
            0,
            &Options { flags: "0123456789", valued: "n", long: &[], long_valued: &["adjustment"] },
        ),
        "nohup" => transparent(words, 0, &Options { flags: "", valued: "", long: &[], long_valued: &[] }),
        "time" => transparent(words, 0, &Options { flags: "pv", valued: "", long: &[], long_valued: &[] }),
        "setsid" => transparent(
            words,
            0,
            &Options { flags: "cfw", valued: "", long: &["ctty", "fork", "wait"], long_valued: &[] },
        ),
        "stdbuf" => transparent(
            words,
            0,
            &Options { flags: "", valued: "ioe", long: &[], long_valued: &["input", "output", "error"] },
        ),
        "ionice" => transparent(
            words,
            0,
            &Options { flags: "t", valued: "cn", long: &["ignore"], long_valued: &["class", "classdata"] },
        ),
        "env" => env(words),
        "xargs" => xargs(words),
        "sudo" => privileged(
            words,
            &Options {
                flags: "EnHkSbAP",
                valued: "ugp",
                long: &["preserve-env", "non-interactive", "set-home", "stdin", "background"],
                long_valued: &["user", "group", "prompt"],
            },
        ),
        "doas" => privileged(words, &Options { flags: "n", valued: "u", long: &[], long_valued: &[] }),
        "watch" => watch(words),
        "flock" => flock(words),
        "bash" => shell(words, Dialect::Bash),
        "sh" | "dash" | "ash" => shell(words, Dialect::Posix),
        _ if OPAQUE.contains(&name) => vec![Effect::Own, UNREAD],
        _ => return None,
    };
    Some(effects)
}

/// A wrapper with no right of its own, and `operands` words before the command that it runs.
fn transparent(words: &[Word], operands: usize, options: &Options) -> Vec<Effect> {
    let Some((first, _)) = options.operands(words) else { return vec![UNREAD] };
    let Some(inner) = words.get(first + operands..) else { return vec![Effect::Own] };
    if !words[first..first + operands].iter().all(Word::is_one) {
        return vec![UNREAD];
    }
    match inner.is_empty() {
        true => vec![Effect::Own],
        false => vec![Effect::Run(inner.to_vec())],
    }
}

fn env(words: &[Word]) -> Vec<Effect> {
    let options = Options { flags: "i", valued: "u", long: &["ignore-environment"], long_valued: &["unset"] };
    let Some((mut first, _)) = options.operands(words) else { return vec![UNREAD] };
    while let Some(word) = words.get(first) {
        let beginning = word.beginning();
        let Some((name, _)) = beginning.split_once('=') else { break };
        let value = word.literal().map(|text| text[name.len() + 1..].to_owned());
        let is_safe = value.is_some_and(|value| may_be_given(name, &[Word::literal_of(&value)]));
        if !is_name(name) || !is_safe {
            return vec![Effect::Unclear("a variable is set that may change what runs")];
        }
        first += 1;
    }
    match &words[first.min(words.len())..] {
        [] => vec![Effect::Own],
        inner => vec![Effect::Run(inner.to_vec())],
    }
}

/// The command gets words that only its input knows, at its end or in place of a word.
fn xargs(words: &[Word]) -> Vec<Effect> {
    let options = Options {
        flags: "0rtx",
        valued: "nLPsIdEa",
        long: &["null", "no-run-if-empty", "verbose", "exit"],
        long_valued: &["max-args", "max-procs", "max-lines", "max-chars", "replace", "delimiter", "arg-file"],
    };
    let Some((first, values)) = options.operands(words) else { return vec![UNREAD] };
    let mut inner = words[first.min(words.len())..].to_vec();
    if inner.is_empty() {
        return vec![Effect::Own];
    }
    let replaced = values.iter().find(|(name, _)| name == "I" || name == "replace");
    match replaced.map(|(_, word)| word.literal()) {
        None => inner.push(Word::unknown()),
        Some(None) => return vec![UNREAD],
        Some(Some(replaced)) => replace(&mut inner, &replaced),
    }
    vec![Effect::Run(inner)]
}

/// Words in which something is put at run time are not known.
pub(super) fn replace(words: &mut [Word], replaced: &str) {
    for word in words {
        if word.literal().is_none_or(|text| text.contains(replaced)) {
            *word = Word::unknown();
        }
    }
}

fn privileged(words: &[Word], options: &Options) -> Vec<Effect> {
    let Some((first, _)) = options.operands(words) else { return vec![Effect::Own, UNREAD] };
    match words.get(first..) {
        None | Some([]) => vec![Effect::Own],
        Some(inner) if inner[0].beginning().contains('=') => vec![Effect::Own, UNREAD],
        Some(inner) => vec![Effect::Own, Effect::Run(inner.to_vec())],
    }
}

fn watch(words: &[Word]) -> Vec<Effect> {
    let options = Options { flags: "dtbegc", valued: "n", long: &[], long_valued: &["interval"] };
    let Some((first, _)) = options.operands(words) else { return vec![Effect::Own, UNREAD] };
    let inner = &words[first.min(words.len())..];
    let texts: Option<Vec<String>> = inner.iter().map(Word::literal).collect();
    match texts {
        Some(texts) => vec![Effect::Own, Effect::Script(texts.join(" "), Some(Dialect::Posix))],
        None => vec![Effect::Own, UNREAD],
    }
}

fn flock(words: &[Word]) -> Vec<Effect> {
    let options = Options { flags: "nsxeuoF", valued: "wE", long: &["nonblock"], long_valued: &["timeout"] };
    let Some((first, _)) = options.operands(words) else { return vec![Effect::Own, UNREAD] };
    match words.get(first + 1..) {
        None | Some([]) => vec![Effect::Own],
        Some(inner) if inner[0].beginning().starts_with('-') => vec![Effect::Own, UNREAD],
        Some(inner) => vec![Effect::Own, Effect::Run(inner.to_vec())],
    }
}

/// `sh -c TEXT` is its text; a shell that reads a file or its input is a command of its own.
fn shell(words: &[Word], dialect: Dialect) -> Vec<Effect> {
    let mut at = 1;
    let mut has_text = false;
    while let Some(word) = words.get(at) {
        let Some(text) = word.literal() else {
            return vec![Effect::Own, Effect::Unclear("what a shell runs is computed")];
        };
        let Some(letters) = text.strip_prefix(['-', '+']) else { break };
        if letters.is_empty()
            || !letters.chars().all(|letter| "ceuxl".contains(letter))
            || text.starts_with('+')
        {
            return vec![Effect::Own, UNREAD];
        }
        has_text |= letters.contains('c');
        at += 1;
    }
    match words.get(at) {
        Some(word) if has_text => match word.literal() {
            Some(text) => vec![Effect::Script(text, Some(dialect))],
            None => vec![Effect::Own, Effect::Unclear("what a shell runs is computed")],
        },
        _ => vec![Effect::Own],
    }
}
