//! Spaces at the ends of lines and within them, and blank lines.

use super::{Kind, Noisy, decidable, in_context, is_blank, lossy};
use crate::edits::hunks::Edit;
use crate::edits::random::Random;

pub(super) const KINDS: &[Kind] = &[
    decidable("trailing-added", "spaces after some lines of `oldString`", |edit, random| {
        let old = edit.old.iter().map(|line| with_trailing(line, random)).collect::<Vec<_>>();
        let is_plain = edit.old.iter().all(|line| line.trim_end() == line);
        Some(Noisy::lines(edit, &old, &edit.new)?.unless(!is_plain))
    }),
    decidable(
        "trailing-in-file",
        "the file has spaces after context lines, the strings have none",
        |edit, random| {
            let (mut before, mut truth) = (edit.before.to_vec(), edit.truth());
            for (old_index, new_index) in edit.context() {
                if !is_blank(&edit.old[old_index]) && random.once_in(2) {
                    before[edit.start + old_index].push_str("  ");
                    truth[edit.start + new_index].push_str("  ");
                }
            }
            Noisy::in_file(edit, before, truth)
        },
    ),
    decidable(
        "trailing-in-removed",
        "the file has spaces after removed lines, `oldString` has none",
        |edit, random| {
            let mut before = edit.before.to_vec();
            for index in edit.head..edit.old.len() - edit.tail {
                if !is_blank(&edit.old[index]) && random.once_in(2) {
                    before[edit.start + index].push_str("  ");
                }
            }
            Noisy::in_file(edit, before, edit.truth())
        },
    ),
    lossy(
        "trailing-new",
        "spaces after added lines: whether they are meant cannot be told",
        |edit, random| {
            let new: Vec<String> = edit.new.iter().map(|line| with_trailing(line, random)).collect();
            Noisy::lines(edit, &edit.old, &new)
        },
    ),
    decidable(
        "blank-lines-indented",
        "blank lines of `oldString` have spaces, in the file they have none",
        |edit, _| {
            let fill = |line: &String| if line.is_empty() { "    ".to_owned() } else { line.clone() };
            let old: Vec<String> = edit.old.iter().map(fill).collect();
            Noisy::lines(edit, &old, &edit.new)
        },
    ),
    decidable("newline-both", "both strings end with a line ending", |edit, _| {
        let is_inside = edit.start + edit.old.len() < edit.before.len();
        is_inside.then(|| Noisy::text(joined(&edit.old, "\n"), joined(&edit.new, "\n")))
    }),
    lossy(
        "newline-old",
        "a line ending after `oldString` alone: read exactly, it joins two lines",
        |edit, _| Some(Noisy::text(joined(&edit.old, "\n"), edit.new.join("\n"))),
    ),
    lossy(
        "newline-new",
        "a line ending after `newString` alone: read exactly, it adds a blank line",
        |edit, _| Some(Noisy::text(edit.old.join("\n"), joined(&edit.new, "\n"))),
    ),
    decidable("blank-end-both", "the same extra blank line at the end of both strings", |edit, _| {
        let next = edit.before.get(edit.start + edit.old.len())?;
        let is_clear = !is_blank(next) && edit.old.last().is_some_and(|line| !is_blank(line));
        is_clear.then(|| Noisy::text(joined(&edit.old, "\n\n"), joined(&edit.new, "\n\n")))
    }),
    decidable("blank-end-old", "a blank line after `oldString` that is not in the file", |edit, _| {
        let next = edit.before.get(edit.start + edit.old.len())?;
        // Where the new lines end with a blank one, both strings would end alike, as if it were extra in both.
        let is_text = |lines: &[String]| lines.last().is_some_and(|line| !is_blank(line));
        let is_clear = !is_blank(next) && is_text(&edit.old) && is_text(&edit.new);
        is_clear.then(|| Noisy::text(joined(&edit.old, "\n\n"), joined(&edit.new, "\n")))
    }),
    decidable("newline-start", "both strings begin with the line ending of the line before", |edit, _| {
        edit.start.checked_sub(1)?;
        Some(Noisy::text(format!("\n{}", edit.old.join("\n")), format!("\n{}", edit.new.join("\n"))))
    }),
    decidable("blank-start-both", "the same extra blank line at the beginning of both strings", |edit, _| {
        let previous = &edit.before[edit.start.checked_sub(1)?];
        let is_clear = !is_blank(previous) && edit.old.first().is_some_and(|line| !is_blank(line));
        is_clear.then(|| {
            Noisy::text(format!("\n\n{}", edit.old.join("\n")), format!("\n\n{}", edit.new.join("\n")))
        })
    }),
    decidable("blank-lost", "a blank context line is missing in both strings", |edit, random| {
        let spaces = pairs(edit, |edit, index| is_blank(&edit.old[index]) && is_inner(edit, index));
        let (old_index, new_index) = *random.pick(&spaces)?;
        let (mut old, mut new) = (edit.old.clone(), edit.new.clone());
        old.remove(old_index);
        new.remove(new_index);
        Noisy::lines(edit, &old, &new)
    }),
    decidable("blank-added", "a blank line between context lines, in both strings", |edit, random| {
        let inner = |edit: &Edit, index: usize| {
            index > 0
                && is_on_one_side(edit, index - 1, index)
                && !is_blank(&edit.old[index])
                && !is_blank(&edit.old[index - 1])
        };
        let (old_index, new_index) = *random.pick(&pairs(edit, inner))?;
        let (mut old, mut new) = (edit.old.clone(), edit.new.clone());
        old.insert(old_index, String::new());
        new.insert(new_index, String::new());
        Noisy::lines(edit, &old, &new)
    }),
    decidable(
        "blank-added-removed",
        "a blank line among the removed lines, in `oldString`",
        |edit, random| {
            let inner = (edit.head + 1..edit.old.len() - edit.tail)
                .filter(|index| !is_blank(&edit.old[*index]) && !is_blank(&edit.old[*index - 1]));
            let index = *random.pick(&inner.collect::<Vec<_>>())?;
            let mut old = edit.old.clone();
            old.insert(index, String::new());
            Noisy::lines(edit, &old, &edit.new)
        },
    ),
    decidable(
        "runs-shortened",
        "runs of spaces within context lines are one space in both strings",
        |edit, _| {
            let (old, new) = in_context(edit, |line| {
                let text = line.trim_start();
                let words: Vec<&str> = text.split(' ').filter(|word| !word.is_empty()).collect();
                format!("{}{}", &line[..line.len() - text.len()], words.join(" "))
            });
            Noisy::lines(edit, &old, &new)
        },
    ),
    decidable(
        "runs-lengthened",
        "one space within context lines is doubled in both strings",
        |edit, random| {
            let (old, new) = in_context(edit, |line| doubled(line, random));
            Noisy::lines(edit, &old, &new)
        },
    ),
    decidable("runs-removed", "one space within removed lines is doubled in `oldString`", |edit, random| {
        let mut old = edit.old.clone();
        for line in &mut old[edit.head..edit.old.len() - edit.tail] {
            *line = doubled(line, random);
        }
        Noisy::lines(edit, &old, &edit.new)
    }),
    decidable("tab-within", "a tab for a space within context lines, in both strings", |edit, _| {
        let (old, new) = in_context(edit, |line| {
            let text = line.trim_start();
            format!("{}{}", &line[..line.len() - text.len()], text.replacen(' ', "\t", 1))
        });
        Noisy::lines(edit, &old, &new)
    }),
    decidable(
        "spaces-in-brackets",
        "spaces inside of brackets of context lines, in both strings",
        |edit, _| {
            let (old, new) = in_context(edit, |line| {
                let text = line.trim_start();
                let spaced = text.replacen('(', "( ", 1).replacen(')', " )", 1);
                format!("{}{spaced}", &line[..line.len() - text.len()])
            });
            Noisy::lines(edit, &old, &new)
        },
    ),
];

