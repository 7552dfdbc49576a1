//! Lines lost, doubled, swapped, wrapped and joined.

use super::super::claim::Claim::{self, Decidable, TruthOrRefusal, Undecidable};
use super::super::draft::{Draft, Mark, Row, split_indentation};
use super::super::random::Choices;
use super::Family::Lines;
use super::Goal::Understood;
use super::Stage::{Rows, Strings};
use super::{ANY, EDIT, Noise, noise, toward};

pub(super) const NOISES: &[Noise] = &[
    noise("a context line lost", Rows, Lines, ANY, context_lost),
    noise("a context line lost beside the change", Rows, Lines, ANY, context_lost_beside),
    noise("a removed line lost from old", Rows, Lines, ANY, removed_lost),
    noise("a context line doubled", Rows, Lines, ANY, doubled),
    noise("two context lines swapped", Rows, Lines, ANY, swapped),
    noise("an invented context line", Rows, Lines, ANY, invented),
    toward(Understood, noise("a long line wrapped", Rows, Lines, ANY, wrapped)),
    toward(Understood, noise("two context lines joined", Rows, Lines, ANY, joined)),
    toward(Understood, noise("all lines of old joined", Strings, Lines, EDIT, all_joined)),
    noise("a comment line left out of old", Rows, Lines, ANY, comment_lost),
    noise("the middle of old left out with dots", Rows, Lines, ANY, elided),
    noise("the last line of old cut short with dots", Strings, Lines, EDIT, cut_short),
];

fn kept(row: &Row) -> bool {
    row.mark == Mark::Keep && !row.is_blank()
}

/// A line between two others that both stay, so that no new text is beside the gap.
fn inner(draft: &Draft) -> Vec<usize> {
    let rows = draft.rows();
    let fits = |at: &usize| (*at - 1..=*at + 1).all(|at| rows.get(at).is_some_and(kept));
    (1..rows.len().saturating_sub(1)).filter(fits).collect()
}

fn context_lost(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let inner = inner(draft);
    let at = *choices.pick(&inner)?;
    draft.rows_mut().remove(at);
    Some(TruthOrRefusal)
}

/// On which side of the lost line the new one goes, nothing says, unless a removed line is there too.
fn context_lost_beside(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let rows = draft.rows().len();
    let beside: Vec<usize> = draft
        .find(kept)
        .into_iter()
        .filter(|at| *at > 0 && *at + 1 < rows && draft.is_beside_change(*at))
        .collect();
    let at = *choices.pick(&beside)?;
    draft.rows_mut().remove(at);
    Some(TruthOrRefusal)
}

/// The old text jumps over a line that the change removes: nobody asked to remove it.
fn removed_lost(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let rows = draft.rows();
    let gone = |at: usize| rows.get(at).is_some_and(|row| row.mark == Mark::Gone && !row.is_blank());
    let inner: Vec<usize> =
        (1..rows.len()).filter(|at| gone(*at - 1) && gone(*at) && gone(*at + 1)).collect();
    let at = *choices.pick(&inner)?;
    draft.rows_mut().remove(at);
    Some(TruthOrRefusal)
}

fn doubled(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let at = *choices.pick(&draft.find(kept))?;
    let row = draft.rows()[at].clone();
    draft.rows_mut().insert(at, row);
    Some(TruthOrRefusal)
}

fn swapped(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let rows = draft.rows();
    let fits = |at: &usize| kept(&rows[*at - 1]) && kept(&rows[*at]) && rows[*at - 1] != rows[*at];
    let pairs: Vec<usize> = (1..rows.len()).filter(fits).collect();
    let at = *choices.pick(&pairs)?;
    draft.rows_mut().swap(at - 1, at);
    Some(TruthOrRefusal)
}

fn invented(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let at = *choices.pick(&draft.find(kept))?;
    let (indentation, _) = split_indentation(&draft.rows()[at].old);
    let line = format!("{indentation}prepare_the_next_step();");
    draft.rows_mut().insert(at, Row::of(Mark::Keep, &line));
    Some(Claim::Refusal)
}

