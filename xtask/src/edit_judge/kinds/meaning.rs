//! Old text that says something else than the file: another word, number, operator or literal.

use super::super::claim::Claim::{self, Refusal, TruthOrRefusal};
use super::super::draft::{Draft, Mark, Row};
use super::super::random::Choices;
use super::Family::Meaning;
use super::Stage::Rows;
use super::{ANY, Noise, noise};

pub(super) const NOISES: &[Noise] = &[
    noise("a word has drifted", Rows, Meaning, ANY, word),
    noise("a letter of a word is missing", Rows, Meaning, ANY, letter),
    noise("a word in another case", Rows, Meaning, ANY, case),
    noise("a word in snake case", Rows, Meaning, ANY, snake),
    noise("a number has drifted", Rows, Meaning, ANY, number),
    noise("an operator has drifted", Rows, Meaning, ANY, operator),
    noise("a negation is lost or added", Rows, Meaning, ANY, negation),
    noise("a string has drifted", Rows, Meaning, ANY, literal),
    noise("an argument too many", Rows, Meaning, ANY, argument),
    noise("a keyword has drifted", Rows, Meaning, ANY, keyword),
    noise("a comment has drifted", Rows, Meaning, ANY, comment),
    noise("the comment at the end of a line is lost", Rows, Meaning, ANY, end_comment),
    noise("other quotes", Rows, Meaning, ANY, quotes),
    noise("a semicolon lost or added", Rows, Meaning, ANY, semicolon),
    noise("a comma lost at the end of a line", Rows, Meaning, ANY, end_comma),
    noise("a bracket lost at the end of a line", Rows, Meaning, ANY, bracket),
    noise("a letter of another alphabet", Rows, Meaning, ANY, homoglyph),
];

/// Whether a line is or has a comment, as far as one line tells.
fn has_comment(line: &str) -> bool {
    let text = line.trim_start();
    text.starts_with(['*', '#']) || text.contains("//") || text.contains(" #") || text.contains("/*")
}

/// Alters one old line that is code; a kept one on both sides, as the model believes it to be so.
fn alter(
    draft: &mut Draft,
    choices: &mut Choices,
    claim: Claim,
    change: impl Fn(&str) -> Option<String>,
) -> Option<Claim> {
    if !draft.is_code() {
        return None;
    }
    let code = |row: &Row| {
        row.is_old()
            && !has_comment(&row.old)
            && row.old.contains(['(', '=', '{', ';', '.', ':'])
            && change(&row.old).is_some_and(|text| text != row.old)
    };
    let at = *choices.pick(&draft.find(code))?;
    let row = &mut draft.rows_mut()[at];
    let text = change(&row.old)?;
    // A new line that is the same as what the model believes to be there is no contradiction.
    if row.mark == Mark::Keep {
        row.set(&text);
    } else {
        row.old = text;
    }
    let row = draft.rows()[at].clone();
    if draft.rows().iter().any(|other| other.mark == Mark::New && other.new == row.old) {
        return None;
    }
    Some(claim)
}

/// The first word of letters with at least this many.
fn find_word(line: &str, least: usize) -> Option<(usize, usize)> {
    let mut start = None;
    let end = line.char_indices().chain([(line.len(), ' ')]);
    for (at, character) in end {
        let is_word = character.is_ascii_alphanumeric() || character == '_';
        match (start, is_word) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                let word = &line[from..at];
                if at - from >= least && word.starts_with(|first: char| first.is_ascii_alphabetic()) {
                    return Some((from, at));
                }
                start = None;
            }
            _ => {}
        }
    }
    None
}

fn with_word(line: &str, least: usize, change: impl Fn(&str) -> String) -> Option<String> {
    let (from, to) = find_word(line, least)?;
    Some(format!("{}{}{}", &line[..from], change(&line[from..to]), &line[to..]))
}

fn word(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let to = *choices.pick(&["handler", "value", "entries", "config", "context", "callback"])?;
    alter(draft, choices, Refusal, |line| with_word(line, 4, |_| to.to_owned()))
}

fn letter(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let ending = choices.percent(50);
    alter(draft, choices, Refusal, |line| {
        with_word(line, 5, |word| match (ending, word.strip_suffix('s')) {
            (true, Some(singular)) => singular.to_owned(),
            (true, None) => format!("{word}s"),
            (false, _) => format!("{}{}", &word[..2], &word[3..]),
        })
    })
}

fn case(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    alter(draft, choices, Refusal, |line| {
        with_word(line, 4, |word| {
            let upper = word[..1].to_ascii_uppercase();
            if word.starts_with(&upper) {
                word.to_ascii_lowercase()
            } else {
                format!("{upper}{}", &word[1..])
            }
        })
    })
}

fn snake(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    alter(draft, choices, Refusal, |line| {
        with_word(line, 6, |word| {
            let mut text = String::new();
            for character in word.chars() {
                if character.is_ascii_uppercase() && !text.is_empty() {
                    text.push('_');
                }
                text.push(character.to_ascii_lowercase());
            }
            if word.contains('_') { word.replace('_', "") } else { text }
        })
    })
}

