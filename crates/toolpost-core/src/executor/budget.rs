//! Steps 9 and 10: secrets taken out, the text cut to its budget and the whole kept under a handle.

use crate::blocking::in_pool;
use crate::context::Context;
use crate::error::ToolError;
use crate::event::EventKind;
use crate::outcome::{Metadata, Output, Truncation};
use crate::tool::OutputBudget;
use serde_json::Value;
use std::borrow::Cow;
use toolpost_text::{Redactor, map_strings};

/// Of what may be shown, this share is the beginning; the rest is the end.
const HEAD_SHARE: f64 = 0.6;

/// A text longer than this is worked on away from the async threads.
const LONG: usize = 256 * 1024;

const LOST: &str = "[the output was lost: the runtime is shutting down]";

/// The result without secrets. This comes before any cut, so that no cut shows half a secret.
pub(super) async fn without_secrets_in(
    ctx: &Context,
    result: Result<Output<Value>, ToolError>,
) -> Result<Output<Value>, ToolError> {
    let redactor = ctx.redactor().clone();
    if redactor.is_empty() {
        return result;
    }
    let change = |text: &str| redactor.redact(text).into_owned();
    let mut output = result.map_err(|error| error.map_text(&change))?;
    let text = std::mem::take(&mut output.text);
    output.text = match text.len() > LONG {
        false => without_secrets(&redactor, text),
        true => {
            let redactor = redactor.clone();
            in_pool(move || without_secrets(&redactor, text)).await.unwrap_or_else(|_| LOST.to_owned())
        }
    };
    output.title = change(&output.title);
    output.data = map_strings(output.data, &change);
    for attachment in &mut output.attachments {
        attachment.filename = change(&attachment.filename);
    }
    Ok(output)
}

/// A result that need not be cut here, with how the tool itself cut it; otherwise the result as it was. What the tool has
/// cut itself is cut: it knows of more than it handed over.
#[expect(clippy::type_complexity, reason = "the same pair as of `within`, or the result untouched")]
pub(super) fn fitting(
    budget: OutputBudget,
    result: Result<Output<Value>, ToolError>,
) -> Result<(Result<Output<Value>, ToolError>, Option<Truncation>), Result<Output<Value>, ToolError>> {
    match result {
        Err(error) if fits(error.message(), budget) => Ok((Err(error), None)),
        Ok(mut output) if output.truncated.is_some() || fits(&output.text, budget) => {
            let truncation = output.truncated.take();
            Ok((Ok(output), truncation))
        }
        result => Err(result),
    }
}

/// A result that does not fit, cut to its budget, and how it was cut.
pub(super) async fn within(
    ctx: &Context,
    budget: OutputBudget,
    result: Result<Output<Value>, ToolError>,
) -> (Result<Output<Value>, ToolError>, Option<Truncation>) {
    match result {
        Err(error) => {
            let (message, truncation) = kept_and_cut(ctx, budget, error.message().to_owned()).await;
            (Err(error.with_message(message)), truncation)
        }
        Ok(mut output) => {
            let text = std::mem::take(&mut output.text);
            let truncation;
            (output.text, truncation) = kept_and_cut(ctx, budget, text).await;
            (Ok(output), truncation)
        }
    }
}

/// What is told beside the result, without secrets.
pub(super) fn redacted(ctx: &Context, metadata: Metadata) -> Metadata {
    match ctx.redactor().is_empty() {
        true => metadata,
        false => metadata.map_text(&|text| ctx.redactor().redact(text).into_owned()),
    }
}

/// A text for a person, without secrets and cut to its budget; the rest is not kept.
pub(super) fn shortened(ctx: &Context, budget: OutputBudget, text: String) -> String {
    let text = without_secrets(ctx.redactor(), text);
    if fits(&text, budget) { text } else { cut(&text, budget, None, None).0 }
}

async fn kept_and_cut(ctx: &Context, budget: OutputBudget, text: String) -> (String, Option<Truncation>) {
    let spill = ctx.spill().cloned();
    let (session, call) = (ctx.session().to_owned(), ctx.call_id().to_owned());
    let reader = ctx.clone();
    let work = move || {
        let kept = spill.map(|spill| spill.keep(&session, &call, &text, &Redactor::default()));
        let (kept, failed) = match kept {
            Some(Ok(kept)) => (Some(kept), None),
            Some(Err(error)) => (None, Some(error.to_string())),
            None => (None, None),
        };
        let reading = kept.as_ref().and_then(|(handle, _)| reader.reading(handle));
        let (text, truncation) = cut(&text, budget, kept, reading);
        (text, truncation, failed)
    };
    let Ok((text, truncation, failed)) = in_pool(work).await else {
        return (LOST.to_owned(), None);
    };
    if let Truncation { handle: Some(handle), kept_bytes: bytes, .. } = &truncation {
        ctx.record(|| EventKind::OutputSpilled { handle: handle.clone(), bytes: *bytes });
    }
    if let Some(why) = failed {
        ctx.record(|| EventKind::Warning { message: format!("the whole output could not be kept: {why}") });
    }
    (text, Some(truncation))
}

fn without_secrets(redactor: &Redactor, text: String) -> String {
    match redactor.redact(&text) {
        Cow::Owned(redacted) => redacted,
        Cow::Borrowed(_) => text,
    }
}

fn fits(text: &str, budget: OutputBudget) -> bool {
    text.len() <= budget.bytes && count_lines(text) <= budget.lines
}

/// The two ends of a text, with a line between them that says what is missing and where it is.
fn cut(
    whole: &str,
    budget: OutputBudget,
    kept: Option<(String, u64)>,
    reading: Option<String>,
) -> (String, Truncation) {
    let (head, tail) = ends(whole, budget);
    let (total_bytes, total_lines) = (whole.len() as u64, count_lines(whole) as u64);
    let (handle, kept_bytes) = match kept {
        Some((handle, bytes)) => (Some(handle), bytes),
        None => (None, 0),
    };
    let shown_bytes = (head.len() + tail.len()) as u64;
    let left_out = total_bytes - shown_bytes;
    let lines = total_lines.saturating_sub((count_lines(head) + count_lines(tail)) as u64);
    let how = match &handle {
        Some(handle) => {
            let what = match kept_bytes < total_bytes {
                true => format!("the first {kept_bytes} bytes are kept"),
                false => "the whole is kept".to_owned(),
            };
            match reading {
                Some(reading) => format!("{what}: {reading} shows it by pages"),
                None => format!("{what} as {handle}"),
            }
        }
        None => "the whole was not kept".to_owned(),
    };
    let text = format!(
        "{head}\n\n[… {left_out} of {total_bytes} bytes ({lines} of {total_lines} lines) left out here; {how} …]\n\n{tail}"
    );
    (text, Truncation { total_bytes, total_lines, shown_bytes, handle, kept_bytes })
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
