//! What an edit came to, compared with the true file byte for byte.

/// What an edit came to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Verdict {
    /// The file is the true one.
    Right,
    /// The file differs from the true one in spaces that say nothing: at the ends of lines, or in alignment.
    Acceptable,
    /// The call failed and the file is as it was.
    Refused,
    /// Anything else.
    Wrong,
}

/// Judges a file after a call.
pub(super) fn judge(before: &str, truth: &str, result: &[u8], is_error: bool) -> Verdict {
    if is_error {
        return if result == before.as_bytes() { Verdict::Refused } else { Verdict::Wrong };
    }
    if result == truth.as_bytes() {
        return Verdict::Right;
    }
    match std::str::from_utf8(result) {
        Ok(text) if folded(text) == folded(truth) => Verdict::Acceptable,
        _ => Verdict::Wrong,
    }
}

/// The text without spaces at the ends of lines, each run of spaces within a line as one.
fn folded(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for line in text.split('\n') {
        // A carriage return is not trailing whitespace: line endings must be kept.
        let (line, ending) = line.strip_suffix('\r').map_or((line, "\n"), |line| (line, "\r\n"));
        let body = line.trim_start_matches([' ', '\t']);
        if !body.is_empty() {
            folded.push_str(&line[..line.len() - body.len()]);
        }
        for (index, word) in body.split([' ', '\t']).filter(|word| !word.is_empty()).enumerate() {
            if index > 0 {
                folded.push(' ');
            }
            folded.push_str(word);
        }
        folded.push_str(ending);
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(truth: &str, result: &str, expected: Verdict) {
        assert_eq!(judge("before", truth, result.as_bytes(), false), expected, "{truth:?} {result:?}");
    }

    #[test]
    fn only_blanks_that_say_nothing_are_acceptable() {
        check("a\n", "a\n", Verdict::Right);
        check("a\n", "a  \n", Verdict::Acceptable);
        check("a = 1 // x\n", "a = 1   // x\n", Verdict::Acceptable);
        check("a\n\nb\n", "a\n  \nb\n", Verdict::Acceptable);
        check("a\n", "  a\n", Verdict::Wrong);
        check("\ta\n", "    a\n", Verdict::Wrong);
        check("ab\n", "a b\n", Verdict::Wrong);
        check("a\r\n", "a\n", Verdict::Wrong);
        check("a\n", "a\n\n", Verdict::Wrong);
        check("a\n", "before", Verdict::Wrong);
    }

    #[test]
    fn a_failed_call_must_leave_the_file() {
        assert_eq!(judge("a", "b", b"a", true), Verdict::Refused);
        assert_eq!(judge("a", "b", b"b", true), Verdict::Wrong);
    }
}
