//! Streamed text on a terminal: a word that does not fit into its row moves to the next one, also where its beginning stands
//! on the screen already. Code between fences stays as it is, and so does what has no space for a whole row.

use crate::output::width::columns_of;

const PLAIN: &str = "\x1b[0m";

/// Where in its rows the text is.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// Columns of the screen when it was written to last.
    columns: usize,
    column: usize,
    /// Columns of the line so far, in all its rows.
    line: usize,
    /// The word that the text ends with, with its colours, and the colour before it.
    word: String,
    word_width: usize,
    word_color: String,
    /// Whether the word takes whole rows, or began before the screen got another width: it stays where it is.
    is_fixed: bool,
    color: String,
    /// How many letters of the line are the marks of a fence, as long as there is nothing else.
    fence: Option<usize>,
    is_fenced: bool,
}

impl Flow {
    /// The next piece, with colours of ours in it, for a screen of so many columns. The last one stays free.
    pub(super) fn piece(&mut self, text: &str, columns: usize) -> String {
        if self.columns != columns {
            // The terminal has laid out its rows anew.
            self.is_fixed = self.columns > 0;
            self.columns = columns;
            self.column = self.line.checked_sub(1).map_or(0, |last| last % columns.max(1) + 1);
        }
        let mut out = String::with_capacity(text.len() + 8);
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            let length = match letter {
                '\x1b' => rest.find('m').map_or(rest.len(), |end| end + 1),
                letter => letter.len_utf8(),
            };
            let (part, behind) = rest.split_at(length);
            rest = behind;
            match letter {
                '\x1b' => {
                    self.color = part.to_owned();
                    self.word.push_str(part);
                    out.push_str(part);
                }
                letter => self.letter(letter, &mut out),
            }
        }
        out
    }

    /// Whether the cursor waits behind the last column, where whoever comes back to it finds another place.
    pub(super) fn is_at_edge(&self) -> bool {
        self.columns > 0 && self.column >= self.columns
    }

    /// A row has begun.
    pub(super) fn begin_row(&mut self) {
        (self.column, self.line) = (0, 0);
        self.begin_word();
        // What goes on in the next row has no beginning that could move.
        self.is_fixed = true;
    }

    fn letter(&mut self, letter: char, out: &mut String) {
        match (letter, self.fence.get_or_insert(0)) {
            ('\n', _) => {
                self.fence = None;
                (self.column, self.line) = (0, 0);
                self.begin_word();
                out.push('\n');
                return;
            }
            ('`', marks) if *marks < 3 => {
                *marks += 1;
                if *marks == 3 {
                    self.is_fenced = !self.is_fenced;
                }
            }
            (' ', marks) if *marks == 0 => {}
            // No fence begins here; one that is open stays open.
            (_, marks) => *marks = (*marks).max(3),
        }
        let last = self.columns.saturating_sub(1);
        let width = match letter {
            '\t' => 8 - self.column % 8,
            letter => columns_of(letter),
        };
        if self.is_fenced {
            return self.put(letter, width, out);
        }
        match letter {
            ' ' | '\t' => {
                // At the end of a row, the gap is the end of the row.
                match self.column + width > last {
                    true => self.new_row(out),
                    false => self.put(letter, width, out),
                }
                self.begin_word();
            }
            // Between the letters of East Asia is a border of words.
            letter if width == 2 => {
                if self.column + width > last {
                    self.new_row(out);
                }
                self.put(letter, width, out);
                self.begin_word();
            }
            letter => {
                if self.column + width > last && !self.is_fixed {
                    self.is_fixed = self.word_width + width > last;
                    if !self.is_fixed {
                        self.move_word(out);
                    }
                }
                self.put(letter, width, out);
                self.word.push(letter);
                self.word_width += width;
            }
        }
    }

    fn put(&mut self, letter: char, width: usize, out: &mut String) {
        out.push(letter);
        self.line += width;
        self.column = match self.column + width {
            column if column > self.columns => width,
            column => column,
        };
    }

    fn new_row(&mut self, out: &mut String) {
        out.push('\n');
        (self.column, self.line) = (0, 0);
    }

    /// Takes the beginning of the word from the end of the row to the next one.
    fn move_word(&mut self, out: &mut String) {
        if self.word_width > 0 {
            out.push_str(&format!("\x1b[{}D\x1b[K", self.word_width));
        }
        self.new_row(out);
        if self.word_width > 0 {
            if !self.color.is_empty() {
                out.push_str(PLAIN);
                out.push_str(&self.word_color);
            }
            out.push_str(&self.word);
        }
        (self.column, self.line) = (self.word_width, self.word_width);
    }

    fn begin_word(&mut self) {
        self.word.clear();
        self.word_width = 0;
        self.word_color.clone_from(&self.color);
        self.is_fixed = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows that a terminal shows, however the text comes.
    fn check(text: &str, columns: usize, expected: &[&str]) {
        for size in 1..=text.chars().count() {
            let letters: Vec<char> = text.chars().collect();
            let mut flow = Flow::default();
            let pieces =
                letters.chunks(size).map(|piece| flow.piece(&piece.iter().collect::<String>(), columns));
            let printed: String = pieces.collect();
            assert_eq!(shown(&printed), expected, "in pieces of {size}: {printed:?}");
        }
    }

    /// What stands on the screen: words that were taken back do not.
    fn shown(printed: &str) -> Vec<String> {
        let mut rows = vec![String::new()];
        let mut rest = printed;
        while let Some(letter) = rest.chars().next() {
            rest = &rest[letter.len_utf8()..];
            let row = rows.last_mut().unwrap();
            match letter {
                '\n' => rows.push(String::new()),
                '\x1b' => {
                    let end = rest.find(|letter: char| letter.is_ascii_alphabetic()).unwrap();
                    if rest[..=end].ends_with('D') {
                        let back: usize = rest[1..end].parse().unwrap();
                        row.truncate(row.len() - back);
                    }
                    rest = &rest[end + 1..];
                }
                letter => row.push(letter),
            }
        }
        rows
    }

    #[test]
    fn words_stay_whole() {
        check("one two three", 20, &["one two three"]);
        check("one two three", 10, &["one two ", "three"]);
        check("one two three", 8, &["one two", "three"]);
        check("one  two", 6, &["one  ", "two"]);
        check("- one\n- two three", 8, &["- one", "- two ", "three"]);
        check("漢字漢字 one", 8, &["漢字漢", "字 one"]);
        // What has no space for a whole row is the terminal's to break, so that it can be copied.
        check("to /a/very/long/path.toml", 10, &["to ", "/a/very/long/path.toml"]);
    }

    #[test]
    fn code_stays_as_it_is() {
        check("  ```sh\nrun this now\n  ```\n", 9, &["  ```sh", "run this now", "  ```", ""]);
        check(
            "```sh\nrun this now\n```\nrun this now",
            9,
            &["```sh", "run this now", "```", "run this", "now"],
        );
    }

    #[test]
    fn colours_take_no_columns_and_move_along() {
        let mut flow = Flow::default();
        assert_eq!(flow.piece("one \x1b[1mtw", 8), "one \x1b[1mtw");
        assert_eq!(flow.piece("o fo", 8), "o\nfo");
        let mut flow = Flow::default();
        let moved = "a \x1b[1mone t\x1b[1D\x1b[K\n\x1b[0m\x1b[1mtw";
        assert_eq!(flow.piece("a \x1b[1mone tw", 8), moved);
    }

    #[test]
    fn another_width_moves_nothing() {
        let mut flow = Flow::default();
        assert_eq!(flow.piece("one two thr", 20), "one two thr");
        assert_eq!(flow.piece("eehundred", 9), "eehundred");
        assert_eq!(flow.piece(" and", 9), " and");
        assert_eq!(flow.piece(" four", 9), " f\x1b[1D\x1b[K\nfour");
    }
}
