//! Lines of patches with lost, doubled or foreign marks.

use super::super::claim::Claim::{self, Decidable, Refusal, TruthOrRefusal};
use super::super::draft::{Draft, Mark, Row, split_indentation};
use super::super::random::Choices;
use super::Family::Lines;
use super::Goal::Understood;
use super::Stage::{Patch, Rows};
use super::{Noise, PATCHES, noise, toward};

pub(super) const NOISES: &[Noise] = &[
    body("a context line without its space", context_unmarked),
    body("all context lines without their space", contexts_unmarked),
    body("blank context lines without their space", blanks_unmarked),
    body("a new line without its +", new_unmarked),
    body("a removed line without its -", gone_unmarked),
    body("a comment without a mark between the lines", comment_unmarked),
    body("a sentence without a mark between the lines", sentence_unmarked),
    body("a space behind every mark", space_behind),
    body("spaces at the end of lines lost", trimmed),
    body("line numbers behind the marks", numbers_behind),
    toward(Understood, body("line numbers before the marks", numbers_before)),
    body("a fence between the lines", fence_between),
    noise("new lines before removed ones", Rows, Lines, PATCHES, new_first),
    noise("context as removed and new", Rows, Lines, PATCHES, context_as_change),
    noise("no context at all", Rows, Lines, PATCHES, no_context),
    noise("two hunks as one", Rows, Lines, PATCHES, one_hunk),
    noise("a hunk that is there twice", Rows, Lines, PATCHES, hunk_twice),
    noise("hunks in another order", Rows, Lines, PATCHES, other_order),
];

const fn body(name: &'static str, apply: super::Apply) -> Noise {
    noise(name, Patch, Lines, PATCHES, apply)
}

/// The lines of the patch, and which of them have this mark and fit.
fn marked(draft: &Draft, mark: char, fits: impl Fn(&str) -> bool) -> (Vec<String>, Vec<usize>) {
    let lines: Vec<String> = draft.patch.split('\n').map(str::to_owned).collect();
    let is_header =
        |line: &str| line.starts_with("--- ") || line.starts_with("+++ ") || line.starts_with("***");
    let found = (0..lines.len())
        .filter(|at| {
            let line = &lines[*at];
            !is_header(line) && line.strip_prefix(mark).is_some_and(&fits)
        })
        .collect();
    (lines, found)
}

fn unmark_one(draft: &mut Draft, choices: &mut Choices, mark: char, claim: Claim) -> Option<Claim> {
    let unlike_marks =
        |text: &str| !text.trim().is_empty() && !text.starts_with([' ', '+', '-', '\t', '@', '*', '\\']);
    let indented = |text: &str| !text.trim().is_empty() && text.starts_with(' ') && mark != ' ';
    let (mut lines, found) = marked(draft, mark, |text| unlike_marks(text) || indented(text));
    let at = *choices.pick(&found)?;
    // Without its mark, a line that begins with a space is a context line with a space less.
    let claim = if mark == '-' && lines[at][1..].starts_with(' ') { Claim::Undecidable } else { claim };
    lines[at].remove(0);
    draft.patch = lines.join("\n");
    Some(claim)
}

fn context_unmarked(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    unmark_one(draft, choices, ' ', TruthOrRefusal)
}

fn new_unmarked(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    unmark_one(draft, choices, '+', TruthOrRefusal)
}

fn gone_unmarked(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    unmark_one(draft, choices, '-', TruthOrRefusal)
}

fn contexts_unmarked(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let (mut lines, found) = marked(draft, ' ', |text| !text.trim().is_empty());
    if found.is_empty() || found.iter().any(|at| lines[*at][1..].starts_with(['+', '-', '@', '*'])) {
        return None;
    }
    for at in found {
        lines[at].remove(0);
    }
    draft.patch = lines.join("\n");
    Some(TruthOrRefusal)
}

fn blanks_unmarked(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let (mut lines, found) = marked(draft, ' ', str::is_empty);
    if found.is_empty() {
        return None;
    }
    for at in found {
        lines[at].clear();
    }
    draft.patch = lines.join("\n");
    Some(Decidable)
}

