//! What the ladder costs on texts that are nearly there, and that it ends.

use super::*;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use toolpost_core::{Code, Context, Memory};

/// Texts that grow, and an edit of each that is nearly there: what a ladder has most to do with.
fn near_misses(bytes: usize) -> Vec<(&'static str, String, String)> {
    let lines = |line: &dyn Fn(usize) -> String| -> String {
        let mut text = String::with_capacity(bytes + 100);
        for number in 0.. {
            text.push_str(&line(number));
            if text.len() >= bytes {
                break;
            }
        }
        text
    };
    // As long as an edit may be, or a part of the text.
    let share = (bytes / 20).clamp(60, 20_000);
    let part = |text: &str| -> String {
        let from = text.floor_char_boundary(text.len() / 2);
        let from = text[from..].find('\n').map_or(0, |at| from + at + 1);
        let to = text.floor_char_boundary((from + share).min(text.len()));
        text[from..to].to_owned()
    };
    let same = lines(&|_| "    same(line);\n".to_owned());
    let unique = lines(&|number| format!("    let value_{number} = compute({number}, other);\n"));
    let blocks = lines(&|number| match number % 5 {
        0 => "fn block() {\n".to_owned(),
        4 => "}\n".to_owned(),
        at => format!("    step_{at}();\n"),
    });
    let quotes = lines(&|number| format!("say(“{number}”, ‘x’ – y)\n"));
    let one_line = "word ".repeat(bytes / 5);
    let periodic = "ab".repeat(bytes / 2);
    let blank = lines(&|_| "   \n".to_owned());
    let returns = lines(&|number| format!("line {}\r\n", number % 7));
    let mut all = vec![
        ("unique lines, one other word", unique.clone(), part(&unique).replacen("compute", "computed", 1)),
        ("unique lines, other blanks", unique.clone(), part(&unique).replace("    ", "\t")),
        ("unique lines, nothing like it", unique.clone(), "entirely different text\n".repeat(share / 24)),
        ("the same line, one other at the end", same.clone(), format!("{}    other(line);\n", part(&same))),
        ("the same line, less indented", same.clone(), part(&same).replace("    ", "  ")),
        ("blocks, the last line other", blocks.clone(), format!("{}x\n", part(&blocks))),
        ("blocks, one slip", blocks.clone(), part(&blocks).replacen("step_2", "stp_2", 1)),
        ("quotes", quotes.clone(), part(&quotes).replace(['“', '”'], "\"")),
        ("one line", one_line.clone(), format!("{}x", &one_line[..share / 5 * 5])),
        ("a period", periodic.clone(), format!("{}c", &periodic[..share])),
        ("blanks", blank.clone(), format!("{}abc\n", part(&blank))),
        ("CRLF", returns.clone(), part(&returns).replace("\r\n", "\n").replacen("line 3", "line x", 1)),
        ("numbers", unique.clone(), {
            part(&unique).lines().zip(1..).map(|(line, at)| format!("{at}: {line}x\n")).collect()
        }),
    ];
    all.push(("escapes", unique.clone(), part(&unique).replace('\n', "\\n")));
    all
}

/// Ten times the text is about ten times the work, whatever the text is: counted in steps, so that it does not matter how
/// busy the machine is.
#[test]
#[expect(clippy::disallowed_methods, reason = "tests are told by the environment how much to try")]
fn the_work_grows_with_the_text_and_no_faster() {
    let is_soak = std::env::var_os("TOOLPOST_SOAK").is_some_and(|value| value == "1");
    let sizes: &[usize] =
        if is_soak { &[10_000, 100_000, 1_000_000, 10_000_000] } else { &[10_000, 100_000] };
    let work = |bytes: usize| -> Vec<(&'static str, u64)> {
        let spent = |(what, text, old): (&'static str, String, String)| {
            let effort = Effort::limited(u64::MAX);
            let _ = super::super::find(&effort, &text, &old, "new text\n", Wanted::One);
            (what, effort.spent())
        };
        near_misses(bytes).into_iter().map(spent).collect()
    };
    let mut before = work(sizes[0]);
    for (size, times) in sizes.windows(2).map(|pair| (pair[1], pair[1] / pair[0])) {
        let now = work(size);
        for ((what, few), (_, many)) in before.iter().zip(&now) {
            // The edit grows too, up to its bound: so much more for what depends on both.
            assert!(*many < few * times as u64 * 3, "{what}, {size} bytes: {few} steps became {many}");
            assert!(*many < size as u64 * 400, "{what}: {many} steps for {size} bytes");
        }
        before = now;
    }
}

#[test]
fn a_ladder_ends_when_its_steps_are_used_up() {
    for (what, text, old) in near_misses(20_000) {
        let whole = Effort::limited(u64::MAX);
        let _ = super::super::find(&whole, &text, &old, "new\n", Wanted::One);
        let effort = Effort::limited(whole.spent() / 2);
        let failure = super::super::find(&effort, &text, &old, "new\n", Wanted::One).unwrap_err();
        let Failure::Stopped(error) = failure else { panic!("{what}: {failure:?}") };
        assert_eq!(error.code(), toolpost_core::Code::TooLarge, "{what}");
    }
}

