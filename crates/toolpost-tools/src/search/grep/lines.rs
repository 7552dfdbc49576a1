//! The matching lines of one file, and those around them, as the searcher comes upon them.

use super::interruptible::Interruptible;
use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkFinish, SinkMatch};
use toolpost_core::Context;

/// Characters shown of a line; longer ones are cut around the match.
pub(super) const MAX_LINE: usize = 500;
/// Of these, so many before the match.
const BEFORE: usize = 120;
/// Shown for a carriage return within a line, as `read` shows it.
const RETURN: &str = "␍";
/// After as many lines as are kept, so many more and so many bytes are looked through, to tell how many there are.
const MOST_COUNTED: u64 = 100_000;
const MOST_LOOKED_THROUGH: u64 = 64 << 20;

/// One line to show.
pub(super) struct Line {
    pub(super) number: u64,
    /// Where the first match begins; none on lines of context.
    pub(super) column: Option<u64>,
    pub(super) text: String,
    pub(super) is_cut: bool,
}

/// Takes what the searcher finds in one file.
pub(super) struct Lines<'a> {
    pub(super) ctx: &'a Context,
    pub(super) matcher: &'a Interruptible<'a>,
    /// Lines that match this too are as if they did not match.
    pub(super) excluded: Option<&'a RegexMatcher>,
    /// Lines to keep; the rest is counted if it is wanted.
    pub(super) keep: usize,
    pub(super) beyond: Beyond,
    pub(super) kept: Vec<Line>,
    /// Matching lines seen, and those of them kept.
    pub(super) seen: u64,
    pub(super) kept_matches: usize,
    /// Where the last line is that is kept.
    pub(super) kept_to: u64,
    /// Whether the lines were counted to the end of the file.
    pub(super) is_counted: bool,
    /// Where the first NUL is, if the search ended there.
    pub(super) binary_at: Option<u64>,
}

/// What to do after as many lines as are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Beyond {
    /// Nothing: one is enough.
    Stop,
    /// Count some more.
    CountSome,
    Count,
}

impl Lines<'_> {
    fn is_excluded(&self, line: &[u8]) -> bool {
        let Some(excluded) = self.excluded else { return false };
        excluded.is_match(trimmed(line)).unwrap_or(false)
    }

    fn line(&mut self, number: u64, bytes: &[u8]) {
        let bytes = trimmed(bytes);
        let first = self.matcher.find(bytes).ok().flatten().map_or(0, |found| found.start());
        let column = characters(&bytes[..first]) + 1;
        let (text, is_cut) = cut(self.ctx, bytes, first);
        self.kept.push(Line { number, column: Some(column), text, is_cut });
        self.kept_matches += 1;
    }
}

impl Sink for Lines<'_> {
    type Error = std::io::Error;

    fn matched(&mut self, searcher: &Searcher, found: &SinkMatch<'_>) -> Result<bool, std::io::Error> {
        let number = found.line_number().unwrap_or(0);
        if !searcher.multi_line_with_matcher(self.matcher) {
            if self.is_excluded(found.bytes()) {
                return Ok(true);
            }
            self.seen += 1;
            if self.kept_matches < self.keep {
                self.line(number, found.bytes());
            }
        } else {
            for (number, bytes) in (number..).zip(found.lines()) {
                if self.is_excluded(bytes) {
                    continue;
                }
                self.seen += 1;
                if self.kept_matches < self.keep {
                    self.line(number, bytes);
                }
            }
        }
        let at = found.absolute_byte_offset();
        if self.seen <= self.keep as u64 {
            self.kept_to = at;
        }
        let goes_on = match self.beyond {
            Beyond::Stop => self.seen <= self.keep as u64,
            Beyond::CountSome => {
                self.seen - self.kept_matches as u64 <= MOST_COUNTED
                    && at - self.kept_to <= MOST_LOOKED_THROUGH
            }
            Beyond::Count => true,
        };
        self.is_counted &= goes_on;
        Ok(goes_on)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, std::io::Error> {
        // What stands before a line that is not kept is not kept either.
        let least = self.seen + u64::from(*context.kind() == SinkContextKind::Before);
        if least <= self.keep as u64 {
            let (text, is_cut) = cut(self.ctx, trimmed(context.bytes()), 0);
            let number = context.line_number().unwrap_or(0);
            self.kept.push(Line { number, column: None, text, is_cut });
        }
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, at: u64) -> Result<bool, std::io::Error> {
        self.binary_at = Some(at);
        Ok(false)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> Result<(), std::io::Error> {
        self.binary_at = self.binary_at.or(finish.binary_byte_offset());
        Ok(())
    }
}

fn trimmed(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn characters(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count() as u64
}

/// The line, or the part of a long one around the match; and whether it was cut. No secret is cut in two: a part of one
/// would not be known for what it is.
fn cut(ctx: &Context, line: &[u8], first: usize) -> (String, bool) {
    // Four bytes a character at most, so that a line of a gigabyte is never looked at as a whole.
    if line.len() <= MAX_LINE * 4 {
        let whole = String::from_utf8_lossy(line);
        if whole.chars().nth(MAX_LINE).is_none() {
            return (whole.replace('\r', RETURN), false);
        }
    }
    let around = ctx.longest_secret().max(4);
    let begins = |at: usize| (0..=at).rev().find(|at| line.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80));
    let start = begins(first.saturating_sub(BEFORE)).unwrap_or(0);
    let from = begins(start.saturating_sub(around)).unwrap_or(0);
    let ahead = String::from_utf8_lossy(&line[from..start]);
    let to = line.len().min(start + MAX_LINE * 4 + around);
    let window = format!("{ahead}{}", String::from_utf8_lossy(&line[start..to]));
    let end =
        window[ahead.len()..].char_indices().nth(MAX_LINE).map_or(window.len(), |(at, _)| ahead.len() + at);
    let (start, end) = (ctx.cut_at(&window, ahead.len()), ctx.cut_at(&window, end));
    let before = if from + start > 0 { "…" } else { "" };
    let behind = if end < window.len() || to < line.len() { "…" } else { "" };
    (format!("{before}{}{behind}", &window[start..end]).replace('\r', RETURN), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut_around_the_match() {
        let ctx = Context::in_memory();
        assert_eq!(cut(&ctx, b"short", 2), ("short".to_owned(), false));
        let line = format!("{}MATCH{}", "ä".repeat(3_000), "z".repeat(3_000));
        let (text, is_cut) = cut(&ctx, line.as_bytes(), 6_000);
        assert!(
            is_cut && text.starts_with("…ä") && text.ends_with("z…") && text.contains("äMATCHz"),
            "{text}"
        );
        assert_eq!(text.chars().count(), MAX_LINE + 2);
        assert_eq!(characters("äöü".as_bytes()), 3);
    }
}
