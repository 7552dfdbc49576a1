//! Line numbers that a model keeps from what `read` or another viewer showed it.

use super::{Kind, Noisy, decidable};
use crate::edits::hunks::Edit;

pub(super) const KINDS: &[Kind] = &[
    decidable(
        "numbers-colon",
        "`12: text` in both strings: the numbers are those of the place",
        |edit, _| both(edit, 0, |number, line| format!("{number}: {line}")),
    ),
    decidable("numbers-tab", "`    12\\ttext` in both strings, as `cat -n` prints it", |edit, _| {
        both(edit, 0, |number, line| format!("{number:>6}\t{line}"))
    }),
    decidable("numbers-arrow", "`    12→text` in both strings", |edit, _| {
        both(edit, 0, |number, line| format!("{number:>6}→{line}"))
    }),
    decidable("numbers-pipe", "`12 | text` in both strings", |edit, _| {
        both(edit, 0, |number, line| format!("{number:>4} | {line}"))
    }),
    decidable("numbers-zeros", "`00012| text` in both strings", |edit, _| {
        both(edit, 0, |number, line| format!("{number:05}| {line}"))
    }),
    decidable("numbers-old", "numbers in `oldString` alone: `newString` is clean", |edit, random| {
        let style = *random.pick(&STYLES)?;
        Noisy::lines(edit, &numbered(&edit.old, edit.start, style), &edit.new)
    }),
    decidable(
        "numbers-context",
        "numbers on the lines that stay: the lines that come have none",
        |edit, random| {
            let style = *random.pick(&STYLES)?;
            let context = edit.context();
            if context.is_empty() {
                return None;
            }
            let old = numbered(&edit.old, edit.start, style);
            let mut new = edit.new.clone();
            for (old_index, new_index) in context {
                new[new_index].clone_from(&old[old_index]);
            }
            Noisy::lines(edit, &old, &new)
        },
    ),
    decidable(
        "numbers-stale",
        "numbers that are a few lines off: the text is still unique",
        |edit, random| {
            let style = *random.pick(&STYLES)?;
            both(edit, 1 + random.below(30), style)
        },
    ),
];

type Style = fn(usize, &str) -> String;

const STYLES: [Style; 4] = [
    |number, line| format!("{number}: {line}"),
    |number, line| format!("{number:>6}\t{line}"),
    |number, line| format!("{number:>6}→{line}"),
    |number, line| format!("{number:>4} | {line}"),
];

/// Both strings are numbered from the same line on.
fn both(edit: &Edit, shift: usize, style: Style) -> Option<Noisy> {
    let first = edit.start + shift;
    Noisy::lines(edit, &numbered(&edit.old, first, style), &numbered(&edit.new, first, style))
}

fn numbered(lines: &[String], first: usize, style: Style) -> Vec<String> {
    lines.iter().enumerate().map(|(index, line)| style(first + index + 1, line)).collect()
}
