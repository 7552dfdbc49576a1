//! What is put around the strings or before each of their lines.

use super::{Kind, Noisy, decidable, is_blank, lossy};
use crate::edits::hunks::Edit;

pub(super) const KINDS: &[Kind] = &[
    decidable("fence-both", "a code fence around both strings", |edit, _| {
        Some(Noisy::text(fenced(&edit.old, ""), fenced(&edit.new, "")).unless(has_fence(edit)))
    }),
    decidable("fence-language", "a code fence with a language around both strings", |edit, random| {
        let language = ["python", "rust", "ts", "text"][random.below(4)];
        Some(Noisy::text(fenced(&edit.old, language), fenced(&edit.new, language)).unless(has_fence(edit)))
    }),
    decidable("fence-old", "a code fence around `oldString` alone", |edit, _| {
        Some(Noisy::text(fenced(&edit.old, ""), edit.new.join("\n")).unless(has_fence(edit)))
    }),
    decidable("fence-end", "the closing line of a code fence after both strings", |edit, _| {
        let end = |lines: &[String]| format!("{}\n```", lines.join("\n"));
        Some(Noisy::text(end(&edit.old), end(&edit.new)).unless(has_fence(edit)))
    }),
    decidable("quoted-whole", "double quotes around both strings, over several lines", |edit, _| {
        let quote = |lines: &[String]| format!("\"{}\"", lines.join("\n"));
        (edit.old.len() > 1).then(|| Noisy::text(quote(&edit.old), quote(&edit.new)))
    }),
    decidable("backticks-whole", "backticks around both strings", |edit, _| {
        let quote = |lines: &[String]| format!("`{}`", lines.join("\n"));
        Some(Noisy::text(quote(&edit.old), quote(&edit.new)))
    }),
    decidable("tags", "tags with the names of the arguments around the strings", |edit, _| {
        let tag = |name: &str, lines: &[String]| format!("<{name}>\n{}\n</{name}>", lines.join("\n"));
        Some(Noisy::text(tag("old_string", &edit.old), tag("new_string", &edit.new)))
    }),
    decidable("diff-marks", "each line has the mark of a diff: space, minus or plus", |edit, _| {
        if edit.head + edit.tail == 0 {
            return None;
        }
        let marked = |lines: &[String], mark: char| -> Vec<String> {
            let changed = edit.head..lines.len() - edit.tail;
            let put = |(index, line)| format!("{}{line}", if changed.contains(&index) { mark } else { ' ' });
            lines.iter().enumerate().map(put).collect()
        };
        // Without a removed line, `old` is only shifted by one space.
        let has_minus = edit.head + edit.tail < edit.old.len();
        Some(Noisy::lines(edit, &marked(&edit.old, '-'), &marked(&edit.new, '+'))?.unless(!has_minus))
    }),
    decidable("quote-marks", "`> ` before each line of both strings", |edit, _| {
        let mark =
            |lines: &[String]| -> Vec<String> { lines.iter().map(|line| format!("> {line}")).collect() };
        let has_own = edit.old.iter().chain(&edit.new).any(|line| line.trim_start().starts_with('>'));
        Some(Noisy::lines(edit, &mark(&edit.old), &mark(&edit.new))?.unless(has_own))
    }),
    lossy("omission", "context lines are left out for `...`: how many is not said", |edit, _| {
        if edit.head < 3 {
            return None;
        }
        let cut = |lines: &[String]| [&lines[..1], &["...".to_owned()], &lines[edit.head - 1..]].concat();
        Noisy::lines(edit, &cut(&edit.old), &cut(&edit.new))
    }),
    lossy("cut-word", "both strings begin in the middle of a word", |edit, _| {
        let (first, second) = (edit.old.first()?, edit.new.first()?);
        if edit.head == 0 || is_blank(first) || first != second {
            return None;
        }
        let at = first.char_indices().nth(first.chars().count() / 2)?.0;
        let cut = |lines: &[String]| [&[first[at..].to_owned()], &lines[1..]].concat();
        Noisy::lines(edit, &cut(&edit.old), &cut(&edit.new))
    }),
];

fn fenced(lines: &[String], language: &str) -> String {
    format!("```{language}\n{}\n```", lines.join("\n"))
}

fn has_fence(edit: &Edit) -> bool {
    edit.old.iter().chain(&edit.new).any(|line| line.contains("```"))
}
