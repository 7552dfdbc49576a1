//! Line numbers that a model keeps from what `read` or another viewer showed it.

use super::{Kind, Noisy, Place, decidable, is_blank};
use crate::edits::hunks::Edit;

pub(super) const KINDS: &[Kind] = &[
    decidable(
        "numbers-colon",
        "`12: text` in both strings: the numbers are those of the place",
        |edit, _| both(edit, 0, |number, line| format!("{number}: {line}")),
    ),
    decidable("numbers-tab", "`    12` and a tab in both strings, as `cat -n` prints it", |edit, _| {
        both(edit, 0, |number, line| format!("{number:>6}\t{line}"))
    }),
    decidable("numbers-arrow", "`    12→text` in both strings", |edit, _| {
        both(edit, 0, |number, line| format!("{number:>6}→{line}"))
    }),
    decidable("numbers-pipe", "`  12`, a bar and the text, in both strings", |edit, _| {
        both(edit, 0, |number, line| format!("{number:>4} | {line}"))
    }),
    decidable("numbers-zeros", "`00012` and a bar in both strings", |edit, _| {
        both(edit, 0, |number, line| format!("{number:05}| {line}"))
    }),
    decidable("numbers-letter", "`L12: text` in both strings", |edit, _| {
        both(edit, 0, |number, line| format!("L{number}: {line}"))
    }),
    decidable("numbers-old", "numbers in `oldString` alone: `newString` is clean", |edit, random| {
        let style = *random.pick(&STYLES)?;
        Noisy::lines(edit, &numbered(&edit.old, edit.start, style), &edit.new)
    }),
    decidable(
        "numbers-context",
        "numbers on the context lines: the added lines have none",
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
    decidable(
        "numbers-content",
        "the lines themselves begin with numbers that are no line numbers",
        |edit, random| {
            let key = |index: usize, line: &str| {
                let text = line.trim_start();
                let spaces = &line[..line.len() - text.len()];
                if is_blank(line) { line.to_owned() } else { format!("{spaces}{}: {text}", 8000 + index * 7) }
            };
            let keyed = |lines: &[String], first: usize| -> Vec<String> {
                lines.iter().enumerate().map(|(index, line)| key(first + index, line)).collect()
            };
            // Context lines have the same key in both strings.
            let old = keyed(&edit.old, 0);
            let mut new = keyed(&edit.new, 500);
            for (old_index, new_index) in edit.context() {
                new[new_index].clone_from(&old[old_index]);
            }
            let end = edit.start + edit.old.len();
            let file = [&edit.before[..edit.start], old.as_slice(), &edit.before[end..]].concat();
            let truth = [&edit.before[..edit.start], new.as_slice(), &edit.before[end..]].concat();
            let style = *random.pick(&STYLES)?;
            let sent_old = numbered(&old, edit.start, style).join("\n");
            let sent_new = if random.once_in(2) { new } else { numbered(&new, edit.start, style) };
            let mut noisy = Noisy::text(sent_old, sent_new.join("\n"));
            noisy.file = Some((file, truth));
            noisy.place = Place::Sure;
            Some(noisy)
        },
    ),
    decidable(
        "numbers-twin",
        "the lines are in the file twice: the numbers tell which are meant",
        |edit, random| {
            let style = *random.pick(&STYLES)?;
            let twin: Vec<String> = [String::new()].iter().chain(&edit.old).cloned().collect();
            let mut noisy = both(edit, 0, style)?;
            noisy.file = Some(([edit.before, &twin].concat(), [edit.truth().as_slice(), &twin].concat()));
            noisy.place = Place::Sure;
            Some(noisy)
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

/// The lines with numbers in the first style, counted from the line of the place.
pub(super) fn plainly(lines: &[String], start: usize) -> Vec<String> {
    numbered(lines, start, STYLES[0])
}

fn numbered(lines: &[String], first: usize, style: Style) -> Vec<String> {
    lines.iter().enumerate().map(|(index, line)| style(first + index + 1, line)).collect()
}
