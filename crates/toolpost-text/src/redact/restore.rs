//! The marks that stand for secrets in what a model reads, when it gives them back: a value that a file has is kept.

use super::Redactor;
use std::borrow::Cow;

/// What a mark begins with, whatever the letters, brackets and blanks that it is repeated with.
const WORD: &str = "redacted";

/// A mark that stands in a text for a value, and that cannot be read as that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnclearMark {
    /// As it stands in the text.
    pub mark: String,
}

impl Redactor {
    /// The text with each `[redacted:NAME]` as the value that it stands for, if the file has that value.
    ///
    /// A mark that the file has as text stays one. Of several values with one mark, each is restored where the text has all
    /// of their marks, in their order. Fails where the file has both the mark and the value, or where it is unclear which
    /// value is meant.
    pub fn restore<'a>(&self, text: &'a str, file: &str) -> Result<Cow<'a, str>, UnclearMark> {
        let known = self.known();
        let mut restored = Cow::Borrowed(text);
        let Some(finder) = known.finder.as_ref().filter(|_| text.contains("[redacted:")) else {
            return Ok(restored);
        };
        let found = |text: &str| finder.find_iter(text).map(|found| found.pattern().as_usize()).collect();
        // What shows the file as a whole has one mark for a value of several lines; what shows each line has one for each.
        let whole: Vec<usize> = found(file);
        let by_line: Vec<usize> = file.lines().flat_map(|line| -> Vec<usize> { found(line) }).collect();
        let mut marks: Vec<&String> =
            known.replacements.iter().filter(|mark| text.contains(mark.as_str())).collect();
        marks.dedup();
        for mark in marks {
            let of_mark = |values: &[usize]| -> Vec<&str> {
                let values = values.iter().filter(|value| known.replacements[**value] == *mark);
                values.map(|value| known.secrets[*value].1.as_str()).collect()
            };
            let whole = of_mark(&whole);
            let is_by_line = whole.iter().any(|value| has_edge(text, value));
            let values = if is_by_line { of_mark(&by_line) } else { whole };
            let is_nowhere = values.is_empty() && !is_by_line;
            if is_nowhere {
                continue;
            }
            match meant(text, mark, values) {
                Some(values) if !file.contains(mark.as_str()) => {
                    restored = Cow::Owned(in_order(&restored, mark, &values));
                }
                _ => return Err(UnclearMark { mark: mark.clone() }),
            }
        }
        Ok(restored)
    }

    /// The text without secrets, on as many lines: of a value of several lines, empty ones stand below its mark. For what shows
    /// a part of a text, which may be a part of a value.
    pub fn redact_lines<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let known = self.known();
        match &known.finder {
            Some(finder) if finder.is_match(text) => {
                let lines = |value: &str| "\n".repeat(value.matches('\n').count());
                let marks = known.secrets.iter().zip(&known.replacements);
                let marks: Vec<String> =
                    marks.map(|((_, value), mark)| format!("{mark}{}", lines(value))).collect();
                Cow::Owned(finder.replace_all(text, &marks))
            }
            _ => Cow::Borrowed(text),
        }
    }

    /// The first mark of a known value in a text.
    pub fn mark_in(&self, text: &str) -> Option<&str> {
        let is_there = |mark: &&String| text.contains(mark.as_str());
        self.known().replacements.iter().find(is_there).map(String::as_str)
    }

    /// The mark of a value that is fewer times in a text than before, where the text has more words such as `[REDACTED]`
    /// instead.
    pub fn overwritten(&self, before: &str, after: &str) -> Option<&str> {
        let known = self.known();
        let finder = known.finder.as_ref()?;
        if !finder.is_match(before) || words(after) <= words(before) {
            return None;
        }
        let count = |text: &str| -> Vec<usize> {
            let mut counts = vec![0; known.secrets.len()];
            finder.find_iter(text).for_each(|found| counts[found.pattern().as_usize()] += 1);
            counts
        };
        let (before, after) = (count(before), count(after));
        let lost = before.iter().zip(&after).position(|(before, after)| after < before)?;
        known.replacements.get(lost).map(String::as_str)
    }
}

/// Whether a text shows the first or the last line of a value of several lines, so that marks stand for the lines between.
fn has_edge(text: &str, value: &str) -> bool {
    let edges = [value.lines().next(), value.lines().next_back()];
    value.contains('\n') && edges.into_iter().flatten().any(|edge| text.contains(edge))
}

