//! A paragraph while it is written: words with single spaces between them, and marks that enclose no space.

/// The text of a paragraph so far.
#[derive(Default)]
pub(super) struct Inline {
    text: String,
    /// Counts paragraphs, so that a mark that was opened in another one is known.
    paragraph: usize,
}

/// Where something was opened.
#[derive(Clone, Copy)]
pub(super) struct Opened {
    paragraph: usize,
    at: usize,
}

impl Inline {
    /// Adds text; runs of spaces become one.
    pub(super) fn push(&mut self, text: &str) {
        for piece in text.split_inclusive(is_space) {
            let word = piece.trim_end_matches(is_space);
            self.push_word(word);
            if word.len() < piece.len() {
                self.space();
            }
        }
    }

    fn push_word(&mut self, word: &str) {
        // Letters without width are invisible to people and not to models.
        let is_plain = |byte: u8| (0x20..0x7f).contains(&byte);
        match !word.bytes().all(is_plain) && word.contains(is_invisible) {
            true => self.text.extend(word.chars().filter(|letter| !is_invisible(*letter))),
            false => self.text.push_str(word),
        }
    }

    /// Adds text as it is.
    pub(super) fn push_raw(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn space(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
            self.text.push(' ');
        }
    }

    /// Bytes so far.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Adds the end of a line.
    pub(super) fn line_end(&mut self) {
        self.text.truncate(self.text.trim_end_matches(' ').len());
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    /// Remembers where something begins.
    pub(super) fn open(&self) -> Opened {
        Opened { paragraph: self.paragraph, at: self.text.len() }
    }

    /// Replaces what was written since; not where a new paragraph has begun, or nothing was written.
    pub(super) fn close(&mut self, opened: Opened, change: impl FnOnce(&str) -> String) {
        if opened.paragraph != self.paragraph || opened.at > self.text.len() {
            return;
        }
        let written = self.text.split_off(opened.at);
        let inner = written.trim_matches([' ', '\n']);
        if inner.is_empty() {
            self.push(&written);
            return;
        }
        if written.starts_with([' ', '\n']) {
            self.space();
        }
        let changed = change(inner);
        self.text.push_str(&changed);
        if written.ends_with([' ', '\n']) {
            self.space();
        }
    }

    /// The paragraph, and the next one begins.
    pub(super) fn take(&mut self) -> String {
        self.paragraph += 1;
        let text = std::mem::take(&mut self.text);
        match text.trim_matches([' ', '\n']) {
            trimmed if trimmed.len() == text.len() => text,
            trimmed => trimmed.to_owned(),
        }
    }
}

pub(super) fn is_space(letter: char) -> bool {
    letter.is_whitespace()
}

/// Letters that nobody sees: control characters, soft hyphens, joiners of no width, marks of direction, and the tags in
/// which texts are hidden.
pub(super) fn is_invisible(letter: char) -> bool {
    letter.is_control() && !matches!(letter, '\n' | '\t')
        || matches!(
            letter,
            '\u{ad}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
                | '\u{e0000}'..='\u{e007f}'
        )
}
