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
    /// A mark that the file has as text stays one. Fails where the file has both the mark and the value, or two values
    /// of the name.
    pub fn restore<'a>(&self, text: &'a str, file: &str) -> Result<Cow<'a, str>, UnclearMark> {
        let known = self.known();
        let mut restored = Cow::Borrowed(text);
        if known.finder.is_none() || !text.contains("[redacted:") {
            return Ok(restored);
        }
        let mut marks: Vec<&String> =
            known.replacements.iter().filter(|mark| text.contains(mark.as_str())).collect();
        marks.dedup();
        for mark in marks {
            let values = known.secrets.iter().zip(&known.replacements).filter(|(_, other)| *other == mark);
            let mut there = values.map(|((_, value), _)| value).filter(|value| file.contains(value.as_str()));
            let Some(value) = there.next() else { continue };
            if there.next().is_some() || file.contains(mark.as_str()) {
                return Err(UnclearMark { mark: mark.clone() });
            }
            restored = Cow::Owned(restored.replace(mark.as_str(), value));
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
        check("[redacted:OTHER]", "sk-12345678", Ok("[redacted:OTHER]"));
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
