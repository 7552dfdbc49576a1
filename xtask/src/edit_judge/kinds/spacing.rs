//! Spaces inside and at the end of lines.

use super::super::claim::Claim::{self, Decidable, TruthOrRefusal};
use super::super::draft::{Draft, Mark, Row, split_indentation};
use super::super::random::Choices;
use super::Family::Whitespace;
use super::Stage::{File, Rows};
use super::{ANY, Noise, noise};

pub(super) const NOISES: &[Noise] = &[
    noise("spaces at the end of an old line", Rows, Whitespace, ANY, trailing_one),
    noise("spaces at the end of every line", Rows, Whitespace, ANY, trailing_all),
    noise("the file has spaces at the end of a line", File, Whitespace, ANY, trailing_in_file),
    noise("a blank line of the file has spaces", File, Whitespace, ANY, blank_in_file),
    noise("a tab at the end of an old line", Rows, Whitespace, ANY, trailing_tab),
    noise("runs of spaces made one", Rows, Whitespace, ANY, collapsed),
    noise("a second space between words", Rows, Whitespace, ANY, doubled),
    noise("a tab between words", Rows, Whitespace, ANY, tab_between),
    noise("spaces lost around an operator", Rows, Whitespace, ANY, operator_tight),
    noise("spaces added inside brackets", Rows, Whitespace, ANY, inside_brackets),
    noise("a space lost after a comma", Rows, Whitespace, ANY, comma_tight),
    noise("indentation on blank lines", Rows, Whitespace, ANY, blank_indented),
];

fn solid_old(row: &Row) -> bool {
    row.is_old() && !row.is_blank()
}

/// Spaces at the end of lines that stay: the file's line stays, and writing the model's line is as good.
fn accept_literal(draft: &mut Draft) {
    if draft.block().truth.len() != draft.rows().len() {
        return;
    }
    let mut copy = draft.clone();
    let target = copy.target;
    let block = &mut copy.blocks[target];
    for (truth, row) in block.truth.iter_mut().zip(&block.rows) {
        truth.new.clone_from(&row.new);
    }
    let text = copy.truth();
    draft.accepted.push(text);
}

fn trailing_one(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let at = *choices.pick(&draft.find(solid_old))?;
    let spaces = *choices.pick(&[" ", "  ", "   "])?;
    let row = &mut draft.rows_mut()[at];
    row.old.push_str(spaces);
    if choices.percent(50) && row.mark == Mark::Keep {
        row.new.push_str(spaces);
        accept_literal(draft);
    }
    Some(Decidable)
}

fn trailing_all(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let both = choices.percent(50);
    for row in draft.rows_mut() {
        row.old.push(' ');
        if both {
            row.new.push(' ');
        }
    }
    if both {
        accept_literal(draft);
    }
    Some(Decidable)
}

fn trailing_tab(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let at = *choices.pick(&draft.find(solid_old))?;
    draft.rows_mut()[at].old.push('\t');
    Some(Decidable)
}

fn trailing_in_file(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let at = *choices.pick(&draft.find(solid_old))?;
    let text = format!("{}{}", draft.block().truth[at].old, choices.pick(&[" ", "  ", "\t"])?);
    draft.alter_file(at, &text);
    accept_literal(draft);
    Some(Decidable)
}

fn blank_in_file(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let at = *choices.pick(&draft.find(|row| row.mark == Mark::Keep && row.old.is_empty()))?;
    draft.alter_file(at, choices.pick(&["    ", "\t", "  "])?);
    accept_literal(draft);
    Some(Decidable)
}

fn blank_indented(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let at = *choices.pick(&draft.find(|row| row.mark == Mark::Keep && row.old.is_empty()))?;
    let spaces = *choices.pick(&["    ", "        ", "\t"])?;
    draft.rows_mut()[at].set(spaces);
    accept_literal(draft);
    Some(Decidable)
}

/// Changes the part behind the indentation of one old line that is not inside of a string.
fn inside(
    draft: &mut Draft,
    choices: &mut Choices,
    claim: Claim,
    change: impl Fn(&str) -> Option<String>,
) -> Option<Claim> {
    let fits = |row: &Row| {
        let (_, rest) = split_indentation(&row.old);
        row.is_old() && !rest.contains(['"', '\'', '`', '/']) && change(rest).is_some()
    };
    let at = *choices.pick(&draft.find(fits))?;
    let row = &mut draft.rows_mut()[at];
    let (indentation, rest) = split_indentation(&row.old);
    let text = format!("{indentation}{}", change(rest)?);
    if row.mark == Mark::Keep {
        row.set(&text);
    } else {
        row.old = text;
    }
    Some(claim)
}

fn replaced(rest: &str, from: &str, to: &str) -> Option<String> {
    rest.contains(from).then(|| rest.replacen(from, to, 1))
}

fn collapsed(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    inside(draft, choices, Decidable, |rest| {
        let words: Vec<&str> = rest.split(' ').filter(|word| !word.is_empty()).collect();
        (rest.contains("  ") && !rest.ends_with(' ')).then(|| words.join(" "))
    })
}

fn doubled(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    inside(draft, choices, Decidable, |rest| replaced(rest.trim_end(), " ", "  "))
}

fn tab_between(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    inside(draft, choices, Decidable, |rest| replaced(rest.trim_end(), " ", "\t"))
}

fn operator_tight(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    inside(draft, choices, TruthOrRefusal, |rest| {
        replaced(rest, " = ", "=")
            .or_else(|| replaced(rest, " + ", "+"))
            .or_else(|| replaced(rest, " == ", "=="))
    })
}

fn inside_brackets(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    inside(draft, choices, TruthOrRefusal, |rest| {
        let (head, tail) = rest.split_once('(')?;
        let (inner, tail) = tail.split_once(')')?;
        (!inner.is_empty()).then(|| format!("{head}( {inner} ){tail}"))
    })
}

fn comma_tight(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    inside(draft, choices, TruthOrRefusal, |rest| replaced(rest, ", ", ","))
}
