//! Blank lines too many or too few, inside of the old text and at its edges.

use super::super::claim::Claim::{self, Decidable, TruthOrRefusal, Undecidable};
use super::super::draft::{Draft, Mark, Row};
use super::super::random::Choices;
use super::Family::Lines;
use super::Stage::{Rows, Strings};
use super::{ANY, EDIT, Noise, noise};

pub(super) const NOISES: &[Noise] = &[
    noise("blank lines too many at the end of old", Strings, Lines, EDIT, blank_after_old),
    noise("blank lines too many at the end of both", Strings, Lines, EDIT, blank_after_both),
    noise("blank lines too many before old", Strings, Lines, EDIT, blank_before_old),
    noise("blank lines too many before both", Strings, Lines, EDIT, blank_before_both),
    noise("blank and trailing spaces at the end of old", Strings, Lines, EDIT, blank_and_trailing),
    noise("a newline at the end of old alone", Strings, Lines, EDIT, newline_old_alone),
    noise("a newline at the end of new alone", Strings, Lines, EDIT, newline_new_alone),
    noise("a blank line lost inside", Rows, Lines, ANY, blank_lost),
    noise("all blank lines lost", Rows, Lines, ANY, blanks_lost),
    noise("a blank line too many inside", Rows, Lines, ANY, blank_added),
    noise("a blank line between all lines", Rows, Lines, ANY, blank_everywhere),
    noise("a blank line before a closing bracket", Rows, Lines, ANY, blank_before_closing),
];

fn blank_after_old(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    draft.old.push_str(choices.pick(&["\n", "\n\n", "\n\n\n"])?);
    accept_edges(draft);
    edge_claim(draft)
}

fn blank_after_both(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let blank = *choices.pick(&["\n\n", "\n\n\n"])?;
    draft.old.push_str(blank);
    draft.new.push_str(blank);
    edge_claim(draft)
}

fn blank_before_old(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    draft.old.insert_str(0, choices.pick(&["\n", "\n\n"])?);
    accept_edges(draft);
    edge_claim(draft)
}

fn blank_before_both(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let blank = *choices.pick(&["\n\n", "\n\n\n"])?;
    draft.old.insert_str(0, blank);
    draft.new.insert_str(0, blank);
    edge_claim(draft)
}

fn blank_and_trailing(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    draft.bare();
    let lines: Vec<&str> = draft.old.split('\n').collect();
    let end = *choices.pick(&["\n", "\n\n"])?;
    draft.old = format!("{}{end}", lines.join(" \n"));
    accept_edges(draft);
    edge_claim(draft)
}

/// New text that begins or ends with an insertion touches the edge that the noise is at.
fn edge_claim(draft: &Draft) -> Option<Claim> {
    let rows = draft.rows();
    let at_edge = rows.first()?.mark != Mark::Keep || rows.last()?.mark != Mark::Keep;
    let blank_edge = rows.first()?.is_blank() || rows.last()?.is_blank() || draft.has_blank_edge();
    if blank_edge {
        return None;
    }
    Some(if at_edge { TruthOrRefusal } else { Decidable })
}

/// If the file has blank lines where the old text has too many, taking those away with the old text is what it says.
fn accept_edges(draft: &mut Draft) {
    let end = truth_end(draft);
    let mut fewer = draft.changed_lines();
    while fewer.get(end).is_some_and(|line| line.trim().is_empty()) {
        fewer.remove(end);
        let text = draft.text(&fewer);
        draft.accepted.push(text);
    }
    let mut fewer = draft.changed_lines();
    let mut first = draft.block().first;
    while first > 0 && fewer[first - 1].trim().is_empty() {
        first -= 1;
        fewer.remove(first);
        let text = draft.text(&fewer);
        draft.accepted.push(text);
    }
}

/// Index of the line behind the block, in the file that the change makes.
fn truth_end(draft: &Draft) -> usize {
    draft.block().first + draft.block().truth.iter().filter(|row| row.mark != Mark::Gone).count()
}

fn newline_old_alone(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    draft.bare();
    draft.old.push_str(" \n");
    edge_claim(draft)
}

