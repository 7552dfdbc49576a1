//! A text that is being written: keys in, the text and the place of the cursor out. Pure.

use super::keys::Key;

/// Maximum number of texts that can be had back with the arrow keys.
const MOST_KEPT: usize = 500;

/// The text, and those that were written before it.
#[derive(Debug, Default)]
pub(crate) struct Editor {
    text: String,
    /// Where in the text the cursor is, in bytes.
    cursor: usize,
    /// What was deleted last.
    cut: String,
    past: Vec<String>,
    /// Which of the past texts is shown; none for the one that is being written.
    shown: Option<usize>,
    /// The one that is being written, while a past one is shown.
    draft: String,
}

/// What a key meant beyond the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Done {
    /// Nothing: the text is shown anew.
    Edited,
    /// The text is finished. The editor is empty again.
    Entered(String),
    /// The key is none of the editor's.
    Other(Key),
}

impl Editor {
    /// An editor that knows what was written before.
    pub(crate) fn new(past: Vec<String>) -> Editor {
        Editor { past, ..Editor::default() }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Where the cursor is, in bytes of the text.
    pub(crate) fn cursor(&self) -> usize {
        self.cursor
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Puts another text in place of the one that is being written.
    pub(crate) fn set(&mut self, text: String) {
        self.cursor = text.len();
        self.text = text;
        self.shown = None;
    }

    /// Throws away what is being written.
    pub(crate) fn clear(&mut self) {
        self.set(String::new());
    }

    /// Keeps a text among those that can be had back.
    pub(crate) fn remember(&mut self, text: &str) {
        if !text.trim().is_empty() && self.past.last().is_none_or(|last| last != text) {
            self.past.push(text.to_owned());
            let over = self.past.len().saturating_sub(MOST_KEPT);
            self.past.drain(..over);
        }
    }

    pub(crate) fn key(&mut self, key: Key) -> Done {
        match key {
            Key::Letter(letter) => self.insert(letter.encode_utf8(&mut [0; 4])),
            Key::Paste(text) => self.insert(&text),
            Key::NewLine => self.insert("\n"),
            Key::Enter => {
                // A backslash at the end of a line means that another line follows.
                if self.cursor == self.text.len() && self.text.ends_with('\\') {
                    self.text.pop();
                    self.cursor = self.text.len();
                    self.insert("\n");
                } else {
                    let text = std::mem::take(&mut self.text);
                    self.clear();
                    return Done::Entered(text);
                }
            }
            Key::Left => self.cursor -= self.before().map_or(0, char::len_utf8),
            Key::Right => self.cursor += self.behind().map_or(0, char::len_utf8),
            Key::WordLeft => self.cursor = self.word_left(),
            Key::WordRight => self.cursor = self.word_right(),
            Key::Home => self.cursor = self.line_start(),
            Key::End => self.cursor = self.line_end(),
            Key::Up => self.up(),
            Key::Down => self.down(),
            Key::Backspace => {
                let start = self.cursor - self.before().map_or(0, char::len_utf8);
                self.delete(start, self.cursor);
            }
            Key::Delete => {
                let end = self.cursor + self.behind().map_or(0, char::len_utf8);
                self.delete(self.cursor, end);
            }
            Key::CutRight => {
                let end = match self.line_end() {
                    // At the end of a line, the line itself ends.
                    end if end == self.cursor => end + usize::from(end < self.text.len()),
                    end => end,
                };
                self.cut(self.cursor, end);
            }
            Key::CutLeft => self.cut(self.line_start(), self.cursor),
            Key::CutWord => self.cut(self.word_left(), self.cursor),
            Key::PutBack => {
                let cut = self.cut.clone();
                self.insert(&cut);
            }
            Key::EndOfInput if !self.text.is_empty() => return self.key(Key::Delete),
            key @ (Key::Interrupt | Key::EndOfInput | Key::Redraw | Key::Suspend) => return Done::Other(key),
        }
        Done::Edited
    }

    fn insert(&mut self, text: &str) {
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
    }

    fn delete(&mut self, start: usize, end: usize) {
        self.text.replace_range(start..end, "");
        self.cursor = start;
    }

    fn cut(&mut self, start: usize, end: usize) {
        if start < end {
            self.cut = self.text[start..end].to_owned();
            self.delete(start, end);
        }
    }

    fn before(&self) -> Option<char> {
        self.text[..self.cursor].chars().next_back()
    }

    fn behind(&self) -> Option<char> {
        self.text[self.cursor..].chars().next()
    }

    fn line_start(&self) -> usize {
        self.text[..self.cursor].rfind('\n').map_or(0, |place| place + 1)
    }

    fn line_end(&self) -> usize {
        self.text[self.cursor..].find('\n').map_or(self.text.len(), |place| self.cursor + place)
    }

    fn word_left(&self) -> usize {
        let before = self.text[..self.cursor].trim_end();
        before
            .rfind(char::is_whitespace)
            .map_or(0, |place| place + before[place..].chars().next().map_or(1, char::len_utf8))
    }

    fn word_right(&self) -> usize {
        let rest = &self.text[self.cursor..];
        let spaces = rest.len() - rest.trim_start().len();
        let word = rest[spaces..].find(char::is_whitespace).unwrap_or(rest.len() - spaces);
        self.cursor + spaces + word
    }

    /// One line up and, in the first line, to the text before this one.
    fn up(&mut self) {
        let start = self.line_start();
        if start > 0 {
            let column = self.text[start..self.cursor].chars().count();
            let above = self.text[..start - 1].rfind('\n').map_or(0, |place| place + 1);
            self.cursor = at_column(&self.text, above, start - 1, column);
            return;
        }
        let before = match self.shown {
            None => self.past.len(),
            Some(shown) => shown,
        };
        if before > 0 {
            if self.shown.is_none() {
                self.draft = self.text.clone();
            }
            self.show(before - 1);
        }
    }

    /// One line down and, in the last line, to the text behind this one.
    fn down(&mut self) {
        let end = self.line_end();
        if end < self.text.len() {
            let column = self.text[self.line_start()..self.cursor].chars().count();
            let below_end = self.text[end + 1..].find('\n').map_or(self.text.len(), |place| end + 1 + place);
            self.cursor = at_column(&self.text, end + 1, below_end, column);
            return;
        }
        match self.shown {
            Some(shown) if shown + 1 < self.past.len() => self.show(shown + 1),
            Some(_) => {
                let draft = std::mem::take(&mut self.draft);
                self.set(draft);
            }
            None => {}
        }
    }

    fn show(&mut self, place: usize) {
        self.text = self.past[place].clone();
        self.cursor = self.text.len();
        self.shown = Some(place);
    }
}

/// The place of a column in a line from `start` to `end`.
fn at_column(text: &str, start: usize, end: usize, column: usize) -> usize {
    text[start..end].char_indices().nth(column).map_or(end, |(place, _)| start + place)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Types letters, and these keys; the cursor is shown as `|`.
    fn check(typed: &[&str], expected: &str) {
        let mut editor = Editor::new(vec!["first".to_owned(), "second\nline".to_owned()]);
        for word in typed {
            let key = match *word {
                "<left" => Key::Left,
                "<right" => Key::Right,
                "<wordleft" => Key::WordLeft,
                "<wordright" => Key::WordRight,
                "<up" => Key::Up,
                "<down" => Key::Down,
                "<home" => Key::Home,
                "<end" => Key::End,
                "<back" => Key::Backspace,
                "<delete" => Key::Delete,
                "<cutright" => Key::CutRight,
                "<cutleft" => Key::CutLeft,
                "<cutword" => Key::CutWord,
                "<putback" => Key::PutBack,
                "<newline" => Key::NewLine,
                "<enter" => Key::Enter,
                "<eof" => Key::EndOfInput,
                letters => {
                    for letter in letters.chars() {
                        assert_eq!(editor.key(Key::Letter(letter)), Done::Edited);
                    }
                    continue;
                }
            };
            editor.key(key);
        }
        let (text, cursor) = (editor.text(), editor.cursor());
        assert_eq!(format!("{}|{}", &text[..cursor], &text[cursor..]), expected, "{typed:?}");
    }

    #[test]
    fn a_text_is_edited() {
        check(&["abc", "<left", "<left", "x"], "ax|bc");
        check(&["ab", "<home", "x", "<end", "y"], "xaby|");
        check(&["漢字é", "<left", "<back"], "漢|é");
        check(&["漢字", "<home", "<delete"], "|字");
        check(&["one two  three", "<wordleft", "<wordleft"], "one |two  three");
        check(&["one two", "<home", "<wordright", "<wordright"], "one two|");
        check(&["one two", "<cutword", "x"], "one x|");
        check(&["one two", "<wordleft", "<cutright", "<home", "<putback"], "two|one ");
        check(&["one two", "<wordleft", "<cutleft"], "|two");
        check(&["ab", "<eof"], "ab|");
        check(&["ab", "<home", "<eof"], "|b");
    }

    #[test]
    fn a_text_has_lines() {
        check(&["ab", "<newline", "cde", "<up", "x"], "abx|\ncde");
        check(&["ab", "<newline", "cde", "<home", "<right", "<up", "<home", "<down", "y"], "ab\ny|cde");
        check(&["ab\\", "<enter", "c"], "ab\nc|");
        check(&["ab", "<newline", "c", "<up", "<cutright"], "a|\nc");
        check(&["ab", "<newline", "c", "<up", "<end", "<cutright"], "ab|c");
        check(&["ab", "<newline", "cd", "<cutleft"], "ab\n|");
    }

    #[test]
    fn what_was_written_before_comes_back() {
        check(&["dra", "<up"], "second\nline|");
        check(&["dra", "<up", "<up", "<up", "<up"], "first|");
        check(&["dra", "<up", "<up", "<up", "<down"], "second\nline|");
        check(&["dra", "<up", "<down", "ft"], "draft|");
        check(&["x", "<enter"], "|");
    }

    #[test]
    fn a_text_is_entered_as_it_is() {
        let mut editor = Editor::default();
        let lines: String = (0..200).map(|number| format!("line {number}\n")).collect();
        editor.key(Key::Letter('>'));
        editor.key(Key::Paste(lines.clone()));
        assert_eq!(editor.key(Key::Enter), Done::Entered(format!(">{lines}")));
        assert!(editor.is_empty());
        assert_eq!(editor.key(Key::Interrupt), Done::Other(Key::Interrupt));
        editor.remember("a");
        editor.remember("a");
        editor.key(Key::Up);
        editor.key(Key::Up);
        assert_eq!(editor.text(), "a");
    }
}
