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
        "awk" | "gawk" | "mawk" | "nawk" | "original-awk" | "bioawk" | "goawk" | "frawk" => awk(words),
        "uniq" | "xxd" => {
            operands(words).nth(1).map(|_| Effect::Write(Word::unknown())).into_iter().collect()
        }
        "tee" | "sponge" => operands(words).cloned().map(Effect::Write).collect(),
        _ => Vec::new(),
    }
}

fn operands(words: &[Word]) -> impl Iterator<Item = &Word> {
    words[1..].iter().filter(|word| !word.beginning().starts_with('-'))
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
                let Some(length) = end_of_command(rest) else {
                    effects.push(Effect::Unclear("where a command of `find` ends is not certain"));
                    return effects;
                };
                let mut inner = rest[..length].to_vec();
                let is_relative = inner
                    .first()
                    .and_then(Word::literal)
                    .is_some_and(|name| name.contains('/') && !name.starts_with('/'));
                if text.ends_with("dir") && is_relative {
                    effects.push(Effect::Unclear("a program is run in the folder of each file"));
                }
                replace(&mut inner, "{}");
                effects.push(Effect::Run(inner));
                at += length + 1;
            }
            "-delete" => effects.push(Effect::Change),
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                effects.push(Effect::Write(words.get(at).cloned().unwrap_or_else(Word::unknown)));
                at += 1;
            }
            "-files0-from" => effects.push(Effect::Unclear("`find` reads its folders from a file")),
            _ => {}
        }
    }
    effects
}

/// Where the command of `-exec` ends: at `;`, or at a `+` after `{}`. None if a computed word may end it.
fn end_of_command(words: &[Word]) -> Option<usize> {
    for (place, word) in words.iter().enumerate() {
        match word.literal().as_deref() {
            Some(";") => return Some(place),
            Some("+") if place > 0 && words[place - 1].literal().as_deref() == Some("{}") => {
                return Some(place);
            }
            Some(_) => {}
            None => {
                let beginning = word.beginning();
                if word.may_hide_an_option() || matches!(beginning.as_str(), "" | ";" | "+" | "{" | "{}") {
                    return None;
                }
            }
        }
    }
    None
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
            files.push(word.clone());
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
            _ => files.push(word.clone()),
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
            // Text up to the end of the line; a backslash at its end would go on.
            'a' | 'i' | 'c' => {
                let line = rest.split('\n').next().unwrap_or(rest);
                if line.ends_with('\\') || line.len() < 2 {
                    return false;
                }
                &rest[line.len()..]
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

/// What follows the next delimiter that no backslash hides. Programs disagree on whether a delimiter in a class ends the
/// expression, so that is refused.
fn delimited(text: &str, delimiter: char) -> Option<&str> {
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => {
                letters.next()?;
            }
            '\n' => return None,
            letter if letter == delimiter => return Some(&text[at + letter.len_utf8()..]),
            '[' => {
                let class = &text[at..at + class_length(&text[at..])?];
                if class.contains(delimiter) || class.contains('\\') {
                    return None;
                }
                letters.by_ref().take(class.chars().count() - 1).for_each(drop);
            }
            _ => {}
        }
    }
    None
}

/// The length of a class such as `[^]a[:space:]]`, with its brackets.
fn class_length(text: &str) -> Option<usize> {
    let mut at = 1;
    at += usize::from(text[at..].starts_with('^'));
    at += usize::from(text[at..].starts_with(']'));
    loop {
        let rest = &text[at..];
        if let Some(named) = rest.strip_prefix("[:").or(rest.strip_prefix("[.")).or(rest.strip_prefix("[=")) {
            at += 2 + named.find(']')? + 1;
            continue;
        }
        match rest.chars().next()? {
            ']' => return Some(at + 1),
            '\n' => return None,
            letter => at += letter.len_utf8(),
        }
    }
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
                let is_plain = !["system", "getline", "|", "@", "close", "fflush"].into_iter().any(has)
                    && !may_redirect(&program);
                return if is_plain { Vec::new() } else { vec![RUNS] };
            }
        }
    }
    vec![RUNS]
}

/// Whether a `>` of an awk program may be a redirection. Outside braces, and in parentheses, it compares.
fn may_redirect(program: &str) -> bool {
    if !program.contains('>') {
        return false;
    }
    // Where an expression or a comment ends is not looked for.
    if program.contains(['/', '#', '\\']) || program.contains(">>") {
        return true;
    }
    let (mut braces, mut parentheses) = (0_u32, 0_u32);
    let mut is_text = false;
    for letter in program.chars() {
        let depth = match letter {
            '"' => {
                is_text = !is_text;
                continue;
            }
            _ if is_text => continue,
            '>' if braces > 0 && parentheses == 0 => return true,
            '{' | '}' => &mut braces,
            '(' | ')' => &mut parentheses,
            _ => continue,
        };
        let Some(next) = depth.checked_add_signed(if matches!(letter, '{' | '(') { 1 } else { -1 }) else {
            return true;
        };
        *depth = next;
    }
    is_text || braces > 0 || parentheses > 0
}