fn number(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let by = 1 + u64::try_from(choices.below(8)).ok()?;
    alter(draft, choices, Refusal, |line| {
        let at = line.find(|character: char| character.is_ascii_digit())?;
        let end =
            line[at..].find(|character: char| !character.is_ascii_digit()).map_or(line.len(), |end| at + end);
        let value: u64 = line[at..end].parse().ok()?;
        Some(format!("{}{}{}", &line[..at], value.checked_add(by)?, &line[end..]))
    })
}

fn swap_first(line: &str, pairs: &[(&str, &str)]) -> Option<String> {
    let (from, to) = pairs.iter().find(|(from, _)| line.contains(from))?;
    Some(line.replacen(from, to, 1))
}

fn operator(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let pairs = [
        (" == ", " != "),
        (" != ", " == "),
        (" <= ", " < "),
        (" >= ", " > "),
        (" && ", " || "),
        (" || ", " && "),
        (" + ", " - "),
        (" - ", " + "),
        (" += ", " -= "),
        (" and ", " or "),
        (" < ", " <= "),
        (" > ", " >= "),
    ];
    alter(draft, choices, Refusal, |line| swap_first(line, &pairs))
}

fn negation(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let pairs = [
        ("if (!", "if ("),
        ("if !", "if "),
        ("if not ", "if "),
        (" is not ", " is "),
        ("unless ", "if "),
        ("if (", "if (!"),
        ("true", "false"),
        ("false", "true"),
        ("True", "False"),
        ("False", "True"),
    ];
    alter(draft, choices, Refusal, |line| swap_first(line, &pairs))
}

fn literal(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    alter(draft, choices, Refusal, |line| {
        let quote = line.chars().find(|character| ['"', '\''].contains(character))?;
        let at = line.find(quote)? + 1;
        let end = at + line[at..].find(quote)?;
        let inner = &line[at..end];
        let has_word = inner.len() > 2 && inner.is_ascii() && inner.contains(char::is_alphabetic);
        has_word.then(|| format!("{}{}{}", &line[..at], "another text", &line[end..]))
    })
}

fn argument(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    alter(draft, choices, Refusal, |line| {
        let at = line.find(')')?;
        let open = line[..at].rfind('(')?;
        (at > open + 1).then(|| format!("{}, options{}", &line[..at], &line[at..]))
    })
}

fn keyword(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let pairs = [
        ("public ", "private "),
        ("private ", "protected "),
        ("const ", "let "),
        ("let ", "const "),
        ("int ", "long "),
        ("async def ", "def "),
        ("static ", ""),
        ("return ", "yield "),
        ("pub fn ", "fn "),
        ("&mut ", "&"),
        ("while ", "if "),
    ];
    alter(draft, choices, Refusal, |line| swap_first(line, &pairs))
}

fn bracket(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    alter(draft, choices, TruthOrRefusal, |line| {
        let text = line.trim_end();
        (text.len() > 12).then(|| text.strip_suffix([')', '}', ']']).map(str::to_owned))?
    })
}

fn semicolon(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    alter(draft, choices, TruthOrRefusal, |line| {
        let text = line.trim_end();
        match text.strip_suffix(';') {
            Some(less) => Some(less.to_owned()),
            None => text.ends_with(')').then(|| format!("{text};")),
        }
    })
}

fn end_comma(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    alter(draft, choices, TruthOrRefusal, |line| line.strip_suffix(',').map(str::to_owned))
}

fn quotes(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    alter(draft, choices, TruthOrRefusal, |line| {
        let (from, to) = if line.contains('"') { ('"', "'") } else { ('\'', "\"") };
        let fits = !line.contains(to) && line.matches(from).count() == 2 && !line.contains('\\');
        fits.then(|| line.replace(from, to))
    })
}

/// Letters that look alike in the Latin and the Cyrillic alphabet.
fn homoglyph(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    alter(draft, choices, TruthOrRefusal, |line| {
        with_word(line, 4, |word| word.replacen('a', "\u{430}", 1).replacen('o', "\u{43e}", 1))
    })
}

/// Alters a comment that stays. What it says changes nothing, so the place is known.
fn in_comment(
    draft: &mut Draft,
    choices: &mut Choices,
    change: impl Fn(&str) -> Option<String>,
) -> Option<Claim> {
    let fits = |row: &Row| row.mark == Mark::Keep && change(&row.old).is_some_and(|text| text != row.old);
    let at = *choices.pick(&draft.find(fits))?;
    let text = change(&draft.rows()[at].old)?;
    draft.rows_mut()[at].set(&text);
    Some(TruthOrRefusal)
}

fn comment(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    in_comment(draft, choices, |line| {
        let text = line.trim_start();
        let is_comment = text.starts_with("//") || text.starts_with("# ") || text.starts_with("* ");
        let at = is_comment.then(|| text.rfind(' '))?.filter(|at| *at > 4)?;
        Some(format!("{}{} indeed", &line[..line.len() - text.len()], &text[..at]))
    })
}

fn end_comment(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    in_comment(draft, choices, |line| {
        let at = line.find(" // ").or_else(|| line.find("  # "))?;
        let code = line[..at].trim_end();
        (!code.trim().is_empty() && !code.contains(['"', '\''])).then(|| code.to_owned())
    })
}
