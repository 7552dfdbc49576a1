//! The commands that the shell runs by itself: which need no right, and which evaluate what they are given.

use super::effect::Effect;
use super::variables::{is_name, may_be_given, may_be_set};
use super::word::Word;
use super::wrappers::is_descriptor;

const EVALUATES: Effect = Effect::Unclear("a built-in command evaluates its arguments");

/// What a built-in does; none if there is no such built-in.
pub(super) fn effects(name: &str, words: &[Word]) -> Option<Vec<Effect>> {
    let arguments = &words[1..];
    let effect = match name {
        ":" | "true" | "false" | "pwd" | "exit" | "return" | "break" | "continue" | "shift" | "times"
        | "cd" | "pushd" | "popd" | "dirs" | "echo" | "umask" | "type" | "bg" | "fg" | "disown" => None,
        "alias" | "jobs" if arguments.is_empty() => None,
        // `-p` sets a variable.
        "wait" => (!arguments.iter().all(Word::is_number)).then_some(EVALUATES),
        "printf" => printf(arguments),
        "test" => test(arguments),
        "[" => match arguments.split_last() {
            Some((last, operands)) if last.literal().as_deref() == Some("]") => test(operands),
            _ => Some(EVALUATES),
        },
        "export" => declare(arguments, may_be_given),
        "local" | "readonly" | "declare" | "typeset" => declare(arguments, |name, _| may_be_set(name)),
        "unset" => names(arguments),
        "read" => read(arguments),
        "mapfile" | "readarray" => match arguments.split_first() {
            Some((first, rest)) if first.literal().as_deref() == Some("-t") => names(rest),
            _ => Some(EVALUATES),
        },
        "getopts" => names(arguments.get(1..).unwrap_or_default()),
        "set" => set(arguments),
        "eval" => literals(arguments).map_or(Some(EVALUATES), |text| Some(Effect::Script(text, None))),
        "trap" => trap(arguments),
        "source" | "." => source(arguments),
        "exec" | "builtin" => run(arguments),
        "command" => match arguments.first().and_then(Word::literal).as_deref() {
            Some("-v" | "-V") => None,
            Some("-p" | "--") => run(&arguments[1..]),
            _ => run(arguments),
        },
        "alias" | "unalias" | "let" | "shopt" | "enable" | "bind" | "complete" | "compgen" | "compopt"
        | "hash" | "history" | "fc" | "caller" | "ulimit" | "suspend" | "logout" | "jobs" | "coproc"
        | "help" => Some(EVALUATES),
        _ => return Option::None,
    };
    Some(effect.into_iter().collect())
}

/// A script is judged by its own name; what comes through a descriptor has none.
fn source(arguments: &[Word]) -> Option<Effect> {
    let is_file = |word: &Word| word.literal().is_some_and(|text| !is_descriptor(&text));
    match arguments.first().is_some_and(is_file) && literals(arguments).is_some() {
        true => Some(Effect::Own),
        false => Some(EVALUATES),
    }
}

fn run(words: &[Word]) -> Option<Effect> {
    let first = words.first()?;
    match first.beginning().starts_with('-') {
        true => Some(EVALUATES),
        false => Some(Effect::Run(words.to_vec())),
    }
}

fn literals(words: &[Word]) -> Option<String> {
    let texts: Option<Vec<String>> = words.iter().map(Word::literal).collect();
    texts.map(|texts| texts.join(" "))
}

/// `-v` sets a variable, and `%n` too; both evaluate the name.
fn printf(arguments: &[Word]) -> Option<Effect> {
    let format = arguments.first()?;
    let text = format.literal();
    match text {
        Some(text) if !text.starts_with('-') && !text.contains("%n") => None,
        Some(text) if text == "--" && arguments.len() > 1 => printf(&arguments[1..]),
        Some(_) => Some(EVALUATES),
        None if format.may_hide_an_option() => Some(EVALUATES),
        None => None,
    }
}

/// An operator that is computed may be `-v`, which evaluates its operand.
fn test(operands: &[Word]) -> Option<Effect> {
    let is_known = |word: &Word| word.literal().is_some();
    let hides = operands.iter().any(|word| matches!(word.literal().as_deref(), Some("-v" | "-R")))
        || operands.iter().any(|word| !word.is_one());
    if hides {
        return Some(EVALUATES);
    }
    let operands = match operands.split_first() {
        Some((first, rest)) if first.literal().as_deref() == Some("!") => rest,
        _ => operands,
    };
    let is_safe = match operands {
        [] | [_] => true,
        [operator, _] => is_known(operator),
        [_, operator, _] => is_known(operator),
        more => more.iter().all(|word| is_known(word) || word.is_number()),
    };
    (!is_safe).then_some(EVALUATES)
}

fn declare(arguments: &[Word], is_safe: impl Fn(&str, &[Word]) -> bool) -> Option<Effect> {
    for argument in arguments {
        let beginning = argument.beginning();
        let (name, value) = match (beginning.split_once('='), argument.literal()) {
            (Some((name, _)), Some(text)) => {
                (name.to_owned(), Word::literal_of(text.split_once('=').map_or("", |(_, value)| value)))
            }
            // Some shells would split it, and set more than this.
            (Some((name, _)), None) if argument.is_one() => (name.to_owned(), Word::unknown()),
            (Some(_), None) => return Some(EVALUATES),
            (None, Some(name)) => (name, Word::literal_of("")),
            (None, None) => return Some(EVALUATES),
        };
        if !is_safe(&name, &[value]) {
            return Some(EVALUATES);
        }
    }
    None
}

fn names(arguments: &[Word]) -> Option<Effect> {
    let is_safe = |word: &Word| word.literal().is_some_and(|name| is_name(&name) && may_be_set(&name));
    (!arguments.iter().all(is_safe)).then_some(EVALUATES)
}

fn read(arguments: &[Word]) -> Option<Effect> {
    let mut rest = arguments;
    while let Some((first, after)) = rest.split_first() {
        rest = match first.literal().as_deref() {
            Some("-r" | "-s" | "-rs" | "-sr") => after,
            Some("-p" | "-rp" | "-t" | "-n" | "-d" | "-rd") if after.first().is_some_and(Word::is_one) => {
                &after[1..]
            }
            Some("-a" | "-ra") => after,
            _ => break,
        };
    }
    names(rest)
}

fn set(arguments: &[Word]) -> Option<Effect> {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.literal() else { return Some(EVALUATES) };
        if text == "--" {
            return None;
        }
        let letters = text.strip_prefix(['-', '+']).unwrap_or("?");
        if letters.is_empty() || !letters.chars().all(|letter| "euxfCvo".contains(letter)) {
            return Some(EVALUATES);
        }
        if letters.contains('o') {
            let known = ["pipefail", "errexit", "nounset", "noclobber", "xtrace"];
            let name = words.next().and_then(Word::literal);
            if !letters.ends_with('o') || !name.is_some_and(|name| known.contains(&name.as_str())) {
                return Some(EVALUATES);
            }
        }
    }
    None
}

fn trap(arguments: &[Word]) -> Option<Effect> {
    let text = arguments.first()?.literal();
    match text {
        Some(text) if text.is_empty() || text == "-" => None,
        Some(text) if !text.starts_with('-') && arguments.len() > 1 => Some(Effect::Script(text, None)),
        _ => Some(EVALUATES),
    }
}
