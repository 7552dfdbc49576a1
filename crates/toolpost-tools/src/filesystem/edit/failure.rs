//! What a refused edit says: enough to ask again and succeed.

use super::Replacement;
use crate::filesystem::ladder::{self, Doubt, Failure, MOST_LISTED as MOST_FOUND, Near, Step};
use serde_json::json;
use std::fmt::Write as _;
use toolpost_core::{Code, Context, ToolError, WorkspacePath};

/// Places that a message lists.
const MOST_LISTED: usize = 20;

/// The name by which the caller knows an argument.
pub(super) fn argument(ctx: &Context, name: &str) -> String {
    ctx.argument(name).unwrap_or(name).to_owned()
}

/// A reason that speaks of the texts of an edit, in the caller's names for them.
fn in_words_of_caller(ctx: &Context, reason: &str) -> String {
    let named = |text: &str, name: &str| text.replace(name, &argument(ctx, name));
    named(&named(reason, "oldString"), "newString")
}

pub(super) fn no_change(ctx: &Context, path: &WorkspacePath, edit: Option<usize>) -> ToolError {
    let which = edit.map_or_else(String::new, |edit| format!(" of edit {edit}"));
    ToolError::new(
        Code::NoChange,
        format!(
            "`{}` and `{}`{which} come to the same, so `{path}` stays as it is; give the text that is to stand there",
            argument(ctx, "oldString"),
            argument(ctx, "newString"),
        ),
    )
}

pub(super) fn exists(ctx: &Context, name: &str) -> ToolError {
    let whole = ctx.tool_name("write");
    let whole = whole.map_or_else(String::new, |tool| format!(", or use `{tool}` to replace all of it"));
    ToolError::new(
        Code::NoMatch,
        format!(
            "an empty `{}` creates a file, but `{name}` exists; give the text to replace{whole}",
            argument(ctx, "oldString")
        ),
    )
    .with("path", name)
}

/// The error for an edit that found no place.
pub(super) fn failed(
    ctx: &Context,
    name: &str,
    text: &str,
    edit: &Replacement,
    number: Option<usize>,
    failure: Failure,
) -> ToolError {
    let old = argument(ctx, "oldString");
    let which = number.map_or_else(String::new, |number| format!(" of edit {number}"));
    let error = match failure {
        Failure::Stopped(error) => error,
        Failure::Ambiguous { step, lines } => {
            ambiguous(ctx, name, text, &format!("`{old}`{which}"), step, &lines)
        }
        Failure::NoMatch { tried, nearest, already_applied, applied_at, doubt } => {
            let mut message = match &doubt {
                Some(doubt) => {
                    in_doubt(name, &format!("`{old}`{which}"), doubt, &in_words_of_caller(ctx, &doubt.why))
                }
                None => format!("`{old}`{which} is not in `{name}`"),
            };
            let words: Vec<&str> = tried.iter().map(|step| step.word()).collect();
            let _ = write!(message, "; compared: {}", words.join(", "));
            if edit.replace_all {
                message.push_str(" (to replace all, only exact text counts)");
            }
            if already_applied {
                let at = applied_at.map_or_else(String::new, |line| format!(" on line {line}"));
                let _ = write!(
                    message,
                    ". `{}` is in the file already{at}: the edit may have been made before, and nothing was written",
                    argument(ctx, "newString")
                );
            }
            match nearest.split_first() {
                Some((first, others)) => show(&mut message, &old, first, others),
                None if !ladder::is_comparable(text, &edit.old_string, &edit.new_string) => message.push_str(
                    ". Texts of this size are compared exactly only; give less text, exactly as it is",
                ),
                None => message.push_str(". Nothing in it is similar; read the file first"),
            }
            ToolError::new(Code::NoMatch, message)
                .with("tried", words)
                .with("alreadyApplied", already_applied)
                .with("nearest", nearest.iter().map(details).collect::<Vec<_>>())
        }
    };
    let error = match number {
        Some(number) => error.with("edit", number),
        None => error,
    };
    error.with("path", name)
}

fn in_doubt(name: &str, old: &str, doubt: &Doubt, why: &str) -> String {
    format!(
        "{old} fits line {} of `{name}` but for {}, and the replacement there is unclear: {why}; give both texts as \
         the file has them",
        doubt.line, doubt.step
    )
}

fn show(message: &mut String, old: &str, first: &Near, others: &[Near]) {
    let divergence = |near: &Near| {
        format!(
            "line {} ({:.0} % alike), which first differs on line {}:\n  asked for: {}\n  the file:  {}\n",
            near.line,
            near.similarity * 100.0,
            near.diverging_line,
            visible(&near.expected, &near.found),
            visible(&near.found, &near.expected),
        )
    };
    let _ = write!(message, "\nnearest: {}", divergence(first));
    for near in others {
        let _ = write!(message, "also: {}", divergence(near));
    }
    let _ = writeln!(message, "`{old}` must be as the file has it, without the numbers:");
    for (index, line) in first.around.lines().enumerate() {
        let _ = writeln!(message, "{}: {line}", first.around_line + index);
    }
    message.truncate(message.trim_end().len());
}

/// A line, with what cannot be seen spelled out where the two differ in nothing else.
fn visible(line: &str, other: &str) -> String {
    let plain = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    match plain(line) == plain(other) {
        true => format!("{line:?}"),
        false => line.to_owned(),
    }
}

fn details(near: &Near) -> serde_json::Value {
    json!({
        "line": near.line,
        "similarity": (near.similarity * 100.0).round() / 100.0,
        "divergingLine": near.diverging_line,
        "expected": near.expected,
        "found": near.found,
        "text": near.around,
        "textLine": near.around_line,
    })
}

fn ambiguous(ctx: &Context, name: &str, text: &str, old: &str, step: Step, lines: &[usize]) -> ToolError {
    // No more are looked for.
    let more = if lines.len() >= MOST_FOUND { " or more" } else { "" };
    let mut message = format!("{old} is in `{name}` {} times{more}", lines.len());
    if step != Step::Exact {
        let _ = write!(message, ", but for {step}");
    }
    message.push_str("; add lines around the one that is meant");
    if let Some(all) = ctx.spelled("replaceAll", true).filter(|_| step <= Step::LineEndings) {
        let _ = write!(message, ", or set {all}");
    }
    message.push_str(". It begins on:");
    let mut all = text.lines().enumerate();
    let mut at = 0;
    for line in lines.iter().take(MOST_LISTED) {
        // The lines are in order; two places may begin on the same one.
        if *line > at {
            let shown = all.find(|(index, _)| index + 1 == *line).map_or("", |(_, text)| text);
            let shown: String = shown.chars().take(200).collect();
            let _ = write!(message, "\n{line}: {shown}");
            at = *line;
        }
    }
    if lines.len() > MOST_LISTED {
        let _ = write!(message, "\nand {} more", lines.len() - MOST_LISTED);
    }
    ToolError::new(Code::AmbiguousMatch, message).with("lines", lines.to_vec()).with("step", step.word())
}
