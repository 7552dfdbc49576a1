//! Characters that look alike: quotes, dashes, spaces.

use super::{Kind, Noisy, decidable, in_context};
use crate::edits::hunks::Edit;

pub(super) const KINDS: &[Kind] = &[
    decidable(
        "quotes-curly",
        "typographic quotes in both strings, where the file has none at all",
        |edit, _| both(edit, curly),
    ),
    decidable("quotes-curly-old", "typographic quotes in `oldString` alone", |edit, _| {
        let old: Vec<String> = edit.old.iter().map(|line| curly(line)).collect();
        Noisy::lines(edit, &old, &edit.new)
    }),
    decidable(
        "quotes-curly-file",
        "the file has typographic quotes in context lines, the strings plain ones",
        |edit, _| in_file(edit, curly),
    ),
    decidable(
        "quotes-swapped",
        "single for double quotes and the reverse, in context lines, in both",
        |edit, _| {
            let swap = |line: &str| -> String {
                let swapped = |character| match character {
                    '\'' => '"',
                    '"' => '\'',
                    other => other,
                };
                line.chars().map(swapped).collect()
            };
            let (old, new) = in_context(edit, swap);
            Noisy::lines(edit, &old, &new)
        },
    ),
    decidable(
        "dashes-en",
        "`–` for the hyphens between spaces, in both strings; the file has none",
        |edit, _| both(edit, |line| line.replace(" - ", " – ")),
    ),
    decidable("dashes-em", "`—` for two hyphens, in both strings; the file has none", |edit, _| {
        both(edit, |line| line.replace("--", "—"))
    }),
    decidable("dashes-file", "the file has long dashes in context lines, the strings hyphens", |edit, _| {
        in_file(edit, |line| line.replace(" - ", " – "))
    }),
    decidable(
        "ellipsis",
        "`…` for three dots in both strings, where the file has none at all",
        |edit, _| both(edit, |line| line.replace("...", "…")),
    ),
    decidable(
        "no-break-spaces",
        "no-break spaces for the spaces within lines, in both strings",
        |edit, _| {
            both(edit, |line| {
                let text = line.trim_start();
                format!("{}{}", &line[..line.len() - text.len()], text.replace(' ', "\u{a0}"))
            })
        },
    ),
    decidable("no-break-indentation", "no-break spaces for the indentation, in both strings", |edit, _| {
        both(edit, |line| {
            let text = line.trim_start_matches(' ');
            format!("{}{text}", "\u{a0}".repeat(line.len() - text.len()))
        })
    }),
    decidable(
        "no-break-file",
        "the file has a no-break space in context lines, the strings a space",
        |edit, _| {
            in_file(edit, |line| {
                let text = line.trim_start();
                format!("{}{}", &line[..line.len() - text.len()], text.replacen(' ', "\u{a0}", 1))
            })
        },
    ),
    decidable("zero-width", "a zero-width space in `oldString`", |edit, random| {
        let index = random.below(edit.old.len());
        let mut old = edit.old.clone();
        let text = old[index].trim_start().len();
        let at = old[index].len() - text;
        old[index].insert(at, '\u{200b}');
        Noisy::lines(edit, &old, &edit.new)
    }),
    decidable(
        "full-width",
        "full-width commas, colons and brackets in context lines, in both strings",
        |edit, _| {
            let (old, new) =
                in_context(edit, |line| line.replace('(', "（").replace(')', "）").replace(',', "，"));
            Noisy::lines(edit, &old, &new)
        },
    ),
];

/// The change in every line of both strings; lossy where the text has such characters of its own.
fn both(edit: &Edit, change: impl Fn(&str) -> String) -> Option<Noisy> {
    let own = |line: &String| line.contains(['“', '”', '‘', '’', '–', '—', '…', '\u{a0}']);
    let has_own = edit.old.iter().chain(&edit.new).any(own);
    let put = |lines: &[String]| -> Vec<String> { lines.iter().map(|line| change(line)).collect() };
    let old = put(&edit.old);
    // Where `old` shows nothing of it, the characters of `new` may be meant.
    let is_shown = old != edit.old;
    Some(Noisy::lines(edit, &old, &put(&edit.new))?.unless(has_own || !is_shown))
}

/// The change in the context lines, in the file alone.
fn in_file(edit: &Edit, change: impl Fn(&str) -> String) -> Option<Noisy> {
    let (mut before, mut truth) = (edit.before.to_vec(), edit.truth());
    for (old_index, new_index) in edit.context() {
        before[edit.start + old_index] = change(&edit.old[old_index]);
        truth[edit.start + new_index] = change(&edit.old[old_index]);
    }
    Noisy::in_file(edit, before, truth)
}

/// The line with typographic quotes.
fn curly(line: &str) -> String {
    let mut is_open = false;
    let mut previous = ' ';
    let mut text = String::new();
    for character in line.chars() {
        text.push(match character {
            '"' => {
                is_open = !is_open;
                if is_open { '“' } else { '”' }
            }
            '\'' if previous.is_alphanumeric() => '’',
            '\'' => '‘',
            other => other,
        });
        previous = character;
    }
    text
}
