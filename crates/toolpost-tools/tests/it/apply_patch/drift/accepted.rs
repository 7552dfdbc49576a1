//! Everything that a file may rightly become by a patch that was made for it as it was before.

use super::super::super::mutations::indent;
use super::{Change, Format, Hunk, Line};

/// Where the change belongs by the numbers of its lines, and what the file becomes: several ways where lines came
/// between those that it stands between, or were indented otherwise.
fn by_number(base: &[String], lines: &[Line], hunk: &Hunk) -> Vec<Vec<Line>> {
    let Change { start, removed, added } = &hunk.change;
    let place = |id: usize| lines.iter().position(|line| line.id == Some(id));
    // What goes must be there, and be what the patch says.
    let is_there = |id: usize| place(id).is_some_and(|at| lines[at].text.trim() == base[id].trim());
    if !(*start..start + removed).all(is_there) {
        return Vec::new();
    }
    let goes = |line: &Line| line.id.is_some_and(|id| (*start..start + removed).contains(&id));
    let left = || lines.iter().filter(|line| !goes(line)).cloned();
    if added.is_empty() {
        return vec![left().collect()];
    }
    let neighbours: Vec<usize> = (hunk.first..hunk.end).filter(|id| place(*id).is_some()).collect();
    let mut results = Vec::new();
    // After a line before the change, in its place, or before the line that follows it.
    let mut spots: Vec<usize> = Vec::new();
    for id in &neighbours {
        let before = |at: usize| lines[..at].iter().filter(|line| !goes(line)).count();
        if let Some(at) = place(*id) {
            match *id < start + removed {
                true if *id + 1 >= *start => spots.push(before(at + 1)),
                true => {}
                false if *id == start + removed => spots.push(before(at)),
                false => {}
            }
        }
    }
    spots.sort_unstable();
    spots.dedup();
    let mut shifts: Vec<Option<usize>> = vec![None];
    shifts.extend(neighbours.iter().filter(|id| !base[**id].trim().is_empty()).map(|id| Some(*id)));
    for spot in spots {
        for shift in &shifts {
            let indented = |text: &String| match shift.and_then(|id| Some((id, place(id)?))) {
                None => text.clone(),
                Some((id, at)) => reindented(text, &base[id], &lines[at].text),
            };
            let new = added.iter().map(|text| Line { id: None, text: indented(text) });
            let mut result: Vec<Line> = left().collect();
            result.splice(spot..spot, new);
            if !results.contains(&result) {
                results.push(result);
            }
        }
    }
    results
}

/// A line as much deeper as one of its neighbours has become.
fn reindented(text: &str, was: &str, is: &str) -> String {
    let (was, is) = (&was[..indent(was)], &is[..indent(is)]);
    match is.strip_suffix(was) {
        Some(more) if !text.trim().is_empty() => format!("{more}{text}"),
        _ => text.to_owned(),
    }
}

/// The change where the lines of the patch stand from line `at` on, but for the blanks around each: the new lines as
/// they are, or as much deeper as one of those that they stand among. What is above line `from` is not looked at.
fn to_the_letter(
    base: &[String],
    lines: &[Line],
    hunk: &Hunk,
    at: usize,
    from: usize,
    blanks: Blanks,
) -> Vec<Vec<Line>> {
    let old = &base[hunk.first..hunk.end];
    let Some(there) = lines.get(at..at + old.len()) else { return Vec::new() };
    let is_same = |(line, old): (&Line, &String)| match blanks {
        Blanks::Count => line.text == *old,
        Blanks::AreOverlooked => line.text.trim() == old.trim(),
    };
    if !there.iter().zip(old).all(is_same) {
        return Vec::new();
    }
    // Nobody looks past blanks here while more of the lines, and half of them, are elsewhere with the very blanks.
    let filled = |line: &&String| !line.trim().is_empty();
    let exact = |at: usize| {
        let pairs = old.iter().zip(lines.iter().skip(at)).filter(|(old, _)| filled(old));
        pairs.filter(|(old, line)| line.text == **old).count()
    };
    let most = (from..lines.len()).map(exact).max().unwrap_or(0);
    let is_elsewhere = most > exact(at) && most * 2 >= old.iter().filter(filled).count();
    if matches!(blanks, Blanks::AreOverlooked) && is_elsewhere {
        return Vec::new();
    }
    let goes = at + hunk.change.start - hunk.first;
    let mut results = Vec::new();
    for (line, old) in there.iter().zip(old) {
        let new = hunk.change.added.iter().map(|text| reindented(text, old, &line.text));
        let mut result = lines.to_vec();
        let new = new.map(|text| Line { id: None, text });
        result.splice(goes..goes + hunk.change.removed, new);
        if !results.contains(&result) {
            results.push(result);
        }
    }
    results
}

