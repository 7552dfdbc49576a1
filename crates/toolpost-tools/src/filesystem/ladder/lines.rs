//! A text as lines that know their endings and where they begin.

/// One line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// Without its ending.
    pub(super) text: &'a str,
    /// Nothing (at the end of the text), `\n` or `\r\n`.
    pub(super) ending: &'a str,
    /// Where it begins.
    pub(super) start: usize,
}

impl Line<'_> {
    /// Where its text ends.
    pub(super) fn text_end(&self) -> usize {
        self.start + self.text.len()
    }

    /// Where its ending ends.
    pub(super) fn end(&self) -> usize {
        self.text_end() + self.ending.len()
    }
}

/// A text, and its lines. What follows the last newline is a line only if there is something.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    pub(super) text: &'a str,
    pub(super) all: Vec<Line<'a>>,
}

impl<'a> Lines<'a> {
    pub(super) fn of(text: &'a str) -> Lines<'a> {
        let mut all = Vec::new();
        let mut start = 0;
        for piece in text.split_inclusive('\n') {
            let (line, ending) = match piece.strip_suffix('\n') {
                Some(line) => match line.strip_suffix('\r') {
                    Some(bare) => (bare, &piece[bare.len()..]),
                    None => (line, &piece[line.len()..]),
                },
                None => (piece, ""),
            };
            all.push(Line { text: line, ending, start });
            start += piece.len();
        }
        Lines { text, all }
    }

    /// Whether the text ends with a newline.
    pub(super) fn ends_line(&self) -> bool {
        self.text.ends_with('\n')
    }

    /// The index of the line that holds a byte.
    pub(super) fn at(&self, byte: usize) -> usize {
        self.all.partition_point(|line| line.start <= byte).saturating_sub(1)
    }

    /// The ending that a new line around line `index` gets: its own, a neighbour's, or that of most Unix files.
    pub(super) fn ending_near(&self, index: usize) -> &'a str {
        let after = self.all.iter().skip(index).take(1);
        let before = self.all[..index.min(self.all.len())].iter().rev().take(1);
        after.chain(before).map(|line| line.ending).find(|ending| !ending.is_empty()).unwrap_or("\n")
    }
}

/// Whether a character is a blank within a line.
pub(super) fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\x0b' | '\x0c')
}

/// The blanks a line begins with, and the rest.
pub(super) fn split_indent(line: &str) -> (&str, &str) {
    let rest = line.trim_start_matches(is_blank);
    line.split_at(line.len() - rest.len())
}

/// Whether there is anything but blanks in a line.
pub(super) fn is_filled(line: &str) -> bool {
    !line.trim_matches(is_blank).is_empty()
}

/// Whether a line says something that tells it from others: a bracket alone is on many lines.
pub(super) fn is_telling(line: &str) -> bool {
    line.chars().filter(|character| character.is_alphanumeric()).nth(2).is_some()
}
