//! Patches for files that have changed since: each is right or refused, and a refused one changes nothing.
//!
//! Every line of the file that a patch was made for has a number of its own, which it keeps wherever it goes; what is
//! right is told from these numbers, and from the very letters of the patch. Nothing here asks the tool.

use super::super::mutations::{Random, indent, sources};
use super::super::{count, executor, run, seed};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use toolpost_core::{Call, Context, Memory, Outcome, Workspace, WorkspacePath};

/// A line, and which one it was in the file that the patch was made for.
#[derive(Debug, Clone, PartialEq)]
struct Line {
    id: Option<usize>,
    text: String,
}

/// What a patch is to do at one place: lines from `start` on go, others come.
#[derive(Debug, Clone)]
struct Change {
    start: usize,
    removed: usize,
    added: Vec<String>,
}

/// The change with what the patch shows of the file around it.
#[derive(Debug, Clone)]
struct Hunk {
    change: Change,
    first: usize,
    end: usize,
    header: Option<usize>,
}

fn change(random: &mut Random, base: &[String], from: usize, to: usize) -> Change {
    let start = from + random.below(to - from);
    let most = (to - start).min(3);
    let depth = base[start][..indent(&base[start])].to_owned();
    let new = |number: usize| format!("{depth}brand_new({number});");
    let (removed, added) = match random.below(4) {
        0 => (0, vec![new(1)]),
        1 => (1 + random.below(most), Vec::new()),
        2 => (1 + random.below(most), vec![new(2), new(3)]),
        _ => (1, vec![base[start].replacen(|c: char| c.is_alphanumeric(), "Zz", 1) + " "]),
    };
    Change { start, removed, added }
}