fn joined(lines: &[String], end: &str) -> String {
    format!("{}{end}", lines.join("\n"))
}

fn with_trailing(line: &str, random: &mut Random) -> String {
    if random.once_in(2) {
        format!("{line}{}", ["  ", " ", "\t", "    "][random.below(4)])
    } else {
        line.to_owned()
    }
}

/// Whether a line of `old` lies between two context lines with text: next to a change, or in a run of blank lines that
/// reaches one, it may belong to the change.
fn is_inner(edit: &Edit<'_>, index: usize) -> bool {
    let is_context =
        |other: usize| edit.context().iter().any(|(index, _)| *index == other) && !is_blank(&edit.old[other]);
    index > 0 && is_context(index - 1) && is_context(index + 1) && is_on_one_side(edit, index - 1, index + 1)
}

/// Whether two lines of `old` are both above the change or both below it. Added lines may stand between others, although
/// nothing is removed there.
fn is_on_one_side(edit: &Edit<'_>, one: usize, other: usize) -> bool {
    let (above, below) = (0..edit.head, edit.old.len() - edit.tail..edit.old.len());
    above.contains(&one) && above.contains(&other) || below.contains(&one) && below.contains(&other)
}

/// The context lines for which something holds.
fn pairs(edit: &Edit, holds: impl Fn(&Edit, usize) -> bool) -> Vec<(usize, usize)> {
    edit.context().into_iter().filter(|(index, _)| holds(edit, *index)).collect()
}

/// The line with one space between words doubled.
fn doubled(line: &str, random: &mut Random) -> String {
    let text = line.trim_start();
    let start = line.len() - text.len();
    let spaces: Vec<usize> = text.trim_end().match_indices(' ').map(|(index, _)| start + index).collect();
    match random.pick(&spaces) {
        Some(index) => format!("{} {}", &line[..*index], &line[*index..]),
        None => line.to_owned(),
    }
}
