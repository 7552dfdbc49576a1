//! Patches for files that have changed since: each is right or refused, and a refused one changes nothing.
//!
//! Every line of the file that a patch was made for has a number of its own, which it keeps wherever it goes; what is
//! right is told from these numbers, and from the very letters of the patch. Nothing here asks the tool.

mod accepted;

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

fn joined(lines: &[Line], ending: &str) -> String {
    lines.iter().flat_map(|line| [line.text.as_str(), ending]).collect()
}

async fn text(ctx: &Context, name: &str) -> String {
    let mut text = String::new();
    let mut file = ctx.workspace().open(&WorkspacePath::new(name)).unwrap();
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
            memory.write(&WorkspacePath::new(name), before.as_bytes()).unwrap();
            memory.write(&WorkspacePath::new("other"), b"x\n").unwrap();
            let ctx = Context::builder(Arc::new(memory)).build();
            let outcome: Outcome =
                executor.run(&ctx, Call::new("apply_patch", json!({"patch": whole}))).await;
            let (after, other_after) = (text(&ctx, name).await, text(&ctx, "other").await);
            let accepted = accepted::accepted(&base, &lines, &hunks, format);
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
    // An apply_patch that refuses everything is never wrong.
    assert!(right * 10 >= possible * 6, "only {right} of {possible} are placed");
    assert!(wrong.is_empty(), "{}", wrong.iter().take(12).cloned().collect::<Vec<_>>().join("\n=====\n"));
}
