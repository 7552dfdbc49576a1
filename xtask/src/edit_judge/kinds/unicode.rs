//! Other characters that look the same, and the two forms of letters with accents.

use super::super::claim::Claim::{self, Decidable, TruthOrRefusal};
use super::super::draft::{Draft, Mark, Row};
use super::super::random::Choices;
use super::Family::Spelling;
use super::Goal::Understood;
use super::Stage::{File, Rows, Strings};
use super::{ANY, EDIT, Noise, each_row, noise, toward};

pub(super) const NOISES: &[Noise] = &[
    noise("curly quotes", Rows, Spelling, ANY, curly_quotes),
    noise("curly apostrophes", Rows, Spelling, ANY, curly_apostrophes),
    noise("dashes for hyphens", Rows, Spelling, ANY, dashes),
    noise("no-break spaces", Rows, Spelling, ANY, no_break),
    noise("no-break spaces as indentation", Rows, Spelling, ANY, no_break_indentation),
    noise("a zero-width space before old", Strings, Spelling, EDIT, zero_width),
    noise("zero-width spaces inside", Rows, Spelling, ANY, zero_width_inside),
    noise("a byte order mark before old", Strings, Spelling, EDIT, mark_before),
    noise("an ellipsis for three dots", Rows, Spelling, ANY, ellipsis),
    noise("fullwidth brackets", Rows, Spelling, ANY, fullwidth),
    noise("soft hyphens inside words", Rows, Spelling, ANY, soft_hyphen),
    toward(Understood, noise("accents decomposed in the call", File, Spelling, ANY, decomposed_call)),
    toward(Understood, noise("accents decomposed in the file", File, Spelling, ANY, decomposed_file)),
];

/// Replaces on every line. The file itself must have none of the replacements.
fn everywhere(
    draft: &mut Draft,
    foreign: &[char],
    claim: Claim,
    change: impl Fn(&str) -> String,
) -> Option<Claim> {
    let changes_old = draft.rows().iter().any(|row| row.is_old() && change(&row.old) != row.old);
    if !changes_old || draft.truth().contains(foreign) || draft.file().contains(foreign) {
        return None;
    }
    each_row(draft, change);
    Some(claim)
}

fn curly_quotes(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    everywhere(draft, &['“', '”'], Decidable, |line| {
        let mut open = false;
        let curl = |character: char| {
            if character != '"' {
                return character;
            }
            open = !open;
            if open { '“' } else { '”' }
        };
        line.chars().map(curl).collect()
    })
}

fn curly_apostrophes(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    everywhere(draft, &['‘', '’'], Decidable, |line| line.replace('\'', "’"))
}

fn dashes(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let dash = *choices.pick(&["–", "—", "‑", "−"])?;
    everywhere(draft, &['–', '—', '‑', '−'], Decidable, |line| line.replace('-', dash))
}

fn no_break(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    everywhere(draft, &['\u{a0}'], Decidable, |line| {
        let text = line.trim_start_matches(' ');
        format!("{}{}", &line[..line.len() - text.len()], text.replace(' ', "\u{a0}"))
    })
}

fn no_break_indentation(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    everywhere(draft, &['\u{a0}'], Decidable, |line| {
        let text = line.trim_start_matches(' ');
        format!("{}{text}", "\u{a0}".repeat(line.len() - text.len()))
    })
}

fn zero_width(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    draft.old.insert(0, '\u{200b}');
    draft.new.insert(0, '\u{200b}');
    Some(Decidable)
}

fn mark_before(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    draft.old.insert(0, '\u{feff}');
    draft.new.insert(0, '\u{feff}');
    Some(Decidable)
}

fn zero_width_inside(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    everywhere(draft, &['\u{200b}'], Decidable, |line| line.replace('(', "(\u{200b}"))
}

fn soft_hyphen(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    everywhere(draft, &['\u{ad}'], TruthOrRefusal, |line| line.replace("tion", "\u{ad}tion"))
}

fn ellipsis(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    everywhere(draft, &['…'], Decidable, |line| line.replace("...", "…"))
}

fn fullwidth(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    everywhere(draft, &['（', '）', '，'], TruthOrRefusal, |line| {
        line.replace('(', "（").replace(')', "）").replace(", ", "，")
    })
}

const COMPOSED: [(&str, &str, &str); 5] = [
    ("e", "é", "e\u{301}"),
    ("a", "à", "a\u{300}"),
    ("u", "ü", "u\u{308}"),
    ("o", "ö", "o\u{308}"),
    ("n", "ñ", "n\u{303}"),
];

/// Gives a word of the file an accent; the call has the word in the other form.
fn accents(draft: &mut Draft, choices: &mut Choices, file_is_composed: bool) -> Option<Claim> {
    let (plain, composed, decomposed) = *choices.pick(&COMPOSED)?;
    let (file, call) = if file_is_composed { (composed, decomposed) } else { (decomposed, composed) };
    let word = |row: &Row| {
        let words = row.old.split(|character: char| !character.is_ascii_alphabetic());
        words.into_iter().find(|word| word.len() > 5 && word.contains(plain)).map(str::to_owned)
    };
    let fits = draft.find(|row| row.is_old() && word(row).is_some());
    let at = *choices.pick(&fits)?;
    let word = word(&draft.rows()[at])?;
    let (in_file, in_call) = (word.replacen(plain, file, 1), word.replacen(plain, call, 1));
    for index in 0..draft.rows().len() {
        let truth = draft.block().truth[index].clone();
        let text = if truth.mark == Mark::New { &truth.new } else { &truth.old };
        if !text.contains(&word) {
            continue;
        }
        let altered = text.replace(&word, &in_file);
        draft.rows_mut()[index].set(&text.replace(&word, &in_call));
        draft.alter_file(index, &altered);
    }
    Some(Decidable)
}

fn decomposed_call(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    accents(draft, choices, true)
}

fn decomposed_file(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    accents(draft, choices, false)
}