/// A text of numbered lines, and a part of it as large as an edit may be.
fn numbered(lines: usize) -> (String, String) {
    let line = |number: usize| format!("    let value_{number} = \"{number}\";\n");
    let text: String = (0..lines).map(line).collect();
    let part = (lines / 2..lines / 2 + (lines / 20).clamp(6, 400)).map(line).collect();
    (text, part)
}

/// For each step an edit that only this step can place, as old and new text.
fn landings(lines: usize) -> Vec<(Step, String, String, String)> {
    let (text, part) = numbered(lines);
    let first = lines / 2;
    let changed = part.replacen(&format!("\"{}\"", first + 3), "\"other\"", 1);
    let both =
        |step: Step, change: &dyn Fn(&str) -> String| (step, text.clone(), change(&part), change(&changed));
    let prefixed = |text: &str| -> String {
        text.lines().zip(first + 1..).map(|(line, number)| format!("{number}: {line}\n")).collect()
    };
    let slipped = |text: &str| text.replacen("    let", "        let", 1);
    let gap = format!("value_{} ", first + 2);
    let last = format!("\"{}\";", first + 2);
    let without_last = |text: &str| {
        text.lines().filter(|line| !line.ends_with(&last)).map(|line| format!("{line}\n")).collect()
    };
    let mut all = vec![
        both(Step::Exact, &str::to_owned),
        (Step::LineEndings, text.replace('\n', "\r\n"), part.clone(), changed.clone()),
        (Step::TrailingWhitespace, text.clone(), part.replace(";\n", "; \n"), changed.clone()),
        both(Step::Indentation, &|text| text.replace("    let", "  let")),
        both(Step::Indentation, &slipped),
        both(Step::Blanks, &|text| text.replacen(&gap, &format!("{gap} "), 1)),
        both(Step::LookAlikes, &|text| text.replace('"', "”")),
        both(Step::BlankLines, &|text| format!("\n{}", text.replace("    let", "let"))),
        both(Step::LinePrefixes, &prefixed),
        both(Step::Escapes, &|text| text.replace('\n', "\\n")),
        both(Step::CodeFences, &|text| format!("```\n{text}```\n")),
        both(Step::Wrapping, &|text| text.lines().map(|line| format!("> {line}\n")).collect()),
    ];
    let slip = part.replacen(&last, last.trim_end_matches(';'), 1);
    all.push((Step::AnchoredBlock, text.clone(), slip, without_last(&part)));
    all
}

#[test]
fn each_step_that_lands_counts_its_work_and_no_step_costs_more_than_its_text() {
    let work = |lines: usize| -> Vec<(Step, usize, u64)> {
        let spent = |(step, text, old, new): (Step, String, String, String)| {
            let effort = Effort::limited(u64::MAX);
            let found = super::super::find(&effort, &text, &old, &new, Wanted::One);
            let found = found.unwrap_or_else(|failure| panic!("{step}, {lines} lines: {failure:?}"));
            assert_eq!(found[0].step, step, "{lines} lines: {old}");
            (step, text.len(), effort.spent())
        };
        landings(lines).into_iter().map(spent).collect()
    };
    let reached: std::collections::BTreeSet<Step> =
        landings(200).into_iter().map(|(step, ..)| step).collect();
    assert_eq!(reached.into_iter().collect::<Vec<_>>(), Step::ALL);
    for ((step, few_bytes, few), (_, many_bytes, many)) in work(400).into_iter().zip(work(8_000)) {
        let times = (many_bytes / few_bytes) as u64;
        assert!(many < few * times * 3, "{step}: {few} steps became {many}");
        // Exact text is searched for many bytes at a time.
        assert!(few > few_bytes as u64 / 16, "{step}: {few} steps for {few_bytes} bytes are not all");
    }
}

/// A call that has ended is left within each step, in the middle of a text of some megabytes.
#[test]
fn each_step_is_left_when_the_call_has_ended() {
    let token = CancellationToken::new();
    token.cancel();
    let ctx = Context::builder(Arc::new(Memory::new())).cancel(token).build();
    let code = |found: Result<Vec<Found>, Stop>| match found {
        Err(Stop::Effort(error)) => Some(error.code()),
        _ => None,
    };
    for (step, text, old, new) in landings(300_000) {
        let (effort, lines) = (Effort::of(&ctx), Lines::of(&text));
        let found = match step {
            Step::Exact => endings::exact(&effort, &text, "none such", &new, Wanted::One),
            Step::LineEndings => endings::any_endings(&effort, &text, &old, &new, Wanted::One),
            Step::Wrapping => undoing::without(&effort, &lines, &old, &new).map_err(|(_, stop)| stop),
            step => attempt(&effort, &lines, &old, &new, step),
        };
        assert_eq!(code(found), Some(Code::Cancelled), "{step}");
    }
    let (text, part) = numbered(300_000);
    let (effort, lines) = (Effort::of(&ctx), Lines::of(&text));
    let nearest = nearest::nearest(&effort, &lines, &part);
    assert_eq!(nearest.err().map(|error| error.code()), Some(Code::Cancelled), "nearest");
}
