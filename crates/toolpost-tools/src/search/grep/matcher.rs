//! From the arguments to a matcher that takes time linear in what it searches, or to words that help.

use super::Args;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use toolpost_core::{Code, Context, ToolError};

/// Bytes that a compiled pattern may have, and those of the states that it grows while searching, on each thread.
const LARGEST: usize = 8 * 1024 * 1024;
/// Longer patterns are no patterns.
const LONGEST: usize = 20_000;
/// Levels of nested groups.
pub(super) const DEEPEST: u32 = 100;

pub(super) fn matcher(ctx: &Context, args: &Args) -> Result<RegexMatcher, ToolError> {
    if args.pattern.len() > LONGEST {
        let message =
            format!("`pattern` has {} bytes, {LONGEST} at most; search for a part of it", args.pattern.len());
        return Err(ToolError::new(Code::ValidationError, message));
    }
    if args.literal && !args.multiline && args.pattern.contains('\n') {
        return Err(over_lines(ctx));
    }
    let mut builder = RegexMatcherBuilder::new();
    builder
        .case_insensitive(args.ignore_case)
        .fixed_strings(args.literal)
        .multi_line(true)
        .nest_limit(DEEPEST)
        .size_limit(LARGEST)
        .dfa_size_limit(LARGEST);
    match args.multiline {
        true => builder.dot_matches_new_line(true),
        false => builder.line_terminator(Some(b'\n')),
    };
    if !args.literal && args.pattern.contains('$') && !args.pattern.contains("\\r") {
        // Whoever writes `$` means the end of a line also where lines end in CR LF, unless the pattern says how.
        builder.crlf(true);
    }
    if args.multiline {
        builder.line_terminator(None);
    }
    builder.build(&args.pattern).map_err(|error| refusal(ctx, &args.pattern, &error))
}

fn over_lines(ctx: &Context) -> ToolError {
    let multiline = ctx.spelled("multiline", true);
    ToolError::new(
        Code::ValidationError,
        format!("`pattern` has a line end in it, and lines are searched one by one; set {multiline}"),
    )
}

fn refusal(ctx: &Context, pattern: &str, error: &grep_regex::Error) -> ToolError {
    let literal = ctx.spelled("literal", true);
    let text = error.to_string();
    match error.kind() {
        grep_regex::ErrorKind::NotAllowed(_) => over_lines(ctx),
        _ if text.contains("size limit") || text.contains("too large") || text.contains("too big") => {
            ToolError::new(
                Code::SearchError,
                "`pattern` grows too large when it is compiled; use smaller repetitions".to_owned(),
            )
        }
        _ => {
            let text = text.trim_end();
            let message = format!(
                "`pattern` is no regular expression: {text}\nto search for it as plain text set {literal}, or write \\ before the signs that are meant as they are"
            );
            ToolError::new(Code::ValidationError, message)
                .with("argument", "pattern")
                .with("pattern", pattern.chars().take(200).collect::<String>())
        }
    }
}
