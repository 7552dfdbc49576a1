//! Lines that were broken or joined at other places: word for word the same, on more lines or fewer.
//!
//! What stays is as the file has it. A line that goes or comes has to be one whose breaks are the file's.

use super::super::fold::is_word;
use super::super::lines::{Lines, is_blank, is_filled};
use super::Undone;
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::ops::Range;

/// Maximum number of lines of the file that one line of the old text stands for, or the other way round.
const MOST: usize = 8;
/// Maximum number of places that are compared.
const MOST_PLACES: usize = 200;

/// Lines of the old text, and the lines of the file that say the same.
struct Group {
    old: Range<usize>,
    file: Range<usize>,
}

pub(super) fn lines(file: &Lines<'_>, old: &str, new: &str) -> Option<Undone> {
    let (olds, news) = (Lines::of(old), Lines::of(new));
    if olds.all.len() > 200 || !olds.all.iter().any(|line| is_filled(line.text)) {
        return None;
    }
    let wanted: Vec<Vec<&str>> = olds.all.iter().map(|line| words(line.text)).collect();
    let first = wanted[0].first()?;
    let starts =
        (0..file.all.len()).filter(|at| words(file.all[*at].text).first() == Some(first)).take(MOST_PLACES);
    let mut found = starts.filter_map(|at| groups(file, &olds, &wanted, at));
    let groups = found.next()?;
    // Several places, or nothing that is broken otherwise.
    let is_other = groups.iter().any(|group| group.old.len() > 1 || group.file.len() > 1);
    if found.next().is_some() || !is_other {
        return None;
    }
    let texts =
        |lines: &Lines<'_>| -> Vec<String> { lines.all.iter().map(|line| line.text.to_owned()).collect() };
    let (old_texts, new_texts) = (texts(&olds), texts(&news));
    // The line of the new text that each line of the old one has become.
    let mut kept = vec![None; old_texts.len()];
    for op in capture_diff_slices(Algorithm::Myers, &old_texts, &new_texts) {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            (0..len).for_each(|at| kept[old_index + at] = Some(new_index + at));
        }
    }
    let mut put: Vec<Option<String>> = news.all.iter().map(|line| Some(line.text.to_owned())).collect();
    let ending =
        olds.all.first().map_or("\n", |line| if line.ending.is_empty() { "\n" } else { line.ending });
    for group in &groups {
        let is_as_there = group.old.len() == 1 && group.file.len() == 1;
        if is_as_there {
            // But for blanks at its end.
            if let Some(at) = kept[group.old.start] {
                put[at] = Some(file.all[group.file.start].text.to_owned());
            }
            continue;
        }
        // A bracket on a line of its own may close what another line has opened, and has lost the end of the line above.
        let last = olds.all[group.old.end - 1].text.trim();
        if group.old.len() > 1 && !last.contains(is_word) && file.all[group.file.end - 1].text.trim() != last
        {
            return None;
        }
        // What goes as a whole leaves nothing to break.
        if group.old.clone().all(|at| kept[at].is_none()) {
            continue;
        }
        let places: Option<Vec<usize>> = group.old.clone().map(|at| kept[at]).collect();
        let places = places.filter(|places| places.windows(2).all(|pair| pair[0] + 1 == pair[1]))?;
        let there: Vec<&str> = file.all[group.file.clone()].iter().map(|line| line.text).collect();
        put[places[0]] = Some(there.join(ending));
        places[1..].iter().for_each(|at| put[*at] = None);
    }
    let from = groups.first()?.file.start;
    let to = groups.last()?.file.end;
    let there: Vec<&str> = file.all[from..to].iter().map(|line| line.text).collect();
    let end = |lines: &Lines<'_>| if lines.ends_line() { ending } else { "" };
    let plain_old = there.join(ending) + end(&olds);
    let plain_new = put.into_iter().flatten().collect::<Vec<_>>().join(ending) + end(&news);
    Some(Undone::plain(plain_old, plain_new))
}

/// The groups of lines from a line of the file on; `None` where they do not say the same. Lines that are not broken otherwise
/// have to be there to the letter.
fn groups(file: &Lines<'_>, olds: &Lines<'_>, wanted: &[Vec<&str>], first: usize) -> Option<Vec<Group>> {
    let (mut at, mut line) = (0, first);
    let mut groups = Vec::new();
    while at < wanted.len() {
        let (old_start, file_start) = (at, line);
        let (mut asked, mut there) = (wanted[at].clone(), words(file.all.get(line)?.text));
        (at, line) = (at + 1, line + 1);
        // Blank lines are for another step.
        if asked.is_empty() != there.is_empty() {
            return None;
        }
        while asked != there {
            match asked.len() < there.len() {
                true => {
                    asked.extend(wanted.get(at).filter(|words| !words.is_empty())?);
                    at += 1;
                }
                false => {
                    let more = words(file.all.get(line)?.text);
                    if more.is_empty() {
                        return None;
                    }
                    there.extend(more);
                    line += 1;
                }
            }
            if at - old_start > MOST || line - file_start > MOST {
                return None;
            }
        }
        let is_one = at - old_start == 1 && line - file_start == 1;
        let bare = |line: &'_ str| line.trim_end_matches(is_blank).to_owned();
        if is_one && bare(olds.all[old_start].text) != bare(file.all[file_start].text) {
            return None;
        }
        groups.push(Group { old: old_start..at, file: file_start..line });
    }
    Some(groups)
}

/// The words of a line, each sign by itself. Quotes are left in, so that no string is taken for another one.
fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = line.trim_matches(is_blank);
    while let Some(first) = rest.chars().next() {
        let length = match is_word(first) {
            true => rest.len() - rest.trim_start_matches(is_word).len(),
            false => first.len_utf8(),
        };
        words.push(&rest[..length]);
        rest = rest[length..].trim_start_matches(is_blank);
    }
    words
}
