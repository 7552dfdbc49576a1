//! Files in which a twin of the meant lines stands elsewhere, with other spaces or at another depth.

use super::drift::other_word;
use super::numbers;
use super::{Kind, Noisy, Place, contradictory, decidable, is_blank, lossy};
use crate::edits::hunks::Edit;
use crate::edits::random::Random;

pub(super) const KINDS: &[Kind] = &[
    decidable(
        "twin-depth",
        "a twin is deeper; `oldString` has the right depth and trailing spaces",
        |edit, _| {
            let trailing: Vec<String> = edit.old.iter().map(|line| format!("{line}  ")).collect();
            with_twin(edit, &deeper(&edit.old), trailing.join("\n"), edit.new.join("\n"))
        },
    ),
    decidable(
        "twin-spaces",
        "a twin has other spaces within; `oldString` has trailing spaces only",
        |edit, _| {
            let spaced: Vec<String> = edit.old.iter().map(|line| spaced(line)).collect();
            let trailing: Vec<String> = edit.old.iter().map(|line| format!("{line}  ")).collect();
            let is_other = spaced != edit.old;
            is_other.then(|| with_twin(edit, &spaced, trailing.join("\n"), edit.new.join("\n"))).flatten()
        },
    ),
    decidable("twin-crlf", "a twin is deeper, and the strings have CRLF", |edit, _| {
        (edit.old.len() > 1)
            .then(|| with_twin(edit, &deeper(&edit.old), edit.old.join("\r\n"), edit.new.join("\r\n")))?
    }),
    contradictory(
        "twin-stale-numbers",
        "the meant lines have changed, a twin is deeper: the numbers tell the place",
        |edit, random| {
            let old = numbers::plainly(&edit.old, edit.start).join("\n");
            let new = numbers::plainly(&edit.new, edit.start).join("\n");
            stale(edit, random, &deeper(&edit.old), old, new)
        },
    ),
    contradictory(
        "twin-stale",
        "the meant lines have changed in a word, a twin fits but for its depth",
        |edit, random| {
            let noisy = stale(edit, random, &deeper(&edit.old), edit.old.join("\n"), edit.new.join("\n"))?;
            // With fewer lines, nothing but the twin is left of what was meant.
            let telling = edit.old.iter().filter(|line| line.contains(char::is_alphanumeric)).count();
            Some(noisy.unless(telling < 3))
        },
    ),
    lossy(
        "twin-stale-spaces",
        "the meant lines have changed, a twin fits but for spaces within",
        |edit, random| {
            let spaced: Vec<String> = edit.old.iter().map(|line| spaced(line)).collect();
            let is_other = spaced != edit.old;
            is_other.then(|| stale(edit, random, &spaced, edit.old.join("\n"), edit.new.join("\n"))).flatten()
        },
    ),
];

/// The file has the twin at its end.
fn with_twin(edit: &Edit, twin: &[String], old: String, new: String) -> Option<Noisy> {
    let is_plain = edit.old.iter().all(|line| line.trim_end() == line);
    let end = [&[String::new()], twin].concat();
    let mut noisy = Noisy::text(old, new);
    noisy.file = Some(([edit.before, &end].concat(), [edit.truth().as_slice(), &end].concat()));
    noisy.place = Place::Sure;
    is_plain.then_some(noisy)
}

/// The same, and one context line has another word in the file.
fn stale(edit: &Edit, random: &mut Random, twin: &[String], old: String, new: String) -> Option<Noisy> {
    let lines = edit.context();
    let (old_index, new_index) = *random.pick(&lines)?;
    let changed = other_word(&edit.old[old_index], random)?;
    let mut noisy = with_twin(edit, twin, old, new)?;
    let (before, truth) = noisy.file.as_mut()?;
    before[edit.start + old_index].clone_from(&changed);
    truth[edit.start + new_index] = changed;
    Some(noisy)
}

fn deeper(lines: &[String]) -> Vec<String> {
    let spaces = if lines.iter().any(|line| line.starts_with('\t')) { "\t" } else { "    " };
    lines.iter().map(|line| if is_blank(line) { line.clone() } else { format!("{spaces}{line}") }).collect()
}

/// The line with its first space between words doubled.
fn spaced(line: &str) -> String {
    let text = line.trim_start();
    format!("{}{}", &line[..line.len() - text.len()], text.replacen(' ', "  ", 1))
}
