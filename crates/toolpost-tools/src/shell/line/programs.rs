//! Programs with a language of their own: `find`, `sed` and `awk`.

use super::effect::Effect;
use super::word::Word;
use super::wrappers::replace;

const RUNS: Effect = Effect::Unclear("a script runs commands or writes files");

/// What one of these programs does beside what its name says.
pub(super) fn effects(name: &str, words: &[Word]) -> Vec<Effect> {
    match name {
        "find" | "gfind" => find(words),
        "sed" | "gsed" => sed(words),
        "awk" | "gawk" | "mawk" | "nawk" => awk(words),
        "uniq" | "xxd" if operands(words) > 1 => vec![Effect::Write(None)],
        _ => Vec::new(),
    }
}

fn operands(words: &[Word]) -> usize {
    words[1..].iter().filter(|word| !word.beginning().starts_with('-')).count()
}

fn find(words: &[Word]) -> Vec<Effect> {
    let mut effects = Vec::new();
    let mut at = 1;
    while let Some(word) = words.get(at) {
        at += 1;
        let Some(text) = word.literal() else {
            if word.may_hide_an_option() {
                effects.push(Effect::Unclear("an expression of `find` is computed"));
            }
            continue;
        };
        match text.as_str() {
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let rest = &words[at..];
                let ends = |word: &Word| matches!(word.literal().as_deref(), Some(";" | "+"));
                let Some(length) = rest.iter().position(ends) else {
                    effects.push(Effect::Unclear("a command of `find` has no end"));
                    return effects;
                };
                let mut inner = rest[..length].to_vec();
                replace(&mut inner, "{}");
                effects.push(Effect::Run(inner));
                at += length + 1;
            }
            "-delete" => effects.push(Effect::Write(None)),
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                effects.push(Effect::Write(words.get(at).and_then(Word::literal)));
                at += 1;
            }
            _ => {}
        }
    }
    effects
}

fn sed(words: &[Word]) -> Vec<Effect> {
    let mut effects = Vec::new();
    let mut scripts = Vec::new();
    let mut files = Vec::new();
    let mut is_in_place = false;
    let mut at = 1;
    while let Some(word) = words.get(at) {
        at += 1;
        let Some(text) = word.literal() else {
            // A computed word may be the script, or an option that brings one.
            if word.may_hide_an_option() || scripts.is_empty() {
                return vec![RUNS];
            }
            files.push(None);
            continue;
        };
        match text.as_str() {
            "-n" | "-E" | "-r" | "-u" | "-s" | "-z" | "-nE" | "-nr" | "-En" | "--quiet" | "--silent"
            | "--regexp-extended" => {}
            "-e" | "-ne" | "-Ee" => {
                scripts.push(words.get(at).and_then(Word::literal));
                at += 1;
            }
            _ if text.starts_with("-i")
                && text[2..].chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '.') =>
            {
                is_in_place = true;
            }
            _ if text.starts_with('-') && text != "-" => return vec![RUNS],
            _ if scripts.is_empty() => scripts.push(Some(text)),
            _ => files.push(Some(text)),
        }
    }
    if !scripts.iter().all(|script| script.as_deref().is_some_and(is_plain_sed)) {
        effects.push(RUNS);
    }
    if is_in_place {
        effects.extend(files.into_iter().map(Effect::Write));
    }
    effects
}

/// Whether a script has only addresses, `s` and `y`, and commands of one letter that print, delete or move on.
fn is_plain_sed(script: &str) -> bool {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches([' ', '\n', ';', '}', '{']);
        let Some(first) = rest.chars().next() else { return true };
        rest = match first {
            '0'..='9' | '$' | ',' | '!' | '~' | '+' => &rest[1..],
            '/' => match delimited(&rest[1..], '/') {
                Some(after) => after.strip_prefix('I').unwrap_or(after),
                None => return false,
            },
            'p' | 'd' | 'q' | 'P' | 'D' | 'g' | 'G' | 'h' | 'H' | 'x' | 'n' | 'N' | '=' => {
                let after = &rest[1..];
                if after.chars().next().is_some_and(|next| !" \n;}".contains(next)) {
                    return false;
                }
                after
            }
            's' | 'y' => {
                let Some(delimiter) = rest[1..].chars().next() else { return false };
                if !delimiter.is_ascii_punctuation() || delimiter == '\\' {
                    return false;
                }
                let Some(after) =
                    delimited(&rest[2..], delimiter).and_then(|after| delimited(after, delimiter))
                else {
                    return false;
                };
                let flags = after.trim_start_matches(['g', 'p', 'i', 'I', '0', '1', '2', '3']);
                if flags.chars().next().is_some_and(|next| !" \n;}".contains(next)) {
                    return false;
                }
                flags
            }
            _ => return false,
        };
    }
}

/// What follows the next delimiter that no backslash hides. A class may hide one too, and is refused.
fn delimited(text: &str, delimiter: char) -> Option<&str> {
    let mut letters = text.char_indices();
    let mut in_class = false;
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => {
                letters.next()?;
            }
            '\n' => return None,
            '[' if text[at + 1..].starts_with([']', '^']) => return None,
            '[' => in_class = true,
            ']' => in_class = false,
            // Programs disagree on whether a delimiter in a class ends the expression.
            letter if letter == delimiter && in_class => return None,
            letter if letter == delimiter => return Some(&text[at + letter.len_utf8()..]),
            _ => {}
        }
    }
    None
}

fn awk(words: &[Word]) -> Vec<Effect> {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        at += 1;
        let Some(text) = word.literal() else { return vec![RUNS] };
        match text.as_str() {
            "-F" | "-v" if words.get(at).is_some_and(Word::is_one) => at += 1,
            "-F" | "-v" => return vec![RUNS],
            _ if text.starts_with("-F") || text.starts_with("-v") => {}
            _ if text.starts_with('-') => return vec![RUNS],
            program => {
                let program = program.replace("||", "");
                let has = |part: &str| program.contains(part);
                let is_plain = !["system", "getline", "|", ">", "@", "close", "fflush"].into_iter().any(has);
                return if is_plain { Vec::new() } else { vec![RUNS] };
            }
        }
    }
    vec![RUNS]
}
