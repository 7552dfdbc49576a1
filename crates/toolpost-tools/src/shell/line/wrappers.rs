//! Programs that run another: which of them need a right of their own, and what they run.

use super::effect::{Effect, Options};
use super::opaque::OPAQUE;
use super::reader::Dialect;
use super::runners;
use super::variables::{is_name, may_be_given};
use super::word::Word;

pub(super) const UNREAD: Effect = Effect::Unclear("a program runs another with options that are not read");

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
                ..Options::default()
            },
        ),
        "nice" => transparent(
            words,
            0,
            &Options {
                flags: "0123456789",
                valued: "n",
                long: &[],
                long_valued: &["adjustment"],
                ..Options::default()
            },
        ),
        "nohup" => transparent(
            words,
            0,
            &Options { flags: "", valued: "", long: &[], long_valued: &[], ..Options::default() },
        ),
        "time" => transparent(
            words,
            0,
            &Options { flags: "pv", valued: "", long: &[], long_valued: &[], ..Options::default() },
        ),
        "setsid" => transparent(
            words,
            0,
            &Options {
                flags: "cfw",
                valued: "",
                long: &["ctty", "fork", "wait"],
                long_valued: &[],
                ..Options::default()
            },
        ),
        "stdbuf" => transparent(
            words,
            0,
            &Options {
                flags: "",
                valued: "ioe",
                long: &[],
                long_valued: &["input", "output", "error"],
                ..Options::default()
            },
        ),
        "ionice" => transparent(
            words,
            0,
            &Options {
                flags: "t",
                valued: "cn",
                long: &["ignore"],
                long_valued: &["class", "classdata"],
                ..Options::default()
            },
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
                ..Options::default()
            },
        ),
        "doas" => privileged(
            words,
            &Options { flags: "n", valued: "u", long: &[], long_valued: &[], ..Options::default() },
        ),
        "watch" => watch(words),
        "flock" => flock(words),
        "bash" => shell(words, Dialect::Bash),
        "sh" | "dash" | "ash" => shell(words, Dialect::Posix),
        // The loader of programs runs the one that it is given.
        _ if ["ld-linux", "ld-musl", "ld.so", "qemu-"].iter().any(|loader| name.starts_with(loader)) => {
            vec![Effect::Own, UNREAD]
        }
        _ if OPAQUE.contains(&name) => vec![Effect::Own, UNREAD],
        _ => return runners::effects(name, words),
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
    let options = Options {
        flags: "i",
        valued: "u",
        long: &["ignore-environment"],
        long_valued: &["unset"],
        ..Options::default()
    };
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
        long_valued: &["max-args", "max-procs", "max-chars", "delimiter", "arg-file"],
        long_optional: &["replace", "max-lines", "eof"],
    };
    let Some((first, values)) = options.operands(words) else { return vec![UNREAD] };
    let mut inner = words[first.min(words.len())..].to_vec();
    if inner.is_empty() {
        return vec![Effect::Own, Effect::Run(vec![Word::literal_of("echo"), Word::unknown()])];
    }
    let is_replaced = |(name, _): &&(String, Word)| name == "I" || name == "replace";
    for (name, replaced) in values.iter().filter(is_replaced) {
        match replaced.literal() {
            Some(replaced) => replace(&mut inner, &replaced),
            // Without a value it is `{}`.
            None if name == "replace" => replace(&mut inner, "{}"),
            None => return vec![UNREAD],
        }
    }
    // Of `-I`, `-L` and `-n` the last one counts, so with several of them both may happen.
    let is_counted =
        |(name, _): &(String, Word)| matches!(name.as_str(), "n" | "L" | "max-args" | "max-lines");
    if !values.iter().any(|value| is_replaced(&value)) || values.iter().any(is_counted) {
        inner.push(Word::unknown());
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
    let options =
        Options { flags: "dtbegc", valued: "n", long: &[], long_valued: &["interval"], ..Options::default() };
    let Some((first, _)) = options.operands(words) else { return vec![Effect::Own, UNREAD] };
    let inner = &words[first.min(words.len())..];
    let texts: Option<Vec<String>> = inner.iter().map(Word::literal).collect();
    match texts {
        Some(texts) => vec![Effect::Own, Effect::Script(texts.join(" "), Some(Dialect::Posix))],
        None => vec![Effect::Own, UNREAD],
    }
}

fn flock(words: &[Word]) -> Vec<Effect> {
    let options = Options {
        flags: "nsxeuoF",
        valued: "wE",
        long: &["nonblock"],
        long_valued: &["timeout"],
        ..Options::default()
    };
    let Some((first, _)) = options.operands(words) else { return vec![Effect::Own, UNREAD] };
    match words.get(first + 1..) {
        None | Some([]) => vec![Effect::Own],
        Some(inner) if inner[0].beginning().starts_with('-') => vec![Effect::Own, UNREAD],
        Some(inner) => vec![Effect::Own, Effect::Run(inner.to_vec())],
    }
}

/// `sh -c TEXT` is its text; a shell that reads a file is a command of its own, and one that reads its input runs
/// whatever comes.
fn shell(words: &[Word], dialect: Dialect) -> Vec<Effect> {
    const INPUT: Effect = Effect::Unclear("a shell runs what it reads from its input");
    const COMPUTED: Effect = Effect::Unclear("what a shell runs is computed");
    let mut at = 1;
    let mut has_text = false;
    while let Some(word) = words.get(at) {
        let Some(text) = word.literal() else { return vec![Effect::Own, COMPUTED] };
        if matches!(text.as_str(), "--norc" | "--noprofile" | "--login")
            && dialect == Dialect::Bash
            && !has_text
        {
            at += 1;
            continue;
        }
        let Some(letters) = text.strip_prefix(['-', '+']) else { break };
        let is_named = letters.ends_with('o') && !letters[..letters.len() - 1].contains('o');
        let letters_only = if is_named { &letters[..letters.len() - 1] } else { letters };
        if letters.is_empty()
            || !letters_only.chars().all(|letter| "ceuxlnv".contains(letter))
            || text.starts_with('+')
        {
            return vec![Effect::Own, UNREAD];
        }
        has_text |= letters.contains('c');
        at += 1;
        if is_named {
            let name = words.get(at).and_then(Word::literal);
            if !matches!(name.as_deref(), Some("pipefail" | "errexit" | "nounset" | "noglob")) {
                return vec![Effect::Own, UNREAD];
            }
            at += 1;
        }
    }
    match words.get(at) {
        Some(word) => match (word.literal(), has_text) {
            (Some(text), true) => vec![Effect::Script(text, Some(dialect))],
            (Some(file), false) if !is_descriptor(&file) => vec![Effect::Own],
            (Some(_), false) => vec![Effect::Own, INPUT],
            (None, _) => vec![Effect::Own, COMPUTED],
        },
        None => vec![Effect::Own, INPUT],
    }
}

/// Whether a path names an open file of the process instead of a file.
pub(super) fn is_descriptor(path: &str) -> bool {
    let parts = || path.split('/').filter(|part| !part.is_empty());
    path.starts_with('/') && matches!(parts().next(), Some("dev" | "proc"))
        || parts().any(|part| part == "..") && parts().any(|part| matches!(part, "dev" | "proc"))
}