#[derive(Clone, Copy)]
enum Blanks {
    Count,
    AreOverlooked,
}

/// Everything that the file may become.
pub(super) fn accepted(base: &[String], lines: &[Line], hunks: &[Hunk], format: Format) -> Vec<Vec<Line>> {
    // A file on the way, how far its last hunk was from its number, and where that ended.
    let mut files = vec![(lines.to_vec(), 0_isize, 0_usize)];
    for hunk in hunks {
        let mut next: Vec<(Vec<Line>, isize, usize)> = Vec::new();
        for (file, drift, cursor) in &files {
            let grown = hunk.change.added.len().cast_signed() - hunk.change.removed.cast_signed();
            let mut add = |result: Vec<Line>, drift: isize, at: usize| {
                let end = at + hunk.change.start - hunk.first + hunk.change.added.len();
                if next.iter().all(|known| (&known.0, known.1, known.2) != (&result, drift, end)) {
                    next.push((result, drift, end));
                }
            };
            for result in by_number(base, file, hunk) {
                // Where it was put by number is where its first line is now.
                let place = (hunk.first..hunk.end)
                    .find_map(|id| Some((id, file.iter().position(|line| line.id == Some(id))?)));
                let moved = place.map_or(0, |(id, at)| at.cast_signed() - id.cast_signed());
                add(result, moved + grown, place.map_or(0, |(_, at)| at));
            }
            // Hunks come in the order of the file, and below the line that they name.
            let header = hunk.header.map(|id| base[id].trim());
            let is_header = |line: &Line| Some(line.text.trim()) == header;
            let mut headers: Vec<usize> = (0..file.len()).filter(|at| is_header(&file[*at])).collect();
            // A header may be the beginning of its line, if of one only.
            if let (Some(header), true) = (header, headers.is_empty()) {
                headers = (0..file.len()).filter(|at| file[*at].text.trim().starts_with(header)).collect();
                headers.truncate(if headers.len() == 1 { 1 } else { 0 });
            }
            // One that a hunk before this takes away was where that hunk is.
            if headers.is_empty() && lines.iter().filter(|line| is_header(line)).count() == 1 {
                headers.push(cursor.saturating_sub(1));
            }
            let named = headers.iter().copied().find(|header| header >= cursor);
            for (blanks, from) in [
                (Blanks::Count, 0),
                (Blanks::AreOverlooked, 0),
                (Blanks::AreOverlooked, *cursor),
                (Blanks::AreOverlooked, named.unwrap_or(*cursor)),
            ] {
                let results = |at: &usize| to_the_letter(base, file, hunk, *at, from, blanks);
                let letters: Vec<usize> = (from..file.len()).filter(|at| !results(at).is_empty()).collect();
                let behind: Vec<&usize> = letters.iter().filter(|at| *at >= cursor).collect();
                let mut below: Vec<&usize> =
                    headers.iter().filter_map(|header| letters.iter().find(|at| *at > header)).collect();
                below.dedup();
                for at in &letters {
                    let is_only = letters.len() == 1 || behind == [at] || below == [at];
                    let is_said = format == Format::Unified
                        && [0, *drift]
                            .iter()
                            .any(|drift| hunk.first.cast_signed() + drift == at.cast_signed());
                    if is_said || is_only {
                        for result in results(at) {
                            add(result, at.cast_signed() - hunk.first.cast_signed() + grown, *at);
                        }
                    }
                }
            }
        }
        files = next;
    }
    files.into_iter().map(|(file, ..)| file).collect()
}