/// One or two changes, far enough from each other for a hunk each.
fn hunks(random: &mut Random, base: &[String], context: usize, has_headers: bool) -> Vec<Hunk> {
    let middle = base.len() / 2;
    let mut changes = vec![change(random, base, 0, middle - 7)];
    if random.below(2) == 0 {
        changes.push(change(random, base, middle + 7, base.len()));
    }
    let hunk = |change: Change| {
        let first = change.start.saturating_sub(context);
        let end = (change.start + change.removed + context).min(base.len());
        let depth = indent(&base[first]);
        let is_header = |at: &usize| indent(&base[*at]) < depth && base[*at].trim().len() > 3;
        let header = (0..first).rev().find(is_header).filter(|_| has_headers);
        Hunk { change, first, end, header }
    };
    changes.into_iter().map(hunk).collect()
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Format {
    Envelope,
    Unified,
}

fn body(base: &[String], hunk: &Hunk) -> String {
    let Change { start, removed, added } = &hunk.change;
    let (go, end) = (start + removed, hunk.end);
    let shown = |mark: &str, lines: &[String]| -> String {
        lines.iter().map(|line| format!("{mark}{line}\n")).collect()
    };
    [
        shown(" ", &base[hunk.first..*start]),
        shown("-", &base[*start..go]),
        shown("+", added),
        shown(" ", &base[go..end]),
    ]
    .concat()
}

fn patch(name: &str, base: &[String], hunks: &[Hunk], format: Format) -> String {
    let mut text = String::new();
    let mut shift = 0_isize;
    for hunk in hunks {
        let (old, removed, added) = (hunk.end - hunk.first, hunk.change.removed, hunk.change.added.len());
        match format {
            Format::Envelope => {
                let header = hunk.header.map_or(String::new(), |at| format!(" {}", base[at].trim()));
                text.push_str(&format!("@@{header}\n"));
            }
            Format::Unified => {
                let new = old - removed + added;
                let at = hunk.first + 1;
                text.push_str(&format!("@@ -{at},{old} +{},{new} @@\n", at.cast_signed() + shift));
                shift += added.cast_signed() - removed.cast_signed();
            }
        }
        text.push_str(&body(base, hunk));
    }
    match format {
        Format::Envelope => format!("*** Update File: {name}\n{text}"),
        Format::Unified => format!("--- a/{name}\n+++ b/{name}\n{text}"),
    }
}

/// What happened to the file meanwhile, `near` the place of a change or anywhere.
fn drift(random: &mut Random, lines: &mut Vec<Line>, near: usize) -> &'static str {
    let near = lines.iter().position(|line| line.id == Some(near)).unwrap_or(0);
    let at = match random.below(2) {
        0 => random.below(lines.len()),
        _ => (near + random.below(10)).saturating_sub(5).min(lines.len() - 1),
    };
    let end = (at + 1 + random.below(8)).min(lines.len());
    let copied = |lines: &[Line]| -> Vec<Line> {
        lines.iter().map(|line| Line { id: None, text: line.text.clone() }).collect()
    };
    let (word, _) = match random.below(10) {
        0 => {
            let new = Line { id: None, text: format!("// somebody else's {}", random.below(100)) };
            ("inserted", lines.insert(at, new))
        }
        1 => {
            let blank = Line { id: None, text: String::new() };
            ("blank inserted", lines.insert(at, blank))
        }
        2 => ("dropped", drop(lines.remove(at))),
        3 => {
            let copy = copied(&lines[at..=at]);
            ("doubled", lines.insert(at, copy[0].clone()))
        }
        4 => {
            let more = random.pick(&["  ", "    ", "\t"]);
            let filled = lines[at..end].iter_mut().filter(|line| !line.text.is_empty());
            ("indented", filled.for_each(|line| line.text.insert_str(0, more)))
        }
        5 => {
            let more = random.pick(&["  ", "    "]);
            let filled = lines.iter_mut().filter(|line| !line.text.is_empty());
            ("indented all", filled.for_each(|line| line.text.insert_str(0, more)))
        }
        6 => {
            let block: Vec<Line> = lines.drain(at..end).collect();
            let to = random.below(lines.len() + 1);
            ("moved", drop(lines.splice(to..to, block).collect::<Vec<_>>()))
        }
        7 | 8 => {
            let from = near.saturating_sub(random.below(6));
            let to = (near + 1 + random.below(8)).min(lines.len());
            let mut copy = copied(&lines[from..to]);
            if random.below(2) == 0 {
                let at = random.below(copy.len());
                copy[at].text.push_str(random.pick(&[" ", "x", " // other"]));
            }
            let to = random.below(lines.len() + 1);
            ("duplicated", drop(lines.splice(to..to, copy).collect::<Vec<_>>()))
        }
        _ => ("changed", lines[at].text = format!("{}!", lines[at].text)),
    };
    word
}

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
/// they are, or as much deeper as one of those that they stand among.
fn to_the_letter(base: &[String], lines: &[Line], hunk: &Hunk, at: usize, blanks: Blanks) -> Vec<Vec<Line>> {
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
    let most = (0..lines.len()).map(exact).max().unwrap_or(0);
    let is_elsewhere = most > exact(at) && most * 2 >= old.iter().filter(filled).count();
    if matches!(blanks, Blanks::AreOverlooked) && is_elsewhere {
        return Vec::new();
    }
    let from = at + hunk.change.start - hunk.first;
    let mut results = Vec::new();
    for (line, old) in there.iter().zip(old) {
        let new = hunk.change.added.iter().map(|text| reindented(text, old, &line.text));
        let mut result = lines.to_vec();
        let new = new.map(|text| Line { id: None, text });
        result.splice(from..from + hunk.change.removed, new);
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
fn accepted(base: &[String], lines: &[Line], hunks: &[Hunk], format: Format) -> Vec<Vec<Line>> {
    // A file on the way, how far its last hunk was from its number, and where that ended.
    let mut files = vec![(lines.to_vec(), 0_isize, 0)];
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
            for blanks in [Blanks::Count, Blanks::AreOverlooked] {
                let results = |at: &usize| to_the_letter(base, file, hunk, *at, blanks);
                let letters: Vec<usize> = (0..file.len()).filter(|at| !results(at).is_empty()).collect();
                // Hunks come in the order of the file, and below the line that they name.
                let behind: Vec<&usize> = letters.iter().filter(|at| *at >= cursor).collect();
                let header = hunk.header.map(|id| base[id].trim());
                let headers = (0..file.len()).filter(|at| Some(file[*at].text.trim()) == header);
                let mut below: Vec<&usize> =
                    headers.filter_map(|header| letters.iter().find(|at| **at > header)).collect();
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

fn joined(lines: &[Line], ending: &str) -> String {
    lines.iter().flat_map(|line| [line.text.as_str(), ending]).collect()
}

async fn text(ctx: &Context, name: &str) -> String {
    let mut text = String::new();
    let mut file = ctx.workspace().open(&WorkspacePath::new(name)).await.unwrap();
    file.reader.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn guarantee_06_drifted_patches_are_right_or_refused() {
    let total = count(1_500, 20_000);
    let mut random = Random(seed("drifted patches"));
    let (executor, sources) = (executor(), sources());
    let (mut right, mut refused, mut wrong) = (0, 0, Vec::new());
    let mut possible = 0;
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    run(async {
        for _ in 0..total {
            let (name, source) = random.pick(&sources);
            let base: Vec<String> = source.lines().map(str::to_owned).collect();
            let format = random.pick(&[Format::Envelope, Format::Unified]);
            let context = if format == Format::Unified { 3 } else { 1 + random.below(3) };
            let has_headers = format == Format::Envelope && random.below(3) == 0;
            let hunks = hunks(&mut random, &base, context, has_headers);
            let number = |(id, text): (usize, &String)| Line { id: Some(id), text: text.clone() };
            let mut lines: Vec<Line> = base.iter().enumerate().map(number).collect();
            let near = hunks[random.below(hunks.len())].change.start;
            let words: Vec<&str> =
                (0..random.below(4)).map(|_| drift(&mut random, &mut lines, near)).collect();
            let ending = random.pick(&["\n", "\n", "\r\n"]);
            // Another file of the same patch, which fits or does not.
            let other = random.pick(&[None, None, Some("+y\n-x\n"), Some("+y\n-z\n")]);
            let mut whole = patch(name, &base, &hunks, format);
            if let Some(other) = other {
                whole.push_str(&match format {
                    Format::Envelope => format!("*** Update File: other\n@@\n{other}"),
                    Format::Unified => format!("--- a/other\n+++ b/other\n@@ -1,1 +1,1 @@\n{other}"),
                });
            }
            if format == Format::Envelope {
                whole = format!("*** Begin Patch\n{whole}*** End Patch\n");
            }
            let before = joined(&lines, ending);
            let memory = Memory::new();
            memory.write(&WorkspacePath::new(name), before.as_bytes()).await.unwrap();
            memory.write(&WorkspacePath::new("other"), b"x\n").await.unwrap();
            let ctx = Context::builder(Arc::new(memory)).build();
            let outcome: Outcome =
                executor.run(&ctx, Call::new("apply_patch", json!({"patch": whole}))).await;
            let (after, other_after) = (text(&ctx, name).await, text(&ctx, "other").await);
            let accepted = accepted(&base, &lines, &hunks, format);
            let fits = other != Some("+y\n-z\n");
            possible += usize::from(fits && !accepted.is_empty());
            match &outcome.result {
                Err(error) => {
                    refused += 1;
                    if fits && !accepted.is_empty() {
                        let doubt = error.message().split("is in doubt: ").nth(1);
                        let why = doubt.and_then(|why| why.split(';').next()).unwrap_or_default();
                        let hunks = if accepted.len() == 1 { "one way" } else { "several ways" };
                        let reason = format!("{format:?}, {hunks}, {} {why}", error.code().as_str());
                        *reasons.entry(reason).or_default() += 1;
                    }
                    assert!(
                        after == before && other_after == "x\n",
                        "a refused patch changed a file: {error}"
                    );
                    assert!(
                        !words.is_empty() || !fits || error.code().as_str() == "AMBIGUOUS_MATCH",
                        "nothing had changed: {error}\n{whole}"
                    );
                }
                Ok(_)
                    if fits
                        && other_after == if other.is_some() { "y\n" } else { "x\n" }
                        && accepted.iter().any(|lines| joined(lines, ending) == after) =>
                {
                    right += 1
                }
                Ok(output) => wrong.push(format!("{name}, {words:?}\n{whole}---\n{}\n{before}", output.text)),
            }
        }
    });
    println!(
        "measure: guarantee 6: {total} patches of files that had changed: {right} right, {refused} refused \
         ({possible} could have been placed), {} wrong",
        wrong.len()
    );
    println!("measure: patches refused that could have been placed: {reasons:?}");
    assert!(wrong.is_empty(), "{}", wrong.iter().take(12).cloned().collect::<Vec<_>>().join("\n=====\n"));
}