/// Puts a line without a mark between a removed and a new line, or before a new one.
fn insert_unmarked(draft: &mut Draft, choices: &mut Choices, text: &str) -> Option<Claim> {
    let (mut lines, found) = marked(draft, '+', |_| true);
    let at = *choices.pick(&found)?;
    lines.insert(at, text.to_owned());
    draft.patch = lines.join("\n");
    Some(Refusal)
}

fn comment_unmarked(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let (open, close) = draft.comment();
    insert_unmarked(draft, choices, &format!("{open}the new call{close}"))
}

fn sentence_unmarked(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    insert_unmarked(draft, choices, "Now the call is replaced:")
}

fn fence_between(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    insert_unmarked(draft, choices, "```")
}

fn each_body_line(draft: &mut Draft, change: impl Fn(usize, &str) -> String) {
    let is_body = |line: &str| {
        line.starts_with([' ', '+', '-']) && !line.starts_with("--- ") && !line.starts_with("+++ ")
    };
    let lines: Vec<String> = draft
        .patch
        .split('\n')
        .enumerate()
        .map(|(index, line)| if is_body(line) { change(index, line) } else { line.to_owned() })
        .collect();
    draft.patch = lines.join("\n");
}

fn space_behind(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    if draft.blocks.iter().any(|block| block.rows.iter().any(|row| row.old.starts_with('\t'))) {
        return None;
    }
    each_body_line(draft, |_, line| {
        if line.len() == 1 { line.to_owned() } else { format!("{} {}", &line[..1], &line[1..]) }
    });
    Some(Decidable)
}

fn trimmed(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let lines: Vec<&str> = draft.patch.split('\n').map(str::trim_end).collect();
    let patch = lines.join("\n");
    if patch == draft.patch
        || draft.blocks.iter().any(|block| block.rows.iter().any(|row| row.new != row.new.trim_end()))
    {
        return None;
    }
    draft.patch = patch;
    Some(Decidable)
}

fn numbers_behind(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    each_body_line(draft, |index, line| format!("{}{index:>5}\t{}", &line[..1], &line[1..]));
    Some(TruthOrRefusal)
}

fn numbers_before(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    each_body_line(draft, |index, line| format!("{index:>5}\t{line}"));
    Some(TruthOrRefusal)
}

fn new_first(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let rows = draft.rows();
    let first = rows.iter().position(|row| row.mark == Mark::Gone)?;
    let middle = rows.iter().position(|row| row.mark == Mark::New).filter(|at| *at > first)?;
    let end = rows.iter().rposition(|row| row.mark == Mark::New)?;
    draft.rows_mut()[first..=end].rotate_left(middle - first);
    Some(Decidable)
}

fn context_as_change(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let at = *choices.pick(&draft.find(|row| row.mark == Mark::Keep && !row.is_blank()))?;
    let row = draft.rows()[at].clone();
    let rows = draft.rows_mut();
    rows[at].mark = Mark::Gone;
    rows.insert(at + 1, Row::of(Mark::New, &row.old));
    Some(Decidable)
}

fn no_context(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    if draft.only_inserts() {
        return None;
    }
    let above = draft.rows().iter().take_while(|row| row.mark == Mark::Keep).count();
    let target = draft.target;
    let block = &mut draft.blocks[target];
    block.rows.retain(|row| row.mark != Mark::Keep);
    block.truth.retain(|row| row.mark != Mark::Keep);
    block.first += above;
    Some(Decidable)
}

/// Two hunks under one header: the lines between them are missing.
fn one_hunk(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    if draft.blocks.len() != 2 {
        return None;
    }
    let second = draft.blocks[1].clone();
    let between: Vec<Row> = draft.before[draft.blocks[0].end()..second.first]
        .iter()
        .map(|line| Row::of(Mark::Keep, line))
        .collect();
    let first = &mut draft.blocks[0];
    first.rows.extend(second.rows);
    first.truth.extend(between);
    first.truth.extend(second.truth);
    draft.blocks.truncate(1);
    draft.target = 0;
    Some(TruthOrRefusal)
}

fn hunk_twice(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let row = draft.rows().first()?.clone();
    let (_, text) = split_indentation(&row.old);
    if text.is_empty() {
        return None;
    }
    let rows = draft.rows().to_vec();
    draft.rows_mut().extend(rows);
    Some(Refusal)
}

fn other_order(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    if draft.blocks.len() != 2 {
        return None;
    }
    draft.is_reversed = true;
    Some(TruthOrRefusal)
}
