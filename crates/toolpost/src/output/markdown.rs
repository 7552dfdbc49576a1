//! Markdown on a terminal, as it comes in: headings and emphasis bold, code coloured. Nothing is held back longer than it
//! takes to know what a mark means.

const BOLD: &str = "\x1b[1m";
const CODE: &str = "\x1b[36m";
const DIM: &str = "\x1b[2m";
const PLAIN: &str = "\x1b[0m";

/// Where in a text we are.
#[derive(Debug, Default)]
pub(super) struct Markdown {
    /// The marks at the beginning of a line whose meaning is not known yet.
    marks: String,
    is_inside_line: bool,
    is_heading: bool,
    is_bold: bool,
    is_code: bool,
    is_fenced: bool,
    /// A star that may be half of a mark.
    has_star: bool,
}

impl Markdown {
    /// The next piece, with colours. It holds nothing that a terminal obeys.
    pub(super) fn piece(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len() + 16);
        text.chars().for_each(|letter| self.letter(letter, &mut out));
        out
    }

    /// What is still held back, at the end of a text.
    pub(super) fn end(&mut self) -> String {
        let mut out = std::mem::take(&mut self.marks);
        if self.has_star {
            out.push('*');
        }
        if self.is_heading || self.is_bold || self.is_code {
            out.push_str(PLAIN);
        }
        *self = Markdown::default();
        out
    }

    fn letter(&mut self, letter: char, out: &mut String) {
        if !self.is_inside_line {
            if matches!(letter, '#' | '`')
                && self.marks.chars().all(|mark| mark == letter)
                && self.marks.len() < 6
            {
                self.marks.push(letter);
                return;
            }
            self.begin_line(letter, out);
            if self.is_heading && letter == ' ' {
                return;
            }
        }
        match letter {
            '\n' => self.end_line(out),
            _ if self.is_fenced => out.push(letter),
            '`' => {
                self.is_code = !self.is_code;
                out.push_str(if self.is_code { CODE } else { self.around() });
            }
            '*' if self.is_code => out.push('*'),
            '*' if self.has_star => {
                self.has_star = false;
                self.is_bold = !self.is_bold;
                out.push_str(self.around());
            }
            '*' => self.has_star = true,
            letter => {
                if std::mem::take(&mut self.has_star) {
                    out.push('*');
                }
                out.push(letter);
            }
        }
    }

    /// The first letter of a line that is no mark.
    fn begin_line(&mut self, letter: char, out: &mut String) {
        self.is_inside_line = letter != '\n';
        let marks = std::mem::take(&mut self.marks);
        match marks.as_str() {
            "" => {
                if self.is_fenced {
                    out.push_str(CODE);
                }
            }
            marks if marks.len() >= 3 && marks.starts_with('`') => {
                self.is_fenced = !self.is_fenced;
                out.push_str(DIM);
                out.push_str(marks);
                self.is_heading = true;
            }
            marks if marks.starts_with('#') && letter == ' ' && !self.is_fenced => {
                self.is_heading = true;
                out.push_str(BOLD);
            }
            marks if marks == "`" && !self.is_fenced => {
                self.is_code = true;
                out.push_str(CODE);
            }
            marks => {
                if self.is_fenced {
                    out.push_str(CODE);
                }
                out.push_str(marks);
            }
        }
    }

    fn end_line(&mut self, out: &mut String) {
        if std::mem::take(&mut self.has_star) {
            out.push('*');
        }
        if self.is_heading || self.is_bold || self.is_code || self.is_fenced {
            out.push_str(PLAIN);
        }
        (self.is_heading, self.is_bold, self.is_code, self.is_inside_line) = (false, false, false, false);
        out.push('\n');
    }

    /// The colour of what follows a mark.
    fn around(&self) -> &'static str {
        match self.is_bold || self.is_heading {
            true => "\x1b[0;1m",
            false => PLAIN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let mut markdown = Markdown::default();
        let whole = markdown.piece(text) + &markdown.end();
        assert_eq!(whole, expected);
        let mut markdown = Markdown::default();
        let mut pieces: String = text.chars().map(|letter| markdown.piece(&letter.to_string())).collect();
        pieces.push_str(&markdown.end());
        assert_eq!(pieces, expected, "letter by letter");
    }

    #[test]
    fn marks_become_colours() {
        check("# Title\ntext\n", "\x1b[1mTitle\x1b[0m\ntext\n");
        check("a `b` c", "a \x1b[36mb\x1b[0m c");
        check("**x** y*z", "\x1b[0;1mx\x1b[0m y*z");
        check(
            "```rust\n# no\n```\nend",
            "\x1b[2m```rust\x1b[0m\n\x1b[36m# no\x1b[0m\n\x1b[2m```\x1b[0m\nend",
        );
        check("`code` first", "\x1b[36mcode\x1b[0m first");
        check("#no heading", "#no heading");
    }
}