fn break_at(line: &str) -> Option<(String, String)> {
    if line.len() < 50 || !line.is_ascii() || line.contains(['"', '\'', '`', '#']) || line.contains("//") {
        return None;
    }
    let (indentation, rest) = split_indentation(line);
    let half = rest.len() / 2;
    let at = half + rest[half..].find(", ").map(|at| at + 1).or_else(|| rest[half..].find(' '))?;
    let (head, tail) = rest.split_at(at);
    let tail = tail.trim_start();
    (!tail.is_empty())
        .then(|| (format!("{indentation}{}", head.trim_end()), format!("{indentation}    {tail}")))
}

fn wrapped(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let fits = |row: &Row| row.is_old() && break_at(&row.old).is_some();
    let at = *choices.pick(&draft.find(fits))?;
    let row = draft.rows()[at].clone();
    let (head, tail) = break_at(&row.old)?;
    let rows = draft.rows_mut();
    rows[at] = Row::of(row.mark, &head);
    rows.insert(at + 1, Row::of(row.mark, &tail));
    Some(Decidable)
}

fn joined(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let rows = draft.rows();
    let plain = |row: &Row| kept(row) && !row.old.contains("//") && !row.old.contains('#');
    let pairs: Vec<usize> = (1..rows.len()).filter(|at| plain(&rows[*at - 1]) && plain(&rows[*at])).collect();
    let at = *choices.pick(&pairs)?;
    let text = format!("{} {}", rows[at - 1].old.trim_end(), rows[at].old.trim());
    let rows = draft.rows_mut();
    rows.remove(at);
    rows[at - 1].set(&text);
    Some(Decidable)
}

/// Old on one line and new as it should be.
fn all_joined(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let rows = draft.rows();
    let whole_lines = rows.iter().any(|row| row.mark == Mark::New);
    if !whole_lines || draft.old.trim().lines().count() < 2 || rows.iter().any(|row| row.old.contains("//")) {
        return None;
    }
    draft.bare();
    let words: Vec<&str> = draft.old.split_whitespace().collect();
    draft.old = words.join(" ");
    // Whether the new text begins with the indentation of the file's line or after it is to be seen from the text.
    let edges_blank = rows_edge_blank(draft);
    Some(if edges_blank { Undecidable } else { TruthOrRefusal })
}

fn rows_edge_blank(draft: &Draft) -> bool {
    let rows = draft.rows();
    rows.first().is_none_or(Row::is_blank) || rows.last().is_none_or(Row::is_blank)
}

fn comment_lost(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let comment = |row: &Row| {
        let text = row.old.trim_start();
        row.mark == Mark::Keep && ["# ", "//", "* ", "/*"].iter().any(|mark| text.starts_with(mark))
    };
    let rows = draft.rows().len();
    let inner: Vec<usize> = draft.find(comment).into_iter().filter(|at| *at > 0 && *at + 1 < rows).collect();
    let at = *choices.pick(&inner)?;
    draft.rows_mut().remove(at);
    Some(TruthOrRefusal)
}

fn elided(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let inner = inner(draft);
    let at = *choices.pick(&inner)?;
    let (open, close) = draft.comment();
    let (indentation, _) = split_indentation(&draft.rows()[at].old);
    let text = format!("{indentation}{open}...{close}");
    draft.rows_mut()[at].set(&text);
    Some(TruthOrRefusal)
}

fn cut_short(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let last = draft.rows().last()?;
    if last.mark != Mark::Keep || last.old.len() < 24 || !last.old.is_ascii() {
        return None;
    }
    let cut = last.old.len() - last.old.len() / 3;
    let short = format!("{}...", &last.old[..cut]);
    let whole = last.old.clone();
    draft.bare();
    for text in [&mut draft.old, &mut draft.new] {
        *text = format!("{}{short}", text.strip_suffix(whole.as_str())?);
    }
    Some(Claim::Refusal)
}
