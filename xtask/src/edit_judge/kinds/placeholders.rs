//! New text that stands for code instead of being code.

use super::super::claim::Claim::{self, Decidable, Forbidden};
use super::super::draft::{Draft, Mark, Row, split_indentation};
use super::super::random::Choices;
use super::Family::{Meaning, Place};
use super::Goal::NotCode;
use super::Stage::{File, Rows};
use super::{ALL, Noise, noise, toward};

pub(super) const NOISES: &[Noise] = &[
    of("placeholder: ... code ...", line::<0>),
    of("placeholder: (unchanged)", line::<1>),
    of("placeholder: [existing code]", line::<2>),
    of("placeholder: snip", line::<3>),
    of("placeholder: ... previous code ...", line::<4>),
    of("placeholder: ... keep the rest ...", line::<5>),
    of("placeholder: TODO: keep existing code here", line::<6>),
    of("placeholder: existing code ...", line::<7>),
    of("placeholder: ... existing code ...", line::<8>),
    of("placeholder: rest of the function unchanged", line::<9>),
    of("placeholder: ... rest of the file ...", line::<10>),
    of("placeholder: (same as before)", line::<11>),
    of("placeholder: [unchanged code here]", line::<12>),
    of("placeholder: --- snip ---", line::<13>),
    of("placeholder: … existing code …", line::<14>),
    of("placeholder: other methods remain unchanged", line::<15>),
    of("placeholder at the end of a line", end_of_line),
    noise("a placeholder that the file had", File, Place, ALL, was_there),
];

const TEXTS: [&str; 16] = [
    "... code ...",
    "(unchanged)",
    "[existing code]",
    "snip",
    "... previous code ...",
    "... keep the rest ...",
    "TODO: keep existing code here",
    "existing code ...",
    "... existing code ...",
    "rest of the function unchanged",
    "... rest of the file ...",
    "(same as before)",
    "[unchanged code here]",
    "--- snip ---",
    "… existing code …",
    "... other methods remain unchanged ...",
];

const fn of(name: &'static str, apply: super::Apply) -> Noise {
    toward(NotCode, noise(name, Rows, Meaning, ALL, apply))
}

fn comment(draft: &Draft, text: &str) -> String {
    let (open, close) = draft.comment();
    format!("{open}{text}{close}")
}

/// A kept line becomes a placeholder in the new text.
fn line<const TEXT: usize>(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let at = *choices.pick(&draft.find(|row| row.mark == Mark::Keep && !row.is_blank()))?;
    let row = draft.rows()[at].clone();
    let (indentation, _) = split_indentation(&row.old);
    let placeholder = format!("{indentation}{}", comment(draft, TEXTS[TEXT]));
    let rows = draft.rows_mut();
    rows[at].mark = Mark::Gone;
    rows.insert(at + 1, Row::of(Mark::New, &placeholder));
    Some(Forbidden)
}

fn end_of_line(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    if !matches!(draft.comment().1, "") {
        return None;
    }
    let real = |row: &Row| row.mark == Mark::New && row.new.trim().len() > 4 && !row.new.contains(['#', '/']);
    let at = *choices.pick(&draft.find(real))?;
    let text = format!("{}  {}", draft.rows()[at].new, comment(draft, choices.pick(&TEXTS)?));
    draft.rows_mut()[at].set(&text);
    Some(Forbidden)
}

/// A line of the file may look like a placeholder, and stays.
fn was_there(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let at = *choices.pick(&draft.find(|row| row.mark == Mark::Keep && !row.is_blank()))?;
    let text = draft.rows()[at].old.clone();
    let (indentation, _) = split_indentation(&text);
    let placeholder = format!("{indentation}{}", comment(draft, choices.pick(&TEXTS)?));
    draft.alter_file(at, &placeholder);
    draft.rows_mut()[at].set(&placeholder);
    Some(Decidable)
}
