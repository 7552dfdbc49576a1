//! From the arguments to a matcher that takes time linear in what it searches, or to words that help.

use super::Args;
use crate::filesystem::canonical;
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
    // Accents may be written in one character or in two.
    let patterns: Vec<String> =
        std::iter::once(args.pattern.clone()).chain(canonical::others(&args.pattern)).collect();
    if patterns.len() > 1
        && let Ok(matcher) = builder.build_many(&patterns)
    {
        return Ok(matcher);
    }
    builder.build(&args.pattern).map_err(|error| refusal(ctx, "pattern", &args.pattern, &error))
}

/// The matcher of lines that are not wanted, for the same reading of upper and lower case.
pub(super) fn excluding(ctx: &Context, args: &Args, pattern: &str) -> Result<RegexMatcher, ToolError> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .case_insensitive(args.ignore_case)
        .fixed_strings(args.literal)
        .nest_limit(DEEPEST)
        .size_limit(LARGEST)
        .dfa_size_limit(LARGEST);
    let name = ctx.argument("excludePattern").unwrap_or("excludePattern");
    builder.build(pattern).map_err(|error| refusal(ctx, name, pattern, &error))
}

fn over_lines(ctx: &Context) -> ToolError {
    let advice = match ctx.spelled("multiline", true) {
        Some(multiline) => format!("set {multiline}"),
        None => "search for one of the lines".to_owned(),
    };
    ToolError::new(
        Code::ValidationError,
        format!("`pattern` has a line end in it, and lines are searched one by one; {advice}"),
    )
}

fn refusal(ctx: &Context, argument: &str, pattern: &str, error: &grep_regex::Error) -> ToolError {
    let literal = ctx.spelled("literal", true);
    let literal =
        literal.map_or_else(String::new, |set| format!("to search for it as plain text set {set}, or "));
    let text = error.to_string();
    match error.kind() {
        grep_regex::ErrorKind::NotAllowed(_) => over_lines(ctx),
        _ if text.contains("size limit") || text.contains("too large") || text.contains("too big") => {
            ToolError::new(
                Code::SearchError,
                format!("`{argument}` grows too large when it is compiled; use smaller repetitions"),
            )
        }
        _ if text.contains("look-around") => ToolError::new(
            Code::ValidationError,
            format!(
                "`{argument}` looks around a match, with (?=…), (?!…), (?<=…) or (?<!…), which patterns here cannot; {}",
                other_way(ctx, pattern)
            ),
        )
        .with("argument", argument),
        _ if text.contains("backreferences are not supported") => ToolError::new(
            Code::ValidationError,
            format!(
                "`{argument}` refers back to a group (\\1), which patterns here cannot; write out what may stand there, \
                 or search for the first part and look at the lines"
            ),
        )
        .with("argument", argument),
        _ => {
            let text = text.trim_end();
            let message = format!(
                "`{argument}` is not a valid regular expression: {text}\n{literal}write \\ before characters to match them literally"
            );
            ToolError::new(Code::ValidationError, message)
                .with("argument", argument)
                .with("pattern", pattern.chars().take(200).collect::<String>())
        }
    }
}

/// How a search with look-around is written here.
fn other_way(ctx: &Context, pattern: &str) -> String {
    let without = without_look_around(pattern);
    let shorter = (!without.is_empty() && without != pattern).then(|| format!("search for `{without}`"));
    let is_negative = pattern.contains("(?!") || pattern.contains("(?<!");
    let exclude = ctx.argument("excludePattern").filter(|_| is_negative && shorter.is_some());
    let exclude = exclude.map(|name| format!(" and name what must not stand in the line in `{name}`"));
    let shell = ctx.tool_name("bash").map(|bash| format!("run `grep -P` with `{bash}`"));
    let literal = ctx.spelled("literal", true).map(|set| format!("set {set} if it is meant as plain text"));
    let ways: Vec<String> = [shorter.map(|way| way + &exclude.unwrap_or_default()), shell, literal]
        .into_iter()
        .flatten()
        .collect();
    ways.join(", or ")
}

/// The pattern without its groups of look-around; all of it where they are not closed.
fn without_look_around(pattern: &str) -> String {
    let mut rest = pattern;
    let mut kept = String::new();
    while let Some(start) = ["(?=", "(?!", "(?<=", "(?<!"].iter().filter_map(|sign| rest.find(sign)).min() {
        kept.push_str(&rest[..start]);
        let mut depth = 0;
        let mut is_escaped = false;
        let end = rest[start..].char_indices().find(|(_, letter)| {
            let was_escaped = is_escaped;
            is_escaped = *letter == '\\' && !was_escaped;
            match letter {
                _ if was_escaped => {}
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let Some((at, _)) = end else { return pattern.to_owned() };
        rest = &rest[start + at + 1..];
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_around_is_taken_out() {
        for (pattern, expected) in [
            ("foo(?!bar)", "foo"),
            ("(?<=a)b(?=c(d))e", "be"),
            (r"a(?=\))b", "ab"),
            ("a(?!b", "a(?!b"),
            ("(?:a)b", "(?:a)b"),
        ] {
            assert_eq!(without_look_around(pattern), expected, "{pattern}");
        }
    }
}