fn newline_new_alone(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    draft.bare();
    draft.old.push(' ');
    draft.new.push('\n');
    // One blank line more is what the new text says, word for word.
    let mut more = draft.changed_lines();
    more.insert(truth_end(draft), String::new());
    let text = draft.text(&more);
    draft.accepted.push(text);
    edge_claim(draft)
}

fn blank_kept(row: &Row) -> bool {
    row.mark == Mark::Keep && row.is_blank()
}

/// Whether a row has kept lines on both sides, with words in them.
fn is_inner(draft: &Draft, at: usize) -> bool {
    let rows = draft.rows();
    at > 0 && at + 1 < rows.len() && [at - 1, at + 1].iter().all(|at| rows[*at].mark == Mark::Keep)
}

/// Takes a row out of the call, with its true row: the file keeps the line.
fn drop_rows(draft: &mut Draft, dropped: &[usize]) {
    let mut index = 0;
    draft.rows_mut().retain(|_| {
        index += 1;
        !dropped.contains(&(index - 1))
    });
}

fn blank_lost(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let blanks = draft.find(blank_kept);
    let at = *choices.pick(&blanks)?;
    let last = draft.rows().len() - 1;
    if at == 0 || at == last {
        return None;
    }
    let inner = is_inner(draft, at);
    let anchored = !draft.only_inserts();
    drop_rows(draft, &[at]);
    Some(if inner {
        Decidable
    } else if anchored {
        TruthOrRefusal
    } else {
        Undecidable
    })
}

fn blanks_lost(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let blanks = draft.find(blank_kept);
    if blanks.is_empty() || draft.rows().iter().any(|row| row.mark != Mark::Keep && row.is_blank()) {
        return None;
    }
    let last = draft.rows().len() - 1;
    if blanks.contains(&0) || blanks.contains(&last) {
        return None;
    }
    let inner = blanks.iter().all(|at| is_inner(draft, *at));
    drop_rows(draft, &blanks);
    Some(if inner { Decidable } else { Undecidable })
}

fn blank_added(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let rows = draft.rows();
    let fits =
        |at: &usize| [*at - 1, *at].iter().all(|at| rows[*at].mark == Mark::Keep && !rows[*at].is_blank());
    let between: Vec<usize> = (1..rows.len()).filter(fits).collect();
    let at = *choices.pick(&between)?;
    draft.rows_mut().insert(at, Row::of(Mark::Keep, ""));
    Some(Decidable)
}

fn blank_everywhere(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let new = draft.rows().iter().filter(|row| row.mark == Mark::New).count();
    if draft.rows().iter().any(Row::is_blank) || draft.rows().len() < 3 || new > 1 {
        return None;
    }
    let rows = std::mem::take(draft.rows_mut());
    let mut spread: Vec<Row> = Vec::new();
    for row in rows {
        if let Some(last) = spread.last() {
            let mark = if last.mark == row.mark { row.mark } else { Mark::Keep };
            spread.push(Row::of(mark, ""));
        }
        spread.push(row);
    }
    *draft.rows_mut() = spread;
    Some(TruthOrRefusal)
}

fn blank_before_closing(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let closing = |row: &Row| row.mark == Mark::Keep && row.old.trim_start().starts_with(['}', ')', ']']);
    let closings = draft.find(closing);
    let at = *choices.pick(&closings)?;
    if at == 0 || draft.rows()[at - 1].is_blank() {
        return None;
    }
    let beside = draft.rows()[at - 1].mark != Mark::Keep;
    if beside {
        // The new text may keep the blank line that the model believed to be there.
        let mut copy = draft.clone();
        let truth = &mut copy.blocks[draft.target].truth;
        // Other noise may have added lines to the call.
        if at > truth.len() {
            return None;
        }
        truth.insert(at, Row::of(Mark::New, ""));
        draft.accepted.push(copy.truth());
    }
    draft.rows_mut().insert(at, Row::of(Mark::Keep, ""));
    Some(if beside { TruthOrRefusal } else { Decidable })
}