/// The value for each of the marks in a text, if it is clear which of these it stands for.
fn meant<'a>(text: &str, mark: &str, values: Vec<&'a str>) -> Option<Vec<&'a str>> {
    let first = *values.first()?;
    let count = text.matches(mark).count();
    if values.iter().all(|value| *value == first) {
        return Some(vec![first; count]);
    }
    (count == values.len()).then_some(values)
}

/// The text with a value for each mark, one after another.
fn in_order(text: &str, mark: &str, values: &[&str]) -> String {
    let mut restored = String::with_capacity(text.len());
    let mut values = values.iter();
    for (index, part) in text.split(mark).enumerate() {
        if index > 0 {
            restored.push_str(values.next().copied().unwrap_or(mark));
        }
        restored.push_str(part);
    }
    restored
}

/// How often the word of a mark is in a text.
fn words(text: &str) -> usize {
    text.to_ascii_lowercase().matches(WORD).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, file: &str, expected: Result<&str, &str>) {
        let redactor =
            Redactor::new([("KEY", "sk-12345678"), ("TWO", "first-value"), ("TWO", "second-value")]);
        let found = redactor.restore(text, file);
        let found = found.as_deref().map_err(|unclear| unclear.mark.as_str());
        assert_eq!(found, expected, "{text} in {file}");
    }

    #[test]
    fn a_mark_is_the_value_that_the_file_has() {
        check("a [redacted:KEY] b", "x=sk-12345678", Ok("a sk-12345678 b"));
        check("a [redacted:KEY] b", "nothing", Ok("a [redacted:KEY] b"));
        check("a [redacted:KEY] b", "[redacted:KEY]", Ok("a [redacted:KEY] b"));
        check("[redacted:KEY]", "[redacted:KEY] sk-12345678", Err("[redacted:KEY]"));
        check("[redacted:TWO]", "second-value", Ok("second-value"));
        check("[redacted:TWO]", "first-value second-value", Err("[redacted:TWO]"));
        check("[redacted:TWO]/[redacted:TWO]", "second-value, first-value", Ok("second-value/first-value"));
        check("[redacted:OTHER]", "sk-12345678", Ok("[redacted:OTHER]"));
    }

    #[test]
    fn a_value_of_several_lines_is_restored_from_its_mark_or_from_those_of_its_lines() {
        let value = "-----BEGIN-----\nabcdefgh\nijklmnop\n-----END-----";
        let redactor = Redactor::new([("PEM", value), ("PEM", "abcdefgh"), ("PEM", "ijklmnop")]);
        let check = |text: &str, file: &str, expected: Option<&str>| {
            assert_eq!(redactor.restore(text, file).ok().as_deref(), expected, "{text} in {file}");
        };
        let file = format!("a\n{value}\nb\n");
        let (mark, lines) =
            ("[redacted:PEM]", "-----BEGIN-----\n[redacted:PEM]\n[redacted:PEM]\n-----END-----");
        check(&format!("a\n{mark}\nc\n"), &file, Some(&format!("a\n{value}\nc\n")));
        check(&format!("a\n{lines}\nc\n"), &file, Some(&format!("a\n{value}\nc\n")));
        check("[redacted:PEM]\n-----END-----\nc\n", &file, None);
        let (key, shown) = (format!("a='{value}'\n"), format!("a='{lines}'\nc\n"));
        check(&shown, &key, Some(&format!("{key}c\n")));
        let indented = file.replace('\n', "\n  ");
        check(
            &format!("  {}\n", lines.replace('\n', "\n  ")),
            &indented,
            Some(&format!("  {}\n", value.replace('\n', "\n  "))),
        );
        check(mark, &indented, None);
        let json = file.replace('\n', "\\n");
        check("a: \"[redacted:PEM]\"", &json, Some(&format!("a: \"{}\"", value.replace('\n', "\\n"))));
    }

    #[test]
    fn a_value_that_a_word_takes_the_place_of_is_noticed() {
        let redactor = Redactor::new([("KEY", "sk-12345678")]);
        let check = |after: &str, expected| {
            assert_eq!(redactor.overwritten("k=sk-12345678\n", after), expected, "{after}");
        };
        check("k=[REDACTED]\n", Some("[redacted:KEY]"));
        check("k=<redacted: KEY>\n", Some("[redacted:KEY]"));
        check("k=other\n", None);
        check("k=sk-12345678 # redacted\n", None);
    }
}
