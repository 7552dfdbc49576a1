//! Which errors are new. Pure: an error that was there before may stand on another line now.

use std::collections::HashMap;
use toolpost_core::code::CodeError;

/// The errors of `now` that `before` has not, each counted once: those on lines of the same text are matched first.
pub(super) fn new_errors(
    (before, text_before): (&[CodeError], &str),
    (now, text_now): (&[CodeError], &str),
) -> Vec<CodeError> {
    let mut known: HashMap<(Option<&str>, &str), Vec<&str>> = HashMap::new();
    let (lines_before, lines_now) = (lines(text_before), lines(text_now));
    for error in before {
        let line = line_of(&lines_before, error);
        known.entry((error.code.as_deref(), &error.message)).or_default().push(line);
    }
    let mut left = Vec::new();
    for error in now {
        let line = line_of(&lines_now, error);
        match known.get_mut(&(error.code.as_deref(), error.message.as_str())) {
            Some(all) if all.contains(&line) => {
                let at = all.iter().position(|one| *one == line).unwrap_or_default();
                all.swap_remove(at);
            }
            _ => left.push(error),
        }
    }
    // The line itself may have changed.
    left.retain(|error| {
        let all = known.get_mut(&(error.code.as_deref(), error.message.as_str()));
        all.is_none_or(|all| all.pop().is_none())
    });
    let mut new: Vec<CodeError> = left.into_iter().cloned().collect();
    new.sort_by_key(|one| (one.line, one.column));
    new
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).collect()
}

fn line_of<'a>(lines: &[&'a str], error: &CodeError) -> &'a str {
    lines.get(error.line.saturating_sub(1)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(text: &str) -> Vec<CodeError> {
        let found = text.lines().enumerate().filter_map(|(at, line)| Some((at, line.split_once("#!")?.1)));
        let error = |(at, message): (usize, &str)| CodeError {
            line: at + 1,
            column: 1,
            message: message.to_owned(),
            code: None,
        };
        found.map(error).collect()
    }

    /// Each text names its errors behind `#!`.
    fn check(before: &str, now: &str, expected: &[usize]) {
        let new = new_errors((&errors(before), before), (&errors(now), now));
        assert_eq!(new.iter().map(|error| error.line).collect::<Vec<_>>(), expected, "{before:?} {now:?}");
    }

    #[test]
    fn only_what_was_not_there_is_new() {
        check("a\n", "a #!x\n", &[1]);
        check("a #!x\n", "a #!x\n", &[]);
        check("a #!x\n", "\n\na #!x\n", &[]);
        check("a #!x\n", "b #!x\n", &[]);
        check("a #!x\n", "b #!x\na #!x\n", &[1]);
        check("a #!x\n", "a #!x\nb #!x\nc #!y\n", &[2, 3]);
        check("a #!x\n", "a\n", &[]);
        check("", "a #!x\nb #!x\n", &[1, 2]);
    }
}
