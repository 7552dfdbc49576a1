//! Steps 9 and 10: secrets taken out, the text cut to its budget and the whole kept under a handle.

use crate::context::Context;
use crate::error::{ToolError, map_strings};
use crate::event::EventKind;
use crate::outcome::{Output, Truncation};
use crate::tool::OutputBudget;
use serde_json::Value;

/// Of what may be shown, this share is the beginning; the rest is the end.
const HEAD_SHARE: f64 = 0.6;

/// The result as it may leave.
pub(super) async fn finish(
    ctx: &Context,
    budget: OutputBudget,
    result: Result<Output<Value>, ToolError>,
) -> (Result<Output<Value>, ToolError>, Option<Truncation>) {
    let redactor = ctx.redactor().clone();
    let change = |text: &str| redactor.redact(text).into_owned();
    match result {
        Err(error) if redactor.is_empty() => (Err(error), None),
        Err(error) => (Err(error.map_text(&change)), None),
        Ok(mut output) => {
            let truncation = cut(ctx, budget, &mut output).await;
            if !redactor.is_empty() {
                output.title = change(&output.title);
                output.text = change(&output.text);
                output.data = map_strings(output.data, &change);
            }
            (Ok(output), truncation)
        }
    }
}

async fn cut(ctx: &Context, budget: OutputBudget, output: &mut Output<Value>) -> Option<Truncation> {
    if output.text.len() <= budget.bytes && count_lines(&output.text) <= budget.lines {
        return None;
    }
    let whole = std::mem::take(&mut output.text);
    let (head, tail) = ends(&whole, budget);
    let (head, tail) = (head.to_owned(), tail.to_owned());
    let (total_bytes, total_lines) = (whole.len() as u64, count_lines(&whole) as u64);
    let kept = keep(ctx, whole).await;
    let (handle, kept_bytes) = match kept {
        Some((handle, bytes)) => (Some(handle), bytes),
        None => (None, 0),
    };
    let left_out = total_bytes - (head.len() + tail.len()) as u64;
    let lines = total_lines.saturating_sub((count_lines(&head) + count_lines(&tail)) as u64);
    let how = match &handle {
        Some(handle) if kept_bytes < total_bytes => {
            format!("the first {kept_bytes} bytes are kept: read filePath `{handle}`")
        }
        Some(handle) => format!("the whole is kept: read filePath `{handle}` with offset and limit"),
        None => "the whole was not kept".to_owned(),
    };
    output.text = format!(
        "{head}\n\n[… {left_out} of {total_bytes} bytes ({lines} of {total_lines} lines) left out here; {how} …]\n\n{tail}"
    );
    Some(Truncation {
        total_bytes,
        total_lines,
        shown_bytes: (head.len() + tail.len()) as u64,
        handle,
        kept_bytes,
    })
}

/// Writes the whole to the spill, away from the async threads.
async fn keep(ctx: &Context, whole: String) -> Option<(String, u64)> {
    let spill = ctx.spill()?.clone();
    let redactor = ctx.redactor().clone();
    let (session, call) = (ctx.session().to_owned(), ctx.call_id().to_owned());
    let written = tokio::task::spawn_blocking(move || spill.keep(&session, &call, &whole, &redactor)).await;
    match written {
        Ok(Ok((handle, bytes))) => {
            ctx.record(|| EventKind::OutputSpilled { handle: handle.clone(), bytes });
            Some((handle, bytes))
        }
        failed => {
            let why = match failed {
                Ok(Err(error)) => error.to_string(),
                _ => "it was stopped".to_owned(),
            };
            ctx.record(|| EventKind::Warning {
                message: format!("the whole output could not be kept: {why}"),
            });
            None
        }
    }
}

/// The beginning and the end that fit the budget, cut between lines where lines are short enough.
fn ends(text: &str, budget: OutputBudget) -> (&str, &str) {
    let head_bytes = (budget.bytes as f64 * HEAD_SHARE) as usize;
    let head_lines = (budget.lines as f64 * HEAD_SHARE) as usize;
    let head = head_of(text, head_bytes, head_lines);
    let rest = &text[head.len()..];
    let tail = tail_of(rest, budget.bytes - head_bytes, budget.lines - head_lines);
    (head.trim_end_matches('\n'), tail)
}

fn head_of(text: &str, bytes: usize, lines: usize) -> &str {
    let by_lines = text.match_indices('\n').nth(lines.saturating_sub(1)).map_or(text.len(), |(at, _)| at + 1);
    let limit = text.floor_char_boundary(bytes.min(by_lines));
    let part = &text[..limit];
    match part.rfind('\n') {
        // A cut within a line only where the line itself is most of what fits.
        Some(at) if limit < text.len() && at + 1 >= limit / 2 => &part[..at + 1],
        _ => part,
    }
}

fn tail_of(text: &str, bytes: usize, lines: usize) -> &str {
    let by_lines = text.rmatch_indices('\n').nth(lines).map_or(0, |(at, _)| at + 1);
    let start = text.ceil_char_boundary(by_lines.max(text.len().saturating_sub(bytes)));
    let part = &text[start..];
    match part.find('\n') {
        Some(at) if start > 0 && start != by_lines && at < part.len() / 2 => &part[at + 1..],
        _ => part,
    }
}

fn count_lines(text: &str) -> usize {
    let newlines = text.bytes().filter(|byte| *byte == b'\n').count();
    newlines + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, bytes: usize, lines: usize, head: &str, tail: &str) {
        assert_eq!(ends(text, OutputBudget { bytes, lines }), (head, tail));
    }

    #[test]
    fn ends_are_whole_lines() {
        let text: String = (1..=100).map(|n| format!("line {n}\n")).collect();
        check(&text, 10_000, 5, "line 1\nline 2\nline 3", "line 99\nline 100\n");
        check(&text, 40, 100, "line 1\nline 2\nline 3", "line 100\n");
    }

    #[test]
    fn one_long_line_is_cut_between_characters() {
        let text = "ä".repeat(100);
        check(&text, 21, 10, &"ä".repeat(6), &"ä".repeat(4));
    }

    #[test]
    fn cutting_never_shows_more_than_the_budget() {
        for text in
            ["a\nb\n".repeat(50), "x".repeat(500), format!("{}\n{}", "y".repeat(300), "z\n".repeat(99))]
        {
            for bytes in 1..80 {
                for lines in [1, 2, 7] {
                    let (head, tail) = ends(&text, OutputBudget { bytes, lines });
                    assert!(head.len() + tail.len() <= bytes, "{bytes} {lines}");
                }
            }
        }
    }
}
